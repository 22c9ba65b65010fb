package repair

import (
	"fmt"
	"strings"
	"time"

	"rewardctl/grant"
)

// holds are the leases of others that rows wait for. Each is waited for as long as it had left
// when it was first seen, and a little longer: a process that was killed renews nothing, so its
// lease is over by then. One that is still there belongs to somebody alive.
type holds struct {
	most time.Duration // a lease that has longer left is waited for no longer than this
	by   map[string]*hold
	// spent is how long was waited in all. What blocks the rows behind it gives up waiting for
	// further leases after holdsSpentMax times most.
	spent time.Duration
}

type hold struct {
	owner   string
	token   int64
	left    time.Duration
	holders int // how many were seen, one after the other
}

const (
	heldForDefault = 30 * time.Second // as the leases' own
	holdAnewMax    = 3                // new holders of one resource that are waited for anew
	holdsSpentMax  = 2
	holdsGrace     = 10 // a tenth on top: clocks of servers and the way there
)

func newHolds(most time.Duration) *holds {
	return &holds{most: most, by: make(map[string]*hold)}
}

// see returns how long an answer is still worth waiting for another one; 0 when it is not: what it
// waits for is no lease, or ends by no time, or lived longer than its holder without renewing it.
func (h *holds) see(res grant.Result) time.Duration {
	by := res.Holder
	if res.Outcome != grant.LeaseHeld || by == nil || by.Foreign || by.Left < 0 {
		return 0
	}
	seen := h.by[by.Resource]
	if seen == nil {
		seen = &hold{}
		h.by[by.Resource] = seen
	}
	if (seen.owner != by.Owner || seen.token != by.Token) && seen.holders < holdAnewMax {
		left := min(by.Left, h.most)
		*seen = hold{by.Owner, by.Token, left + h.most/holdsGrace, seen.holders + 1}
	}
	return seen.left
}

// passed takes off what was waited.
func (h *holds) passed(d time.Duration) {
	h.spent += d
	for _, seen := range h.by {
		seen.left = max(seen.left-d, 0)
	}
}

// tired reports whether so much was waited that further leases are not worth it.
func (h *holds) tired() bool { return h.spent > holdsSpentMax*h.most }

// ApplyWait says what a run waits for.
type ApplyWait struct {
	Rows  int           // rows whose lease another owner holds; 0 when it is not these
	Owner string        // who holds the one that may last longest; empty when not known here
	Left  time.Duration // until that one ends, at most
	Parts int           // parts of the plan that other processes have in hand
}

// String reads "312 rows for leases of others, 21s at most (ops@host/77#ab)" and "2 parts in the
// hands of other processes".
func (w ApplyWait) String() string {
	var texts []string
	if w.Rows > 0 {
		text := fmt.Sprintf("%s for leases of others, %s at most", plural(w.Rows, "row"),
			ceilSecond(w.Left))
		if w.Owner != "" {
			text += " (" + w.Owner + ")"
		}
		texts = append(texts, text)
	}
	if w.Parts > 0 {
		texts = append(texts, plural(w.Parts, "part")+" in the hands of other processes")
	}
	return strings.Join(texts, "; ")
}

func ceilSecond(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// waitFor sums up what rows wait for, and how long until the last of it ends. The wait has no
// rows when nothing is worth waiting for.
func (h *holds) waitFor(results []grant.Result) (wait ApplyWait) {
	for _, res := range results {
		left := h.see(res)
		if left <= 0 {
			continue
		}
		wait.Rows++
		if left > wait.Left {
			wait.Left, wait.Owner = left, res.Holder.Owner
		}
	}
	return wait
}
