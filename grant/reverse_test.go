package grant_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// takeBack is the reversal of a posting, whole.
func takeBack(posted grant.Result) grant.Reversal {
	return grant.Reversal{
		Posting: posted.LedgerID, PlayerID: posted.PlayerID, Kind: posted.Kind,
		Posted: posted.Amount, Part: 1, Actor: "tester", Reason: "granted by mistake",
	}
}

func mustReverse(t testing.TB, e *grant.Engine, r grant.Reversal) grant.Reversed {
	t.Helper()
	done, err := e.Reverse(t.Context(), r, nil)
	if err != nil {
		t.Fatalf("reverse %d: %v", r.Posting, err)
	}
	return done
}

func wantReversed(t testing.TB, done grant.Reversed, want grant.ReverseOutcome) {
	t.Helper()
	if done.Outcome != want {
		t.Fatalf("outcome %s, want %s: %+v", done.Outcome, want, done)
	}
}

// B42: a posting is taken back once; the second time nothing moves.
func TestB42ReverseOnce(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	mustGrant(t, e, gems("p1", "other", 7))
	posted := mustGrant(t, e, gems("p1", "e1", 100))
	done := mustReverse(t, e, takeBack(posted))
	wantReversed(t, done, grant.ReverseDone)
	if done.Taken != 100 || done.Left != 0 || done.Parts != 1 || done.BalanceBefore != 107 ||
		done.BalanceAfter != 7 || done.PostedFor != "e1" || done.At.IsZero() ||
		done.EventID != grant.ReversalID(posted.LedgerID, 1) || done.LedgerID == 0 {
		t.Fatalf("answer %+v", done)
	}
	again := mustReverse(t, e, takeBack(posted))
	wantReversed(t, again, grant.AlreadyReversed)
	if again.LedgerID != done.LedgerID || !again.At.Equal(done.At) || again.Taken != 100 ||
		again.BalanceAfter != 7 || again.Actor != "tester" {
		t.Fatalf("the second answer does not show the first reversal: %+v", again)
	}
	if n := count(t, w, `select count(*) from reward_ledger l join reward_outbox o
		on o.ledger_id = l.id where l.reverses = (select id from reward_ledger
		where reward_event_id = 'e1') and l.amount = -100 and l.fence_token > 0`); n != 1 {
		t.Fatalf("%d reversals with an outbox row, want 1", n)
	}
	// Replaying the grant must not pay again what was taken back.
	wantOutcome(t, mustGrant(t, e, gems("p1", "e1", 100)), grant.Replayed)
	w.CheckInvariants(t)
}

// What does not fit moves nothing.
func TestReverseRefuses(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	posted := mustGrant(t, e, gems("p1", "e1", 100))
	mustGrant(t, e, gems("p2", "e1", 100))
	first := takeBack(posted)
	first.Amount = 10
	part := mustReverse(t, e, first)
	change := func(f func(*grant.Reversal)) grant.Reversal {
		r := takeBack(posted)
		r.Part = 2
		f(&r)
		return r
	}
	for name, c := range map[string]struct {
		r    grant.Reversal
		want grant.ReverseOutcome
	}{
		"no posting": {change(func(r *grant.Reversal) { r.Posting = 1 << 40 }), grant.ReverseNotFound},
		"a reversal": {change(func(r *grant.Reversal) {
			r.Posting, r.Part = part.LedgerID, 1
		}), grant.IsReversal},
		"another player": {change(func(r *grant.Reversal) { r.PlayerID = "p2" }), grant.ReverseChanged},
		"another kind":   {change(func(r *grant.Reversal) { r.Kind = "gold" }), grant.ReverseChanged},
		"another amount": {change(func(r *grant.Reversal) { r.Posted = 200 }), grant.ReverseChanged},
		"a part ahead":   {change(func(r *grant.Reversal) { r.Part = 3 }), grant.ReverseChanged},
		"a part again":   {change(func(r *grant.Reversal) { r.Part = 1 }), grant.AlreadyReversed},
		"over the rest":  {change(func(r *grant.Reversal) { r.Amount = 91 }), grant.ReverseChanged},
		"other than seen": {change(func(r *grant.Reversal) {
			r.Expect = 80
		}), grant.ReverseChanged},
		"over the amount": {change(func(r *grant.Reversal) { r.Amount = 101 }), grant.ReverseRejected},
		"part 0":          {change(func(r *grant.Reversal) { r.Part = 0 }), grant.ReverseRejected},
		"no reason":       {change(func(r *grant.Reversal) { r.Reason = "" }), grant.ReverseRejected},
		"no policy": {change(func(r *grant.Reversal) {
			r.Policy = "force"
		}), grant.ReverseRejected},
		"a stale token": {change(func(r *grant.Reversal) {
			r.Held = &grant.Lease{Owner: "old", Token: 1}
		}), grant.ReverseCollision},
	} {
		if c.want == grant.ReverseCollision {
			mustGrant(t, e, gems("p1", "newer", 1)) // raises the fence above token 1
			c.want = grant.ReverseStale
		}
		done := mustReverse(t, e, c.r)
		if done.Outcome != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, done.Outcome, c.want, done)
		}
	}
	if n := count(t, w, "select count(*) from reward_ledger where reverses is not null"); n != 1 {
		t.Fatalf("%d reversals, want 1", n)
	}
	if n := count(t, w, "select count(*) from grant_refusal where outcome = 'stale_token'"); n != 1 {
		t.Fatalf("%d refusals were recorded, want 1", n)
	}
	w.CheckInvariants(t)
}

// The policies: refuse and skip leave everything, to-zero takes what is there and remembers the
// rest, which a later reversal takes.
func TestReversePolicies(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	posted := mustGrant(t, e, gems("p1", "e1", 100))
	spend(t, w, "p1", 60)
	r := takeBack(posted)
	refused := mustReverse(t, e, r)
	wantReversed(t, refused, grant.AlreadySpent)
	if refused.BalanceBefore != 40 || refused.Left != 100 {
		t.Fatalf("the refusal does not show balance and rest: %+v", refused)
	}
	r.Policy = grant.PolicySkip
	wantReversed(t, mustReverse(t, e, r), grant.ReverseSkipped)
	r.Policy, r.Expect = grant.PolicyToZero, 100
	wantReversed(t, mustReverse(t, e, r), grant.ReverseChanged)
	r.Expect = 40
	done := mustReverse(t, e, r)
	wantReversed(t, done, grant.ReverseDone)
	if done.Taken != 40 || done.Left != 60 || done.BalanceAfter != 0 {
		t.Fatalf("to zero: %+v", done)
	}
	wantReversed(t, mustReverse(t, e, r), grant.AlreadyReversed)
	r.Part, r.Expect = 2, 0
	wantReversed(t, mustReverse(t, e, r), grant.AlreadySpent)
	mustGrant(t, e, gems("p1", "e2", 500))
	rest := mustReverse(t, e, r)
	wantReversed(t, rest, grant.ReverseDone)
	if rest.Taken != 60 || rest.Left != 0 || rest.Parts != 2 {
		t.Fatalf("the rest: %+v", rest)
	}
	r.Part = 3
	wantReversed(t, mustReverse(t, e, r), grant.AlreadyReversed)
}

// spend takes from a balance as a game does, outside the ledger.
func spend(t *testing.T, w *granttest.World, player string, amount int64) {
	t.Helper()
	tag, err := w.Pool.Exec(t.Context(), `update reward_balance set amount = amount - $2
		where player_id = $1 and kind = 'gems'`, player, amount)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("spend %d: %v %v", amount, tag, err)
	}
}

// Several reversals of one batch share a balance: each sees what the ones before it took.
func TestReverseManyOfOneBalance(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	var all []grant.Reversal
	for i := range 4 {
		all = append(all, takeBack(mustGrant(t, e, gems("p1", fmt.Sprint("e", i), 30))))
	}
	all = append(all, all[0]) // the same posting again, in one call
	spend(t, w, "p1", 50)     // 70 left for 4 times 30
	results, err := e.ReverseMany(t.Context(), all, nil)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, r := range results {
		words = append(words, r.Outcome.String())
	}
	want := "[reversed reversed already_spent already_spent already_reversed]"
	if fmt.Sprint(words) != want {
		t.Fatalf("%v, want %s", words, want)
	}
	if n := count(t, w, "select amount from reward_balance"); n != 10 {
		t.Fatalf("balance %d, want 10", n)
	}
}

// 200 concurrent reversals of 100 postings, each twice, through two engines: 100 are reversed, 100
// are answered as already reversed, and the sums are exact.
func TestReverseTwiceConcurrently(t *testing.T) {
	t.Parallel()
	const postings, players = 100, 10
	w := granttest.New(t)
	engines := []*grant.Engine{
		engineOn(t, w, grant.Options{HeldWait: 30 * time.Second}),
		engineOn(t, w, grant.Options{Worker: "worker-2@test/2", HeldWait: 30 * time.Second}),
	}
	var requests []grant.Request
	for i := range postings {
		player := "p" + strconv.Itoa(i%players)
		requests = append(requests, gems(player, "e"+strconv.Itoa(i), int64(10+i)))
	}
	posted, err := engines[0].GrantMany(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	start := make(chan struct{})
	outcomes := make(chan grant.Reversed, 2*postings)
	var wg sync.WaitGroup
	for i := range 2 * postings {
		wg.Go(func() {
			<-start
			done, err := engines[i%2].Reverse(t.Context(), takeBack(posted[i/2]), nil)
			if err != nil {
				t.Error(err)
			}
			outcomes <- done
		})
	}
	close(start)
	wg.Wait()
	close(outcomes)
	counts := map[grant.ReverseOutcome]int{}
	for done := range outcomes {
		counts[done.Outcome]++
	}
	if counts[grant.ReverseDone] != postings || counts[grant.AlreadyReversed] != postings {
		t.Fatalf("outcomes %v, want %d reversed and %d already reversed", counts, postings, postings)
	}
	if n := count(t, w, "select count(*) from reward_balance where amount <> 0"); n != 0 {
		t.Fatalf("%d balances are not back to zero", n)
	}
	if n := count(t, w, "select sum(amount)::bigint from reward_ledger"); n != 0 {
		t.Fatalf("the ledger adds up to %d, want 0", n)
	}
	if n := count(t, w, "select count(*) from reward_ledger"); n != 2*postings {
		t.Fatalf("%d postings, want %d", n, 2*postings)
	}
	w.CheckInvariants(t)
}

// Nobody can grant under an id that is kept for reversals: not through the engine, not by calling
// the function, not by a plain insert.
func TestReverseIdsAreReserved(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	posted := mustGrant(t, e, gems("p1", "e1", 100))
	id := grant.ReversalID(posted.LedgerID, 1)
	res := mustGrant(t, e, gems("p1", id, 100))
	wantOutcome(t, res, grant.Rejected)
	if res.Rejected.Field != "reward_event_id" {
		t.Fatalf("%+v", res.Rejected)
	}
	_, err := w.Pool.Exec(t.Context(), `insert into reward_ledger (player_id, reward_event_id,
		kind, amount, fence_token, lease_owner, actor, reason)
		values ('p1', $1, 'gems', 100, 1, 'o', 'a', 'r')`, id)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.ConstraintName != "reward_ledger_reverse_reserved" {
		t.Fatalf("a plain insert: %v", err)
	}
	wantReversed(t, mustReverse(t, e, takeBack(posted)), grant.ReverseDone)
}

func TestReverseOutcomesAreClosed(t *testing.T) {
	t.Parallel()
	for _, o := range grant.ReverseOutcomes() {
		back, err := grant.ParseReverseOutcome(o.String())
		if err != nil || back != o {
			t.Errorf("%d: %v, %v", o, back, err)
		}
		o.Final() // panics outside the list
	}
	for _, word := range []string{"", "failed", "done"} {
		if _, err := grant.ParseReverseOutcome(word); err == nil {
			t.Errorf("%q is taken for an outcome", word)
		}
	}
}
