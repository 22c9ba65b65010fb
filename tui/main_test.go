package tui_test

import (
	"os"
	"testing"
	"time"

	"rewardctl/tui"
	"rewardctl/tui/tuitest"

	"go.uber.org/goleak"
)

// TestMain fixes the zone of the goldens and looks for goroutines that outlive the consoles.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	code := m.Run()
	if code == 0 {
		err := goleak.Find()
		for range 3 { // timers that nobody waits for end by themselves within a second
			if err != nil {
				err = goleak.Find()
			}
		}
		if err != nil {
			_, _ = os.Stderr.WriteString("goroutines are left: " + err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// sample starts a console on the sample world.
func sample(t *testing.T, w, h int, edit func(*tui.Options)) *tuitest.Console {
	t.Helper()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	world.Fill()
	return tuitest.Start(t, world, clock, w, h, edit)
}

// live starts a console that reads quickly, for scenarios in which the world changes.
func live(t *testing.T, w, h int) *tuitest.Console {
	t.Helper()
	return sample(t, w, h, func(o *tui.Options) { o.Refresh = 10 * time.Millisecond })
}
