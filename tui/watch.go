package tui

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"rewardctl/inspect"
)

const (
	watchEvery = 2 * time.Second
	watchMax   = 20 // resources that are watched at once
)

// watch looks at the leases that the operator wants to hear about, whatever screen is shown.
type watch struct {
	d       *desk
	names   atomic.Pointer[[]string]
	feed    *feed[watched]
	heard   *view[watched] // what was compared last
	last    map[string]watched
	changed map[string]time.Time // when something was said about a resource
}

// watched is what is known about one resource.
type watched struct {
	resource string
	token    int64 // 0: nobody holds it
	owner    string
}

func newWatch(d *desk) *watch {
	w := &watch{d: d, last: map[string]watched{}, changed: map[string]time.Time{}}
	w.feed = newFeed(d, max(watchEvery, d.opts.Refresh),
		func(one *watched) string { return one.resource }, w.look)
	w.feed.ask(query[watched]{})
	return w
}

// set says what to watch, and begins when there is something for the first time.
func (w *watch) set(names []string) {
	names = slices.Clone(names)
	first := w.names.Swap(&names) == nil
	for name := range w.last {
		if !slices.Contains(names, name) {
			delete(w.last, name)
			delete(w.changed, name)
		}
	}
	if first {
		w.d.spawn(func() { w.feed.run(w.d.ctx) })
	}
	w.feed.refresh()
}

// has reports whether a resource is watched.
func (w *watch) has(name string) bool {
	names := w.names.Load()
	return names != nil && slices.Contains(*names, name)
}

// look asks for each resource by itself: that costs the same however many leases there are.
func (w *watch) look(ctx context.Context, _ Args) (batch[watched], error) {
	var out batch[watched]
	for _, name := range *w.names.Load() {
		one := watched{resource: name}
		detail, err := w.d.opts.Inspector.Lease(ctx, name)
		switch {
		case notFound(err):
		case err != nil:
			return out, err
		case detail.Lease != nil:
			one.token, one.owner = detail.Lease.Token, detail.Lease.Owner
		case len(detail.Missing) > 0: // nobody knows: that is no news
			continue
		}
		out.rows = append(out.rows, one)
	}
	return out, nil
}

// tell says what changed since the last look.
func (w *watch) tell() {
	if w == nil {
		return
	}
	v := w.feed.out.Load()
	if v == w.heard || v.at.IsZero() || v.err != nil {
		return
	}
	w.heard = v
	d := w.d
	for _, it := range v.items {
		now := *it.row
		was, known := w.last[now.resource]
		w.last[now.resource] = now
		if !known || was == now || !slices.Contains(*w.names.Load(), now.resource) {
			continue
		}
		w.changed[now.resource] = v.at
		switch {
		case now.token == 0 && now.owner == "":
			d.say(Warned, d.tr("watched: %s ended; it was held by %s, token %d", now.resource, was.owner,
				was.token))
		case was.token == 0 && was.owner == "":
			d.say(Warned, d.tr("watched: %s is held again, by %s, token %d", now.resource, now.owner,
				now.token))
		default:
			d.say(Warned, d.tr("watched: %s changed hands: token %d of %s, before %d of %s",
				now.resource, now.token, now.owner, was.token, was.owner))
		}
	}
}

// absentLease stands for a lease that is watched and not there.
func absentLease(resource string) *inspect.Lease { return &inspect.Lease{Resource: resource} }
