package grant_test

import (
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// late starts a grant whose transaction is held on its way to PostgreSQL until release.
func (f *faulty) late(t *testing.T, r grant.Request) (<-chan grant.Result, *granttest.Trigger) {
	t.Helper()
	held := f.pgProxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.SQL("from reward_grant("),
		Fault: granttest.Hold,
	})
	done := make(chan grant.Result, 1)
	engine := f.engine(t, nil)
	go func() {
		result, err := engine.Grant(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	happens(t, held.Fired(), "the transaction")
	return done, held
}

// settled waits until no transaction of this world is in progress, except the asking one.
func (f *faulty) settled(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		if f.count(t, `select count(*) from pg_stat_activity
			where application_name = $1 and pid <> pg_backend_pid()
				and state in ('active', 'idle in transaction')`, f.Schema) == 0 {
			return
		}
	}
	t.Fatal("the late transaction did not end within 30 s")
}

// TestFaultLateTwin: the transaction is stuck in the network past its lease, the engine sends it
// again and is answered, and then the first one arrives after all. Same token, same owner: the
// fence lets it pass, and the unique key makes nothing of it.
func TestFaultLateTwin(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	r := reward("player-1")
	done, held := f.late(t, r)
	result := <-done
	want(t, result, grant.Applied)
	arrived := f.pgProxy.Add(granttest.Rule{
		At: granttest.AfterSend, Match: granttest.Commit, Fault: granttest.Watch,
	})
	held.Release()
	happens(t, arrived.Fired(), "the late COMMIT")
	f.settled(t)
	if n := f.postings(t, r); n != 1 {
		t.Fatalf("%d postings, want 1", n)
	}
	if n := f.balance(t, r.PlayerID); n != r.Amount {
		t.Fatalf("balance %d, want %d", n, r.Amount)
	}
	f.CheckInvariants(t)
}

// TestFaultPausedHolder is the articles' race inside the engine: A's transaction is stuck past its
// lease, B takes the lease and pays, then A's transaction arrives. The fence refuses it, A learns
// that the event is posted, and nothing is paid twice.
func TestFaultPausedHolder(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	r := reward("player-1")
	done, held := f.late(t, r)
	b := newEngine(t, f.Pool, f.newStore(t, f.Redis, faultTTL), waitForHolder)
	paid := grantOne(t, b, r)
	if paid.Outcome != grant.Applied && paid.Outcome != grant.Replayed {
		t.Fatalf("B was answered %s", paid.Outcome)
	}
	held.Release()
	result := <-done
	f.settled(t)
	applied := 0
	for _, outcome := range []grant.Outcome{paid.Outcome, result.Outcome} {
		switch outcome {
		case grant.Applied:
			applied++
		case grant.Replayed:
		default:
			t.Errorf("answered %s, want one applied and one replayed", outcome)
		}
	}
	if n := f.postings(t, r); n != 1 || applied != 1 {
		t.Errorf("%d postings, %d answers applied; want 1 of each", n, applied)
	}
	f.free(t, grant.ResourceFor(r.PlayerID))
	f.CheckInvariants(t)
}

// TestFaultLostCounter: Redis loses lock and counter while a holder is at work, and issues the
// holder's token again. Two owners hold one token: the second is refused by the fence, takes a
// higher token, and is told that the event is posted.
func TestFaultLostCounter(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	r := reward("player-1")
	resource := grant.ResourceFor(r.PlayerID)
	direct := f.newStore(t, f.Redis, faultTTL)
	stalled := make(chan struct{})
	goOn := make(chan struct{})
	first := true
	a := f.engine(t, func(o *grant.Options) {
		o.OnStep = func(step grant.Step) {
			if step == grant.StepSend && first {
				first = false
				close(stalled)
				<-goOn
			}
		}
	})
	done := make(chan grant.Result, 1)
	go func() {
		result, err := a.Grant(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	happens(t, stalled, "A's lease")
	err := f.Redis.Del(t.Context(), direct.LockKey(resource), direct.FenceKey(resource)).Err()
	if err != nil {
		t.Fatal(err)
	}
	b := grantOne(t, newEngine(t, f.Pool, direct, nil), r)
	want(t, b, grant.Applied)
	if b.Token != 1 {
		t.Fatalf("B holds token %d, want the same token 1 as A", b.Token)
	}
	close(goOn)
	result := <-done
	want(t, result, grant.Replayed)
	if result.Token <= b.Token {
		t.Errorf("A was answered under token %d, want a higher one than %d", result.Token, b.Token)
	}
	n := f.count(t, "select count(*) from grant_refusal where outcome = 'token_collision'")
	if n != 1 {
		t.Errorf("%d collisions recorded, want 1", n)
	}
	f.free(t, resource)
	f.CheckInvariants(t)
}
