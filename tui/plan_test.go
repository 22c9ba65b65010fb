package tui_test

import (
	"testing"

	"rewardctl/tui"
)

// What a plan does now stands beside what it did when it was asked for; when it is not the same,
// nobody can approve it, and the reason is said.
func TestDriftedPlanIsNotApproved(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	c.World.GrantElsewhere(12, 5)
	c.See("7 total")
	c.Press("5")
	c.See("outage-48")
	c.See("then")
	c.See("≠6")
	c.See("it is not as it was when it was asked for")
	c.Press("V")
	c.See("approve: it is not as it was when it was asked for")
	c.NotSee("now, live")
	if got := c.World.Decided(); len(got) != 0 {
		t.Errorf("decided %+v", got)
	}
}

// A plan by itself says what it is not as it was any more, too, before anybody asks to approve it.
func TestPlanTellsItsDrift(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	c.World.GrantElsewhere(12, 5)
	c.See("7 total")
	c.Press(":")
	c.Paste("grant status 12")
	c.Press("enter")
	c.See("What it does, as seen when it was made")
	c.See("since it was made:")
	c.Press("V")
	c.See("approve: it is not as it was when it was asked for")
	c.NotSee("now, live")
}

// The approval of a large plan may take longer than other deeds, and says how long at most.
func TestApprovingALargePlanHasTimeForIt(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	c.See("7 total")
	c.Press("5")
	c.See("outage-48")
	c.Press("V")
	c.See("now, live")
	c.Type("checked")
	c.Press("enter")
	c.Type("12-approve")
	c.See("ready:")
	c.Press("enter")
	resume := c.World.Stall()
	c.Press("enter")
	c.See("the longer it takes: 2m10s at most")
	resume()
	c.See("plan 12 is now approved")
}

// To pause, reject or cancel a plan nobody has to wait for what it would do.
func TestStoppingDeedsLookLightly(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 40, nil)
	c.See("7 total")
	c.Press(":")
	c.Paste("grant status 11")
	c.Press("enter")
	c.See("What it does, as seen when it was made")
	before := c.World.Previews()
	for _, key := range []string{"N", "X"} {
		c.Press(key)
		c.See("now, live")
		c.See("what it granted stays granted")
		c.Press("esc")
		c.NotSee("now, live")
	}
	if got := c.World.Previews(); got != before {
		t.Errorf("%d previews were made", got-before)
	}
}

// All rows of a plan are exported with their answers, from the plan and from its rows.
func TestPlanRowsAreExportedWhole(t *testing.T) {
	t.Parallel()
	var out exports
	c := sample(t, 120, 40, func(o *tui.Options) { o.Export = out.take })
	c.See("7 total")
	c.Press(":")
	c.Paste("grant status 11")
	c.Press("enter")
	c.See("64%  3200 of 5000 rows")
	c.See("B goes on: what is granted is not granted twice")
	c.Press("e")
	c.See("5 rows written to plan-11.csv")
	got := out.taken()
	if len(got) != 5 || got[2][5] != "mismatch" || got[4][5] != "not_run" {
		t.Errorf("exported %q", got)
	}
}
