package tui

import (
	"time"

	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// burstGap is less than any keyboard leaves between two keys, and more than a terminal takes
	// to hand over pasted text that it does not mark as such.
	burstGap = 10 * time.Millisecond
	// holdTime is how long a dangerous key waits for company before it acts.
	holdTime = 40 * time.Millisecond
)

// typist is a layer that may own a text field.
type typist interface {
	// Typing reports whether a text field has the keys.
	Typing() bool
	// Type gives it text or an editing key. fast is true when the keys arrived together.
	Type(msg tea.KeyMsg, fast bool) tea.Cmd
	// Paste gives it pasted text; a refusal says why.
	Paste(text string) (cmd tea.Cmd, refusal string)
}

// noTyping is a layer without text fields.
type noTyping struct{}

func (noTyping) Typing() bool                  { return false }
func (noTyping) Type(tea.KeyMsg, bool) tea.Cmd { return nil }
func (noTyping) Paste(string) (tea.Cmd, string) {
	return nil, text.N("paste ignored: no text field has the keys")
}

// keyState is what the dispatcher remembers between keys.
type keyState struct {
	last time.Time // when the last key arrived
	seq  int       // counts keys
	fast bool      // the last key arrived together with the one before
}

// heldMsg ends the wait of a dangerous key.
type heldMsg struct {
	seq    int
	action func() tea.Cmd
}

// key dispatches one key message by the rules of the package comment.
func (r *root) key(msg tea.KeyMsg) tea.Cmd {
	now := r.d.now()
	fast := now.Sub(r.keys.last) < burstGap
	r.keys.last = now
	r.keys.seq++
	r.keys.fast = fast
	top := r.top()
	if top != nil && top.grace.absorbs(now) && msg.Type != tea.KeyCtrlC {
		return nil // it was meant for what was there before; leaving is always possible
	}
	switch {
	case msg.Paste:
		return r.paste(string(msg.Runes))
	case msg.Type == tea.KeyRunes && len(msg.Runes) > 1 && !msg.Alt:
		return r.burst(msg)
	default:
		return r.press(msg, fast)
	}
}

// layer returns who gets text now.
func (r *root) layer() typist {
	if top := r.top(); top != nil {
		return top.modal
	}
	if r.prompt.open {
		return &r.prompt
	}
	return r.screen()
}

func (r *root) paste(pasted string) tea.Cmd {
	layer := r.layer()
	if !layer.Typing() {
		r.d.say(Warned, r.d.tr("paste ignored: no text field has the keys"))
		return nil
	}
	cmd, refusal := layer.Paste(pasted)
	if refusal != "" {
		r.d.say(Warned, r.d.refusal(refusal))
	}
	return cmd
}

// burst handles keys that Bubble Tea merged into one message.
func (r *root) burst(msg tea.KeyMsg) tea.Cmd {
	if layer := r.layer(); layer.Typing() {
		return layer.Type(msg, true)
	}
	first := msg.Runes[0]
	if r.top() == nil && (first == ':' || first == '/') {
		opened := r.press(single(first), true)
		if r.prompt.open {
			rest := tea.KeyMsg{Type: tea.KeyRunes, Runes: msg.Runes[1:]}
			return tea.Batch(opened, r.prompt.Type(rest, true))
		}
		return opened
	}
	if b := find(r.bindings(), string(first)); b != nil && b.Move != nil && allEqual(msg.Runes) {
		if ok, _ := b.enabled(); ok {
			return b.Move(len(msg.Runes))
		}
	}
	return r.oneByOne(msg.Runes)
}

// oneByOne presses merged keys in order and drops the rest as soon as one opens something that
// the rest was not meant for.
func (r *root) oneByOne(runes []rune) tea.Cmd {
	var cmds []tea.Cmd
	depth, screen := len(r.modals), r.cur
	for i, c := range runes {
		cmds = append(cmds, r.press(single(c), true))
		moved := len(r.modals) != depth || r.prompt.open || r.cur != screen || r.layer().Typing()
		if moved && i < len(runes)-1 {
			r.d.say(Warned, r.d.tr("keys arrived together: the rest was dropped"))
			break
		}
	}
	return tea.Batch(cmds...)
}

// press dispatches a single key.
func (r *root) press(msg tea.KeyMsg, fast bool) tea.Cmd {
	layer := r.layer()
	if layer.Typing() && editing(msg) {
		return layer.Type(msg, fast)
	}
	b := find(r.bindings(), msg.String())
	if b == nil {
		return nil
	}
	return r.invoke(*b, fast)
}

// invoke does what a binding means, or says why not.
func (r *root) invoke(b Binding, fast bool) tea.Cmd {
	d := r.d
	if ok, reason := b.enabled(); !ok {
		d.say(Warned, b.says(d)+": "+reason)
		return nil
	}
	if b.Dangerous {
		if fast {
			d.say(Warned, d.tr("%s: keys arrived together; press %s again", b.says(d), b.label()))
			return nil
		}
		return r.hold(b.Action)
	}
	d.messages.acknowledge()
	if b.Move != nil {
		return b.Move(1)
	}
	return b.Action()
}

// hold lets a dangerous key act only when no other key follows at once.
func (r *root) hold(action func() tea.Cmd) tea.Cmd {
	seq := r.keys.seq
	return tea.Tick(holdTime, func(time.Time) tea.Msg { return heldMsg{seq, action} })
}

func (r *root) held(msg heldMsg) tea.Cmd {
	if msg.seq != r.keys.seq {
		r.d.say(Warned, r.d.tr("keys arrived together: nothing was started"))
		return nil
	}
	return msg.action()
}

// bindings returns what the keys mean now, in order of precedence.
func (r *root) bindings() []Binding {
	if top := r.top(); top != nil {
		return append(top.modal.Bindings(), r.always()...)
	}
	if r.prompt.open {
		return append(r.prompt.Bindings(), r.always()...)
	}
	return append(r.globalKeys(), r.screenKeys()...)
}

// globalKeys are the bindings of all screens with the keys that the operator wants.
func (r *root) globalKeys() []Binding { return r.d.keymap.apply(globalLayer, r.global()) }

// screenKeys are the bindings of the screen with the keys that the operator wants.
func (r *root) screenKeys() []Binding {
	return r.d.keymap.apply(string(r.screen().ID()), r.screen().Bindings())
}

func single(c rune) tea.KeyMsg {
	if c == ' ' {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{c}}
}

func allEqual(runes []rune) bool {
	for _, c := range runes {
		if c != runes[0] {
			return false
		}
	}
	return true
}

// editing reports whether a key is text or edits text, so that a text field gets it first.
func editing(msg tea.KeyMsg) bool {
	if msg.Alt {
		return false
	}
	switch msg.Type {
	case tea.KeyRunes, tea.KeySpace:
		return true
	case tea.KeyBackspace, tea.KeyDelete, tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd,
		tea.KeyCtrlA, tea.KeyCtrlE, tea.KeyCtrlK, tea.KeyCtrlU, tea.KeyCtrlW, tea.KeyCtrlB,
		tea.KeyCtrlF, tea.KeyCtrlH, tea.KeyCtrlLeft, tea.KeyCtrlRight:
		return true
	}
	return false
}

// firstLine returns pasted text up to its first line end, made safe for a text field.
func firstLine(pasted string) string {
	for i, c := range pasted {
		if c == '\n' || c == '\r' {
			pasted = pasted[:i]
			break
		}
	}
	return safetext.Cell(pasted)
}
