package lease_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// held is what the model knows of one resource.
type held struct {
	counter int64       // highest token issued, as far as the counter remembers
	highest int64       // highest token ever issued
	owner   string      // of the lock; empty for none
	token   int64       // of the lock
	foreign bool        // the lock holds text of somebody else
	ours    grant.Lease // the last lease that was given out, live or not
}

// machine runs a store and the model side by side. Time does not pass in it: a lease ends by a
// release, or by being deleted, as if it had expired.
type machine struct {
	store *bench
	state map[string]*held
	round int
}

var modelNames = []string{"p1", "a}b", "日本"}

// TestModel drives random steps against a real Redis and compares every answer with a model.
func TestModel(t *testing.T) {
	t.Parallel()
	drive(t, open(t, lease.Options{TTL: time.Minute, Shards: 2}))
}

func drive(t *testing.T, store *bench) {
	lease.SetGrace(store.Store, 0)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		m := &machine{store: store, state: map[string]*held{}, round: round}
		rt.Repeat(map[string]func(*rapid.T){
			"acquire": m.acquire, "again": m.again, "renew": m.renew, "release": m.release,
			"operator": m.operator, "expire": m.expire, "failover": m.failover,
			"foreign": m.foreign, "": m.check,
		})
	})
}

func (m *machine) pick(rt *rapid.T) (string, *held) {
	r := fmt.Sprintf("%d:%s", m.round, rapid.SampledFrom(modelNames).Draw(rt, "resource"))
	if m.state[r] == nil {
		m.state[r] = &held{}
	}
	return r, m.state[r]
}

func (m *machine) acquire(rt *rapid.T) {
	r, h := m.pick(rt)
	floor := rapid.Int64Range(0, 5).Draw(rt, "above") + h.highest - 2
	m.ask(rt, r, h, grant.Ask{Resource: r, Owner: owner("m"), Floor: max(floor, 0)})
}

// again asks with the owner of the last lease, as after a lost reply.
func (m *machine) again(rt *rapid.T) {
	r, h := m.pick(rt)
	if h.ours.Owner != "" {
		m.ask(rt, r, h, grant.Ask{Resource: r, Owner: h.ours.Owner, Floor: h.highest})
	}
}

func (m *machine) ask(rt *rapid.T, r string, h *held, ask grant.Ask) {
	a := m.store.Acquire(rt.Context(), []grant.Ask{ask})[0]
	switch {
	case a.Err != nil:
		rt.Fatalf("acquire %q: %v", r, a.Err)
	case h.owner != "" && (h.owner != ask.Owner || h.foreign):
		if a.Holder == nil || a.Holder.Owner != h.owner || a.Holder.Foreign != h.foreign ||
			a.Holder.Token != h.token {
			rt.Fatalf("acquire %q: %+v %+v, want held by %+v", r, a.Lease, a.Holder, h)
		}
	case h.owner == ask.Owner:
		if a.Lease == nil || a.Lease.Token != h.token {
			rt.Fatalf("ask again %q: %+v, want token %d", r, a, h.token)
		}
	default:
		want := max(h.counter, ask.Floor) + 1
		if a.Lease == nil || a.Lease.Token != want {
			rt.Fatalf("acquire %q: %+v, want token %d", r, a, want)
		}
		h.counter, h.highest = want, max(h.highest, want)
		h.owner, h.token, h.ours = ask.Owner, want, *a.Lease
	}
}

func (h *held) live() bool {
	return h.owner == h.ours.Owner && h.token == h.ours.Token && !h.foreign
}

func (m *machine) renew(rt *rapid.T) {
	_, h := m.pick(rt)
	if h.ours.Owner == "" {
		return
	}
	if a := m.store.Renew(rt.Context(), []grant.Lease{h.ours})[0]; a.Err != nil || a.Lost == h.live() {
		rt.Fatalf("renew: %+v, want lost %v", a, !h.live())
	}
}

func (m *machine) release(rt *rapid.T) {
	_, h := m.pick(rt)
	if h.ours.Owner == "" {
		return
	}
	if err := m.store.Release(rt.Context(), []grant.Lease{h.ours})[0]; err != nil {
		rt.Fatalf("release: %v", err)
	}
	if h.live() {
		h.owner, h.token = "", 0
	}
}

func (m *machine) operator(rt *rapid.T) {
	r, h := m.pick(rt)
	value := rapid.SampledFrom([]string{
		lease.FormatValue(h.ours.Token, h.ours.Owner), lease.FormatValue(h.token+1, h.owner), "x",
	}).Draw(rt, "value")
	f, err := m.store.ReleaseExact(rt.Context(), r, value)
	there := lease.FormatValue(h.token, h.owner)
	if h.foreign {
		there = h.owner
	}
	want := lease.Freed{Answer: lease.Changed, Now: there}
	switch {
	case h.owner == "":
		want = lease.Freed{Answer: lease.Gone}
	case value == there:
		want = lease.Freed{Answer: lease.Released}
	}
	if err != nil || f != want {
		rt.Fatalf("operator releases %q as %q: %+v, %v; want %+v", r, value, f, err, want)
	}
	if want.Answer == lease.Released {
		h.owner, h.token, h.foreign = "", 0, false
	}
}

func (m *machine) expire(rt *rapid.T) {
	r, h := m.pick(rt)
	m.store.client.Del(rt.Context(), m.store.LockKey(r))
	h.owner, h.token, h.foreign = "", 0, false
}

// failover throws the counter back.
func (m *machine) failover(rt *rapid.T) {
	r, h := m.pick(rt)
	h.counter = rapid.Int64Range(0, max(h.counter, 0)).Draw(rt, "counter")
	m.store.client.Set(rt.Context(), m.store.FenceKey(r), h.counter, 0)
}

func (m *machine) foreign(rt *rapid.T) {
	r, h := m.pick(rt)
	m.store.client.Set(rt.Context(), m.store.LockKey(r), "uuid", time.Minute)
	h.owner, h.token, h.foreign = "uuid", 0, true
}

// check compares the list: no lease is missing, none is invented, none is doubled.
func (m *machine) check(rt *rapid.T) {
	entries, err := m.store.List(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	listed := map[string]lease.Entry{}
	for _, e := range entries {
		if _, twice := listed[e.Resource]; twice {
			rt.Fatalf("%q is listed twice", e.Resource)
		}
		listed[e.Resource] = e
	}
	for r, h := range m.state {
		e, ok := listed[r]
		delete(listed, r)
		if h.foreign { // foreign text may or may not have an index entry from before
			continue
		}
		if ok != (h.owner != "") || ok && (e.Owner != h.owner || e.Token != h.token) {
			rt.Fatalf("%q is listed as %+v (%v), want %+v", r, e, ok, h)
		}
	}
	for r, e := range listed {
		var round int
		if _, err := fmt.Sscanf(r, "%d:", &round); err != nil || round == m.round {
			rt.Fatalf("%q was never asked for, and is listed: %+v", r, e)
		}
	}
}
