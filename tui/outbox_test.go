package tui_test

import (
	"strings"
	"testing"
	"time"

	"rewardctl/inspect"
	"rewardctl/repair"
)

// Marked deliveries are changed exactly as they were seen: those that the filter hides are told,
// those in another state are left out, and each is answered by itself.
func TestMarkedDeliveriesAreRequeued(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("6")
	c.See("4 total")
	c.Press("*", "/")
	c.Type("state:dead")
	c.Press("enter")
	c.See("4 marked (3 not shown)")
	c.See("T requeue 4 marked")
	c.Press("T")
	c.See("4 deliveries")
	c.See("now, live")
	c.See("3 of them are hidden by the filter")
	c.See("(hidden by the filter)")
	c.See("outbox requeue --set")
	c.Type("item is back")
	c.Press("tab")
	c.Type("4-requeue")
	c.Press("enter", "enter")
	c.See("4 of 4 changed: requeue")
	c.See("✓ 88  was dead; operator action 31")
	got := c.World.Changed()
	if len(got) != 4 || got[0].LedgerID != 88 || got[0].State != "dead" || got[0].Attempts != 8 ||
		got[0].Deed != repair.OutboxRequeue || got[0].Reason != "item is back" {
		t.Errorf("changed %+v", got)
	}
	c.Press("esc", "esc", "r")
	c.See("4 waiting")
	if strings.Contains(c.Text(), "marked") {
		t.Error("the marks stay although they were acted upon")
	}
}

// What changes under the dialog stops it; a fresh look takes what is left of the set.
func TestMarkedDeliveriesThatChange(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("6")
	c.See("4 total")
	c.Press("*", "D")
	c.See("3 deliveries") // one is parked already
	c.See("now, live")
	c.See("1 marked ones are left out")
	rows, err := c.World.Outbox(t.Context(), inspect.OutboxQuery{})
	if err != nil {
		t.Fatal(err)
	}
	rows.Rows[0].State, rows.Rows[0].Lane = "delivered", inspect.OutboxDelivered
	c.World.SetOutbox(rows.Rows)
	c.See("CHANGED while you looked: 88 player-42")
	c.Clock.Advance(2 * time.Second) // keys in flight were not meant for what is there now
	c.Press("f")
	c.See("2 deliveries")
	c.Type("wrong item")
	c.Press("tab")
	c.Type("2-park")
	c.Press("enter", "enter")
	c.See("2 of 2 changed: park")
}

// What is sent is shown line by line, folded first; n goes from one delivery that needs somebody to
// the next.
func TestDeliveryIsShownFolded(t *testing.T) {
	t.Parallel()
	c := sample(t, 120, 32, nil)
	c.Press("6")
	c.See("4 total")
	c.See("<1h ")
	c.Press("enter")
	c.See(`"data": {… 4 }`)
	c.Press("z")
	c.See(`"amount": 50,`)
	c.See("z folds")
	c.Press("esc", "n")
	c.See("▶        92")
	c.Press("n")
	c.See("no row below needs attention")
}
