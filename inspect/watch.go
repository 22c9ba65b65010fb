package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rewardctl/grant"
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
	w := &watcher{
		reader: r, chosen: chosen, emit: emit, known: map[string]Lease{},
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
	known  map[string]Lease // selected at the last look, by resource
	quiet  bool             // the next look only learns
	blind  bool
}

func (w *watcher) look(ctx context.Context) error {
	list := LeaseList{At: w.reader.opts.Now()}
	entries, err := w.reader.entries(ctx)
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
	for _, e := range entries {
		list.Leases = append(list.Leases, leaseOf(e, list.At))
	}
	w.reader.judgeAll(ctx, &list)
	return w.compare(list)
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
func (w *watcher) compare(list LeaseList) error {
	now := make(map[string]Lease, len(list.Leases))
	there := make(map[string]Lease, len(list.Leases))
	for _, l := range list.Leases {
		there[l.Resource] = l
		if w.chosen.takesLease(l) {
			now[l.Resource] = l
		}
	}
	var changes []Change
	for resource, l := range now {
		before, had := w.known[resource]
		switch {
		case !had:
			changes = append(changes, Change{Kind: Added, At: list.At, Lease: l, What: "taken"})
		case differs(before, l) != "":
			changes = append(changes, Change{
				Kind: Changed, At: list.At, Lease: l, Before: &before, What: differs(before, l),
			})
		}
	}
	for resource, before := range w.known {
		if _, still := now[resource]; still {
			continue
		}
		what := "released or expired"
		if l, exists := there[resource]; exists {
			what = fmt.Sprintf("no longer selected: now %s, %s", l.Value, l.Verdict.State)
		}
		changes = append(changes, Change{Kind: Gone, At: list.At, Lease: before, What: what})
	}
	w.known = now
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

// differs says what changed between two looks at one lease; empty when only time went by.
func differs(before, now Lease) string {
	switch {
	case before.Value != now.Value || before.Foreign != now.Foreign:
		return fmt.Sprintf("taken by another: from %s to %s", shown(before), shown(now))
	case before.Verdict.State != now.Verdict.State:
		return fmt.Sprintf("from %s to %s", before.Verdict.State, now.Verdict.State)
	case before.NoExpiry != now.NoExpiry:
		return yesNo(now.NoExpiry, "lost its expiry", "got an expiry")
	}
	return ""
}

func shown(l Lease) string {
	if l.Value == "" {
		return "other data (" + l.Foreign + ")"
	}
	return l.Value
}

// takesLease applies the whole filter to a judged lease.
func (s selection) takesLease(l Lease) bool {
	e := l.entry()
	return s.takes(&e) && s.takesState(l.Verdict)
}
