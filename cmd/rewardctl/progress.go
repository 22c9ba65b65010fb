package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
	"rewardctl/tui/safetext"
)

// progress draws one line on a terminal and draws it again as work goes on. Without a terminal
// it is silent: a log needs no animation.
type progress struct {
	app *app
	on  bool

	mu    sync.Mutex
	last  time.Time
	drawn bool
	done  int
	since time.Time // since when it waits for others; zero while rows are decided
	said  bool      // that it waits
}

func (a *app) newProgress() *progress { return &progress{app: a, on: a.terminal(a.stderr)} }

// checking is told how far the check of a file has come.
func (p *progress) checking(at batchfile.Progress) {
	if at.Total <= 0 {
		return
	}
	p.draw(fmt.Sprintf("checking  %s  %d rows", bar(float64(at.Bytes)/float64(at.Total)), at.Rows),
		at.Bytes == at.Total)
}

// storing is told how many rows of a plan are stored.
func (p *progress) storing(done, total int64) {
	if total > 0 {
		p.draw(fmt.Sprintf("planning  %s  %d/%d", bar(float64(done)/float64(total)), done, total),
			done == total)
	}
}

// applying is told how far a file is granted.
func (p *progress) applying(s repair.ApplyProgress) {
	if s.Total == 0 {
		return
	}
	p.wait(s)
	if s.Waiting != nil {
		p.draw("waiting   "+s.Waiting.String(), false)
		return
	}
	line := fmt.Sprintf("granting  %s  %d/%d", bar(float64(s.Done)/float64(s.Total)), s.Done, s.Total)
	if s.Rate > 0 {
		line += fmt.Sprintf("  %.0f/s  %s left", s.Rate, span(s.Left.Round(time.Second)))
	}
	if n := s.Counts.Of(grant.Replayed); n > 0 {
		line += fmt.Sprintf("  %d replayed", n)
	}
	if n := s.Counts.Refused(); n > 0 {
		line += fmt.Sprintf("  %d refused", n)
	}
	p.draw(line, s.Done == s.Total)
}

// wait says what a run waits for where no line is drawn, once it has waited for a second: one that
// stands still would be taken for dead.
func (p *progress) wait(s repair.ApplyProgress) {
	if p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Done != p.done {
		p.done, p.since, p.said = s.Done, time.Time{}, false
	}
	now := p.app.now()
	switch {
	case s.Waiting == nil:
	case p.since.IsZero():
		p.since = now
	case !p.said && now.Sub(p.since) >= waitQuiet:
		p.said = true
		p.app.say("waiting: %s", s.Waiting)
	}
}

// draw draws the line in place of the one before, not more often than the eye can follow.
func (p *progress) draw(line string, final bool) {
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.app.now()
	if !final && now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.drawn = now, true
	fmt.Fprintf(p.app.stderr, "\r\x1b[K%s", safetext.Cut(line, progressWidth, "…"))
}

// clear takes the line away, so that what is said next begins at the left.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.app.stderr, "\r\x1b[K")
	}
	p.drawn = false
}

const (
	progressWidth = 79 // a line that wraps could not be drawn over
	barWidth      = 20
	progressEvery = 100 * time.Millisecond
	waitQuiet     = time.Second // shorter waits for others are not worth a line
)

// bar draws a share from 0 to 1, with the number behind it.
func bar(share float64) string {
	full := min(max(int(share*barWidth), 0), barWidth)
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", barWidth-full) + "]" +
		fmt.Sprintf(" %3.0f%%", share*100)
}
