package grant_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// The load: many more submissions than events, some of them too late.
const (
	loadClients     = 64
	loadSubmissions = 32_000 // by one process, and again by two
	loadEvents      = 2_000
	loadPlayers     = 400
	loadFence       = 1_000 // the token accepted for every resource before the load starts
)

// share is the part of the load that one process submits.
type share struct {
	Seed    uint64
	Clients int
	Part    int // this process submits every Parts-th submission, from Part on
	Parts   int
}

// tally counts outcomes by their word.
type tally struct {
	Outcomes  map[string]int
	Problems  []string // the first few answers that should not occur
	Deadlocks int64    // that PostgreSQL reported, retried or not
}

// loadRequest makes submission i: events come round again and again, one in ten with a token that
// is older than what was accepted.
func loadRequest(i int) grant.Request {
	event := (i / 10 * 9) + i%10
	stale := i%10 == 9
	if stale {
		event = i / 10
	}
	event %= loadEvents
	player := fmt.Sprintf("player-%d", event%loadPlayers)
	r := grant.Request{
		PlayerID: player, EventID: fmt.Sprintf("season-2026:%s:event-%d", player, event),
		Kind: "gems", Amount: int64(1 + event%7), Actor: "load", Reason: "load test",
	}
	if stale {
		r.Held = &grant.Lease{
			Resource: grant.ResourceFor(player), Owner: fmt.Sprintf("late@test/1#%d", i),
			Token: int64(1 + i%(loadFence-1)),
		}
	}
	return r
}

// submit runs the share with its clients and counts the answers.
func (s share) submit(t *testing.T, engine *grant.Engine) tally {
	t.Helper()
	var mine []int
	for i := s.Part; i < loadSubmissions; i += s.Parts {
		mine = append(mine, i)
	}
	rand.New(rand.NewPCG(s.Seed, uint64(s.Part))).Shuffle(len(mine), func(i, j int) {
		mine[i], mine[j] = mine[j], mine[i]
	})
	total := tally{Outcomes: map[string]int{}}
	var (
		mu      sync.Mutex
		clients sync.WaitGroup
	)
	for c := range s.Clients {
		clients.Go(func() {
			for i := c; i < len(mine); i += s.Clients {
				r := loadRequest(mine[i])
				result, err := engine.Grant(t.Context(), r)
				mu.Lock()
				total.add(r, result, err)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return total
}

func (y *tally) add(r grant.Request, result grant.Result, err error) {
	y.Outcomes[result.Outcome.String()]++
	stale := r.Held != nil
	right := err == nil && (result.Outcome == grant.Applied || result.Outcome == grant.Replayed)
	if stale {
		right = err == nil && result.Outcome == grant.StaleToken
	}
	if !right && len(y.Problems) < 5 {
		y.Problems = append(y.Problems, fmt.Sprintf("%s (stale %v): %s, %v", r.EventID, stale,
			result.Outcome, err))
	}
}

// TestFaultLoad submits 2,000 events 32,000 times from 64 clients, and the same from two processes.
func TestFaultLoad(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d processes", processes), func(t *testing.T) {
			f := newFaulty(t)
			f.seedFences(t)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			start := time.Now()
			var total tally
			if processes == 1 {
				// Straight to the servers: the proxies would be what is measured.
				engine := newEngine(t, f.newPool(t, f.direct(), 8),
					f.newStore(t, f.Redis, 5*time.Second), nil)
				total = share{Seed: seed, Clients: loadClients, Parts: 1}.submit(t, engine)
			} else {
				total = f.loadByChildren(t, seed, processes)
			}
			took := time.Since(start)
			t.Logf("%d submissions in %v: %.0f per second, %v", loadSubmissions, took,
				loadSubmissions/took.Seconds(), total.Outcomes)
			t.Logf("scoreboard: duplicates_submitted=%d duplicates_granted=%d", loadSubmissions,
				f.count(t, "select count(*) from reward_ledger"))
			checkLoad(t, f, total)
			if n := f.codes.deadlocks.Load() + total.Deadlocks; n != 0 {
				t.Errorf("%d deadlocks", n)
			}
		})
	}
}

func (f *faulty) loadByChildren(t *testing.T, seed uint64, processes int) tally {
	t.Helper()
	children := make([]*granttest.Child, processes)
	for i := range children {
		o := f.ordersFor(t, f.direct(), 5*time.Second)
		o.Share = &share{
			Seed: seed, Clients: loadClients / processes, Part: i, Parts: processes,
		}
		children[i] = startChild(t, o)
	}
	total := tally{Outcomes: map[string]int{}}
	for _, c := range children {
		var part tally
		if err := json.Unmarshal([]byte(c.Line()), &part); err != nil {
			t.Fatal(err)
		}
		for word, n := range part.Outcomes {
			total.Outcomes[word] += n
		}
		total.Problems = append(total.Problems, part.Problems...)
		total.Deadlocks += part.Deadlocks
	}
	return total
}

func checkLoad(t *testing.T, f *faulty, total tally) {
	t.Helper()
	for _, problem := range total.Problems {
		t.Errorf("wrong answer: %s", problem)
	}
	const stale = loadSubmissions / 10
	wanted := map[grant.Outcome]int{
		grant.Applied: loadEvents, grant.StaleToken: stale,
		grant.Replayed: loadSubmissions - loadEvents - stale,
	}
	for outcome, n := range wanted {
		if got := total.Outcomes[outcome.String()]; got != n {
			t.Errorf("%d answers %s, want %d", got, outcome, n)
		}
	}
	for query, n := range map[string]int64{
		"select count(*) from reward_ledger":                             loadEvents,
		"select count(*) from reward_claim where status = 'applied'":     loadEvents,
		"select count(*) from grant_refusal":                             stale,
		"select count(*) from reward_outbox where state = 'pending'":     loadEvents,
		"select count(distinct player_id) from reward_balance":           loadPlayers,
		"select count(*) from grant_refusal where token >= fence_token":  0,
		"select count(*) from reward_ledger where fence_token <= 1000":   0,
		"select sum(amount)::bigint from reward_balance":                 loadSum(),
		"select coalesce(sum(amount), 0)::bigint from reward_ledger":     loadSum(),
		"select count(*) from reward_ledger where lease_owner ~ '^late'": 0,
	} {
		if got := f.count(t, query); got != n {
			t.Errorf("%s: %d, want %d", query, got, n)
		}
	}
	f.CheckInvariants(t)
}

func loadSum() int64 {
	var sum int64
	for event := range loadEvents {
		sum += int64(1 + event%7)
	}
	return sum
}

// seedFences makes every resource's fence high, so that a low token is late from the start.
func (f *faulty) seedFences(t *testing.T) {
	t.Helper()
	_, err := f.Pool.Exec(t.Context(), `insert into reward_fence (resource, last_token, last_owner)
		select 'reward:player-' || n, $1, 'seed@test/1#0' from generate_series(0, $2 - 1) n`,
		loadFence, loadPlayers)
	if err != nil {
		t.Fatal(err)
	}
}

// TestFaultOverlappingImports (case B29): two engines import the same rows at once, one of them
// in reverse order. Every row is posted once, and nobody deadlocks.
func TestFaultOverlappingImports(t *testing.T) {
	t.Parallel()
	const rows = 10_000
	f := newFaulty(t)
	counts := make([]map[grant.Outcome]int, 2)
	var both sync.WaitGroup
	for side := range counts {
		requests := make([]grant.Request, rows)
		for i := range requests {
			n := i
			if side == 1 {
				n = rows - 1 - i
			}
			requests[i] = reward(fmt.Sprintf("player-%d", n))
		}
		engine := newEngine(t, f.newPool(t, f.direct(), 4),
			f.newStore(t, f.Redis, 30*time.Second), func(o *grant.Options) {
				o.BatchMax, o.HeldWait = 500, 2*time.Minute
			})
		counts[side] = map[grant.Outcome]int{}
		both.Go(func() {
			results, err := engine.GrantMany(t.Context(), requests)
			if err != nil {
				t.Error(err)
			}
			for _, result := range results {
				counts[side][result.Outcome]++
			}
		})
	}
	both.Wait()
	applied := counts[0][grant.Applied] + counts[1][grant.Applied]
	replayed := counts[0][grant.Replayed] + counts[1][grant.Replayed]
	if applied != rows || replayed != rows {
		t.Errorf("applied %d, replayed %d, want %d each: %v", applied, replayed, rows, counts)
	}
	if n := f.codes.deadlocks.Load(); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
	f.CheckInvariants(t)
}

// TestFaultOverlappingBatchesWithoutLeases takes the lease out of the way: the same rows meet in
// the database at once, in opposite orders, under tokens that their callers vouch for.
func TestFaultOverlappingBatchesWithoutLeases(t *testing.T) {
	t.Parallel()
	const rows, rounds = 200, 20
	f := newFaulty(t)
	for round := range rounds {
		var sides sync.WaitGroup
		for side := range 4 {
			requests := make([]grant.Request, rows)
			for i := range requests {
				n := i
				if side%2 == 1 {
					n = rows - 1 - i
				}
				r := reward(fmt.Sprintf("player-%d-%d", round, n))
				r.Held = &grant.Lease{
					Resource: grant.ResourceFor(r.PlayerID), Token: int64(1 + side),
					Owner: fmt.Sprintf("side@test/%d#%d", side, round),
				}
				requests[i] = r
			}
			engine := newEngine(t, f.pool, f.store, nil)
			sides.Go(func() {
				results, err := engine.GrantMany(t.Context(), requests)
				for _, result := range results {
					switch result.Outcome {
					case grant.Applied, grant.Replayed, grant.StaleToken:
					default:
						err = fmt.Errorf("%s: %s, %w", result.EventID, result.Outcome, result.Err)
					}
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		sides.Wait()
		if n := f.codes.deadlocks.Load(); n != 0 {
			t.Fatalf("%d deadlocks in round %d", n, round)
		}
	}
	if n := f.count(t, "select count(*) from reward_ledger"); n != rows*rounds {
		t.Errorf("%d postings, want %d", n, rows*rounds)
	}
	f.CheckInvariants(t)
}
