package tui

import (
	"unicode/utf8"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
)

// textMax bounds what a text field takes: no id or reason of ours is longer.
const textMax = 500

// field is a single-line text field. Bubbles edits, we draw: its own drawing measures by
// characters and loses the text cursor without colour.
type field struct {
	input textinput.Model
	// strict fields take only keys that are pressed one by one: a confirmation is typed by hand.
	strict bool
}

func newField(value string) field {
	input := textinput.New()
	input.CharLimit = textMax
	input.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // it would read the local clipboard
	input.KeyMap.AcceptSuggestion = key.NewBinding(key.WithDisabled())
	input.SetValue(safetext.Cell(value))
	input.CursorEnd()
	input.Focus()
	return field{input: input}
}

func (f *field) value() string { return f.input.Value() }

func (f *field) set(value string) {
	f.input.SetValue(safetext.Cell(value))
	f.input.CursorEnd()
}

// update edits and reports whether the text changed. A refusal says why nothing was taken.
func (f *field) update(msg tea.KeyMsg, fast bool) (changed bool, refusal string) {
	if f.strict && (fast || len(msg.Runes) > 1) && len(msg.Runes) > 0 {
		return false, text.N("type the confirmation by hand: keys that arrive together are not " +
			"taken")
	}
	if len(msg.Runes) > 0 {
		msg.Runes = []rune(safetext.Cell(string(msg.Runes)))
	}
	before := f.input.Value()
	f.input, _ = f.input.Update(msg)
	return f.input.Value() != before, ""
}

// paste inserts text up to its first line end.
func (f *field) paste(pasted string) (changed bool, refusal string) {
	if f.strict {
		return false, text.N("type the confirmation by hand: pasted text is not taken")
	}
	return f.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(firstLine(pasted))}, false)
}

// view draws the field at exactly w columns. The text cursor is always visible.
func (f *field) view(t *paint.Theme, w int, focused bool) string {
	value := f.input.Value()
	if !focused {
		return t.Text(paint.Field, safetext.Fit(value, w, t.Glyphs.Ellipsis))
	}
	runes := []rune(value)
	at := min(f.input.Position(), len(runes))
	left, under, right := string(runes[:at]), " ", ""
	if at < len(runes) {
		under = string(runes[at])
		right = string(runes[at+1:])
	}
	if over := safetext.Width(left) - (w - 2); over > 0 {
		left = t.Glyphs.Ellipsis + safetext.Skip(left, over+1)
	}
	used := safetext.Width(left) + safetext.Width(under)
	right = safetext.Fit(right, max(w-used, 0), t.Glyphs.Ellipsis)
	if t.Mode() == paint.Mono && under == " " && utf8.RuneCountInString(value) == at {
		under = "_" // some terminals show neither reverse video nor a cursor of ours
	}
	return t.Text(paint.FieldFocus, left) + t.Text(paint.Caret, under) +
		t.Text(paint.FieldFocus, right)
}
