package tui

import (
	"context"
	"errors"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	waitEvery = time.Second
	waitMost  = 10 * time.Minute
)

// waitable is an action that may not be needed: what it is about may end by itself.
type waitable interface {
	// wait returns what waits for that, and why it cannot be waited for.
	wait() (cmd func() tea.Cmd, why string)
}

// waitedMsg says how waiting for the end of a lease ended.
type waitedMsg struct {
	resource string
	ended    bool
	how      string
}

// wait is the way out that hurts nobody: the lease ends by itself when its holder is gone, and is
// renewed when it is not.
func (r release) wait() (func() tea.Cmd, string) {
	if r.Token == 0 {
		return nil, r.d.tr("other programs' locks are not waited for")
	}
	return func() tea.Cmd { return r.d.awaitEnd(r.Resource, r.Token) }, ""
}

// awaitEnd waits, as a job that can be stopped, until a lease has ended or its holder renews it.
func (d *desk) awaitEnd(resource string, token int64) tea.Cmd {
	ctx, cancel := context.WithTimeout(d.ctx, waitMost)
	j := &job{
		name: d.tr("waiting"), long: true, started: d.now(), cancel: cancel,
	}
	d.jobs.running = append(d.jobs.running, j)
	d.say(Info, d.tr("waiting for its end; nothing is changed, x stops it"))
	return d.command(func() tea.Msg {
		defer cancel()
		tick := time.NewTicker(waitEvery)
		defer tick.Stop()
		last := time.Duration(-1)
		for {
			got := waitedMsg{resource: resource}
			detail, err := d.opts.Inspector.Lease(ctx, resource)
			l := detail.Lease
			switch {
			case err != nil && !errors.Is(err, inspect.ErrNotFound):
				got.how = d.tr("it cannot be seen: %s", d.unread(err))
			case l == nil && len(detail.Missing) == 0, l != nil && l.Token != token:
				got.ended, got.how = true, d.tr("it ended by itself")
			case l == nil:
				got.how = d.tr("it cannot be seen: %s", d.missing(detail.Missing[0]))
			case l.NoExpiry:
				got.how = d.tr("it never ends by itself")
			case last >= 0 && l.Left > last+waitEvery:
				got.how = d.tr("it was renewed: its holder lives")
			default:
				last = l.Left
				j.tell(brief(l.Left.Truncate(100*time.Millisecond)) + " " + resource)
				d.notify()
			}
			if got.how != "" {
				return jobDoneMsg{j, got}
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				got.how = d.tr("no longer waited for")
				return jobDoneMsg{j, got}
			}
		}
	})
}

// waited tells how it ended.
func (d *desk) waited(got waitedMsg) {
	level := Warned
	if got.ended {
		level = Info
	}
	d.say(level, safetext.Cell(got.resource)+": "+got.how)
}
