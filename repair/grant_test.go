package repair_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"

	"pgregory.net/rapid"
)

func TestGrantByHandIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	req := b.request("p1", "c:p1:s:gems:v1", 50)
	req.Actor = ""
	deed, err := b.operator.Grant(t.Context(), req)
	if err != nil || deed.Outcome != grant.Applied || deed.Actor != "alice" {
		t.Fatalf("%+v, %v", deed, err)
	}
	again, err := b.operator.Grant(t.Context(), req)
	if err != nil || again.Outcome != grant.Replayed || again.ReplayOf != deed.LedgerID {
		t.Fatalf("%+v, %v", again, err)
	}
	req.Amount = 60
	other, err := b.operator.Grant(t.Context(), req)
	if err != nil || other.Outcome != grant.Mismatch {
		t.Fatalf("%+v, %v", other, err)
	}
	rows := b.scalar(t, "select string_agg(phase || ' ' || outcome || ' ' || "+
		"coalesce(before ->> 'balance', '-') || ' ' || coalesce(after ->> 'balance', '-'), "+
		"', ' order by id) from operator_action")
	want := "result applied 0 50, result replayed - -, denied mismatch - -"
	if rows != want || deed.LogID != 1 || again.LogID != 2 || other.LogID != 3 {
		t.Fatalf("log: %s\nwant: %s", rows, want)
	}
	// The row of the deed that had an effect was written by the transaction of that effect.
	if same := b.scalar(t, "select (a.xmin = l.xmin)::text from operator_action a, "+
		"reward_ledger l where a.id = 1 and a.after ->> 'ledger_id' = l.id::text"); same != "true" {
		t.Error("the row and the posting are of two transactions")
	}
	command := b.scalar(t, "select min(command) from operator_action")
	if command != "rewardctl grant create --player p1 --event c:p1:s:gems:v1 --kind gems "+
		"--amount 50 --reason test" {
		t.Fatalf("command: %s", command)
	}
	if n, err := b.store.List(t.Context()); err != nil || len(n) != 0 {
		t.Fatalf("leases are left: %v %v", n, err)
	}
	b.CheckInvariants(t)
}

func TestGrantRejectsWithoutLogging(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, req := range []grant.Request{
		b.request("", "e", 1), b.request("p", "e", 0),
		{PlayerID: "p", EventID: "e", Kind: "gems", Amount: 1, Reason: "  "},
	} {
		deed, err := b.operator.Grant(t.Context(), req)
		if err != nil || deed.Outcome != grant.Rejected || deed.Result.Rejected == nil {
			t.Errorf("%+v: %+v, %v", req, deed, err)
		}
	}
	if n := b.scalar(t, "select count(*) from operator_action"); n != "0" {
		t.Fatalf("%s rows logged", n)
	}
}

// The failing engine proves that a deed which no transaction took on is still written down.
type failingEngine struct{ cancel context.CancelFunc }

func (e failingEngine) Grant(ctx context.Context, _ grant.Request) (grant.Result, error) {
	e.cancel()
	return grant.Result{}, &grant.BackendError{
		Backend: grant.Redis, Op: "acquire", Err: errors.New("down"),
	}
}

func TestGrantFailureIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	o, err := repair.New(b.Pool, b.store, failingEngine{cancel}, repair.Options{
		Operator: "alice", NewID: rand.Text,
	})
	if err != nil {
		t.Fatal(err)
	}
	deed, err := o.Grant(ctx, b.request("p1", "e1", 5))
	if !grant.Unavailable(err) || deed.LogID == 0 {
		t.Fatalf("%+v, %v", deed, err)
	}
	if got := b.scalar(t, "select phase || ' ' || outcome from operator_action"); got !=
		"failed failed: nothing was granted" {
		t.Fatalf("row: %s", got)
	}
}

// A lease that another owner holds is written down as what it is, and the grant can be given again.
func TestGrantUnderAHeldLeaseIsLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.take(t, "reward:p1", "worker")
	deed, err := b.operator.Grant(t.Context(), b.request("p1", "e1", 5))
	if err != nil || deed.Outcome != grant.LeaseHeld || deed.LogID != 1 {
		t.Fatalf("%+v, %v", deed, err)
	}
	if got := b.scalar(t, "select phase || ' ' || outcome from operator_action"); got !=
		"denied lease_held" {
		t.Fatalf("row: %s", got)
	}
}

// What a preview predicts is what the engine then answers.
func TestPreviewPredictsTheEngine(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	_, err := b.Pool.Exec(ctx, "insert into reward_claim (player_id, reward_event_id, kind, amount) "+
		"values ('p1', 'due', 'gems', 7), ('p1', 'due2', 'gold', 7)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.Grant(ctx, b.request("p1", "e1", 50)); err != nil {
		t.Fatal(err)
	}
	stale := b.request("p2", "e1", 1)
	stale.Held = &grant.Lease{Owner: "late", Token: 3}
	newer := b.request("p2", "e2", 1)
	newer.Held = &grant.Lease{Owner: "newer", Token: 4}
	if _, err := b.engine.Grant(ctx, newer); err != nil {
		t.Fatal(err)
	}
	collides := b.request("p2", "e3", 1)
	collides.Held = &grant.Lease{Owner: "other", Token: 4}
	reqs := []grant.Request{
		b.request("p1", "e1", 50), b.request("p1", "e1b", 50), b.request("p1", "due", 7),
		b.request("p1", "due2", 7), b.request("p1", "e9", -1), stale, collides,
		b.request("p3", "x", 5),
	}
	for i := range reqs {
		preview, err := b.operator.PreviewGrant(ctx, reqs[i])
		if err != nil {
			t.Fatal(err)
		}
		real, err := b.engine.Grant(ctx, reqs[i])
		if err != nil {
			t.Fatal(err)
		}
		if preview.Result.Outcome != real.Outcome || preview.Then != real.Outcome {
			t.Errorf("%d: predicted %s, got %s", i, preview.Result.Outcome, real.Outcome)
		}
		if !slices.Equal(preview.Result.Differs, real.Differs) ||
			preview.Result.ReplayOf != real.ReplayOf {
			t.Errorf("%d: predicted %+v, got %+v", i, preview.Result, real)
		}
		gain := preview.BalanceAfter - preview.BalanceBefore
		if (real.Outcome == grant.Applied) != (gain == reqs[i].Amount && gain != 0) {
			t.Errorf("%d: %s, yet the balance goes from %d to %d", i, real.Outcome,
				preview.BalanceBefore, preview.BalanceAfter)
		}
		if preview.Note == "" {
			t.Errorf("%d: no note", i)
		}
	}
}

// A batch is predicted as the engine settles it: repeats, clashes and running balances.
func TestPreviewsOfABatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	check := func(rt *rapid.T) {
		tag := rapid.StringMatching(`[a-z]{8}`).Draw(rt, "tag")
		n := rapid.IntRange(1, 12).Draw(rt, "n")
		reqs := make([]grant.Request, n)
		for i := range reqs {
			reqs[i] = b.request("p-"+tag, rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).
				Draw(rt, "event"), rapid.Int64Range(1, 2).Draw(rt, "amount"))
			reqs[i].Line = i + 2
		}
		predicted, err := b.operator.Preview(t.Context(), reqs)
		if err != nil {
			rt.Fatal(err)
		}
		real, err := b.engine.GrantMany(t.Context(), reqs)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range reqs {
			p, r := predicted[i], real[i]
			if p.Outcome != r.Outcome || p.DuplicateOf != r.DuplicateOf ||
				(p.Rejected == nil) != (r.Rejected == nil) {
				rt.Fatalf("item %d %+v: predicted %+v, got %+v", i, reqs[i], p, r)
			}
			if p.Rejected != nil && *p.Rejected != *r.Rejected {
				rt.Fatalf("item %d: predicted %v, got %v", i, p.Rejected, r.Rejected)
			}
		}
	}
	rapid.Check(t, check)
	b.CheckInvariants(t)
}

func TestPreviewShowsTheHolder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l := b.take(t, "reward:p1", "w")
	p, err := b.operator.PreviewGrant(t.Context(), b.request("p1", "e1", 5))
	if err != nil {
		t.Fatal(err)
	}
	if p.Result.Outcome != grant.LeaseHeld || p.Then != grant.Applied ||
		p.Holder == nil || p.Holder.Owner != l.Owner || p.BalanceAfter != 5 ||
		!strings.Contains(p.Note, l.Owner) {
		t.Fatalf("%+v", p)
	}
	random := b.request("p2", "comp:550e8400-e29b-41d4-a716-446655440000", 5)
	if p, err = b.operator.PreviewGrant(t.Context(), random); err != nil || len(p.Warnings) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
}

// Other data under the key is in the way, but nobody holds a lease by it.
func TestPreviewShowsForeignData(t *testing.T) {
	t.Parallel()
	b := setup(t)
	key := b.store.LockKey(grant.ResourceFor("p1"))
	if err := b.Redis.HSet(t.Context(), key, "uuid", 1).Err(); err != nil {
		t.Fatal(err)
	}
	p, err := b.operator.PreviewGrant(t.Context(), b.request("p1", "c:p1:s:gems:v1", 50))
	if err != nil || p.Result.Outcome != grant.LeaseHeld || !p.Result.Holder.Foreign ||
		!strings.Contains(p.Note, "other data is under the lock's key") ||
		strings.Contains(p.Note, "token") {
		t.Fatalf("%+v, %v", p, err)
	}
}

func TestPreviewWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := b.operator.PreviewGrant(t.Context(), b.request("p1", "e1", 5)); err != nil {
		t.Fatal(err)
	}
	if n := b.scalar(t, "select (select count(*) from operator_action) + "+
		"(select count(*) from reward_ledger) + (select count(*) from reward_fence)"); n != "0" {
		t.Fatalf("%s rows written", n)
	}
	if keys := b.Redis.Exists(t.Context(), b.store.LockKey("reward:p1"),
		b.store.FenceKey("reward:p1")).Val(); keys != 0 {
		t.Fatal("a preview took a lease")
	}
}

// A thousand previews are one query; a large batch is done in a bounded time.
func TestPreviewOfManyIsSetBased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	reqs := make([]grant.Request, 2500)
	for i := range reqs {
		reqs[i] = b.request("p"+rand.Text(), "e", 5)
	}
	started := time.Now()
	results, err := b.operator.Preview(t.Context(), reqs)
	if err != nil || len(results) != len(reqs) {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, r := range results {
		if r.Outcome != grant.Applied {
			t.Fatalf("%+v", r)
		}
	}
	if took := time.Since(started); took > 5*time.Second {
		t.Fatalf("took %s", took)
	}
}

// A second compensation under another event is not stopped by the unique key: the preview of a
// grant by hand warns of it, unless it is long ago, of another amount, or was taken back.
func TestPreviewWarnsOfTheLike(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	for _, e := range []string{"first", "second"} {
		if _, err := b.operator.Grant(ctx, b.request("p1", e, 200)); err != nil {
			t.Fatal(err)
		}
	}
	warned := func(event string, amount int64) string {
		t.Helper()
		p, err := b.operator.PreviewGrant(ctx, b.request("p1", event, amount))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(p.Warnings, "\n")
	}
	if got := warned("third", 200); !strings.Contains(got, "the player received the same, 200 gems, "+
		"0 minutes ago for second, by ") {
		t.Errorf("it warns %q", got)
	}
	for what, got := range map[string]string{
		"another amount": warned("third", 201), "posted already": warned("first", 200),
	} {
		if got != "" {
			t.Errorf("%s: it warns %q", what, got)
		}
	}
	b.exec(t, "alter table reward_ledger disable trigger all")
	b.exec(t, "update reward_ledger set created_at = created_at - interval '3 days'")
	if got := warned("third", 200); !strings.Contains(got, "3 days ago") {
		t.Errorf("after three days it warns %q", got)
	}
	b.exec(t, "update reward_ledger set created_at = created_at - interval '5 days'")
	if got := warned("third", 200); got != "" {
		t.Errorf("after eight days it warns %q", got)
	}
}
