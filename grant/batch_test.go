package grant_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// B21: one key twice in one batch is settled before SQL.
func TestB21SameKeyTwiceInOneBatch(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	lines := map[int]grant.Request{
		2: gems("p1", "e1", 100), 3: gems("p2", "e1", 100), 5: gems("p1", "e1", 100),
		7: gems("p2", "e1", 250), 9: gems("p1", "e1", 100),
	}
	var requests []grant.Request
	for _, line := range []int{2, 3, 5, 7, 9} {
		r := lines[line]
		r.Line = line
		requests = append(requests, r)
	}
	results, err := e.GrantMany(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, results[0], grant.Applied)
	for _, i := range []int{2, 4} {
		wantOutcome(t, results[i], grant.Replayed)
		if results[i].DuplicateOf != 2 || results[i].ReplayOf != results[0].LedgerID {
			t.Errorf("line %d: duplicate of %d", requests[i].Line, results[i].DuplicateOf)
		}
	}
	for i, other := range map[int]string{1: "line 7", 3: "line 3"} {
		wantOutcome(t, results[i], grant.Rejected)
		if !strings.Contains(results[i].Rejected.Problem, other) {
			t.Errorf("line %d: %q does not name %s", requests[i].Line,
				results[i].Rejected.Problem, other)
		}
	}
	if n := count(t, w, "select count(*) from reward_ledger"); n != 1 {
		t.Errorf("%d postings, want 1", n)
	}
	w.CheckInvariants(t)
}

// Concurrent calls of one key with other content are each right by themselves: the ledger
// decides, and none of them is rejected as a clash inside a batch.
func TestGatheredCallsWithOneKey(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[grant.Outcome]int{}
	)
	for i := range 60 {
		wg.Go(func() {
			res, err := e.Grant(t.Context(), gems("p1", "e1", int64(1+i%3)))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			seen[res.Outcome]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if seen[grant.Applied] != 1 || seen[grant.Replayed] != 19 || seen[grant.Mismatch] != 40 {
		t.Errorf("outcomes %v, want 1 applied, 19 replayed, 40 mismatch", seen)
	}
	w.CheckInvariants(t)
}

func TestGrantManyAnswersEveryItemInOrder(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{BatchMax: 7, Lanes: 3})
	var requests []grant.Request
	for i := range 100 {
		requests = append(requests, gems(fmt.Sprintf("p%02d", i%30), fmt.Sprint("e", i), 2))
	}
	requests[50].Amount = 0
	results, err := e.GrantMany(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, res := range results {
		want := grant.Applied
		if i == 50 {
			want = grant.Rejected
		}
		if res.Outcome != want || res.EventID != requests[i].EventID {
			t.Errorf("item %d: %s for %s", i, res.Outcome, res.EventID)
		}
	}
	w.CheckInvariants(t)
	left, err := storeOn(t, w).List(t.Context())
	if err != nil || len(left) != 0 {
		t.Errorf("leases left behind: %v, %v", left, err)
	}
}

// A row that the database refuses fails alone; the others of its batch are posted.
func TestPoisonItemFailsAlone(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{Lanes: 1})
	exec(t, w, `insert into reward_balance (player_id, kind, amount)
		values ('rich', 'gems', 9223372036854775807)`)
	requests := []grant.Request{gems("rich", "e1", 1)}
	for i := range 20 {
		requests = append(requests, gems(fmt.Sprint("p", i), "e1", 1))
	}
	results, err := e.GrantMany(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	var pg *pgconn.PgError
	if results[0].Outcome != grant.Failed || !errors.As(results[0].Err, &pg) {
		t.Errorf("the poison row answered %+v", results[0])
	}
	for _, res := range results[1:] {
		wantOutcome(t, res, grant.Applied)
	}
}

// A call that ends before its batch began leaves no trace; the batch of the others goes on.
func TestCancelledCallBeforeItsBatch(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	inFlight, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	e := engineOn(t, w, grant.Options{Lanes: 1, OnStep: func(s grant.Step) {
		if s == grant.StepSend {
			once.Do(func() { close(inFlight); <-goOn })
		}
	}})
	first := make(chan grant.Result, 1)
	go func() {
		res, _ := e.Grant(t.Context(), gems("p1", "e1", 1))
		first <- res
	}()
	<-inFlight
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Grant(ctx, gems("p2", "e1", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call answered %v", err)
	}
	close(goOn)
	wantOutcome(t, <-first, grant.Applied)
	if n := count(t, w, "select count(*) from reward_ledger where player_id = 'p2'"); n != 0 {
		t.Errorf("the cancelled call posted %d rows", n)
	}
	w.CheckInvariants(t)
}

// late is a lease store whose answers come after the time for which they may be trusted.
type late struct{ grant.Leases }

func (l late) Acquire(ctx context.Context, asks []grant.Ask) []grant.Answer {
	answers := l.Leases.Acquire(ctx, asks)
	for _, a := range answers {
		if a.Lease != nil {
			a.Lease.Until = time.Now().Add(-time.Millisecond)
		}
	}
	return answers
}

// B07 in the engine: nothing is sent under a lease that can no longer be trusted, and the lease
// goes back.
func TestB07NotSentAfterTheLease(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	e, err := grant.NewEngine(w.Pool, late{store}, grant.Options{Worker: "w@h/1", NewID: nonce})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Grant(t.Context(), gems("p1", "e1", 1))
	if err == nil || res.Outcome != grant.Failed {
		t.Fatalf("answered %s, %v; want an error that proves that nothing was sent", res.Outcome, err)
	}
	if n := count(t, w, "select count(*) from reward_ledger"); n != 0 {
		t.Errorf("%d postings, want none", n)
	}
	wantOutcome(t, mustGrant(t, engineOn(t, w, grant.Options{}), gems("p1", "e1", 1)),
		grant.Applied)
}
