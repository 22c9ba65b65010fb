package tui

import (
	"context"
	"strings"

	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// Target is a context of the configuration that the console can be opened in.
type Target struct {
	Name, Environment   string
	ReadOnly, Protected bool
}

// canSwitch says whether there is another context to go to.
func (r *root) canSwitch() (bool, string) {
	d := r.d
	switch j := d.jobs.changing(); {
	case d.opts.SwitchTo == nil || d.opts.CanOpen == nil || len(r.others()) == 0:
		return false, d.tr("the configuration has no other context")
	case j != nil:
		return false, d.tr("%s is running: wait for its answer", j.name)
	}
	return true, ""
}

// others are the contexts besides the one that is shown.
func (r *root) others() []Target {
	var list []Target
	for _, t := range r.d.opts.Contexts {
		if t.Name != r.d.opts.Context {
			list = append(list, t)
		}
	}
	return list
}

// pickContext asks for the context to go to.
func (r *root) pickContext() tea.Cmd {
	d := r.d
	var choices []choice
	for _, t := range r.others() {
		note := strings.ToUpper(t.Environment)
		switch {
		case t.ReadOnly:
			note += "  " + d.tr("read-only")
		case t.Protected:
			note += "  " + d.tr("protected")
		}
		choices = append(choices, choice{label: t.Name, note: note, run: func() tea.Cmd {
			return r.switchTo(t.Name)
		}})
	}
	return openPicker(d, d.tr("which context?"), choices)
}

// switchTo ends this console so that one of another context can be opened in its place. The write
// window is closed: it was opened for what is here.
func (r *root) switchTo(name string) tea.Cmd {
	d := r.d
	if ok, why := r.canSwitch(); !ok {
		d.say(Warned, why)
		return nil
	}
	if name == d.opts.Context {
		d.say(Info, d.tr("this is %s already", name))
		return nil
	}
	_, cmd := d.start(d.ctx, d.tr("opening %s", name), false, readLimit,
		func(context.Context, *job) tea.Msg { return switchMsg{name, d.opts.CanOpen(name)} })
	return cmd
}

// switchMsg says whether a context can be opened in place of this one.
type switchMsg struct {
	name string
	err  error
}

// switched leaves for the other context, or says why not.
func (r *root) switched(msg switchMsg) tea.Cmd {
	d := r.d
	if msg.err != nil {
		d.say(Erred, d.tr("%s is not opened", msg.name), strings.Split(msg.err.Error(), "\n")...)
		return nil
	}
	d.disarm(text.N("another context was opened"))
	d.opts.SwitchTo(msg.name)
	return tea.Quit
}

// openContext is the command for it.
func (r *root) openContext(words []string) tea.Cmd {
	switch len(words) {
	case 0:
		if ok, why := r.canSwitch(); !ok {
			r.d.say(Warned, why)
			return nil
		}
		return r.pickContext()
	case 1:
		return r.switchTo(words[0])
	}
	return r.usage("context [NAME]")
}
