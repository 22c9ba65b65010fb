package tui_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"rewardctl/tui"
	"rewardctl/tui/paint"
	"rewardctl/tui/tuitest"
)

// payloads drive a terminal in every way that is known: sequences of all families, closed and not,
// single control characters, those of Unicode that turn text around, and broken UTF-8.
func payloads() []string {
	return []string{
		"\x1b[2J\x1b[6n\r\x1b]52;c;\x07", "\u009b2J\u202e\u2066\ufeff\x9b\n\x00",
		"\x1bP\x1b]0;\t\b\xff\x7f",
	}
}

// harmless fails the test when the screen has a character that drives terminals, or lines of
// another width than the terminal's. What was sent besides cells is checked at the end of the
// console.
func harmless(t *testing.T, c *tuitest.Console, where string) {
	t.Helper()
	for _, r := range strings.ReplaceAll(c.Text(), "\n", "") {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) {
			t.Errorf("%s shows %U:\n%s", where, r, c.Text())
			return
		}
	}
	c.Exact()
}

// B45: whatever comes from outside, in every place where the console shows text.
func TestHostileTextInEveryPlace(t *testing.T) {
	t.Parallel()
	for i, payload := range payloads() {
		for part, visits := range tours() {
			t.Run(string(rune('a'+i))+" "+part, func(t *testing.T) {
				t.Parallel()
				c := invaded(t, payload)
				c.See("7 total")
				for _, v := range visits {
					c.Press(v.keys...)
					switch v.name {
					case "leases": // its text is not in one piece any more
					case "burn":
						c.See("lease burn")
					case "plans":
						c.See("▲ stopped") // its campaign was on the screen before, too
					default:
						c.See(v.see)
					}
					harmless(t, c, v.name)
				}
			})
		}
	}
}

// invaded starts a console to which everybody tells a payload.
func invaded(t *testing.T, payload string) *tuitest.Console {
	t.Helper()
	clock := tuitest.NewClock()
	world := tuitest.NewWorld(clock.Now)
	world.Fill()
	all := enemy{world, payload}
	return tuitest.Start(t, world, clock, 200, 50, func(o *tui.Options) {
		o.Inspector, o.Operator, o.Plans, o.Drills, o.Commands = all, all, all, all, all
		o.Context, o.Endpoints = payload+"local", payload+"pg"
		o.Color = paint.ANSI256
		o.Export = func(context.Context, tui.Export) (string, error) {
			return "/tmp/" + payload + "leases.csv", nil
		}
	})
}

// B45: what is said about work: exports, errors, completions, printed commands, drills.
func TestHostileTextInMessages(t *testing.T) {
	t.Parallel()
	for i, payload := range payloads() {
		t.Run(string(rune('a'+i)), func(t *testing.T) {
			t.Parallel()
			c := invaded(t, payload)
			c.See("7 total")
			for _, step := range []visit{
				{"export", []string{"e", "enter"}, "leases.csv"},
				{"messages", []string{"L"}, "leases.csv"},
				{
					"completion",
					slices.Concat([]string{"esc", ":"}, letters("lease show "), []string{"tab"}), "offered",
				},
				{
					"printed", slices.Concat([]string{"esc", ":"}, letters("config show"), []string{"enter"}),
					"printed",
				},
			} {
				c.Press(step.keys...)
				c.See(step.see)
				harmless(t, c, step.name)
			}
			c.Clock.Advance(2 * time.Second) // the page took keys that were in flight
			c.Press("esc", "1")
			c.World.Fail(errors.New("the item server says " + payload + "ERR"))
			c.Press("r")
			c.See("ERR")
			harmless(t, c, "a failed read")
			c.Press("!")
			c.See("last error")
			harmless(t, c, "the last error")
			c.Press("esc")
			for _, digit := range []string{"0", "4", "5", "6", "7", "8", "9"} {
				c.Press(digit)
				c.See("[" + digit + " ")
				harmless(t, c, "screen "+digit+" after an error")
			}
		})
	}
}
