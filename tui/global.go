package tui

import (
	"strconv"

	tea "github.com/charmbracelet/bubbletea"
)

// always lists what works in every layer.
func (r *root) always() []Binding {
	return []Binding{
		{Keys: []string{"ctrl+c"}, Help: "cancel, twice: quit", Action: r.interrupt, Quiet: true},
		{Keys: []string{"ctrl+l"}, Help: "draw anew", Quiet: true, Action: func() tea.Cmd {
			return tea.ClearScreen
		}},
	}
}

// global lists what works on every screen.
func (r *root) global() []Binding {
	list := r.always()
	for i, s := range r.screens {
		list = append(list, Binding{
			Keys: []string{strconv.Itoa(i + 1), "alt+" + strconv.Itoa(i+1)}, Help: s.Title(),
			Quiet:  true,
			Action: func() tea.Cmd { return r.goTo(s.ID(), nil) },
		})
	}
	return append(list, []Binding{
		{Keys: []string{":"}, Help: "command", Action: func() tea.Cmd {
			r.prompt.start(promptCommand, "")
			return nil
		}},
		{Keys: []string{"?", "f1"}, Help: "help", Action: func() tea.Cmd {
			r.open(newHelp(r), false)
			return nil
		}},
		{
			Keys: []string{"/"}, Help: "filter", Enabled: r.canFilter,
			Action: func() tea.Cmd {
				if f, ok := r.screen().(filterer); ok {
					r.prompt.start(promptFilter, f.Filter())
				}
				return nil
			},
		},
		{Keys: []string{"-"}, Help: "screen before", Quiet: true, Action: r.goBack},
		{Keys: []string{"!"}, Help: "last error", Quiet: true, Action: r.showError},
		{Keys: []string{"L"}, Help: "messages", Quiet: true, Action: r.showLog},
		{Keys: []string{"ctrl+z"}, Help: "suspend", Quiet: true, Action: func() tea.Cmd {
			return tea.Suspend
		}},
		{Keys: []string{"q"}, Help: "quit", Dangerous: true, Action: r.askQuit},
		{Keys: []string{"esc"}, Help: "up one level", Quiet: true, Action: r.escape},
	}...)
}

func (r *root) canFilter() (bool, string) {
	if _, ok := r.screen().(filterer); !ok {
		return false, "this screen has no rows to filter"
	}
	return true, ""
}

// escape goes up one level: it takes the message away, then the filter. It never quits.
func (r *root) escape() tea.Cmd {
	if r.d.messages.dismiss() {
		return nil
	}
	if s, ok := r.screen().(unfocuser); ok && s.Unfocus() {
		return nil
	}
	if f, ok := r.screen().(filterer); ok && f.Filter() != "" {
		f.SetFilter("")
		return nil
	}
	if len(r.back) > 0 {
		return r.goBack()
	}
	return nil
}

func (r *root) showError() tea.Cmd {
	m := r.d.messages.lastError()
	if m == nil {
		r.d.say(Info, "no error so far")
		return nil
	}
	lines := append([]string{m.at.Format("15:04:05") + "  " + m.text, ""}, m.detail...)
	r.open(newPage(r, "last error", lines), false)
	return nil
}

func (r *root) showLog() tea.Cmd {
	log := r.d.messages.log
	lines := make([]string, 0, len(log))
	for i := len(log) - 1; i >= 0; i-- {
		lines = append(lines, log[i].at.Format("15:04:05")+"  "+log[i].text)
	}
	if len(lines) == 0 {
		lines = []string{"no messages yet"}
	}
	r.open(newPage(r, "messages, newest first", lines), false)
	return nil
}
