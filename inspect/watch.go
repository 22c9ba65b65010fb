package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// Watch looks at the leases once, then each time opts.Look delivers, and calls emit for each
// difference, in order of resource. Time running down is no difference. It returns nil when Look
// is closed, the context's cause when that ends, the error of emit when that fails, and a
// *grant.Rejection for a filter that makes no sense.
//
// While Redis cannot be asked nothing is called gone: a Blind change says so once, and a Seeing
// change says when it answers again.
func (r *Reader) Watch(ctx context.Context, opts WatchOptions, emit func(Change) error) error {
	chosen, err := newSelection(opts.Filter)
	if err != nil {
		return err
	}
	chosen.Sort = SortState // has every look ask for the states
	w := &watcher{
		reader: r, chosen: chosen, emit: emit, known: map[string]*watched{},
		quiet: opts.OnlyChanges,
	}
	for {
		if err := w.look(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case _, open := <-opts.Look:
			if !open {
				return nil
			}
		}
	}
}

type watcher struct {
	reader *Reader
	chosen selection
	emit   func(Change) error
	known  map[string]*watched // selected at the last look, by resource
	at     time.Time           // of the last look
	turn   uint64              // of the last look
	quiet  bool                // the next look only learns
	blind  bool
}

// watched is what is remembered of a lease: enough to see a change, and to show it as it was. A
// lease that did not change is not put into words again.
type watched struct {
	entry lease.Entry
	heart Heartbeat
	fence fenceState
	blind bool   // the fence was not seen
	rank  uint8  // the place of the state in States
	turn  uint64 // of the last look that saw it
}

func (w *watcher) look(ctx context.Context) error {
	list := LeaseList{At: w.reader.opts.Now()}
	seen, err := w.reader.survey(ctx, w.chosen)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return w.lose(list.At, err)
	}
	if w.blind {
		w.blind = false
		if err := w.emit(Change{Kind: Seeing, At: list.At, What: "Redis answers again"}); err != nil {
			return err
		}
	}
	seen.pick(w.chosen)
	w.reader.hearPicked(ctx, seen, &list)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	seen.rank(w.chosen, w.reader.opts.TTL)
	return w.compare(seen, list.At)
}

func (w *watcher) lose(at time.Time, err error) error {
	if w.blind {
		return nil
	}
	w.blind = true
	return w.emit(Change{
		Kind: Blind, At: at, What: "Redis cannot be asked: nothing is known until it answers again",
		Missing: Missing{grant.Redis, "leases", err},
	})
}

// compare emits the differences to the last look.
func (w *watcher) compare(seen *survey, at time.Time) error {
	w.turn++
	var changes []Change
	there := 0
	for _, pick := range seen.picks {
		now := seen.watched(pick)
		now.turn = w.turn
		before, had := w.known[now.entry.Resource]
		if !had {
			there++
			w.known[now.entry.Resource] = &now
			changes = append(changes, Change{
				Kind: Added, At: at, Lease: w.show(now, at), What: "taken",
			})
			continue
		}
		if before.turn != w.turn {
			there++
		}
		if what := before.differs(&now); what != "" {
			old := w.show(*before, w.at)
			changes = append(changes, Change{
				Kind: Changed, At: at, Lease: w.show(now, at), Before: &old, What: what,
			})
		}
		*before = now
	}
	if there < len(w.known) {
		changes = append(changes, w.gone(seen, at)...)
	}
	w.at = at
	if w.quiet {
		w.quiet = false
		return nil
	}
	slices.SortFunc(changes, func(a, b Change) int {
		return strings.Compare(a.Lease.Resource, b.Lease.Resource)
	})
	for _, c := range changes {
		if err := w.emit(c); err != nil {
			return err
		}
	}
	return nil
}

// gone forgets what this look did not see, and says why.
func (w *watcher) gone(seen *survey, at time.Time) (changes []Change) {
	places := make(map[string]int32)
	for i := range seen.entries {
		places[seen.entries[i].Resource] = int32(i)
	}
	for resource, before := range w.known {
		if before.turn == w.turn {
			continue
		}
		delete(w.known, resource)
		what := "released or expired"
		if place, exists := places[resource]; exists {
			l := w.show(seen.watched(place), at)
			what = "no longer selected: now " + shown(&l)
			if w.chosen.takes(&seen.entries[place]) { // else its worker was not asked for
				what += ", " + string(l.Verdict.State)
			}
		}
		changes = append(changes, Change{
			Kind: Gone, At: at, Lease: w.show(*before, w.at), What: what,
		})
	}
	return changes
}

// watched is what is remembered of one lease of a survey.
func (s *survey) watched(at int32) watched {
	w := watched{entry: s.entries[at], blind: s.fenceErr != nil, rank: s.ranks[at]}
	if s.alive != nil && w.entry.Foreign == "" {
		w.heart = heartbeatOf(s.alive[lease.Identity(w.entry.Owner)])
	}
	if !w.blind {
		w.fence = s.fences[s.places[at]]
	}
	return w
}

// show puts a lease into words.
func (w *watcher) show(seen watched, at time.Time) Lease {
	l := leaseOf(seen.entry, at)
	l.Heartbeat = seen.heart
	if seen.fence.there {
		l.Fence = &grant.Fence{
			Resource: l.Resource, Token: seen.fence.token, Owner: seen.fence.owner,
		}
	}
	l.Verdict = Judge(l.facts(w.reader.opts.TTL, l.Fence, !seen.blind))
	return l
}

// differs says what changed between two looks at one lease; empty when only time went by.
func (w *watched) differs(now *watched) string {
	before, after := &w.entry, &now.entry
	switch {
	case before.Value != after.Value || before.Foreign != after.Foreign:
		old, young := leaseOf(*before, time.Time{}), leaseOf(*after, time.Time{})
		return fmt.Sprintf("taken by another: from %s to %s", shown(&old), shown(&young))
	case w.rank != now.rank:
		return fmt.Sprintf("from %s to %s", States()[w.rank], States()[now.rank])
	case before.NoExpiry != after.NoExpiry:
		return yesNo(after.NoExpiry, "lost its expiry", "got an expiry")
	}
	return ""
}

func shown(l *Lease) string {
	if l.Value == "" {
		return "other data (" + l.Foreign + ")"
	}
	return l.Value
}
