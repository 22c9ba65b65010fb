package tui_test

import (
	"errors"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/tui"
)

func refusal(op string) error {
	return &grant.BackendError{
		Backend: grant.PostgreSQL, Op: op,
		Err: &grant.DeniedError{Role: "reward_view", Err: errors.New("permission denied")},
	}
}

// A read that the role may not do is told as that: no server is down, and nothing is stale.
func TestReadThatTheRoleMayNot(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) { o.Refresh = 10 * time.Millisecond })
	c.See("7 total")
	c.World.Fail(refusal("read the operator log"))
	c.Press("7")
	c.See("not allowed")
	c.See("the database role reward_view may not read the operator log")
	c.NotSee("DOWN")
	c.NotSee("nothing was read yet")
	c.World.Fail(nil)
	c.See("lease release")
	c.NotSee("not allowed")
}

// What the role may not do is disabled, with what it lacks.
func TestDeedThatTheRoleMayNot(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.See("7 total")
	c.Press("j", "j")
	c.World.Forbid("reward_view", map[string]string{
		"lease release": "update on reward_fence (last_token)",
		"grant approve": "insert on grant_approval (decision)",
	})
	c.World.Down("postgresql", errors.New("gone"))
	c.Press("r")
	c.See("pg DOWN")
	c.World.Fail(nil)
	c.Clock.Advance(6 * time.Second)
	c.Press("r")
	c.See("pg ●")
	c.See("(release)") // disabled once the new connection told what the role may do
	c.Press("R")
	c.See("release: the database role reward_view may not: it lacks update on reward_fence")
	c.Press("5")
	c.See("outage-48")
	c.Press("V")
	c.See("may not: it lacks insert on grant_approval")
}

// A database without the tables is told as that, once, and not as a server that is down.
func TestTablesAreMissing(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) {
		o.Home, o.Refresh = "oncall", 10*time.Millisecond
	})
	c.See("leases whose owner is gone")
	c.World.Fail(&grant.BackendError{
		Backend: grant.PostgreSQL, Op: "take the pulse",
		Err: &grant.SchemaError{Err: errors.New("42P01")},
	})
	c.See("✗ the tables are not there or too old; run: rewardctl")
	c.See("migrate up")
	c.NotSee("DOWN")
	c.Press("7")
	c.See("the tables are not there or too old; run: rewardctl migrate up")
	c.NotSee("DOWN")
	c.World.Fail(nil)
	c.See("lease release")
}
