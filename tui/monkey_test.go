package tui_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// monkeyKeys are what a monkey presses: everything that means something, but what leaves.
func monkeyKeys() []string {
	keys := strings.Split("enter esc tab shift+tab up down left right pgdown pgup home end "+
		"ctrl+s ctrl+t ctrl+n ctrl+p ctrl+o ctrl+l ctrl+u ctrl+d ctrl+y space backspace", " ")
	for c := '!'; c <= '~'; c++ {
		if c != 'q' { // ":q" and "q" leave
			keys = append(keys, string(c))
		}
	}
	return append(keys, "한", "é", "ยิ้ม")
}

// monkeyPastes are texts that a monkey pastes.
func monkeyPastes() []string {
	return []string{
		"yes\nq\nd\n", "42-release\n", strings.Repeat("x", 10_000), "\x1b[2J\x1b]0;t\x07\u202e",
		"lease list --state held", "player-42 ticket ZD-5519", "",
	}
}

// play does to a console what the bytes say: keys, bursts, pastes, new sizes, servers that go and
// come back, time that passes.
func play(c *tuitest.Console, script []byte) {
	keys, pastes := monkeyKeys(), monkeyPastes()
	sizes := [][2]int{{120, 32}, {80, 24}, {79, 24}, {300, 100}, {1, 1}, {200, 60}}
	for i, b := range script {
		switch n := int(b); {
		case n < 210:
			c.Press(keys[n%len(keys)])
		case n < 220:
			c.Burst(strings.Repeat(keys[n%len(keys)][:1], 3), 1)
		case n < 228:
			c.Paste(pastes[n%len(pastes)])
		case n < 238:
			size := sizes[n%len(sizes)]
			c.Resize(size[0], size[1])
		case n < 244:
			c.World.Down(grant.PostgreSQL, errors.New("gone"))
		case n < 250:
			c.World.Fail(nil)
		default:
			c.Clock.Advance(time.Duration(i+1) * time.Second)
		}
	}
}

// Whatever is pressed, pasted, resized and lost: the console neither ends nor changes anything, as
// nobody typed a confirmation, and it can be brought back to its first screen.
func FuzzConsole(f *testing.F) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 2026))
		script := make([]byte, 250)
		for i := range script {
			script[i] = byte(rng.IntN(256))
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		c := sample(t, 120, 32, func(o *tui.Options) {
			drilled(o)
			o.Refresh = 20 * time.Millisecond
		})
		play(c, script[:min(len(script), 400)])
		c.World.Fail(nil)
		c.Resize(120, 32)
		c.Clock.Advance(time.Minute)
		for range 12 { // a field in a dialog on a dialog, and messages
			c.Press("esc")
		}
		c.Press("0")
		c.See("[0 Now")
		c.See("leases whose owner is gone")
		c.Exact()
		if c.Ended() {
			t.Fatalf("it ended: %v", c.End())
		}
		w := c.World
		deeds := len(w.Released()) + len(w.Granted()) + len(w.Changed()) + len(w.Decided()) +
			len(w.Applied()) + len(w.Burned()) + len(w.Reseeded()) + len(w.Reversed()) +
			len(w.Acknowledged())
		if deeds != 0 {
			t.Errorf("%d deeds were done", deeds)
		}
	})
}
