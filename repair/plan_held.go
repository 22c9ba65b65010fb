package repair

import (
	"context"
	"sync"
	"time"

	"rewardctl/grant"
)

// settle decides what becomes of a part: it is done, tried again later, or given up for now. Rows
// whose lease another owner holds are waited for as long as that lease can live without its
// holder; everything else is tried so many times.
func (w *planWork) settle(p *planPart, args *recordArgs) {
	open := len(p.open) - (args.Decided - p.decided)
	wait := w.waitsFor(p, open > 0 && !args.Uncounted)
	switch {
	case open == 0:
		args.State = "done"
	case args.Uncounted:
		args.State = "open"
	case wait.Rows == 0 && (p.Tries >= w.run.HeldTries || p.hopeless()):
		args.State = "left"
		args.Errors += open
	default:
		args.State = "open"
		pause := retryPause(p)
		args.RetryIn, args.HeldFor = pause.Milliseconds(), wait.Left.Milliseconds()
		w.waited(p, pause)
	}
}

// waitsFor tells what the open rows of a part wait for, and remembers it. again is false when the
// part is not tried again for now.
func (w *planWork) waitsFor(p *planPart, again bool) ApplyWait {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !again {
		delete(w.held, p.Chunk)
		return ApplyWait{}
	}
	held := w.held[p.Chunk]
	if held == nil {
		held = newHolds(w.run.HeldFor)
		w.held[p.Chunk] = held
	}
	wait := held.waitFor(p.results)
	if wait.Rows == 0 {
		return wait
	}
	w.holder = wait.Owner
	return wait
}

// waited takes off the time that a part is not tried again for.
func (w *planWork) waited(p *planPart, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if held := w.held[p.Chunk]; held != nil {
		held.passed(pause)
	}
}

// hopeless reports whether no open row of a part can change by itself: each has a lock without
// expiry or of other data in its way, which waits for an operator.
func (p *planPart) hopeless() bool {
	for _, res := range p.results {
		h := res.Holder
		stuck := res.Outcome == grant.LeaseHeld && h != nil && (h.Foreign || h.Left < 0)
		if !res.Outcome.Final() && !stuck {
			return false
		}
	}
	return true
}

// retryPause is when a part may be tried again: later with each try, but not after the first
// lease has ended that it waits for.
func retryPause(p *planPart) time.Duration {
	pause := min(planHeldPause<<min(p.Tries-1, 10), planHeldMax)
	for _, res := range p.results {
		if h := res.Holder; res.Outcome == grant.LeaseHeld && h != nil && h.Left > 0 {
			pause = min(pause, h.Left)
		}
	}
	return max(pause, planHeldMin)
}

// idle waits until there may be a part to claim: a worker of this process gave one back, or the
// time is over, for what other processes do is not told here.
func (w *planWork) idle(
	ctx context.Context, freed <-chan struct{}, next planProgress, pause time.Duration,
) error {
	w.tellWaiting(next)
	waiting, end := context.WithCancel(ctx)
	defer end()
	var ear sync.WaitGroup
	ear.Go(func() {
		select {
		case <-freed:
			end()
		case <-waiting.Done():
		}
	})
	err := w.run.Wait(waiting, min(pause, next.until()))
	told := waiting.Err() != nil
	end()
	ear.Wait()
	if told {
		return ctx.Err()
	}
	return err
}

// until is how long until a part can be claimed by itself, if whoever holds one does not give it
// back earlier.
func (p planProgress) until() time.Duration {
	return max(time.Duration(value(p.NextIn))*time.Millisecond, planPollMin)
}

// tellWaiting says what this process waits for, unless one of its workers is at work.
func (w *planWork) tellWaiting(next planProgress) {
	if w.busy.Load() > 0 || next.HeldRows == 0 && next.Elsewhere == 0 {
		return
	}
	w.tell(next, &ApplyWait{
		Rows: int(next.HeldRows), Left: time.Duration(next.HeldFor) * time.Millisecond,
		Parts: next.Elsewhere,
	})
}

// news tells all who wait that something happened. The zero value is ready.
type news struct {
	mu sync.Mutex
	ch chan struct{}
}

// next is closed at the next tell.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}
