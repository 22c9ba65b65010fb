package repair_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"
)

// heldWorld is a ledger whose rows are held by leases on a clock that only waiting moves.
type heldWorld struct {
	*memoryLedger
	now    time.Duration
	waited []string // what was said to be waited for
}

// newHeldWorld makes a world in which until tells when the lease of a row ends, and who holds it.
func newHeldWorld(until func(player string, now time.Duration) (time.Duration, string)) *heldWorld {
	w := &heldWorld{memoryLedger: newLedger()}
	w.each = func(_ int, r grant.Request) (grant.Result, bool) {
		end, owner := until(r.PlayerID, w.now)
		if end <= w.now {
			return grant.Result{}, false
		}
		return grant.Result{Outcome: grant.LeaseHeld, Holder: &grant.Holder{
			Resource: "reward:" + r.PlayerID, Owner: owner, Token: 7, Left: end - w.now,
		}}, true
	}
	return w
}

func (w *heldWorld) options() repair.ApplyOptions {
	return repair.ApplyOptions{
		HeldFor: 30 * time.Second,
		Wait: func(ctx context.Context, d time.Duration) error {
			w.now += d
			return ctx.Err()
		},
		OnProgress: func(p repair.ApplyProgress) {
			if p.Waiting != nil {
				w.waited = append(w.waited, p.Waiting.String())
			}
		},
	}
}

// A file that is given again right after kill -9 waits for the leases of the dead process, which
// end one after the other, and finishes.
func TestLeasesOfAKilledRunAreWaitedFor(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(func(player string, _ time.Duration) (time.Duration, string) {
		var n int
		if _, err := fmt.Sscanf(player, "player-%d", &n); err != nil {
			t.Error(err)
		}
		return 30*time.Second - time.Duration(n)*7*time.Millisecond, "ops@host/1#dead"
	})
	_, lines, err := apply(t, w, manyRows(200), w.options())
	if err != nil || strings.Contains(words(lines), "held") || len(w.posted) != 200 {
		t.Fatalf("%v, %d posted, %s", err, len(w.posted), words(lines))
	}
	if w.now < 30*time.Second || w.now > 33*time.Second {
		t.Errorf("it waited for %s", w.now)
	}
	first := "200 rows for leases of others, 33s at most (ops@host/1#dead)"
	if len(w.waited) == 0 || w.waited[0] != first {
		t.Errorf("it said %q", w.waited)
	}
}

// A lease that is renewed belongs to somebody alive: it is not waited for without end, and neither
// is the next one of somebody else, whatever there is in a file.
func TestLivingOwnersAreNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		owner func(now time.Duration) string
		rows  int
		most  time.Duration
	}{
		"renewed":      {func(time.Duration) string { return "alive" }, 1, 40 * time.Second},
		"another each": {func(now time.Duration) string { return now.String() }, 1, 70 * time.Second},
		"each batch":   {func(time.Duration) string { return "alive" }, 20, 200 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHeldWorld(func(_ string, now time.Duration) (time.Duration, string) {
				return now + 30*time.Second, c.owner(now)
			})
			opt := w.options()
			opt.BatchMax = 1
			_, lines, err := apply(t, w, manyRows(c.rows), opt)
			if err != nil || !strings.HasSuffix(words(lines), "lease_held") || len(w.posted) != 0 {
				t.Fatalf("%v, %s", err, words(lines))
			}
			if w.now < 30*time.Second || w.now > c.most {
				t.Errorf("it waited for %s", w.now)
			}
		})
	}
}

// Ctrl-C ends a wait for leases at once, and the run counts as interrupted.
func TestInterruptedWaitForLeases(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(func(string, time.Duration) (time.Duration, string) {
		return time.Hour, "ops@host/1#dead"
	})
	ctx, cancel := context.WithCancel(t.Context())
	opt := w.options()
	opt.Wait = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}
	report, _, err := applyFile(t, ctx, w, writeFile(t, "g.csv", manyRows(3)), opt)
	var stopped *repair.StoppedError
	if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || report.Complete ||
		len(w.calls) != 1 {
		t.Fatalf("%v, %+v", err, report)
	}
}
