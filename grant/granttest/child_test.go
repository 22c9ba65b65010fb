package granttest_test

import (
	"os"
	"strconv"
	"testing"

	"rewardctl/grant/granttest"
)

// childDeed is what the child of these tests is ordered to do.
type childDeed struct{ Stop, Fail bool }

// TestChildSide is the child's side. Without orders it has nothing to do.
func TestChildSide(t *testing.T) {
	var deed childDeed
	orders := granttest.Ordered(t, &deed)
	if orders == nil {
		return
	}
	orders.Report(strconv.Itoa(os.Getpid()))
	if deed.Stop {
		orders.Stop("here")
	}
	if deed.Fail {
		t.Fatal("as ordered")
	}
}

// A child is another process, does what its orders say, reports, and dies where it stopped.
func TestChild(t *testing.T) {
	t.Parallel()
	stopped := granttest.StartChild(t, "TestChildSide", childDeed{Stop: true})
	if pid := stopped.Line(); pid == strconv.Itoa(os.Getpid()) || pid == "" {
		t.Errorf("the child is process %q, which is this one", pid)
	}
	stopped.KillAt("here")
	if err := stopped.Result(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the killed child ended with %v", err)
	}
	well := granttest.StartChild(t, "TestChildSide", childDeed{})
	if well.Line(); well.Result() != nil {
		t.Errorf("a child that passed ended with %v", well.Result())
	}
	badly := granttest.StartChild(t, "TestChildSide", childDeed{Fail: true})
	if badly.Line(); badly.Result() == nil {
		t.Error("a child that failed ended well")
	}
}
