package drill_test

import (
	"errors"
	"testing"

	"rewardctl/grant"
	"rewardctl/grant/drill"
	"rewardctl/grant/granttest"
)

// lostUpdate returns options for the drill, and a check that the run left nothing behind.
func lostUpdate(t *testing.T, w *granttest.World) (opt drill.Options, left func()) {
	t.Helper()
	id, first := newID(), true
	opt = options(w, drill.All)
	opt.Name = drill.LostUpdate
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

// TestLostUpdate: 100 points, two times -30 at once. Without a lock one is lost; each of the three
// ways gives 40. The barriers make the workers collide every time, so the counts are exact.
func TestLostUpdate(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	opt, left := lostUpdate(t, w)
	report, err := drill.Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK || len(report.Methods) != 4 || len(report.Checks) != 4 {
		t.Fatalf("%+v", report)
	}
	want := map[drill.Way]drill.Method{
		drill.WayNone:        {Start: 100, Want: 40, Have: 70, Lost: 30},
		drill.WayPessimistic: {Start: 100, Want: 40, Have: 40, Waits: 1},
		drill.WayOptimistic:  {Start: 100, Want: 40, Have: 40, Retries: 1},
		drill.WayLease:       {Start: 100, Want: 40, Have: 40, Waits: 1},
	}
	for i, m := range report.Methods {
		if m.Way != drill.Ways()[i] {
			t.Errorf("way %d is %s", i, m.Way)
		}
		if m.Cost <= 0 || m.Trips < 2 || (m.Waits > 0) != (m.Waited > 0) {
			t.Errorf("%s: cost %s, %.1f trips, waited %s", m.Way, m.Cost, m.Trips, m.Waited)
		}
		m.Way, m.Cost, m.Trips, m.Waited, m.FreeRetries = "", 0, 0, 0, 0
		if m != want[drill.Ways()[i]] {
			t.Errorf("%s: %+v, want %+v", drill.Ways()[i], m, want[drill.Ways()[i]])
		}
	}
	if len(report.Steps) < 12 {
		t.Errorf("only %d steps are told", len(report.Steps))
	}
	left()
}

// TestLostUpdateOfMany: the control loses all but one deduction of each round; the others none.
func TestLostUpdateOfMany(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	opt, left := lostUpdate(t, w)
	opt.Workers, opt.Rounds = 5, 4
	report, err := drill.Run(t.Context(), opt)
	if err != nil || !report.OK {
		t.Fatalf("%v %+v", err, report.Checks)
	}
	const collisions = 4 * 4 // in each round all but the first
	for _, m := range report.Methods {
		switch m.Way {
		case drill.WayNone:
			if m.Lost != collisions*30 {
				t.Errorf("none lost %d, want %d", m.Lost, collisions*30)
			}
		case drill.WayOptimistic:
			if m.Retries < collisions {
				t.Errorf("%d retries, want at least %d", m.Retries, collisions)
			}
		case drill.WayPessimistic, drill.WayLease:
			if m.Waits != collisions {
				t.Errorf("%s: %d waits, want %d", m.Way, m.Waits, collisions)
			}
		}
	}
	left()
}

func TestLostUpdateRejects(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for field, change := range map[string]func(*drill.Options){
		"workers": func(o *drill.Options) { o.Workers = 1 },
		"rounds":  func(o *drill.Options) { o.Rounds = -1 },
		"defence": func(o *drill.Options) { o.Defence = drill.Fence },
	} {
		opt := options(w, drill.All)
		opt.Name = drill.LostUpdate
		change(&opt)
		var rejected *grant.Rejection
		if _, err := drill.Run(t.Context(), opt); !errors.As(err, &rejected) ||
			rejected.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
