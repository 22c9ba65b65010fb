package grant_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// failFirst makes every other posting statement fail with a code, so that each batch fails once and
// then passes: a sequence does not roll back with its transaction.
func (f *faulty) failFirst(t *testing.T, code string) {
	t.Helper()
	for _, statement := range []string{
		`create sequence flaky`,
		`create function fail_first() returns trigger language plpgsql as $$
		begin
			if nextval('flaky') % 2 = 1 then
				raise exception 'forced' using errcode = tg_argv[0];
			end if;
			return null;
		end $$`,
		`create trigger fail_first before insert on reward_ledger
			for each statement execute function fail_first('` + code + `')`,
	} {
		if _, err := f.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultB18SameEvent: 50 concurrent grants of one event, with a forced serialization failure.
func TestFaultB18SameEvent(t *testing.T) {
	t.Parallel()
	const callers, repeats = 50, 100
	f := newFaulty(t)
	f.failFirst(t, "40001")
	engine := newEngine(t, f.pool, f.store, waitForHolder)
	for repeat := range repeats {
		r := reward(fmt.Sprintf("player-%d", repeat))
		outcomes := f.together(t, engine, callers, func(int) grant.Request { return r })
		if outcomes[grant.Applied] != 1 || outcomes[grant.Replayed] != callers-1 {
			t.Fatalf("repeat %d: %v", repeat, outcomes)
		}
		if n := f.balance(t, r.PlayerID); n != r.Amount {
			t.Fatalf("repeat %d: balance %d, want %d", repeat, n, r.Amount)
		}
	}
	if n := f.codes.serializations.Load(); n < repeats {
		t.Errorf("only %d forced serialization failures in %d repeats", n, repeats)
	}
	f.CheckInvariants(t)
}

// TestFaultB18DifferentEvents: 50 concurrent grants of different events to one player, in
// batches and one by one, with a forced serialization failure.
func TestFaultB18DifferentEvents(t *testing.T) {
	t.Parallel()
	const callers, repeats = 50, 100
	f := newFaulty(t)
	f.failFirst(t, "40001")
	several := newEngine(t, f.pool, f.store, func(o *grant.Options) { o.BatchMax = 20 })
	single := newEngine(t, f.pool, f.store, func(o *grant.Options) { o.BatchMax = 1 })
	for repeat := range repeats {
		player := fmt.Sprintf("player-%d", repeat)
		var sum int64
		for i := range callers {
			sum += int64(1 + i)
		}
		engine := several
		if repeat%20 == 0 {
			engine = single // one transaction per grant costs more and adds little
		}
		outcomes := f.together(t, engine, callers, func(i int) grant.Request {
			r := reward(player)
			r.EventID, r.Amount = fmt.Sprintf("%s:%d", r.EventID, i), int64(1+i)
			return r
		})
		if outcomes[grant.Applied] != callers {
			t.Fatalf("repeat %d: %v", repeat, outcomes)
		}
		if n := f.balance(t, player); n != sum {
			t.Fatalf("repeat %d: balance %d, want %d", repeat, n, sum)
		}
	}
	if n := f.codes.serializations.Load(); n < repeats {
		t.Errorf("only %d forced serialization failures in %d repeats", n, repeats)
	}
	f.CheckInvariants(t)
}

// together grants from many callers at once and counts the outcomes.
func (f *faulty) together(
	t *testing.T, engine *grant.Engine, callers int, request func(int) grant.Request,
) map[grant.Outcome]int {
	t.Helper()
	var (
		all      sync.WaitGroup
		mu       sync.Mutex
		outcomes = map[grant.Outcome]int{}
		begin    = make(chan struct{})
	)
	for i := range callers {
		all.Go(func() {
			<-begin
			result, err := engine.Grant(t.Context(), request(i))
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
			mu.Lock()
			outcomes[result.Outcome]++
			mu.Unlock()
		})
	}
	close(begin)
	all.Wait()
	return outcomes
}

func (f *faulty) balance(t *testing.T, player string) int64 {
	t.Helper()
	return f.count(t, `select coalesce(sum(amount), 0)::bigint from reward_balance
		where player_id = $1`, player)
}

// TestFaultB30CommitReplyLost (i): the answer to COMMIT is lost. The engine looks again, and finds
// its own posting.
func TestFaultB30CommitReplyLost(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	lost := f.pgProxy.Add(granttest.Rule{
		At: granttest.AtComplete, Match: granttest.Commit, Fault: granttest.Close,
	})
	var steps stepLog
	engine := f.engine(t, func(o *grant.Options) { o.OnStep = steps.add })
	r := reward("player-1")
	result := grantOne(t, engine, r)
	happens(t, lost.Fired(), "the loss of the answer")
	want(t, result, grant.Applied)
	if text := steps.String(); !strings.Contains(text, "resolve") {
		t.Errorf("steps %q: the outcome was not looked up", text)
	}
	var id int64
	err := f.Pool.QueryRow(t.Context(), "select id from reward_ledger").Scan(&id)
	if err != nil || id != result.LedgerID {
		t.Errorf("the answer names ledger %d, there is %d, %v", result.LedgerID, id, err)
	}
	f.CheckInvariants(t)
}

// TestFaultB30BackendKilled (ii): the backend dies just before COMMIT. Nothing was posted; the
// same request, sent again under the same lease, is posted once.
func TestFaultB30BackendKilled(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	held := f.pgProxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.Commit, Fault: granttest.Hold,
	})
	var steps stepLog
	engine := f.engine(t, func(o *grant.Options) { o.OnStep = steps.add })
	r := reward("player-1")
	done := make(chan grant.Result, 1)
	go func() {
		result, err := engine.Grant(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		done <- result
	}()
	happens(t, held.Fired(), "the COMMIT")
	killed := f.count(t, `select count(pg_terminate_backend(l.pid)) from pg_locks l
		where l.relation = 'reward_fence'::regclass and l.pid <> pg_backend_pid()`)
	if killed != 1 {
		t.Fatalf("killed %d backends, want the one that works", killed)
	}
	held.Release()
	want(t, <-done, grant.Applied)
	if text := steps.String(); !strings.Contains(text, "resolve") {
		t.Errorf("steps %q: the loss of the session was taken for an answer", text)
	}
	if n := f.postings(t, r); n != 1 {
		t.Errorf("%d postings, want 1", n)
	}
	f.free(t, grant.ResourceFor(r.PlayerID))
	f.CheckInvariants(t)
}

// TestFaultB30FailedTransactionCommits (iii): a statement fails, and the COMMIT behind it "works"
// as a rollback. The failure is shown; the other items of the batch are posted all the same.
func TestFaultB30FailedTransactionCommits(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	for _, statement := range []string{
		`create function refuse_bad() returns trigger language plpgsql as $$
		begin
			raise exception 'refused' using errcode = 'data_exception';
		end $$`,
		`create trigger refuse_bad before insert on reward_ledger for each row
			when (new.player_id = 'player-bad') execute function refuse_bad()`,
	} {
		if _, err := f.Pool.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	rolledBack := f.pgProxy.Add(granttest.Rule{
		At: granttest.AtReply, Match: granttest.SQL("from reward_grant("), Times: -1,
		Fault: granttest.Watch,
	})
	engine := f.engine(t, nil)
	bad := reward("player-bad")
	if result, err := engine.Grant(t.Context(), bad); err == nil ||
		result.Outcome != grant.Failed {
		t.Fatalf("outcome %s, %v; want an error", result.Outcome, err)
	}
	if rolledBack.Count() == 0 {
		t.Fatal("the database was not asked")
	}
	results, err := engine.GrantMany(t.Context(), []grant.Request{
		reward("player-1"), bad, reward("player-2"), reward("player-3"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, outcome := range []grant.Outcome{
		grant.Applied, grant.Failed, grant.Applied, grant.Applied,
	} {
		if results[i].Outcome != outcome {
			t.Errorf("item %d: %s, %v; want %s", i, results[i].Outcome, results[i].Err, outcome)
		}
	}
	if n := f.postings(t, bad); n != 0 {
		t.Errorf("%d postings of the refused item", n)
	}
	for _, player := range []string{"player-1", "player-bad", "player-3"} {
		f.free(t, grant.ResourceFor(player))
	}
	f.CheckInvariants(t)
}

// stepLog collects the steps that an engine passes.
type stepLog struct {
	mu    sync.Mutex
	steps []string
}

func (l *stepLog) add(step grant.Step) {
	l.mu.Lock()
	l.steps = append(l.steps, string(step))
	l.mu.Unlock()
}

func (l *stepLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.steps, " ")
}
