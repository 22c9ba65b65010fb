package simulator

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rewardctl/grant/granttest"
)

// The environment variables by which a longer run, or one schedule alone, is asked for.
const (
	schedulesVariable = "REWARDCTL_SIM_SCHEDULES"
	seedVariable      = "REWARDCTL_SIM_SEED"
)

func TestMain(m *testing.M) { granttest.Main(m) }

func number(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// situations must each occur in a run: a run without them proves nothing about them.
var situations = []string{
	"Redis failed over", "Redis forgot", "a lease expired", "a process died",
	"a reply came too late", "a reply was lost", "acquire asked again by its owner", "applied",
	"claim lost before its mark", "delivered again", "floor raised a counter", "left unknown",
	"mismatch", "not sent: the lease ran out", "operator released a lock",
	"posted after the lease was lost", "release refused: the lock changed", "renewal refused",
	"replayed", "sent again after the first committed", "sent again before the first arrived",
	"stale_token", "token_collision",
}

// TestSchedules plays many schedules of the sound protocol. Nothing may go wrong in any of them,
// and every situation that the protocol is made for must have occurred.
func TestSchedules(t *testing.T) {
	t.Parallel()
	count := number(t, schedulesVariable, 60_000)
	first := number(t, seedVariable, 1) << 32
	seen, steps, submitted, granted := map[string]int{}, 0, 0, 0
	for seed := first; seed < first+count; seed++ {
		r := Run(seed, Options{})
		if r.Violation != "" {
			r = Run(seed, Options{Trace: true})
			t.Fatalf("seed %d: %s\n%s\nagain: %s=%d %s=%d go test ./grant/granttest/simulator "+
				"-run '^TestSchedules$'", seed, r.Violation, strings.Join(r.Trace, "\n"),
				seedVariable, first>>32, schedulesVariable, count)
		}
		steps, submitted, granted = steps+r.Steps, submitted+r.Submitted, granted+r.Granted
		for what, n := range r.Seen {
			seen[what] += n
		}
	}
	t.Logf("scoreboard: schedules=%d schedule_steps=%d schedule_seed=%d submitted=%d granted=%d",
		count, steps, first, submitted, granted)
	t.Logf("scoreboard: situations_seen=%d", len(situations))
	for _, what := range situations {
		if seen[what] == 0 {
			t.Errorf("no schedule of seed %d ever saw: %s", first, what)
		}
	}
}

// TestDefects breaks one rule at a time: the simulator must notice each.
func TestDefects(t *testing.T) {
	t.Parallel()
	const within = 20_000
	for _, d := range Defects() {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(within) {
				if r := Run(seed, Options{Defect: d}); r.Violation != "" {
					t.Logf("scoreboard: simulator_defects_found=1")
					t.Logf("seed %d: %s", seed, r.Violation)
					return
				}
			}
			t.Errorf("%d schedules did not notice it", within)
		})
	}
}

// TestReplay: a seed means one schedule.
func TestReplay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		one := Run(seed, Options{Trace: true})
		two := Run(seed, Options{Trace: true})
		if !slices.Equal(one.Trace, two.Trace) {
			t.Fatalf("seed %d played two schedules", seed)
		}
		if fmt.Sprint(one.Seen) != fmt.Sprint(two.Seen) || one.Steps != two.Steps {
			t.Fatalf("seed %d: %+v, then %+v", seed, one, two)
		}
	}
}
