package tui

import (
	"context"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// job is one piece of work in the background. It has a context of its own.
type job struct {
	name    string
	changes bool // it changes state: quitting asks first
	started time.Time
	cancel  context.CancelFunc
	done    bool
	long    bool // it can be stopped by hand, and says how far it is
	told    atomic.Pointer[string]
}

// tell says how far the job is. It may be called from anywhere.
func (j *job) tell(progress string) { j.told.Store(&progress) }

// progress returns what was told last.
func (j *job) progress() string {
	if p := j.told.Load(); p != nil {
		return *p
	}
	return ""
}

// stop cancels the job. Its result, if it still comes, is dropped by whoever asked.
func (j *job) stop() {
	if j != nil && j.cancel != nil {
		j.cancel()
	}
}

// jobs are the pieces of work that run now. They are only touched by Update.
type jobs struct{ running []*job }

func (j *jobs) remove(done *job) {
	for i, have := range j.running {
		if have == done {
			j.running = append(j.running[:i], j.running[i+1:]...)
			return
		}
	}
}

// changing returns the running job that changes state, or nil.
func (j *jobs) changing() *job {
	for _, have := range j.running {
		if have.changes {
			return have
		}
	}
	return nil
}

// shown returns the job to show: one that changes something, else one that takes long, or nil.
func (j *jobs) shown() *job {
	if changing := j.changing(); changing != nil {
		return changing
	}
	return j.stoppable()
}

// stoppable returns the newest job that says how far it is, or nil.
func (j *jobs) stoppable() *job {
	for i := len(j.running) - 1; i >= 0; i-- {
		if j.running[i].long {
			return j.running[i]
		}
	}
	return nil
}

// jobDoneMsg carries a job's result to the layer that asked for it.
type jobDoneMsg struct {
	job    *job
	result tea.Msg
}

// start runs work under its own context, bounded by limit, and delivers its result as a message
// to every layer; the one that asked knows it by its type and job.
func (d *desk) start(parent context.Context, name string, changes bool, limit time.Duration,
	work func(ctx context.Context, j *job) tea.Msg,
) (*job, tea.Cmd) {
	ctx, cancel := context.WithTimeout(parent, limit)
	j := &job{name: name, changes: changes, started: d.now(), cancel: cancel}
	d.jobs.running = append(d.jobs.running, j)
	return j, d.command(func() tea.Msg {
		defer cancel()
		return jobDoneMsg{j, work(ctx, j)}
	})
}
