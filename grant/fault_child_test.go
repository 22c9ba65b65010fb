package grant_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// orders tell a child what to do.
type orders struct {
	Postgres string // URL, possibly of a proxy of the parent
	Redis    string // host:port
	Prefix   string
	TTL      time.Duration

	// A child either grants Request, or takes back Reversal, and stops dead at Step; or it submits
	// its share of a load.
	Step     grant.Step
	Request  *grant.Request
	Reversal *grant.Reversal
	Share    *share
	// Keep: before it grants Request it takes the lease itself, and keeps it until it is killed.
	Keep bool
}

// ordersFor fills in how a child reaches the world, PostgreSQL through addr.
func (f *faulty) ordersFor(t *testing.T, addr string, ttl time.Duration) orders {
	t.Helper()
	at, err := url.Parse(f.URL())
	if err != nil {
		t.Fatal(err)
	}
	at.Host = addr
	return orders{Postgres: at.String(), Redis: f.RedisAddr, Prefix: f.Prefix, TTL: ttl}
}

// startChild runs TestFaultChild in a process of its own.
func startChild(t *testing.T, o orders) *granttest.Child {
	t.Helper()
	return granttest.StartChild(t, "TestFaultChild", o)
}

// TestFaultChild is the child's side. Without orders it has nothing to do.
func TestFaultChild(t *testing.T) {
	var o orders
	parent := granttest.Ordered(t, &o)
	if parent == nil {
		return
	}
	codes := &codeCounter{}
	engine, err := o.engine(t, parent, codes)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case o.Share != nil:
		tally := o.Share.submit(t, engine)
		tally.Deadlocks = codes.deadlocks.Load()
		text, err := json.Marshal(tally)
		if err != nil {
			t.Fatal(err)
		}
		parent.Report(string(text))
		return
	case o.Reversal != nil:
		parent.Report(o.reverseInChild(t, engine))
		return
	case o.Keep:
		o.keep(t, parent)
	}
	result, err := engine.Grant(t.Context(), *o.Request)
	parent.Report(fmt.Sprintf("%s %v", result.Outcome, err))
}

// engine wires the child's engine. At the ordered step it reports, and stops for good.
func (o orders) engine(
	t *testing.T, parent *granttest.Orders, codes *codeCounter,
) (*grant.Engine, error) {
	t.Helper()
	config, err := pgxpool.ParseConfig(o.Postgres)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = codes
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		return nil, err
	}
	t.Cleanup(pool.Close)
	client := redis.NewClient(&redis.Options{Addr: o.Redis, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	store, err := lease.New(client, lease.Options{Prefix: o.Prefix, TTL: o.TTL})
	if err != nil {
		return nil, err
	}
	return grant.NewEngine(pool, store, grant.Options{
		Worker: fmt.Sprintf("child@test/%d", os.Getpid()), NewID: nonce, HeldWait: 3 * time.Minute,
		OnStep: func(step grant.Step) {
			if step == o.Step {
				parent.Stop(string(step))
			}
		},
	})
}

// killStep is a step at which a process is killed on its way through a grant or a reversal.
type killStep struct {
	name      string
	step      grant.Step
	committed bool           // whether the child's transaction had committed
	lost      granttest.Rule // what happens to the child's connection to PostgreSQL before
}

func killSteps() []killStep {
	return []killStep{
		{name: "before the floors are read", step: grant.StepFloors},
		{name: "before acquire", step: grant.StepAcquire},
		{name: "after acquire, before send", step: grant.StepSend},
		{name: "after commit, before release", step: grant.StepAnswered, committed: true},
		{name: "after release", step: grant.StepReleased, committed: true},
		{
			name: "during resolution, committed", step: grant.StepResolve, committed: true,
			lost: granttest.Rule{
				At: granttest.AtComplete, Match: granttest.Commit, Fault: granttest.Close,
			},
		},
		{
			name: "during resolution, not committed", step: grant.StepResolve,
			lost: granttest.Rule{
				At: granttest.BeforeSend, Match: granttest.Commit, Fault: granttest.Close,
			},
		},
	}
}

// TestFaultKill kills a granting process at each step and runs the same request again: it is paid
// once, nobody is left in doubt, and nothing is left behind.
func TestFaultKill(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for _, s := range killSteps() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			if s.lost.Match != nil {
				f.pgProxy.Add(s.lost)
			}
			r := reward(t.Name())
			o := f.ordersFor(t, f.pgProxy.Addr(), faultTTL)
			o.Step, o.Request = s.step, &r
			startChild(t, o).KillAt(string(s.step))
			afterKill(t, f, r, s.committed)
		})
	}
}

// afterKill runs the request again, as whoever restarts the worker does.
func afterKill(t *testing.T, f *faulty, r grant.Request, paid bool) {
	t.Helper()
	engine := f.engine(t, waitForHolder)
	result := grantOne(t, engine, r)
	if paid {
		want(t, result, grant.Replayed)
	} else {
		want(t, result, grant.Applied)
	}
	if n := f.postings(t, r); n != 1 {
		t.Fatalf("%d postings, want 1", n)
	}
	f.free(t, grant.ResourceFor(r.PlayerID))
	f.CheckInvariants(t)
}

// TestFaultKillInFlight kills the process while its COMMIT is still on the way. The dead process's
// transaction holds its locks and commits after all: running again must wait for it and then tell,
// because "I see no row" would have been a lie.
func TestFaultKillInFlight(t *testing.T) {
	t.Parallel()
	f := newFaulty(t)
	held := f.pgProxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.Commit, Fault: granttest.Hold,
	})
	r := reward("player-1")
	o := f.ordersFor(t, f.pgProxy.Addr(), faultTTL)
	o.Request = &r
	victim := startChild(t, o)
	happens(t, held.Fired(), "the child's COMMIT")
	victim.Kill()
	if n := f.postings(t, r); n != 0 {
		t.Fatalf("%d postings are visible before the COMMIT arrived", n)
	}
	// The second run meets the dead process's locks; then the COMMIT arrives. The engine goes
	// to the server directly: on the proxy it would share nothing but the wait.
	engine := newEngine(t, f.Pool, f.newStore(t, f.Redis, 10*time.Second), waitForHolder)
	done := make(chan grant.Result, 1)
	go func() {
		result, _ := engine.Grant(t.Context(), r)
		done <- result
	}()
	f.waitForBlocked(t)
	held.Release()
	want(t, <-done, grant.Replayed)
	if n := f.postings(t, r); n != 1 {
		t.Fatalf("%d postings, want 1", n)
	}
	f.CheckInvariants(t)
}

// waitForBlocked waits until a session of this world's schema waits for a lock of another.
func (f *faulty) waitForBlocked(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		blocked := f.count(t, `select count(*) from pg_locks w
			join pg_locks h on h.transactionid = w.transactionid and h.granted
			join pg_locks own on own.pid = h.pid and own.relation = 'reward_fence'::regclass
			where not w.granted and w.locktype = 'transactionid'`)
		if blocked > 0 {
			return
		}
	}
	t.Fatal("nobody waits for the dead process's transaction within 30 s")
}
