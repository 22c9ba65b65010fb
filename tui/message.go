package tui

import (
	"time"

	"rewardctl/tui/safetext"
)

// Level says how long a message stays and how loud it is.
type Level uint8

// The levels.
const (
	Info   Level = iota // leaves after six seconds
	Warned              // stays until the next deed or esc
	Erred               // stays until esc
)

const (
	infoStays   = 6 * time.Second
	messagesMax = 500
)

// message is one line for the operator, with what more there is to say.
type message struct {
	at     time.Time
	level  Level
	text   string
	detail []string
	deed   bool // it says what became of a deed
}

// messages is the current message and the log of all.
type messages struct {
	current *message
	log     []message
}

func (m *messages) add(msg message) {
	msg.text = safetext.Cell(msg.text)
	if m.current != nil && m.current.level > msg.level && m.current.level == Erred &&
		msg.level == Info {
		m.log = append(m.log, msg) // an error is not covered by a remark
		return
	}
	m.log = append(m.log, msg)
	if len(m.log) > messagesMax {
		m.log = append([]message(nil), m.log[len(m.log)-messagesMax:]...)
	}
	m.current = &msg
}

// show returns the message to show now, or nil.
func (m *messages) show(now time.Time) *message {
	if m.current != nil && m.current.level == Info && now.Sub(m.current.at) > infoStays {
		m.current = nil
	}
	return m.current
}

// acknowledge takes a warning away when the operator goes on. Errors stay.
func (m *messages) acknowledge() {
	if m.current != nil && m.current.level != Erred {
		m.current = nil
	}
}

// dismiss takes the message away and reports whether there was one.
func (m *messages) dismiss() bool {
	if m.current == nil {
		return false
	}
	m.current = nil
	return true
}

// over takes a message away that is no longer true.
func (m *messages) over(text string) {
	if m.current != nil && m.current.text == text {
		m.current = nil
	}
}

// lastError returns the newest warning or error in the log, or nil.
func (m *messages) lastError() *message {
	for i := len(m.log) - 1; i >= 0; i-- {
		if m.log[i].level != Info {
			return &m.log[i]
		}
	}
	return nil
}
