package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	widthMin, heightMin = 80, 24
	tickEvery           = 250 * time.Millisecond
	tickBlurred         = time.Second
	quitWindow          = 2 * time.Second
)

// place is an entry of the history: a screen and what it was opened with.
type place struct {
	screen int
	args   Args
}

// root is the one model that Bubble Tea runs.
type root struct {
	d       *desk
	w, h    int
	sized   bool
	blurred bool
	screens []screen
	cur     int
	leave   context.CancelFunc // ends the context of the screen that is shown
	back    []place
	modals  []*layer
	prompt  prompt
	keys    keyState
	quitAt  time.Time // when ctrl+c was pressed first
	failed  bool      // Update or View panicked
}

func newRoot(d *desk) *root {
	r := &root{d: d, leave: func() {}}
	d.root = r
	r.screens = []screen{newLeasesScreen(d), newPlayerScreen(d), newGrantScreen(d)}
	r.prompt = newPrompt(r)
	for i, s := range r.screens {
		if s.ID() == ScreenID(d.opts.Home) {
			r.cur = i
		}
	}
	return r
}

func (r *root) screen() screen { return r.screens[r.cur] }

// Init opens the first screen.
func (r *root) Init() tea.Cmd {
	return tea.Batch(r.show(r.cur, nil), r.tick())
}

func (r *root) tick() tea.Cmd {
	every := tickEvery
	if r.blurred {
		every = tickBlurred
	}
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} })
}

// show opens a screen and ends what the one before did in the background.
func (r *root) show(index int, args Args) tea.Cmd {
	r.leave()
	ctx, cancel := context.WithCancel(r.d.ctx)
	r.leave, r.cur = cancel, index
	return r.screen().Open(ctx, args)
}

// goTo opens a screen by name and remembers where we were.
func (r *root) goTo(id ScreenID, args Args) tea.Cmd {
	for i, s := range r.screens {
		if s.ID() != id {
			continue
		}
		if i != r.cur {
			r.back = append(r.back, place{screen: r.cur})
			const historyMax = 50
			if len(r.back) > historyMax {
				r.back = r.back[1:]
			}
		}
		return r.show(i, args)
	}
	return nil
}

// goBack shows the screen before.
func (r *root) goBack() tea.Cmd {
	if len(r.back) == 0 {
		r.d.say(Info, "there is no screen before this one")
		return nil
	}
	last := r.back[len(r.back)-1]
	r.back = r.back[:len(r.back)-1]
	return r.show(last.screen, last.args)
}

// Update takes one message. A panic ends the console with the terminal restored.
func (r *root) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			r.d.crashed(v)
			r.failed = true
			model, cmd = r, tea.Quit
		}
	}()
	if r.failed {
		return r, tea.Quit
	}
	cmd = r.update(msg)
	if r.d.opts.Handled != nil {
		r.d.opts.Handled(msg)
	}
	return r, cmd
}

func (r *root) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		r.w, r.h, r.sized = msg.Width, msg.Height, true
		return nil
	case tea.KeyMsg:
		return r.key(msg)
	case heldMsg:
		return r.held(msg)
	case tickMsg:
		return tea.Batch(r.tick(), r.forward(msg))
	case dataMsg:
		return r.forward(msg)
	case tea.FocusMsg:
		r.blurred = false
		return nil
	case tea.BlurMsg:
		r.blurred = true
		return nil
	case tea.ResumeMsg:
		r.d.say(Info, "back: everything is read again")
		return r.show(r.cur, nil)
	case jobDoneMsg:
		msg.job.done = true
		r.d.jobs.remove(msg.job)
		if got, ok := msg.result.(answerMsg); ok {
			r.d.report(got)
		}
		return r.broadcast(msg)
	case quitMsg:
		return tea.Quit
	}
	return r.broadcast(msg)
}

// forward gives a message to what is on the screen.
func (r *root) forward(msg tea.Msg) tea.Cmd {
	cmds := []tea.Cmd{r.screen().Update(msg)}
	for _, l := range append([]*layer(nil), r.modals...) {
		cmds = append(cmds, l.modal.Update(msg))
	}
	return tea.Batch(cmds...)
}

// broadcast gives a message to all screens and dialogs: results must arrive.
func (r *root) broadcast(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(r.screens)+len(r.modals))
	for _, l := range append([]*layer(nil), r.modals...) {
		cmds = append(cmds, l.modal.Update(msg))
	}
	for _, s := range r.screens {
		cmds = append(cmds, s.Update(msg))
	}
	return tea.Batch(cmds...)
}

// quitMsg ends the console from outside: a signal, or the terminal went away.
type quitMsg struct{}

// askQuit ends the console, after a question when a deed is running.
func (r *root) askQuit() tea.Cmd {
	if j := r.d.jobs.changing(); j != nil {
		now := r.d.now()
		if now.Sub(r.quitAt) > quitWindow {
			r.quitAt = now
			r.d.say(Warned, j.name+" is running: its answer would be lost; press q again to quit")
			return nil
		}
	}
	return tea.Quit
}

// interrupt is ctrl+c: it ends the top dialog or the prompt; else twice within two seconds it
// ends the console.
func (r *root) interrupt() tea.Cmd {
	now := r.d.now()
	if now.Sub(r.quitAt) <= quitWindow {
		return tea.Quit
	}
	r.quitAt = now
	switch top := r.top(); {
	case top != nil && r.d.jobs.changing() == nil:
		r.close(top.modal)
	case r.prompt.open:
		r.prompt.cancel()
	}
	r.d.say(Warned, "press ctrl+c again to quit")
	return nil
}
