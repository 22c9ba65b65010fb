package lease

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rewardctl/grant"
)

const keptTTL = 3 * time.Second // renewed every second

// fake is a lease store for a keeper: it extends by TTL unless answer says otherwise.
type fake struct {
	mu     sync.Mutex
	calls  []time.Time
	answer func(call int, l grant.Lease) RenewAnswer
	hang   bool
}

func (f *fake) Renew(ctx context.Context, ls []grant.Lease) []RenewAnswer {
	f.mu.Lock()
	f.calls = append(f.calls, time.Now())
	n, answer, hang := len(f.calls), f.answer, f.hang
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return []RenewAnswer{{Lease: ls[0], Err: broken("renew", ctx.Err())}}
	}
	a := RenewAnswer{Lease: ls[0]}
	if answer != nil {
		a = answer(n, ls[0])
	}
	if a.Err == nil && !a.Lost {
		a.Lease.Until = time.Now().Add(keptTTL * 9 / 10)
	}
	return []RenewAnswer{a}
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// watch counts what a keeper reports.
type watch struct {
	mu    sync.Mutex
	warns []error
	lost  []error
}

func (w *watch) options() KeepOptions {
	return KeepOptions{
		Warn: func(err error) { w.mu.Lock(); defer w.mu.Unlock(); w.warns = append(w.warns, err) },
		Lost: func(err error) { w.mu.Lock(); defer w.mu.Unlock(); w.lost = append(w.lost, err) },
	}
}

func (w *watch) counts() (warns, lost int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.warns), len(w.lost)
}

func keepFake(t *testing.T, f *fake, w *watch) *Keeper {
	t.Helper()
	l := grant.Lease{
		Resource: "r", Owner: "a", Token: 1, Until: time.Now().Add(keptTTL * 9 / 10),
	}
	return keep(t.Context(), f, keptTTL, time.Now, l, w.options())
}

var errCut = &grant.BackendError{
	Backend: grant.Redis, Op: "renew", Doubt: true, Err: errors.New("cut"),
}

func TestKeeperRenewsUntilStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, w := &fake{}, &watch{}
		k := keepFake(t, f, w)
		start := time.Now()
		pass(10*time.Second + keptTTL/6)
		if n := f.count(); n != 10 {
			t.Errorf("%d renewals in 10s, want one every TTL/3", n)
		}
		if until := k.Lease().Until; until.Sub(start) < 12*time.Second {
			t.Errorf("trusted until %v after the start, want the last renewal's", until.Sub(start))
		}
		if k.Context().Err() != nil {
			t.Error("the work was cancelled")
		}
		k.Stop()
		k.Stop()
		if !errors.Is(context.Cause(k.Context()), ErrStopped) {
			t.Errorf("cause %v, want ErrStopped", context.Cause(k.Context()))
		}
		n := f.count()
		pass(10 * time.Second)
		if f.count() != n {
			t.Error("renewed after Stop")
		}
		if warns, lost := w.counts(); warns != 0 || lost != 0 {
			t.Errorf("%d warnings and %d losses reported", warns, lost)
		}
	})
}

// TestB03KeeperSurvivesOutage is case B03 (i): a cut of 1.2s costs one warning and no lease.
func TestB03KeeperSurvivesOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, w := &fake{}, &watch{}
		start := time.Now()
		f.answer = func(_ int, l grant.Lease) RenewAnswer {
			if at := time.Since(start); at > 900*time.Millisecond && at < 2100*time.Millisecond {
				return RenewAnswer{Lease: l, Err: errCut}
			}
			return RenewAnswer{Lease: l}
		}
		k := keepFake(t, f, w)
		defer k.Stop()
		pass(2600 * time.Millisecond)
		synctest.Wait()
		if k.Context().Err() != nil || f.count() < 2 {
			t.Fatalf("after %d failed renewals: %v", f.count(), context.Cause(k.Context()))
		}
		if warns, lost := w.counts(); warns != 1 || lost != 0 {
			t.Errorf("%d warnings and %d losses reported, want 1 and 0", warns, lost)
		}
	})
}

func TestB03KeeperReportsLossOnce(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]func(*fake){
		"errors": func(f *fake) {
			f.answer = func(_ int, l grant.Lease) RenewAnswer {
				return RenewAnswer{Lease: l, Err: errCut}
			}
		},
		"no answer": func(f *fake) { f.hang = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f, w := &fake{}, &watch{}
				outage(f)
				start := time.Now()
				k := keepFake(t, f, w)
				defer k.Stop()
				<-k.Context().Done()
				if at := time.Since(start); at != keptTTL*9/10 {
					t.Errorf("cancelled after %v, want the last moment of trust", at)
				}
				if !errors.Is(context.Cause(k.Context()), ErrExpired) {
					t.Errorf("cause %v, want ErrExpired", context.Cause(k.Context()))
				}
				pass(20 * time.Second)
				if warns, lost := w.counts(); lost != 1 || warns > 1 {
					t.Errorf("%d warnings and %d losses reported, want 1 loss", warns, lost)
				}
			})
		})
	}
}

func TestKeeperLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, w := &fake{}, &watch{}
		f.answer = func(n int, l grant.Lease) RenewAnswer {
			if n < 3 {
				return RenewAnswer{Lease: l}
			}
			return RenewAnswer{Lease: l, Lost: true, Holder: &grant.Holder{Owner: "b", Token: 9}}
		}
		k := keepFake(t, f, w)
		defer k.Stop()
		<-k.Context().Done()
		cause := context.Cause(k.Context())
		if !errors.Is(cause, ErrLost) || f.count() != 3 {
			t.Errorf("cause %v after %d renewals, want ErrLost after 3", cause, f.count())
		}
		pass(10 * time.Second)
		if warns, lost := w.counts(); lost != 1 || warns != 0 || f.count() != 3 {
			t.Errorf("%d warnings, %d losses, %d renewals", warns, lost, f.count())
		}
	})
}

// TestKeeperParentEnds checks that the caller's context ends the work, and the renewing with it.
func TestKeeperParentEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, w := &fake{}, &watch{}
		ctx, cancel := context.WithCancelCause(t.Context())
		l := grant.Lease{Resource: "r", Until: time.Now().Add(keptTTL)}
		k := keep(ctx, f, keptTTL, time.Now, l, w.options())
		enough := errors.New("enough")
		cancel(enough)
		<-k.Context().Done()
		if !errors.Is(context.Cause(k.Context()), enough) {
			t.Errorf("cause %v, want the parent's", context.Cause(k.Context()))
		}
		pass(10 * time.Second)
		if warns, lost := w.counts(); f.count() != 0 || warns+lost != 0 {
			t.Errorf("%d renewals, %d warnings, %d losses after the end", f.count(), warns, lost)
		}
		k.Stop()
	})
}

// TestKeeperExpiredAtStart checks a lease that was late already.
func TestKeeperExpiredAtStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, w := &fake{}, &watch{}
		l := grant.Lease{Resource: "r", Until: time.Now().Add(-time.Second)}
		k := keep(t.Context(), f, keptTTL, time.Now, l, w.options())
		defer k.Stop()
		<-k.Context().Done()
		if !errors.Is(context.Cause(k.Context()), ErrExpired) || f.count() != 0 {
			t.Errorf("cause %v after %d renewals", context.Cause(k.Context()), f.count())
		}
	})
}

// pass lets virtual time go by; it is called inside a synctest bubble only.
func pass(d time.Duration) { <-time.After(d) }
