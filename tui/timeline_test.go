package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/safetext"

	"github.com/charmbracelet/x/ansi"
)

// drawTimeline draws a history as the screen does, in plain text.
func drawTimeline(t *testing.T, h inspect.TokenHistory, now time.Time, w int, ascii bool) []string {
	t.Helper()
	d := newDesk(t.Context(), Options{
		Now: func() time.Time { return now }, ASCII: ascii, Inspector: nil,
	})
	var cursor *inspect.TokenUse
	if len(h.Tokens) > 0 {
		cursor = &h.Tokens[len(h.Tokens)-1]
	}
	lines := newTimeline(d, h, cursor, w-2).lines(cursor)
	for i, line := range lines {
		line = ansi.Strip(line)
		lines[i] = line
		if got := safetext.Width(line); got != w {
			t.Errorf("%d columns instead of %d: %q", got, w, line)
		}
		for _, r := range line {
			if ascii && r > 0x7e {
				t.Errorf("not ASCII: %q", line)
			}
		}
	}
	return lines
}

func timelineStart() time.Time { return time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC) }

// held is a token that was issued so many seconds after the start and released so many later; 0
// for one whose end nobody wrote down.
func held(token int64, owner string, from, long int) inspect.TokenUse {
	u := inspect.TokenUse{
		Token: token, Owner: owner + "@host/1#x",
		Issued: timelineStart().Add(time.Duration(from) * time.Second),
	}
	if u.End = inspect.TokenExpired; long > 0 {
		u.End, u.Ended = inspect.TokenReleased, u.Issued.Add(time.Duration(long)*time.Second)
	}
	return u
}

func TestTimelineShowsWhoHeldItWhen(t *testing.T) {
	t.Parallel()
	first, second := held(1, "w1", 0, 10), held(2, "w2", 10, 10)
	h := inspect.TokenHistory{
		Tokens: []inspect.TokenUse{first, second},
		Entries: []inspect.TokenEntry{
			{
				At: second.Ended, Event: inspect.TokenRefused, Token: 1, Owner: first.Owner,
			},
			{At: first.Issued, Event: inspect.TokenUsed, Token: 1, Owner: first.Owner},
		},
	}
	for _, w := range []int{80, 120, 200} {
		lines := drawTimeline(t, h, second.Ended, w, false)
		half := (w - 2) / 2
		cells := []rune(lines[0])
		if cells[1] != '├' || cells[w-2] != '┤' || cells[half] != '├' && cells[half+1] != '├' {
			t.Errorf("each held it for half of the time: %q", lines[0])
		}
		if below := []rune(lines[1]); below[1] != '●' || below[w-2] != '✗' {
			t.Errorf("written first, refused last: %q", lines[1])
		}
	}
	lines := drawTimeline(t, h, second.Ended, 80, true)
	if !strings.HasPrefix(lines[0], " [-") || !strings.HasSuffix(lines[0], "=] ") {
		t.Errorf("the token under the cursor is drawn as the others: %q", lines[0])
	}
}

// A long time without anything takes a few columns, and says how long it was.
func TestTimelineShortensWhatIsIdle(t *testing.T) {
	t.Parallel()
	h := inspect.TokenHistory{Tokens: []inspect.TokenUse{
		held(1, "w1", 0, 10), held(2, "w2", 86_400, 10),
	}}
	lines := drawTimeline(t, h, timelineStart().Add(86_410*time.Second), 80, false)
	if !strings.Contains(lines[0], "w1") || !strings.Contains(lines[0], "w2") ||
		!strings.Contains(lines[0], "/ 23h59m /") {
		t.Errorf("%q", lines[0])
	}
	if !strings.Contains(lines[2], "11-30") || !strings.Contains(lines[2], "12-01") {
		t.Errorf("the days are not told: %q", lines[2])
	}
}

// What is not known is said, not drawn.
func TestTimelineSaysWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	old := held(1, "w1", 0, 0)
	old.Issued = time.Time{}
	lines := drawTimeline(t, inspect.TokenHistory{Tokens: []inspect.TokenUse{old}},
		timelineStart(), 80, false)
	if len(lines) != 1 || !strings.Contains(lines[0], "no timeline") {
		t.Errorf("%q", lines)
	}
	h := inspect.TokenHistory{Tokens: []inspect.TokenUse{old}}
	for i := range 30 {
		h.Tokens = append(h.Tokens, held(int64(i+2), fmt.Sprintf("w%d", i), i*10, 5))
	}
	lines = drawTimeline(t, h, timelineStart().Add(5*time.Minute), 120, false)
	if !strings.Contains(lines[2], "1 tokens without a time are not drawn") ||
		!strings.Contains(lines[2], "18 more are not drawn") || !strings.Contains(lines[0], "w29") {
		t.Errorf("%q", lines)
	}
	expired, next := held(1, "w1", 0, 0), held(2, "w2", 20, 10)
	lines = drawTimeline(t, inspect.TokenHistory{Tokens: []inspect.TokenUse{expired, next}},
		timelineStart().Add(30*time.Second), 120, false)
	if !strings.Contains(lines[0], "├┄┄┄") {
		t.Errorf("an end that nobody wrote down is drawn as one: %q", lines[0])
	}
}

// Whatever a history holds, in whatever order, the lines are as wide as the screen.
func TestTimelineOfOddHistories(t *testing.T) {
	t.Parallel()
	odd := held(3, "미라 워커 이름이 깁니다", 5, 1)
	same := held(4, "w", 5, 1)
	back := held(5, "w", 60, 0)
	back.Ended = back.Issued.Add(-time.Hour) // clocks of two servers
	for _, tokens := range [][]inspect.TokenUse{
		{odd}, {odd, same}, {same, same, same}, {back}, {odd, back, same}, {held(1, "\x1b[2J", 0, 1)},
	} {
		h := inspect.TokenHistory{Tokens: tokens, Entries: []inspect.TokenEntry{{
			At: timelineStart().Add(-time.Hour), Event: inspect.TokenRefused, Token: 3,
		}}}
		for w := 80; w <= 200; w += 7 {
			drawTimeline(t, h, timelineStart(), w, false)
		}
	}
}
