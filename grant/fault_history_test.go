package grant_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// TestFaultLinearizable runs a random history of grants against real servers while answers get
// lost, and checks that some order of the operations explains every answer: with unknown ones
// both as done and as not done. FAULT_SEED repeats a history's choices.
func TestFaultLinearizable(t *testing.T) {
	t.Parallel()
	seed := faultSeed(t)
	f := newFaulty(t)
	h := &history{f: f, seed: seed, start: time.Now()}
	h.run(t)
	sometimes := h.outcomes()
	t.Logf("%d operations: %v", len(h.ops), sometimes)
	result, info := porcupine.CheckOperationsVerbose(ledgerModel(), h.ops, time.Minute)
	if result != porcupine.Ok {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("history-%d.html", seed))
		if err := porcupine.VisualizePath(ledgerModel(), info, path); err != nil {
			path = err.Error()
		}
		t.Fatalf("no order explains the answers (%s): %s", result, path)
	}
	for _, outcome := range h.missing() {
		t.Errorf("the history never saw %s: it proves less than it claims", outcome)
	}
	f.CheckInvariants(t)
}

// faultSeed is a history's seed: FAULT_SEED, or a new one. A failing test says how to repeat it.
func faultSeed(t *testing.T) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text, set := os.LookupEnv("FAULT_SEED"); set {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed %d: run again with FAULT_SEED=%d go test ./grant -run '^%s$'", seed, seed,
		t.Name())
	return seed
}

// TestFaultModelRefuses feeds the model histories that must not pass: a checker that accepts
// everything would prove nothing.
func TestFaultModelRefuses(t *testing.T) {
	t.Parallel()
	op := func(
		at int64, event string, amount, token int64, outcome grant.Outcome,
	) porcupine.Operation {
		return porcupine.Operation{
			Input: asked{"r", event, amount},
			Call:  at, Output: told{outcome, token, "owner-" + strconv.FormatInt(token, 10)},
			Return: at + 1,
		}
	}
	bad := map[string][]porcupine.Operation{
		"applied twice": {op(0, "e", 1, 1, grant.Applied), op(2, "e", 1, 2, grant.Applied)},
		"replayed before applied": {
			op(0, "e", 1, 1, grant.Replayed), op(2, "e", 1, 2, grant.Applied),
		},
		"replayed with other content": {
			op(0, "e", 1, 1, grant.Applied), op(2, "e", 2, 2, grant.Replayed),
		},
		"mismatch without a posting": {op(0, "e", 1, 1, grant.Mismatch)},
		"an old token passed": {
			op(0, "e", 1, 5, grant.Applied), op(2, "f", 1, 4, grant.Applied),
		},
		"a new token refused": {
			op(0, "e", 1, 5, grant.Applied), op(2, "f", 1, 6, grant.StaleToken),
		},
		"a failure that was posted": {
			op(0, "e", 1, 1, grant.Failed), op(2, "e", 1, 2, grant.Replayed),
		},
	}
	for name, ops := range bad {
		if porcupine.CheckOperations(ledgerModel(), ops) {
			t.Errorf("%s: the model accepts it", name)
		}
	}
	good := []porcupine.Operation{
		op(0, "e", 1, 1, grant.Unknown), op(2, "e", 1, 2, grant.Replayed),
		op(4, "f", 1, 1, grant.StaleToken), op(6, "e", 2, 3, grant.Mismatch),
	}
	good[0].Return = never
	if !porcupine.CheckOperations(ledgerModel(), good) {
		t.Error("the model refuses a history that is right")
	}
}

// asked and told are an operation's input and output.
type asked struct {
	resource string
	event    string
	amount   int64
}

type told struct {
	outcome grant.Outcome
	token   int64
	owner   string
}

// ledgerState is what one resource looks like: its fence, and what is posted.
type ledgerState struct {
	token  int64
	owner  string
	posted map[string]int64 // amount by event
}

const never = int64(1) << 62 // an unknown operation may take effect at any later time

// ledgerModel is the grant as it should be, for one resource.
func ledgerModel() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byResource := map[string][]porcupine.Operation{}
			for _, op := range history {
				r := op.Input.(asked).resource
				byResource[r] = append(byResource[r], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byResource {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() []any { return []any{ledgerState{posted: map[string]int64{}}} },
		Step: func(state, input, output any) []any {
			return stepLedger(state.(ledgerState), input.(asked), output.(told))
		},
		Equal: func(a, b any) bool {
			x, y := a.(ledgerState), b.(ledgerState)
			return x.token == y.token && x.owner == y.owner && maps.Equal(x.posted, y.posted)
		},
		DescribeOperation: func(input, output any) string {
			in, out := input.(asked), output.(told)
			return fmt.Sprintf("%s %d under %d: %s", in.event, in.amount, out.token, out.outcome)
		},
	}
	return model.ToModel()
}

// stepLedger returns the states that may follow when the operation answered as it did.
func stepLedger(s ledgerState, in asked, out told) []any {
	passes := out.token > s.token || (out.token == s.token && out.owner == s.owner)
	amount, there := s.posted[in.event]
	fenced := ledgerState{token: out.token, owner: out.owner, posted: s.posted}
	paid := fenced
	paid.posted = maps.Clone(s.posted)
	paid.posted[in.event] = in.amount
	legal := false
	next := s
	switch out.outcome {
	case grant.Failed, grant.LeaseHeld, grant.Rejected:
		legal = true
	case grant.StaleToken:
		legal = out.token < s.token
	case grant.TokenCollision:
		legal = out.token == s.token && out.owner != s.owner
	case grant.Mismatch:
		legal, next = passes && there && amount != in.amount, fenced
	case grant.Replayed:
		legal, next = passes && there && amount == in.amount, fenced
	case grant.Applied:
		legal, next = passes && !there, paid
	case grant.Unknown:
		return unknownNext(s, fenced, paid, passes, there)
	}
	if !legal {
		return nil
	}
	return []any{next}
}

// unknownNext: nothing happened, or what would have happened with an answer.
func unknownNext(s, fenced, paid ledgerState, passes, there bool) []any {
	states := []any{s}
	switch {
	case passes && there:
		states = append(states, fenced)
	case passes:
		states = append(states, paid)
	}
	return states
}

// history records operations of several clients.
type history struct {
	f     *faulty
	seed  uint64
	start time.Time
	away  atomic.Bool // PostgreSQL is out of reach: the engine may give up looking

	mu  sync.Mutex
	ops []porcupine.Operation
}

const (
	historyClients = 6
	historyOps     = 25  // per client at least
	historyOpsMax  = 250 // per client while an outcome has not been seen
)

func (h *history) run(t *testing.T) {
	t.Helper()
	engine := h.f.engine(t, func(o *grant.Options) {
		o.HeldWait, o.Lanes = 100*time.Millisecond, 3
		o.Wait = h.wait
	})
	stop := make(chan struct{})
	var faults, clients sync.WaitGroup
	faults.Go(func() { h.makeFaults(stop) })
	for c := range historyClients {
		clients.Go(func() { h.client(t, engine, c) })
	}
	clients.Wait()
	close(stop)
	faults.Wait()
}

// wait is the engine's pause: while PostgreSQL is away the engine gives up at once instead of
// after its full patience, so that a short history sees unknown answers.
func (h *history) wait(ctx context.Context, d time.Duration) error {
	if h.away.Load() {
		return errAway
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

var errAway = errors.New("the test's PostgreSQL is out of reach")

// makeFaults loses answers of both servers, again and again, and now and then takes PostgreSQL
// away for a while just after a commit.
func (h *history) makeFaults(stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(h.seed, 1000))
	losses := []granttest.Fault{granttest.Close, granttest.HalfClose}
	var kinds []int // every kind comes round, in an order of its own each time
	for {
		if len(kinds) == 0 {
			kinds = random.Perm(8)
		}
		kind := kinds[0]
		kinds = kinds[1:]
		fault := losses[random.IntN(len(losses))]
		var lost *granttest.Trigger
		switch {
		case kind < 3:
			lost = h.f.redisProxy.Add(granttest.Rule{At: granttest.AtReply, Fault: fault})
		case kind < 5:
			lost = h.f.pgProxy.Add(granttest.Rule{
				At: granttest.BeforeSend, Match: granttest.Commit, Fault: granttest.Close,
			})
		default:
			lost = h.f.pgProxy.Add(granttest.Rule{
				At: granttest.AtComplete, Match: granttest.Commit, Fault: fault,
			})
		}
		select {
		case <-lost.Fired():
		case <-stop:
			return
		}
		if kind == 7 {
			h.away.Store(true)
			h.f.pgProxy.SetPath(granttest.Refused)
			h.pause(stop, 30*time.Millisecond)
			h.f.pgProxy.SetPath(granttest.Open)
			h.away.Store(false)
		}
		h.pause(stop, time.Duration(random.IntN(80))*time.Millisecond)
	}
}

func (h *history) pause(stop <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	}
}

// client submits random grants of few events of few players, some under tokens of its own.
func (h *history) client(t *testing.T, engine *grant.Engine, number int) {
	t.Helper()
	random := rand.New(rand.NewPCG(h.seed, uint64(number)))
	for i := 0; i < historyOps || (i < historyOpsMax && len(h.missing()) > 0); i++ {
		player := fmt.Sprintf("player-%d", random.IntN(3))
		r := grant.Request{
			PlayerID: player, EventID: fmt.Sprintf("season-2026:%s:%d", player, random.IntN(12)),
			Kind: "gems", Amount: 100, Actor: "history", Reason: "history",
		}
		if random.IntN(6) == 0 {
			r.Amount = 200
		}
		if random.IntN(5) == 0 {
			r.Held = &grant.Lease{
				Resource: grant.ResourceFor(player), Token: int64(1 + random.IntN(20)),
				Owner: fmt.Sprintf("history@test/%d#%d", number, i),
			}
		}
		for h.away.Load() { // what cannot be sent proves nothing
			h.pause(t.Context().Done(), time.Millisecond)
		}
		call := time.Since(h.start)
		result, err := engine.Grant(t.Context(), r)
		h.record(number, r, result, err, call)
	}
}

func (h *history) record(
	number int, r grant.Request, result grant.Result, err error, call time.Duration,
) {
	outcome := result.Outcome
	if err != nil && outcome != grant.Unknown {
		outcome = grant.Failed
	}
	op := porcupine.Operation{
		ClientId: number, Call: int64(call), Return: int64(time.Since(h.start)),
		Input:  asked{grant.ResourceFor(r.PlayerID), r.EventID, r.Amount},
		Output: told{outcome, result.Token, result.Owner},
	}
	if outcome == grant.Unknown {
		op.Return = never
	}
	h.mu.Lock()
	h.ops = append(h.ops, op)
	h.mu.Unlock()
}

// missing lists the outcomes that a history must have seen to prove anything, and has not.
func (h *history) missing() []grant.Outcome {
	seen := h.outcomes()
	return slices.DeleteFunc([]grant.Outcome{
		grant.Applied, grant.Replayed, grant.Mismatch, grant.StaleToken, grant.Unknown,
	}, func(o grant.Outcome) bool { return seen[o] > 0 })
}

func (h *history) outcomes() map[grant.Outcome]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	counts := map[grant.Outcome]int{}
	for _, op := range h.ops {
		counts[op.Output.(told).outcome]++
	}
	return counts
}
