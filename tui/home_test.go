package tui_test

import (
	"errors"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

func TestHomeByKindOfWork(t *testing.T) {
	t.Parallel()
	for home, tab := range map[string]string{
		"oncall": "[0 Now]", "support": "[2 Player]", "liveops": "[3 Grants", "doctor": "[8 Doctor]",
	} {
		sample(t, 120, 32, func(o *tui.Options) { o.Home = home }).See(tab)
	}
}

// With "auto" the database role says what the console opens with: by membership in a role that the
// configuration names, else by what the role may do.
func TestHomeByRole(t *testing.T) {
	t.Parallel()
	release := map[string]string{"lease release": "update on reward_fence"}
	nothing := map[string]string{
		"lease release": "update on reward_fence", "grant plan": "insert on grant_plan",
	}
	for name, c := range map[string]struct {
		lacks  map[string]string
		member []string
		see    string
	}{
		"may release":           {nil, nil, "[0 Now]"},
		"may plan":              {release, nil, "Grants › Plans"},
		"may look":              {nothing, nil, "[2 Player]"},
		"member":                {nil, []string{"helpdesk"}, "[2 Player]"},
		"member of two":         {nil, []string{"watch", "helpdesk"}, "[2 Player]"},
		"member of the other":   {nothing, []string{"watch"}, "[6 Outbox"},
		"member of none listed": {release, []string{"others"}, "Grants › Plans"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sample(t, 120, 32, func(o *tui.Options) {
				world, _ := o.Operator.(*tuitest.World)
				world.Forbid("somebody", c.lacks)
				world.Join(c.member...)
				o.Home, o.Roles = "auto", []string{"helpdesk=support", "watch=outbox"}
			}).See(c.see)
		})
	}
}

// Nobody is taken away from where he went by a late answer.
func TestHomeByRoleWaitsForNobody(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, func(o *tui.Options) {
		world, _ := o.Operator.(*tuitest.World)
		world.Down(grant.PostgreSQL, errors.New("gone"))
		o.Home = "auto"
	})
	c.See("[0 Now]")
	c.Press("1")
	c.See("[1 Leases]")
	c.World.Forbid("somebody", map[string]string{
		"lease release": "update on reward_fence", "grant plan": "insert on grant_plan",
	})
	c.World.Fail(nil)
	c.Clock.Advance(6 * time.Second)
	c.Press("j", "j", "r")
	c.See("(release)")
	c.See("[1 Leases]")
}

// No screen holds the operator: esc takes the keys away from its field, also an empty one, and a
// digit leads away.
func TestEveryScreenIsLeftByEscAndADigit(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, drilled)
	c.See("7 total")
	for digit := '0'; digit <= '9'; digit++ {
		away := "1"
		if digit == '1' {
			away = "0"
		}
		c.Press("alt+" + string(digit))
		c.See("[" + string(digit) + " ")
		c.Press("esc", away)
		c.See("[" + away + " ")
	}
}
