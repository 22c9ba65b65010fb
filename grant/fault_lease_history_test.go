package grant_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// The size of a history of whole lives of leases.
const (
	wholeClients   = 16
	wholeOps       = 4000 // in a soak five times as many
	wholePlayers   = 24
	wholeDoubtsMax = 8 // operations without an answer, per resource: each doubles what is to check
)

// wholeHistory is what several clients do with whole leases: acquire, grant under the lease, renew,
// release, and go on with one that they have lost. Redis loses answers for the players whose names
// begin with "lossy"; for the others leases end early and Redis forgets its counters, and those
// operations are known to the moment. PostgreSQL loses answers for all.
type wholeHistory struct {
	f      *faulty
	h      *history // seed, clock, and the engine's impatience while PostgreSQL is away
	engine *grant.Engine
	store  *lease.Store // through the proxy
	direct *lease.Store
	burn   string
	most   int64
	made   atomic.Int64

	mu     sync.Mutex
	ops    []porcupine.Operation
	doubts map[string]int
	seen   map[string]int
	last   map[string]int64 // the token taken last, by resource
}

// TestFaultLinearizableLeases runs a random history of leases, fences and grants together, and
// checks that some order explains every answer. FAULT_SEED repeats a history's choices.
func TestFaultLinearizableLeases(t *testing.T) {
	t.Parallel()
	seed := faultSeed(t)
	w := newWholeHistory(t, seed)
	began := time.Now()
	w.run(t)
	took := time.Since(began)
	began = time.Now()
	result, info := porcupine.CheckOperationsVerbose(wholeModel(), w.ops, 2*time.Minute)
	t.Logf("%d operations in %v, checked in %v: %v", len(w.ops), took, time.Since(began), w.seen)
	t.Logf("scoreboard: linearized_operations=%d linearized_without_answer=%d", len(w.ops),
		w.seen["unknown"])
	if result != porcupine.Ok {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("leases-%d.html", seed))
		if err := porcupine.VisualizePath(wholeModel(), info, path); err != nil {
			path = err.Error()
		}
		t.Fatalf("seed %d: no order explains the answers (%s): %s", seed, result, path)
	}
	for _, what := range w.missing() {
		t.Errorf("seed %d: the history never saw %q: it proves less than it claims", seed, what)
	}
	w.f.CheckInvariants(t)
}

func newWholeHistory(t *testing.T, seed uint64) *wholeHistory {
	t.Helper()
	f := newFaulty(t)
	burn, err := os.ReadFile("../repair/sql/fence_burn.sql")
	if err != nil {
		t.Fatal(err)
	}
	w := &wholeHistory{
		f: f, h: &history{f: f, seed: seed, start: time.Now()}, burn: string(burn), most: wholeOps,
		store: f.newStore(t, f.client, 10*time.Minute), doubts: map[string]int{},
		direct: f.newStore(t, f.Redis, 10*time.Minute), seen: map[string]int{}, last: map[string]int64{},
	}
	if os.Getenv("REWARDCTL_SOAK") != "" {
		w.most *= 5
	}
	w.engine = f.engine(t, func(o *grant.Options) { o.Wait = w.h.wait })
	return w
}

func (w *wholeHistory) run(t *testing.T) {
	t.Helper()
	stop := make(chan struct{})
	var faults, clients sync.WaitGroup
	faults.Go(func() { w.makeFaults(stop) })
	faults.Go(func() { w.chaos(t, stop) })
	for c := range wholeClients {
		clients.Go(func() { w.client(t, c) })
	}
	clients.Wait()
	close(stop)
	faults.Wait()
}

// goOn reports whether there is more to do: operations, up to four times as many while something
// that has to occur has not.
func (w *wholeHistory) goOn() bool {
	made := w.made.Load()
	return made < w.most || made < 4*w.most && len(w.missing()) > 0
}

// missing lists what a history must have seen to prove anything, and has not.
func (w *wholeHistory) missing() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc([]string{
		"acquired", "busy", "kept", "lost", "released", "expire", "forget", "burn", "unknown",
		"applied", "replayed", "stale_token", "token_collision", "mismatch",
	}, func(what string) bool { return w.seen[what] > 0 })
}

func (w *wholeHistory) lastToken(resource string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[resource]
}

// makeFaults loses answers and requests of both servers, one after the other.
func (w *wholeHistory) makeFaults(stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(w.h.seed, 2000))
	lossy := func(f granttest.Frame) bool {
		return slices.ContainsFunc(f.Args, func(a string) bool { return strings.Contains(a, "lossy") })
	}
	for n := 0; ; n++ {
		rule := granttest.Rule{At: granttest.AtReply, Match: lossy, Fault: granttest.Close}
		proxy := w.f.redisProxy
		switch random.IntN(8) {
		case 0:
			rule.Fault = granttest.HalfClose
		case 1:
			rule.At = granttest.BeforeSend
		case 2, 3:
			rule.Times = 6 // every attempt of some acquisition
		case 4:
			proxy, rule.At, rule.Match = w.f.pgProxy, granttest.BeforeSend, granttest.Commit
		case 5, 6:
			proxy, rule.At, rule.Match = w.f.pgProxy, granttest.AtComplete, granttest.Commit
		}
		lost := proxy.Add(rule)
		select {
		case <-lost.Fired():
		case <-stop:
			return
		}
		if n%20 == 19 {
			w.h.away.Store(true)
			w.f.pgProxy.SetPath(granttest.Refused)
			w.h.pause(stop, 10*time.Millisecond)
			w.f.pgProxy.SetPath(granttest.Open)
			w.h.away.Store(false)
		}
		w.h.pause(stop, time.Duration(random.IntN(60))*time.Millisecond)
	}
}

// chaos ends leases early, makes Redis forget, and burns tokens.
func (w *wholeHistory) chaos(t *testing.T, stop <-chan struct{}) {
	t.Helper()
	random := rand.New(rand.NewPCG(w.h.seed, 3000))
	for {
		w.h.pause(stop, time.Duration(5+random.IntN(20))*time.Millisecond)
		select {
		case <-stop:
			return
		default:
		}
		d := step{kind: "expire", resource: grant.ResourceFor(w.player(random, false))}
		keys := []string{w.direct.LockKey(d.resource)}
		switch random.IntN(4) {
		case 0:
			d.kind, keys = "forget", append(keys, w.direct.FenceKey(d.resource))
		case 1:
			d.kind, d.token = "burn", max(1, w.lastToken(d.resource)+int64(random.IntN(4)-2))
			d.owner = grant.BurnOwner(nonce())
		}
		call := time.Since(w.h.start)
		var err error
		if d.kind == "burn" {
			_, err = w.f.Pool.Exec(t.Context(), w.burn, pgx.NamedArgs{
				"resource": d.resource, "token": d.token, "tombstone": d.owner,
				"prefix": grant.BurnOwner(""),
			})
		} else {
			err = w.f.Redis.Del(t.Context(), keys...).Err()
		}
		if err != nil {
			t.Errorf("%s: %v", d.kind, err)
		}
		w.record(0, d, answer{}, call)
		w.note(d.kind)
	}
}

// player picks one of those whose answers get lost, or of the others.
func (w *wholeHistory) player(random *rand.Rand, lossy bool) string {
	n := random.IntN(wholePlayers / 2)
	if lossy {
		return fmt.Sprintf("lossy-%d", n)
	}
	return fmt.Sprintf("calm-%d", n)
}

// client lives through leases until there are enough operations.
func (w *wholeHistory) client(t *testing.T, number int) {
	t.Helper()
	random := rand.New(rand.NewPCG(w.h.seed, uint64(number)))
	var stalled []grant.Lease // it has not let go of them, and does not know whether they are lost
	for w.goOn() && !t.Failed() {
		player := w.player(random, random.IntN(2) == 0)
		resource := grant.ResourceFor(player)
		if w.exhausted(resource) {
			continue
		}
		if n := len(stalled); n > 0 && random.IntN(4) == 0 {
			late := stalled[n-1]
			stalled = stalled[:n-1]
			w.use(t, number, random, late)
			w.release(t, number, late)
			continue
		}
		held := w.acquire(t, number, random, resource)
		if held == nil {
			continue
		}
		w.use(t, number, random, *held)
		if random.IntN(6) == 0 {
			stalled = append(stalled, *held)
			continue
		}
		w.release(t, number, *held)
	}
}

func (w *wholeHistory) acquire(
	t *testing.T, number int, random *rand.Rand, resource string,
) *grant.Lease {
	t.Helper()
	d := step{
		kind: "acquire", resource: resource, owner: fmt.Sprintf("whole@test/%d#%s", number, nonce()),
		floor: w.floor(random, resource),
	}
	call := time.Since(w.h.start)
	a := w.store.Acquire(t.Context(), []grant.Ask{{
		Resource: resource, Owner: d.owner, Floor: d.floor,
	}})[0]
	switch {
	case a.Lease != nil:
		w.record(number, d, answer{granted: true, token: a.Lease.Token, owner: d.owner}, call)
		w.note("acquired")
		w.mu.Lock()
		w.last[resource] = a.Lease.Token
		w.mu.Unlock()
		a.Lease.Until = time.Time{}
		return a.Lease
	case a.Holder != nil:
		w.record(number, d, answer{token: a.Holder.Token, owner: a.Holder.Owner}, call)
		w.note("busy")
	default:
		w.record(number, d, answer{unknown: true}, call)
		d.kind = "abandon"
		w.record(number, d, answer{unknown: true}, call)
	}
	return nil
}

// floor is none, or one that was right not long ago: then the next token may be one that somebody
// has already.
func (w *wholeHistory) floor(random *rand.Rand, resource string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if random.IntN(3) == 0 {
		return 0
	}
	return max(0, w.last[resource]-int64(random.IntN(3)))
}

// use renews a lease now and then, and grants under it.
func (w *wholeHistory) use(t *testing.T, number int, random *rand.Rand, l grant.Lease) {
	t.Helper()
	d := step{resource: l.Resource, token: l.Token, owner: l.Owner}
	for range 1 + random.IntN(3) {
		for w.h.away.Load() {
			w.h.pause(t.Context().Done(), time.Millisecond)
		}
		call := time.Since(w.h.start)
		if random.IntN(4) == 0 {
			d.kind = "renew"
			a := w.store.Renew(t.Context(), []grant.Lease{l})[0]
			w.record(number, d, answer{unknown: a.Err != nil, granted: !a.Lost}, call)
			w.note(map[bool]string{true: "lost", false: "kept"}[a.Lost])
			continue
		}
		d.kind, d.amount = "grant", int64(100+100*random.IntN(5)/4)
		d.event = fmt.Sprintf("season-2026:%d", random.IntN(40))
		r := grant.Request{
			PlayerID: strings.TrimPrefix(l.Resource, grant.ResourceFor("")), EventID: d.event,
			Kind: "gems", Amount: d.amount, Actor: "history", Reason: "history", Held: &l,
		}
		result, err := w.engine.Grant(t.Context(), r)
		out := answer{outcome: result.Outcome, unknown: result.Outcome == grant.Unknown}
		if err != nil && !out.unknown {
			out.outcome = grant.Failed
		}
		w.record(number, d, out, call)
		w.note(out.outcome.String())
	}
}

func (w *wholeHistory) release(t *testing.T, number int, l grant.Lease) {
	t.Helper()
	call := time.Since(w.h.start)
	err := w.store.Release(t.Context(), []grant.Lease{l})[0]
	w.record(number, step{kind: "release", resource: l.Resource, token: l.Token, owner: l.Owner},
		answer{unknown: err != nil}, call)
	w.note("released")
}

func (w *wholeHistory) record(number int, in step, out answer, call time.Duration) {
	op := porcupine.Operation{
		ClientId: number, Call: int64(call), Return: int64(time.Since(w.h.start)), Input: in,
		Output: out,
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if out.unknown {
		op.Return = never
		w.doubts[in.resource]++
		w.seen["unknown"]++
	}
	w.ops = append(w.ops, op)
	w.made.Add(1)
}

func (w *wholeHistory) note(what string) {
	w.mu.Lock()
	w.seen[what]++
	w.mu.Unlock()
}

// exhausted: so many operations without an answer make a check take for ever.
func (w *wholeHistory) exhausted(resource string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.doubts[resource] >= wholeDoubtsMax
}
