package tui

import (
	"context"
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
