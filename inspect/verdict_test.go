package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	fence := func(token int64, owner string) *grant.Fence {
		return &grant.Fence{Resource: "r", Token: token, Owner: owner}
	}
	fit := inspect.Facts{
		Token: 5, Owner: "w@h/1#a", Left: 9 * time.Second, Heartbeat: inspect.HeartbeatAlive,
		FenceSeen: true, TTL: 10 * time.Second,
	}
	for name, c := range map[string]struct {
		change func(*inspect.Facts)
		want   inspect.State
		also   []inspect.State
		likely inspect.State
		says   string
	}{
		"held": {func(*inspect.Facts) {}, inspect.Held, nil, "", "alive"},
		"held, writes": {
			func(f *inspect.Facts) { f.Fence = fence(5, f.Owner) }, inspect.Held, nil, "",
			"has written",
		},
		"held, fence below": {
			func(f *inspect.Facts) { f.Fence = fence(4, "x") }, inspect.Held, nil, "", "below",
		},
		"orphan": {
			func(f *inspect.Facts) { f.Heartbeat = inspect.HeartbeatGone }, inspect.OrphanSuspect, nil,
			"", "gone",
		},
		"orphan, expiring": {
			func(f *inspect.Facts) { f.Heartbeat = inspect.HeartbeatGone; f.Left = time.Second },
			inspect.OrphanSuspect,
			[]inspect.State{inspect.Expiring},
			"", "1s of 10s",
		},
		"no expiry": {
			func(f *inspect.Facts) { f.NoExpiry = true; f.Left = 0 }, inspect.NoExpiry, nil, "",
			"no expiry",
		},
		"orphan without expiry": {
			func(f *inspect.Facts) { f.NoExpiry = true; f.Heartbeat = inspect.HeartbeatGone },
			inspect.NoExpiry,
			[]inspect.State{inspect.OrphanSuspect},
			"", "no expiry",
		},
		"superseded": {
			func(f *inspect.Facts) { f.Fence = fence(6, "x") }, inspect.Superseded, nil, "",
			"above its token",
		},
		"superseded, heartbeat not seen": {
			func(f *inspect.Facts) { f.Fence = fence(6, "x"); f.Heartbeat = inspect.HeartbeatUnseen },
			inspect.Superseded, nil, "", "above its token",
		},
		"collision": {
			func(f *inspect.Facts) { f.Fence = fence(5, "x") }, inspect.Superseded, nil, "",
			"another owner",
		},
		"burned": {
			func(f *inspect.Facts) { f.Fence = fence(5, grant.BurnOwner("1")) }, inspect.Superseded, nil,
			"", "burned by an operator",
		},
		"longer than TTL": {
			func(f *inspect.Facts) { f.Left = time.Hour }, inspect.LongerThanTTL, nil, "", "clock jumped",
		},
		"expiring": {
			func(f *inspect.Facts) { f.Left = 2 * time.Second }, inspect.Expiring,
			[]inspect.State{inspect.OverdueRenewal},
			"", "2s of 10s",
		},
		"overdue": {
			func(f *inspect.Facts) { f.Left = 5 * time.Second }, inspect.OverdueRenewal, nil, "", "5s",
		},
		"TTL not known": {
			func(f *inspect.Facts) { f.TTL = 0; f.Left = time.Hour }, inspect.Held, nil, "", "1h",
		},
		"no PostgreSQL": {
			func(f *inspect.Facts) { f.FenceSeen = false }, inspect.CannotTell, nil, inspect.Held,
			"PostgreSQL did not tell",
		},
		"no heartbeat answer": {
			func(f *inspect.Facts) { f.Heartbeat = inspect.HeartbeatUnseen }, inspect.CannotTell, nil,
			"", "Redis did not tell",
		},
		"no PostgreSQL, orphan": {
			func(f *inspect.Facts) { f.FenceSeen = false; f.Heartbeat = inspect.HeartbeatGone },
			inspect.OrphanSuspect,
			[]inspect.State{inspect.CannotTell},
			"", "PostgreSQL did not tell",
		},
		"no PostgreSQL, expiring": {
			func(f *inspect.Facts) { f.FenceSeen = false; f.Left = time.Second }, inspect.CannotTell,
			[]inspect.State{inspect.OverdueRenewal},
			inspect.Expiring, "PostgreSQL did not tell",
		},
		"foreign": {
			func(f *inspect.Facts) { f.Foreign = "hash"; f.NoExpiry = true }, inspect.Foreign,
			[]inspect.State{inspect.NoExpiry},
			"", "other data (hash)",
		},
	} {
		facts := fit
		c.change(&facts)
		v := inspect.Judge(facts)
		if v.State != c.want || !slices.Equal(v.Also, c.also) || v.Likely != c.likely {
			t.Errorf("%s: %s, also %v, likely %q; want %s, %v, %q", name, v.State, v.Also, v.Likely,
				c.want, c.also, c.likely)
		}
		mustContain(t, name, text(v.Evidence), c.says)
	}
}

// Whatever the facts: one known state, each state at most once and in order, always evidence, and
// no verdict from a process id.
func FuzzJudge(f *testing.F) {
	f.Add(int64(5), "w@h/1#a", "", false, int64(9e9), byte(1), int64(4), "x", true, int64(10e9))
	f.Add(int64(1), "", "hash", true, int64(-1), byte(0), int64(0), "", false, int64(0))
	f.Fuzz(func(t *testing.T, token int64, owner, foreign string, noExpiry bool, left int64,
		heart byte, fenceToken int64, fenceOwner string, seen bool, ttl int64,
	) {
		facts := inspect.Facts{
			Token: token, Owner: owner, Foreign: foreign, NoExpiry: noExpiry,
			Left: time.Duration(left), Heartbeat: inspect.Heartbeat(heart % 3), FenceSeen: seen,
			TTL: time.Duration(ttl),
		}
		if fenceToken > 0 && seen {
			facts.Fence = &grant.Fence{Token: fenceToken, Owner: fenceOwner}
		}
		v := inspect.Judge(facts)
		order := append([]inspect.State{v.State}, v.Also...)
		if v.State == inspect.CannotTell && v.Likely != "" {
			order = slices.Insert(order, 1, v.Likely)
		}
		last := -1
		for _, s := range order {
			at := slices.Index(inspect.States(), s)
			if at <= last {
				t.Fatalf("%+v: %v is out of order or unknown", facts, order)
			}
			last = at
		}
		if len(v.Evidence) < 2 {
			t.Fatalf("%+v: evidence %v", facts, v.Evidence)
		}
		dead := seen && facts.Fence != nil && foreign == "" &&
			(fenceToken > token || fenceToken == token && fenceOwner != owner)
		if dead != (v.State == inspect.Superseded) {
			t.Fatalf("%+v: judged %s", facts, v.State)
		}
		if v.State == inspect.Held && (!seen || facts.Heartbeat != inspect.HeartbeatAlive) {
			t.Fatalf("%+v: judged held without evidence", facts)
		}
		other := facts
		other.Owner = strings.Replace(owner, "/1#", "/2#", 1)
		if facts.Fence == nil && fmt.Sprint(inspect.Judge(other)) != fmt.Sprint(v) {
			t.Fatalf("%+v: another process id changes the verdict", facts)
		}
	})
}
