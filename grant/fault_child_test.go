package grant_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	process "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// childEnv carries the orders of a child process: this test binary, run again.
const childEnv = "REWARDCTL_FAULT_CHILD"

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

// child is a running child process.
type child struct {
	cmd    *process.Cmd
	lines  *bufio.Reader // what the child reports, line by line
	ended  chan struct{}
	result error
}

// startChild runs this test binary again with orders. The process is killed when the test ends.
func startChild(t *testing.T, o orders) *child {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := process.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaultChild$",
		"-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.ExtraFiles = []*os.File{write}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	c := &child{cmd: cmd, lines: bufio.NewReader(read), ended: make(chan struct{})}
	go func() {
		c.result = cmd.Wait()
		close(c.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-c.ended
		_ = read.Close()
		if t.Failed() {
			t.Logf("child: %v\n%s", c.result, output.String())
		}
	})
	return c
}

// kill ends the child the hard way and waits until it is gone.
func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.ended
	t.Log("scoreboard: kill_9=1 kill_points=1")
}

// line reads the child's next report.
func (c *child) line(t *testing.T) string {
	t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the child ended without a report: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
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

// TestFaultChild is the child's side. Without orders it has nothing to do.
func TestFaultChild(t *testing.T) {
	text, ordered := os.LookupEnv(childEnv)
	if !ordered {
		return
	}
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	report := os.NewFile(3, "report")
	codes := &codeCounter{}
	engine, err := o.engine(t, report, codes)
	if err != nil {
		t.Fatal(err)
	}
	if o.Share != nil {
		tally := o.Share.submit(t, engine)
		tally.Deadlocks = codes.deadlocks.Load()
		if err := json.NewEncoder(report).Encode(tally); err != nil {
			t.Fatal(err)
		}
		return
	}
	if o.Reversal != nil {
		if _, err := fmt.Fprintln(report, o.reverseInChild(t, engine)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if o.Keep {
		o.keep(t, report)
	}
	result, err := engine.Grant(t.Context(), *o.Request)
	if _, err := fmt.Fprintf(report, "%s %v\n", result.Outcome, err); err != nil {
		t.Fatal(err)
	}
}

// engine wires the child's engine. At the ordered step it reports, and stops for good.
func (o orders) engine(
	t *testing.T, report *os.File, codes *codeCounter,
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
				if _, err := fmt.Fprintln(report, step); err == nil {
					<-t.Context().Done() // the parent kills this process here
				}
			}
		},
	})
}

// TestFaultKill kills a granting process at each step and runs the same request again: it is paid
// once, nobody is left in doubt, and nothing is left behind.
func TestFaultKill(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name string
		step grant.Step
		paid bool           // whether the child's transaction had committed
		lost granttest.Rule // what happens to the child's connection to PostgreSQL before
	}{
		{name: "before the floors are read", step: grant.StepFloors},
		{name: "before acquire", step: grant.StepAcquire},
		{name: "after acquire, before send", step: grant.StepSend},
		{name: "after commit, before release", step: grant.StepAnswered, paid: true},
		{name: "after release", step: grant.StepReleased, paid: true},
		{
			name: "during resolution, committed", step: grant.StepResolve, paid: true,
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
	w := granttest.New(t)
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			if s.lost.Match != nil {
				f.pgProxy.Add(s.lost)
			}
			r := reward(t.Name())
			o := f.ordersFor(t, f.pgProxy.Addr(), faultTTL)
			o.Step, o.Request = s.step, &r
			victim := startChild(t, o)
			if got := victim.line(t); got != string(s.step) {
				t.Fatalf("the child reports %q, want the step %s", got, s.step)
			}
			victim.kill(t)
			afterKill(t, f, r, s.paid)
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
	victim.kill(t)
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
