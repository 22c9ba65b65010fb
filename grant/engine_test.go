package grant_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

func TestMain(m *testing.M) {
	logging.Disable() // tests take servers down on purpose
	granttest.Main(m)
}

// newID makes the nonce of an owner.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// storeOn is a lease store on the world's Redis and prefix.
func storeOn(t testing.TB, w *granttest.World) *lease.Store {
	t.Helper()
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// engineOn is an engine on real servers.
func engineOn(t testing.TB, w *granttest.World, opt grant.Options) *grant.Engine {
	t.Helper()
	if opt.Worker == "" {
		opt.Worker = "worker-1@test/1"
	}
	opt.NewID = newID
	engine, err := grant.NewEngine(w.Pool, storeOn(t, w), opt)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func gems(player, event string, amount int64) grant.Request {
	return grant.Request{
		PlayerID: player, EventID: event, Kind: "gems", Amount: amount,
		Actor: "tester", Reason: "test",
	}
}

// mustGrant grants one request, which must not fail.
func mustGrant(t *testing.T, e *grant.Engine, r grant.Request) grant.Result {
	t.Helper()
	res, err := e.Grant(t.Context(), r)
	if err != nil {
		t.Fatalf("grant %s/%s: %v", r.PlayerID, r.EventID, err)
	}
	return res
}

func wantOutcome(t *testing.T, res grant.Result, want grant.Outcome) {
	t.Helper()
	if res.Outcome != want {
		t.Fatalf("outcome %s, want %s: %+v", res.Outcome, want, res)
	}
}

// B19: the same key with the same content is a replay; with other content it is a mismatch that
// names each differing field, and changes nothing.
func TestB19SameKeySameOrOtherContent(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})

	first := mustGrant(t, e, gems("p1", "e1", 100))
	wantOutcome(t, first, grant.Applied)
	if first.LedgerID == 0 || first.At.IsZero() || first.Token != 1 {
		t.Errorf("applied without its posting: %+v", first)
	}

	again := mustGrant(t, e, gems("p1", "e1", 100))
	wantOutcome(t, again, grant.Replayed)
	if again.ReplayOf != first.LedgerID || !again.At.Equal(first.At) {
		t.Errorf("the replay names posting %d at %v, want %d at %v", again.ReplayOf, again.At,
			first.LedgerID, first.At)
	}
	if again.Existing == nil || again.Existing.Token != first.Token ||
		again.Existing.Owner != first.Owner || again.Existing.Actor != "tester" {
		t.Errorf("the replay shows %+v", again.Existing)
	}

	other := gems("p1", "e1", 500)
	other.Kind = "gold"
	mismatch := mustGrant(t, e, other)
	wantOutcome(t, mismatch, grant.Mismatch)
	want := []grant.Difference{{"kind", "gems", "gold"}, {"amount", "100", "500"}}
	if fmt.Sprint(mismatch.Differs) != fmt.Sprint(want) {
		t.Errorf("differs %v, want %v", mismatch.Differs, want)
	}
	w.CheckInvariants(t)
	if n := count(t, w, "select count(*) from grant_refusal where outcome = 'mismatch'"); n != 1 {
		t.Errorf("%d refusals recorded, want 1", n)
	}
}

func TestMismatchWithPendingClaim(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	exec(t, w, `insert into reward_claim (player_id, reward_event_id, kind, amount)
		values ('p1', 'due', 'gems', 30)`)

	res := mustGrant(t, e, gems("p1", "due", 31))
	wantOutcome(t, res, grant.Mismatch)
	if res.LedgerID != 0 || res.Existing == nil || res.Existing.Amount != 30 {
		t.Errorf("the claim is not shown: %+v", res)
	}
	wantOutcome(t, mustGrant(t, e, gems("p1", "due", 30)), grant.Applied)
	w.CheckInvariants(t)
}

// A claim that a higher token is working on refuses a lower one even when the fence would not.
func TestClaimUnderHigherToken(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	exec(t, w, `insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token,
		status) values ('p1', 'due', 'gems', 30, 900, 'processing')`)
	res := mustGrant(t, e, gems("p1", "due", 30))
	wantOutcome(t, res, grant.StaleToken)
	if res.Fence == nil || res.Fence.Token != 900 {
		t.Errorf("the refusal names %+v, want token 900", res.Fence)
	}
	w.CheckInvariants(t)
}

func TestHeldTokens(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	held := func(event string, token int64, owner string) grant.Request {
		r := gems("p1", event, 1)
		r.Held = &grant.Lease{Token: token, Owner: owner}
		return r
	}
	wantOutcome(t, mustGrant(t, e, held("e1", 42, "b")), grant.Applied)
	wantOutcome(t, mustGrant(t, e, held("e2", 42, "b")), grant.Applied)

	stale := mustGrant(t, e, held("e3", 41, "a"))
	wantOutcome(t, stale, grant.StaleToken)
	if stale.Fence == nil || stale.Fence.Token != 42 || stale.Fence.Owner != "b" {
		t.Errorf("the refusal names %+v, want token 42 of b", stale.Fence)
	}
	// Precedence: a stale token is refused even where the posting is there already.
	wantOutcome(t, mustGrant(t, e, held("e1", 41, "a")), grant.StaleToken)
	wantOutcome(t, mustGrant(t, e, held("e4", 42, "a")), grant.TokenCollision)
	wantOutcome(t, mustGrant(t, e, held("e1", 42, "b")), grant.Replayed)
	w.CheckInvariants(t)
	if n := count(t, w, `select count(*) from grant_refusal`); n != 3 {
		t.Errorf("%d refusals recorded, want 3", n)
	}
}

// One batch may bring several tokens of one resource: the highest passes, the others are refused.
func TestHighestTokenOfABatchWins(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	var requests []grant.Request
	for i, token := range []int64{7, 9, 8, 9} {
		r := gems("p1", fmt.Sprint("e", i), 1)
		r.Held = &grant.Lease{Token: token, Owner: fmt.Sprint("w", token)}
		requests = append(requests, r)
	}
	results, err := e.GrantMany(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	want := []grant.Outcome{grant.StaleToken, grant.Applied, grant.StaleToken, grant.Applied}
	for i, res := range results {
		if res.Outcome != want[i] {
			t.Errorf("token %d: %s, want %s", requests[i].Held.Token, res.Outcome, want[i])
		}
	}
	w.CheckInvariants(t)
}

// B10: Redis lost its counter and its lock. The floor keeps the new token above the fence.
func TestB10CounterGoesBack(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	exec(t, w, `insert into reward_fence (resource, last_token, last_owner)
		values ('reward:p1', 110, 'before the failover')`)
	res := mustGrant(t, e, gems("p1", "e1", 5))
	wantOutcome(t, res, grant.Applied)
	if res.Token != 111 {
		t.Errorf("token %d, want 111", res.Token)
	}
	w.CheckInvariants(t)
}

// regressing is a lease store that once ignores the floor, like a promoted replica whose counter
// stands where another holder's token was accepted already.
type regressing struct {
	grant.Leases
	token int64
	real  *grant.Lease // what the store really issued the first time
}

func (r *regressing) Acquire(ctx context.Context, asks []grant.Ask) []grant.Answer {
	answers := r.Leases.Acquire(ctx, asks)
	if r.real == nil {
		issued := *answers[0].Lease
		r.real = &issued
		answers[0].Lease.Token = r.token
	}
	return answers
}

func (r *regressing) Release(ctx context.Context, leases []grant.Lease) []error {
	if leases[0].Token == r.token {
		leases = []grant.Lease{*r.real}
	}
	return r.Leases.Release(ctx, leases)
}

func TestCollisionIsReseededOnce(t *testing.T) {
	t.Parallel()
	for _, token := range []int64{100, 110} { // below the fence, and equal to it
		t.Run(fmt.Sprint(token), func(t *testing.T) {
			t.Parallel()
			w := granttest.New(t)
			exec(t, w, `insert into reward_fence (resource, last_token, last_owner)
				values ('reward:p1', 110, 'other')`)
			leases := &regressing{Leases: storeOn(t, w), token: token}
			e, err := grant.NewEngine(w.Pool, leases, grant.Options{
				Worker: "w@h/1", NewID: newID,
			})
			if err != nil {
				t.Fatal(err)
			}
			res, err := e.Grant(t.Context(), gems("p1", "e1", 5))
			if err != nil {
				t.Fatal(err)
			}
			wantOutcome(t, res, grant.Applied)
			if res.Token <= 110 {
				t.Errorf("token %d is not above the fence", res.Token)
			}
			w.CheckInvariants(t)
			if n := count(t, w, "select count(*) from grant_refusal"); n != 1 {
				t.Errorf("%d refusals recorded, want the one of the first attempt", n)
			}
		})
	}
}

func TestLeaseHeldNamesTheHolder(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	store := storeOn(t, w)
	held := store.Acquire(t.Context(), []grant.Ask{{Resource: "reward:p1", Owner: "other@h/2#x"}})
	if held[0].Lease == nil {
		t.Fatalf("not acquired: %+v", held[0])
	}
	e := engineOn(t, w, grant.Options{})
	res := mustGrant(t, e, gems("p1", "e1", 5))
	wantOutcome(t, res, grant.LeaseHeld)
	h := res.Holder
	if h == nil || h.Owner != "other@h/2#x" || h.Token != held[0].Lease.Token || h.Left <= 0 {
		t.Errorf("the holder is told as %+v", h)
	}
	w.CheckInvariants(t)

	patient := engineOn(t, w, grant.Options{HeldWait: 10 * time.Second})
	released := make(chan struct{})
	go func() {
		defer close(released)
		store.Release(context.WithoutCancel(t.Context()), []grant.Lease{*held[0].Lease})
	}()
	wantOutcome(t, mustGrant(t, patient, gems("p1", "e1", 5)), grant.Applied)
	<-released
	w.CheckInvariants(t)
}

func exec(t *testing.T, w *granttest.World, sql string) {
	t.Helper()
	if _, err := w.Pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, w *granttest.World, sql string) (n int) {
	t.Helper()
	if err := w.Pool.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A claim that counts as applied without a posting is refused: paying could pay twice.
func TestClaimAppliedWithoutPosting(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	exec(t, w, `insert into reward_claim (player_id, reward_event_id, kind, amount, status)
		values ('p1', 'due', 'gems', 30, 'applied')`)
	res := mustGrant(t, e, gems("p1", "due", 30))
	wantOutcome(t, res, grant.Mismatch)
	if len(res.Differs) != 1 || res.Differs[0].Field != "claim" {
		t.Errorf("differs %v, want the claim's status", res.Differs)
	}
	if n := count(t, w, "select count(*) from reward_ledger"); n != 0 {
		t.Errorf("%d postings, want none", n)
	}
}
