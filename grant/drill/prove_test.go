package drill_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"rewardctl/grant/drill"
	"rewardctl/grant/granttest"
)

// expectation is what the runs of a drill have to show, by defence.
type expectation struct {
	damage  []drill.Defence // those that do not stop the damage; all others have to
	columns [2]string       // words that the control's and the defended timeline have to hold
	lines   []drill.Defence // the lines that refuse when everything stands, in any order
	broken  string          // the check that the control breaks
}

const (
	countCheck = "count(player_id, reward_event_id) <= 1"
	sumCheck   = "ledger_sum(event) = expected_reward(event)"
	itemCheck  = "delivered(event) = ledger_sum(event)"
)

func expectations() map[string]expectation {
	none := []drill.Defence{drill.None}
	return map[string]expectation{
		drill.PausedHolder: {
			none,
			[2]string{"SIGSTOP", "refused by the fence"},
			[]drill.Defence{drill.Fence, drill.Unique},
			countCheck,
		},
		"late-renewal": {
			none,
			[2]string{"SET overwrites B's lease", "its work is cancelled in time"},
			[]drill.Defence{drill.Compare, drill.Lease},
			countCheck,
		},
		"partition": {
			none,
			[2]string{"arrives, and is paid", "healed: it asks again under the same lease"},
			[]drill.Defence{drill.Fence},
			countCheck,
		},
		"kill-before-commit": {
			none, [2]string{"marked as paid; does nothing", "its transaction lives"}, nil, sumCheck,
		},
		"kill-after-commit": {
			[]drill.Defence{drill.None, drill.Fence},
			[2]string{"dies by SIGKILL", "refused by the unique"},
			[]drill.Defence{drill.Unique},
			countCheck,
		},
		"lost-reply": {
			none,
			[2]string{"SET NX again: the key is there", "same owner: token 2, as before"},
			[]drill.Defence{drill.Idempotency, drill.Unique},
			itemCheck,
		},
		"duplicate-messages": {
			none, [2]string{"all pay at once", "1 paid"}, []drill.Defence{drill.Unique}, countCheck,
		},
		"wrong-release": {
			none,
			[2]string{"DEL", "nothing done, the lock is token 2 of worker-b"},
			[]drill.Defence{drill.Compare, drill.Lease},
			countCheck,
		},
		"failover": {
			[]drill.Defence{drill.None, drill.TokenOnly},
			[2]string{"token 2 as well", "the fence is the floor"},
			[]drill.Defence{drill.Fence, drill.Unique},
			countCheck,
		},
		"relay-crash": {
			none,
			[2]string{"applied, once more", "it had been applied before"},
			[]drill.Defence{drill.Idempotency},
			itemCheck,
		},
		"random-key": {
			none, [2]string{"hears nothing, asks", "replayed"}, []drill.Defence{drill.Unique}, sumCheck,
		},
		"lost-update": {},
		"daily-reward": {
			[]drill.Defence{drill.None, drill.Lease},
			[2]string{"looks: not paid yet", "asks again"},
			[]drill.Defence{drill.Lease, drill.Unique},
			countCheck,
		},
		"room-owner": {
			none,
			[2]string{"cy joins: writes ada cy", "cy is sent here and joins"},
			[]drill.Defence{drill.Fence},
			"players in the room = players that joined",
		},
		"ranking": {
			none, [2]string{"writes 130", "ZINCRBY"}, nil, "score = 100 + 2 x 30",
		},
	}
}

// TestDrills plays every drill with each of its defences: those that cannot stop the damage do not,
// all others do, and the control breaks the check it is there to break.
func TestDrills(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	wanted := expectations()
	if len(wanted) != len(drill.List()) {
		t.Errorf("%d drills, %d are expected", len(drill.List()), len(wanted))
	}
	for _, d := range drill.List() {
		if d.Name == drill.LostUpdate {
			continue // TestLostUpdate
		}
		want, known := wanted[d.Name]
		if !known {
			t.Errorf("nothing is expected of the drill %s", d.Name)
			continue
		}
		for _, defence := range d.Defences {
			t.Run(d.Name+"/"+string(defence), func(t *testing.T) {
				t.Parallel()
				opt := options(w, defence)
				opt.Name = d.Name
				opt, left := watched(t, w, opt)
				report, err := drill.Run(t.Context(), opt)
				if err != nil {
					t.Fatalf("%v\n%s", err, timeline(report))
				}
				left()
				judge(t, d, want, report)
			})
		}
	}
}

func judge(t *testing.T, d drill.Description, want expectation, report drill.Report) {
	t.Helper()
	if damaged := slices.Contains(want.damage, report.Defence); report.OK == damaged {
		t.Errorf("OK %v: %+v\n%s", report.OK, report.Checks, timeline(report))
	}
	switch text := timeline(report); report.Defence {
	case d.Control():
		if !strings.Contains(text, want.columns[0]) {
			t.Errorf("the timeline does not say %q:\n%s", want.columns[0], text)
		}
		if i := slices.IndexFunc(report.Checks, func(c drill.Check) bool {
			return c.Name == want.broken && !c.Holds
		}); i < 0 {
			t.Errorf("the control does not break %q: %+v", want.broken, report.Checks)
		}
	case d.Full():
		if !strings.Contains(text, want.columns[1]) {
			t.Errorf("the timeline does not say %q:\n%s", want.columns[1], text)
		}
		for _, line := range want.lines {
			if !slices.ContainsFunc(report.Refusals, func(r drill.Refusal) bool {
				return r.Line == line && r.Worker != "" && r.Detail != ""
			}) {
				t.Errorf("nothing was refused by %s: %+v", line, report.Refusals)
			}
		}
	}
	if report.Name != d.Name || report.Plays != d.Plays || report.Columns != d.Columns ||
		report.Seed != 7 || report.TTL != testTTL || report.Started.IsZero() {
		t.Errorf("the report does not say what was played: %+v", report)
	}
}

// timeline is the text of a timeline.
func timeline(report drill.Report) string {
	var b strings.Builder
	for _, row := range report.Timeline {
		b.WriteString(row.At.String() + " | " + row.WorkerA + " | " + row.Lease + " | " +
			row.WorkerB + "\n")
	}
	return b.String()
}

// watched gives a run an id that is known, and returns a check that nothing of it is left.
func watched(
	t *testing.T, w *granttest.World, opt drill.Options,
) (_ drill.Options, left func()) {
	t.Helper()
	id, first := newID(), true
	opt.NewID = func() string {
		if first {
			first = false // the run's own id, asked for before its workers begin
			return id
		}
		return newID()
	}
	return opt, func() {
		t.Helper()
		if keys := scan(t, w.Redis, "drill:"+id+":*"); len(keys) != 0 {
			t.Errorf("keys left: %q", keys)
		}
		var n int
		err := w.Pool.QueryRow(t.Context(), "select count(*) from pg_namespace where nspname = $1",
			"rewardctl_drill_"+id).Scan(&n)
		if err != nil || n != 0 {
			t.Errorf("%d schemas left, %v", n, err)
		}
	}
}

// TestProve: a proof holds the control's damage and the full defence's refusals.
func TestProve(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for name, control := range map[string]bool{"room-owner": true, drill.LostUpdate: false} {
		opt := options(w, "")
		opt.Name = name
		p, err := drill.Prove(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if !p.Proved || !p.Defended.OK || p.Control.OK || (p.Control.Name == name) != control {
			t.Errorf("%s: %+v", name, p)
		}
	}
	// A control without damage proves nothing.
	opt := options(w, "")
	opt.Name = "room-owner"
	p, err := drill.ProveWith(t.Context(), opt,
		func(ctx context.Context, opt drill.Options) (drill.Report, error) {
			opt.Defence = drill.All
			return drill.Run(ctx, opt)
		})
	if err != nil || p.Proved {
		t.Errorf("proved %v without damage, %v", p.Proved, err)
	}
	opt.Name = "earthquake"
	if _, err := drill.Prove(t.Context(), opt); err == nil {
		t.Error("an unknown drill is proved")
	}
}

// TestSeed: the same seed makes the same choices.
func TestSeed(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	tries := map[int]bool{}
	for _, seed := range []uint64{1, 1, 2, 3, 4, 5, 6} {
		opt := options(w, drill.All)
		opt.Name, opt.Seed = "random-key", seed
		report, err := drill.Run(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		before := len(tries)
		tries[len(report.Timeline)] = true
		if seed == 1 && before > 0 && len(tries) != 1 {
			t.Errorf("seed 1 played differently twice: %v", tries)
		}
	}
	if len(tries) < 2 {
		t.Errorf("all seeds play the same: %v", tries)
	}
}

// TestStoppedWithProcesses: a drill that is stopped while a process plays in it leaves nothing.
func TestStoppedWithProcesses(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opt, left := watched(t, w, options(w, drill.All))
	opt.TTL, opt.Pause = time.Minute, 2*time.Minute
	opt.Name = "kill-after-commit"
	opt.Pause = 0
	var child int
	start := opt.Spawn
	var process func() bool
	opt.Spawn = func(ctx context.Context) (cmd *exec.Cmd) {
		cmd = start(ctx)
		process = func() bool { return cmd.ProcessState != nil }
		child++
		return cmd
	}
	opt.OnRow = func(r drill.Row) {
		if strings.Contains(r.WorkerA, "has paid") {
			cancel()
		}
	}
	if _, err := drill.Run(ctx, opt); !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
	if child != 1 || !process() {
		t.Errorf("%d processes, ended: %v", child, process())
	}
	left()
}

// TestStopIsReal: while B works, the system says that A's process is stopped.
func TestStopIsReal(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	opt := options(w, drill.None)
	start, pid := opt.Spawn, 0
	var worker *exec.Cmd
	opt.Spawn = func(ctx context.Context) *exec.Cmd {
		worker = start(ctx)
		return worker
	}
	states := map[string]bool{}
	opt.OnRow = func(r drill.Row) {
		if worker == nil || !strings.Contains(r.WorkerB, "pays") {
			return
		}
		pid = worker.Process.Pid
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Errorf("the state of the process: %v", err)
			return
		}
		_, after, _ := strings.Cut(string(text), ") ")
		states[after[:1]] = true
	}
	if _, err := drill.Run(t.Context(), opt); err != nil {
		t.Fatal(err)
	}
	if len(states) != 1 || !states["T"] {
		t.Errorf("process %d was in the states %v while B paid, want T, stopped", pid, states)
	}
}
