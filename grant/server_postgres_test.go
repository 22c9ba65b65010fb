package grant_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	process "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// ownPostgres is a PostgreSQL that a test may kill: it keeps its port and its data.
type ownPostgres struct {
	*embedded.Postgres
	folder string
}

func startOwn(t *testing.T) *ownPostgres {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "rewardctl-server-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	o := &ownPostgres{folder: folder}
	o.start(t, filepath.Join(folder, "a"), 0)
	t.Cleanup(func() { _ = o.Stop() })
	return o
}

func (o *ownPostgres) start(t *testing.T, dir string, port int, settings ...string) {
	t.Helper()
	options := embedded.PostgresOptions{Dir: dir, Port: port, Settings: map[string]string{}}
	for i := 0; i < len(settings); i += 2 {
		options.Settings[settings[i]] = settings[i+1]
	}
	server, err := embedded.StartPostgres(context.WithoutCancel(t.Context()), options)
	if err != nil {
		t.Fatal(err)
	}
	o.Postgres = server
}

// crash kills the server without a word and starts it again on its data.
func (o *ownPostgres) crash(t *testing.T) {
	t.Helper()
	o.kill(t)
	o.start(t, o.Dir(), o.Port())
}

func (o *ownPostgres) kill(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(o.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	happens(t, o.Done(), "the end of the killed server")
	_ = o.Stop()
}

// engineHere is an engine of a world with leases of a short time to live.
func engineHere(t *testing.T, w *granttest.World) *grant.Engine {
	t.Helper()
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: faultTTL})
	if err != nil {
		t.Fatal(err)
	}
	return newEngine(t, w.Pool, store, func(o *grant.Options) { o.HeldWait = time.Second })
}

// TestServerPostgresCrash kills PostgreSQL under load, several times. Whatever was answered
// applied is there afterwards, what was answered as not granted is not, and the rest is settled by
// asking again.
func TestServerPostgresCrash(t *testing.T) {
	t.Parallel()
	const clients, crashes = 8, 3
	server := startOwn(t)
	w := granttest.NewOn(t, server.URL())
	engine := engineHere(t, w)
	var (
		done    atomic.Bool
		doubts  atomic.Int64
		granted atomic.Int64
		load    sync.WaitGroup
	)
	for c := range clients {
		load.Go(func() {
			for n := 0; !done.Load(); n++ {
				doubts.Add(untilFinal(t, engine, reward(fmt.Sprintf("player-%d-%d", c, n))))
				granted.Add(1)
			}
		})
	}
	for range crashes {
		before := granted.Load()
		reached(t, "grants before the crash", func() bool { return granted.Load() > before+50 })
		began := time.Now()
		server.crash(t)
		before = granted.Load()
		reached(t, "grants after the crash", func() bool { return granted.Load() > before })
		t.Logf("scoreboard: postgres_crash_recovered_ms=%d", time.Since(began).Milliseconds())
	}
	done.Store(true)
	load.Wait()
	if n := count(t, w, "select count(*) from reward_ledger"); int64(n) != granted.Load() {
		t.Errorf("%d postings, want %d", n, granted.Load())
	}
	t.Logf("%d grants, %d answers that were no answer", granted.Load(), doubts.Load())
	w.CheckInvariants(t)
}

// untilFinal asks until the answer is final, and returns how often it was not.
func untilFinal(t *testing.T, engine *grant.Engine, r grant.Request) (tries int64) {
	deadline := time.Now().Add(time.Minute)
	for {
		res, err := engine.Grant(t.Context(), r)
		if err == nil && (res.Outcome == grant.Applied || res.Outcome == grant.Replayed) {
			return tries
		}
		if err == nil && res.Outcome.Final() || time.Now().After(deadline) {
			t.Errorf("%s: %s, %v", r.EventID, res.Outcome, err)
			return tries
		}
		tries++
		<-time.After(20 * time.Millisecond)
	}
}

// reached polls until ok, for a minute at most.
func reached(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			t.Fatalf("never happened: %s", what)
		case <-tick.C:
		}
	}
}

// TestServerPromotedWithoutLastGrants plays the failover to a replica that lags: the new primary
// lacks grants that were answered. Granting locks itself, in the very transaction, until the new
// timeline is accepted; then Redis, whose counters are ahead, and the unique key carry on.
func TestServerPromotedWithoutLastGrants(t *testing.T) {
	t.Parallel()
	server := startOwn(t)
	w := granttest.NewOn(t, server.URL())
	engine := engineHere(t, w)
	wantOutcome(t, mustGrant(t, engine, reward("player-1")), grant.Applied)
	// The copy is what the replica had received.
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	replica := filepath.Join(server.folder, "b")
	if out, err := process.Command("cp", "-a", server.Dir(), replica).CombinedOutput(); err != nil {
		t.Fatalf("copy: %v\n%s", err, out)
	}
	server.start(t, server.Dir(), server.Port())
	reached(t, "a grant that the replica never sees", func() bool {
		res, err := engine.Grant(t.Context(), reward("player-2"))
		return err == nil && res.Outcome == grant.Applied
	})
	server.kill(t)
	signal := filepath.Join(replica, "data", "recovery.signal")
	if err := os.WriteFile(signal, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	server.start(t, replica, server.Port(), "restore_command", "/bin/false",
		"recovery_target_timeline", "current")

	var gate *grant.GateError
	reached(t, "an answer of the promoted server", func() bool {
		_, err := engine.Grant(t.Context(), reward("player-3"))
		return errors.As(err, &gate)
	})
	if !strings.Contains(gate.Problem, "timeline") || !strings.Contains(gate.WayOut, "reseed") {
		t.Errorf("the gate says %q, %q", gate.Problem, gate.WayOut)
	}
	if n := count(t, w, "select count(*) from reward_ledger"); n != 1 {
		t.Errorf("%d postings on the promoted server, want 1: the second was lost", n)
	}
	exec(t, w, `update reward_timeline set timeline = reward_timeline_now()`)
	wantOutcome(t, mustGrant(t, engine, reward("player-2")), grant.Applied)
	wantOutcome(t, mustGrant(t, engine, reward("player-1")), grant.Replayed)
	t.Log("scoreboard: failovers=1")
	w.CheckInvariants(t)
}

// The timeline is checked where the posting is made: an engine whose last look at the schema is
// a moment old still refuses.
func TestTimelineChangesAfterTheCheck(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	wantOutcome(t, mustGrant(t, e, gems("p1", "e1", 1)), grant.Applied)
	for name, change := range map[string]string{
		"timeline": "update reward_timeline set timeline = '000000FF'",
		"nothing":  "delete from reward_timeline",
	} {
		exec(t, w, change)
		var gate *grant.GateError
		if _, err := e.Grant(t.Context(), gems("p1", "e2", 1)); !errors.As(err, &gate) {
			t.Fatalf("%s: Grant answered %v, want a GateError", name, err)
		}
	}
	if n := count(t, w, "select count(*) from reward_ledger"); n != 1 {
		t.Errorf("%d postings, want 1", n)
	}
}
