package tui

import (
	"slices"
	"strings"
	"time"

	"rewardctl/inspect"

	tea "github.com/charmbracelet/bubbletea"
)

// asked is the part of a filter of the player screen that the servers answer: a day to begin with
// and a type of entries. A history can be long; what is not read cannot be found in it.
type asked struct {
	to   time.Time // entries before this; zero for the newest
	kind inspect.EntryType
	rest string // what is looked for in what was read
}

func (a asked) same(b asked) bool { return a.to.Equal(b.to) && a.kind == b.kind }

func (a asked) types() []inspect.EntryType {
	if a.kind == "" {
		return nil
	}
	return []inspect.EntryType{a.kind}
}

// entryTypes are the types of entries, as a filter names them.
func entryTypes() []inspect.EntryType {
	return []inspect.EntryType{
		inspect.EntryPosting, inspect.EntryClaim, inspect.EntryRefusal, inspect.EntryAction,
	}
}

// askedBy takes date:DAY and type:TYPE out of a filter. One that is not written to its end asks
// for nothing yet.
func askedBy(line string) asked {
	var out asked
	var rest []string
	for _, word := range strings.Fields(line) {
		if day, ok := strings.CutPrefix(word, "date:"); ok {
			if to, ok := dayEnd(day); ok {
				out.to = to
			}
			continue
		}
		if kind, ok := strings.CutPrefix(word, "type:"); ok {
			if t := inspect.EntryType(kind); slices.Contains(entryTypes(), t) {
				out.kind = t
			}
			continue
		}
		rest = append(rest, word)
	}
	out.rest = strings.Join(rest, " ")
	return out
}

// dayEnd returns the moment at which a day is over, or a minute of it, by this machine's calendar:
// the list begins with the last entry before it.
func dayEnd(text string) (time.Time, bool) {
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return day.AddDate(0, 0, 1), true
	}
	if at, err := time.ParseInLocation("2006-01-02T15:04", text, time.Local); err == nil {
		return at.Add(time.Minute), true
	}
	return time.Time{}, false
}

// jump begins a filter with the day to go to.
func (s *playerScreen) jump() tea.Cmd {
	a := askedBy(s.filter)
	line := a.rest
	if a.kind != "" {
		line = strings.TrimSpace(line + " type:" + string(a.kind))
	}
	s.d.root.prompt.start(promptFilter, strings.TrimSpace(line+" date:"+
		s.d.now().Local().Format("2006-01-")))
	return nil
}

// pickType asks which entries to read.
func (s *playerScreen) pickType() tea.Cmd {
	a := askedBy(s.filter)
	day := ""
	for _, word := range strings.Fields(s.filter) {
		if strings.HasPrefix(word, "date:") {
			day = word
		}
	}
	set := func(kind string) func() tea.Cmd {
		return func() tea.Cmd {
			s.SetFilter(strings.Join(strings.Fields(a.rest+" "+kind+" "+day), " "))
			return s.read(false)
		}
	}
	choices := []choice{{label: s.d.tr("everything"), run: set("")}}
	for _, t := range entryTypes() {
		choices = append(choices, choice{
			label: s.d.tr(entryTypeWord(t)), note: "type:" + string(t), run: set("type:" + string(t)),
		})
	}
	return openPicker(s.d, s.d.tr("which entries"), choices)
}
