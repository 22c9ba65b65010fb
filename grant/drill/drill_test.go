package drill_test

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/drill"
	"rewardctl/grant/granttest"
	"rewardctl/grant/outbox/itemserver"
)

// TestMain plays a worker when the test binary is started as one.
func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		os.Exit(playWorker())
	}
	granttest.Main(m)
}

const testTTL = 300 * time.Millisecond

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func options(w *granttest.World, defence drill.Defence) drill.Options {
	return drill.Options{
		Name: drill.PausedHolder, Defence: defence, TTL: testTTL, Pool: w.Pool, Redis: w.Redis,
		NewID: newID, Seed: 7, Spawn: spawner(w),
	}
}

// TestPausedHolder plays the race with each defence: the control pays twice, and each line of
// defence alone stops the second payment.
func TestPausedHolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		defence  drill.Defence
		ok       bool
		refusals []drill.Defence // by which line, all of worker A, who sleeps and then is stopped
		outcomes []grant.Outcome
	}{
		{defence: drill.None},
		{defence: drill.Fence, ok: true, refusals: []drill.Defence{drill.Fence, drill.Fence}},
		{defence: drill.Unique, ok: true, refusals: []drill.Defence{drill.Unique, drill.Unique}},
		{
			defence: drill.All, ok: true,
			refusals: []drill.Defence{drill.Fence, drill.Unique, drill.Fence},
			outcomes: []grant.Outcome{grant.StaleToken, grant.Replayed, grant.StaleToken},
		},
	} {
		t.Run(string(c.defence), func(t *testing.T) {
			t.Parallel()
			w := granttest.New(t)
			var shown []drill.Row
			opt := options(w, c.defence)
			opt.OnRow = func(r drill.Row) { shown = append(shown, r) }
			report, err := drill.Run(t.Context(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if report.OK != c.ok {
				t.Errorf("OK %v, want %v: %+v", report.OK, c.ok, report.Checks)
			}
			if len(report.Refusals) != len(c.refusals) {
				t.Fatalf("refusals %+v, want %v", report.Refusals, c.refusals)
			}
			for i, refusal := range report.Refusals {
				if refusal.Worker != "A" || refusal.Line != c.refusals[i] || refusal.Detail == "" {
					t.Errorf("refusal %d: %+v, want worker A by %s", i, refusal, c.refusals[i])
				}
				if c.outcomes != nil && refusal.Outcome != c.outcomes[i] {
					t.Errorf("refusal %d: outcome %s, want %s", i, refusal.Outcome, c.outcomes[i])
				}
			}
			checkTimeline(t, report)
			if len(shown) != len(report.Timeline) {
				t.Errorf("%d rows shown, %d in the report", len(shown), len(report.Timeline))
			}
			checkDamage(t, report)
		})
	}
}

// checkTimeline checks that the pause was real: B takes the lease only after A's expired, and A
// wakes up after that.
func checkTimeline(t *testing.T, report drill.Report) {
	t.Helper()
	var took, taken, races int
	for i, row := range report.Timeline {
		if i > 0 && row.At < report.Timeline[i-1].At {
			t.Errorf("row %d goes back in time: %+v", i, row)
		}
		since := func(j int) time.Duration { return row.At - report.Timeline[j].At }
		switch {
		case strings.Contains(row.WorkerA, "takes the lease"):
			took = i
		case strings.Contains(row.WorkerB, "takes it"):
			taken = i
			// The lease began a moment before the row that tells of it.
			if since(took) < report.TTL-50*time.Millisecond {
				t.Errorf("B took the lease after %v, before the TTL of %v", since(took), report.TTL)
			}
			if !strings.HasPrefix(row.Lease, "token 2, worker-b") {
				t.Errorf("after B took the lease Redis says %q", row.Lease)
			}
		case strings.Contains(row.WorkerA, "believes to hold token 1"):
			races++
			if since(took) < report.Pause-50*time.Millisecond || taken < took {
				t.Errorf("A woke up after %v, want %v at least and after B", since(took), report.Pause)
			}
		}
	}
	if races != 2 {
		t.Errorf("%d races were played, want one with a sleeper and one with a stopped process", races)
	}
	last := report.Timeline[len(report.Timeline)-1]
	if last.Lease != "free" {
		t.Errorf("at the end Redis says %q, want free", last.Lease)
	}
	for _, row := range report.Timeline {
		// On a machine under load B's lease may be over by then, too.
		if strings.HasPrefix(row.WorkerA, "releases token 1") &&
			strings.Contains(row.WorkerA, ": released") {
			t.Errorf("the late worker's release: %q, want nothing done", row.WorkerA)
		}
	}
}

// checkDamage checks that the control really paid twice, and nobody else did.
func checkDamage(t *testing.T, report drill.Report) {
	t.Helper()
	have := map[string]string{}
	for _, check := range report.Checks {
		have[check.Name] = check.Have
	}
	postings, sum := "1", "200" // two events
	if report.Defence == drill.None {
		postings, sum = "2", "400"
	}
	if got := have["count(player_id, reward_event_id) <= 1"]; got != postings {
		t.Errorf("%s postings, want %s", got, postings)
	}
	if got := have["ledger_sum(event) = expected_reward(event)"]; got != sum {
		t.Errorf("paid %s, want %s", got, sum)
	}
}

func scan(t *testing.T, client redis.UniversalClient, pattern string) []string {
	t.Helper()
	var keys []string
	all := client.Scan(t.Context(), 0, pattern, 1000).Iterator()
	for all.Next(t.Context()) {
		keys = append(keys, all.Val())
	}
	if err := all.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// TestCleansUp runs drills with a known id, to the end and stopped in the middle: the schema and
// every key are gone after both.
func TestCleansUp(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{false, true} {
		name := map[bool]string{false: "finished", true: "stopped"}[stopped]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := granttest.New(t)
			id := newID()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opt := options(w, drill.All)
			first := true
			opt.NewID = func() string {
				if first {
					first = false
					return id
				}
				return newID()
			}
			opt.OnRow = func(drill.Row) {
				if stopped {
					cancel()
				}
			}
			_, err := drill.Run(ctx, opt)
			if stopped != errors.Is(err, context.Canceled) {
				t.Fatalf("ended with %v", err)
			}
			if keys := scan(t, w.Redis, "drill:"+id+":*"); len(keys) != 0 {
				t.Errorf("keys left: %q", keys)
			}
			var n int
			err = w.Pool.QueryRow(t.Context(), `select count(*) from pg_namespace
				where nspname = $1`, "rewardctl_drill_"+id).Scan(&n)
			if err != nil || n != 0 {
				t.Errorf("%d schemas left, %v", n, err)
			}
		})
	}
}

// TestRefusals: options that make no drill are refused before anything is touched.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for name, change := range map[string]func(*drill.Options){
		"drill":   func(o *drill.Options) { o.Name = "earthquake" },
		"defence": func(o *drill.Options) { o.Defence = "hope" },
		"pause":   func(o *drill.Options) { o.Pause = o.TTL },
		"workers": func(o *drill.Options) { o.Workers = 3 },
		"rounds":  func(o *drill.Options) { o.Rounds = 3 },
	} {
		opt := options(w, drill.All)
		change(&opt)
		_, err := drill.Run(t.Context(), opt)
		rejection, ok := errors.AsType[*grant.Rejection](err)
		if !ok || rejection.Field != name {
			t.Errorf("%s: %v, want a rejection of this field", name, err)
		}
	}
	opt := options(w, drill.All)
	opt.Redis = nil
	if _, err := drill.Run(t.Context(), opt); err == nil {
		t.Error("a drill without Redis runs")
	}
	opt = options(w, drill.All)
	opt.TTL = time.Millisecond
	if _, err := drill.Run(t.Context(), opt); err == nil {
		t.Error("a TTL below the store's minimum runs")
	}
}

// TestRedisAway: a server that is down is an error of that server, not a drill that failed.
func TestRedisAway(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	proxy := granttest.NewRedisProxy(t, w.RedisAddr)
	proxy.SetPath(granttest.Refused)
	client := redis.NewClient(&redis.Options{
		Addr: proxy.Addr(), MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { _ = client.Close() })
	opt := options(w, drill.All)
	opt.Redis = client
	_, err := drill.Run(t.Context(), opt)
	if !grant.Unavailable(err) {
		t.Fatalf("ended with %v, want Redis unavailable", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, d := range drill.List() {
		if d.Name == "" || d.Plays == "" || len(d.Defences) == 0 || d.TTL <= 0 || names[d.Name] {
			t.Errorf("incomplete, or twice there: %+v", d)
		}
		names[d.Name] = true
		for _, column := range d.Columns {
			if column == "" {
				t.Errorf("%s: a column has no name: %q", d.Name, d.Columns)
			}
		}
		for _, defence := range d.Defences {
			if got, err := d.Parse(string(defence)); got != defence || err != nil {
				t.Errorf("%s: %s, %v", defence, got, err)
			}
		}
		if got, err := d.Parse(""); got != d.Full() || err != nil {
			t.Errorf("no word: %s, %v", got, err)
		}
		if got, err := drill.Find(d.Name); err != nil || got.Name != d.Name {
			t.Errorf("%s is not found: %v", d.Name, err)
		}
	}
}

//go:embed sql/*.sql
var statements embed.FS

// TestStatements prepares every statement against the migrated schema.
func TestStatements(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	conn, err := w.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	// One statement reads what the reference item server makes for itself.
	if _, err := itemserver.New(t.Context(), w.Pool, itemserver.Options{}); err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(statements, "sql", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := statements.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := conn.Conn().Prepare(t.Context(), path, string(text)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, header := range []string{"-- purpose:", "-- params:", "-- result:", "-- locks:"} {
			if !strings.Contains(string(text), header) {
				t.Errorf("%s: no header %s", path, header)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
