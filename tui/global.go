package tui

import (
	"maps"
	"slices"

	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

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
	for _, t := range r.tabs() {
		list = append(list, Binding{
			Keys: []string{t.digit, "alt+" + t.digit}, Help: t.Title(), Quiet: true,
			Action: func() tea.Cmd { return r.goTo(t.ID(), nil) },
		})
	}
	list = append(list, r.asking()...)
	list = append(list, r.travel()...)
	return append(list, []Binding{
		{Keys: []string{"A"}, Help: "arm", Quiet: true, Enabled: r.d.canArm, Action: r.d.arm},
		{Keys: []string{"!"}, Help: "last error", Quiet: true, Action: r.showError},
		{Keys: []string{"L"}, Help: "messages", Quiet: true, Action: r.showLog},
		{Keys: []string{"m"}, Help: "mouse on or off", Quiet: true, Action: r.toggleMouse},
		{Keys: []string{"x"}, Help: "stop a job", Quiet: true, Enabled: r.hasJob, Action: r.stopJob},
		{Keys: []string{"ctrl+z"}, Help: "suspend", Quiet: true, Action: func() tea.Cmd {
			r.d.disarm(text.N("the console was suspended"))
			return tea.Sequence(r.d.logEnds(), tea.Suspend)
		}},
		{Keys: []string{"q"}, Help: "quit", Dangerous: true, Action: r.askQuit},
		{Keys: []string{"esc"}, Help: "up one level", Quiet: true, Action: r.escape},
	}...)
}

// asking are the ways to say what one wants.
func (r *root) asking() []Binding {
	return []Binding{
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
		{Keys: []string{"ctrl+p"}, Help: "palette", Quiet: true, Action: r.palette},
		{
			Keys: []string{"ctrl+o"}, Help: "another context" + r.d.theme.Glyphs.Ellipsis, Quiet: true,
			Enabled: r.canSwitch, Action: r.pickContext,
		},
	}
}

// travel are the ways through the screens.
func (r *root) travel() []Binding {
	return []Binding{
		{Keys: []string{"-"}, Help: "last screen", Quiet: true, Action: r.goLast},
		{Keys: []string{"["}, Help: "back", Quiet: true, Action: r.goBack},
		{Keys: []string{"]"}, Help: "forward", Quiet: true, Action: r.goAhead},
	}
}

func (r *root) canFilter() (bool, string) {
	if _, ok := r.screen().(filterer); !ok {
		return false, r.d.tr("this screen has no rows to filter")
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

func (r *root) toggleMouse() tea.Cmd {
	if r.mouse = !r.mouse; r.mouse {
		r.d.say(Info, r.d.tr("mouse on: the wheel scrolls, a click selects; m gives it back"))
		return tea.EnableMouseCellMotion
	}
	r.d.say(Info, r.d.tr("mouse off: the terminal selects text again"))
	return tea.DisableMouse
}

func (r *root) hasJob() (bool, string) {
	if r.d.jobs.stoppable() == nil {
		return false, r.d.tr("no job runs")
	}
	return true, ""
}

// stopJob ends the job that runs, after a question when it was at work for a while.
func (r *root) stopJob() tea.Cmd {
	const long = 10 // seconds
	j := r.d.jobs.stoppable()
	if r.d.now().Sub(j.started).Seconds() < long {
		j.stop()
		return nil
	}
	return openPicker(r.d, r.d.tr("stop %s?", j.name), []choice{
		{label: r.d.tr("let it run"), run: func() tea.Cmd { return nil }},
		{label: r.d.tr("stop it"), note: brief(r.d.now().Sub(j.started)), run: func() tea.Cmd {
			j.stop()
			return nil
		}},
	})
}

func (r *root) showError() tea.Cmd {
	m := r.d.messages.lastError()
	if m == nil {
		r.d.say(Info, r.d.tr("no error so far"))
		return nil
	}
	lines := append([]string{m.at.Format("15:04:05") + "  " + m.text, ""}, m.detail...)
	r.open(newPage(r, r.d.tr("last error"), lines), false)
	return nil
}

func (r *root) showLog() tea.Cmd {
	log := r.d.messages.log
	lines := make([]string, 0, len(log))
	for i := len(log) - 1; i >= 0; i-- {
		lines = append(lines, log[i].at.Format("15:04:05")+"  "+log[i].text)
	}
	if len(lines) == 0 {
		lines = []string{r.d.tr("no messages yet")}
	}
	r.open(newPage(r, r.d.tr("messages, newest first"), lines), false)
	return nil
}

// palette lists everything that can be done here and everywhere, to be found by typing.
func (r *root) palette() tea.Cmd {
	d := r.d
	var choices []choice
	for _, b := range append(r.screenKeys(), r.globalKeys()...) {
		if b.Action == nil || b.name() == "palette" {
			continue
		}
		c := choice{label: b.says(d), note: b.label(), run: func() tea.Cmd {
			return r.invoke(b, false)
		}}
		if b.Changes {
			c.label += " " + d.tr("(changes something; asks first)")
		}
		if ok, why := b.enabled(); !ok {
			c.off = why
		}
		choices = append(choices, c)
	}
	for _, p := range r.recent {
		label := d.tr(r.screens[p.screen].Title())
		for _, name := range slices.Sorted(maps.Keys(p.args)) {
			label += " " + safetext.Cell(p.args[name])
		}
		choices = append(choices, choice{label: label, note: d.tr("seen before"), run: func() tea.Cmd {
			return r.goTo(r.screens[p.screen].ID(), p.args)
		}})
	}
	for _, c := range r.prompt.commands() {
		choices = append(choices, choice{
			label: ":" + c.usage, note: d.tr(c.help), run: func() tea.Cmd {
				r.prompt.start(promptCommand, commandWords(c.words))
				return nil
			},
		})
	}
	return openPicker(d, d.tr("what do you want to do?"), choices)
}
