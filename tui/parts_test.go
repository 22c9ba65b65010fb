package tui

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/safetext"

	"pgregory.net/rapid"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	l := inspect.Lease{
		Resource: "reward:Player-42", Owner: "worker-9@h/1#a", Token: 49,
		Left: 4 * time.Second, Verdict: inspect.Verdict{State: inspect.OrphanSuspect},
	}
	for _, c := range []struct {
		line string
		want bool
	}{
		{"", true},
		{"player-42", true},
		{"PLAYER worker", true},
		{"player nobody", false},
		{"!player", false},
		{"!nobody", true},
		{"owner:worker-9", true},
		{"owner:player", false},
		{"resource:player", true},
		{"state:orphan", true},
		{"orphan_suspect", true},
		{"state:held", false},
		{"token:49", true},
		{"left:<5s", true},
		{"left:>5s", false},
		{"!left:<5s", false},
		{"left:<", true}, // not written to its end: it hides nothing yet
		{"ttl:<5s", true},
		{"left:<=4s", true},
		{"left:<4", false},
		{"left:>=4", true},
		{"token:>48", true},
		{"token:>49", false},
		{"owner:>5", false},
		{"unknown:field", false},
		{"!", false},
	} {
		f := parseFilter(c.line, colResource, colOwner, colState, colToken, colLeft)
		if got := f.match(lookAtLease(nil, nil)(&l, l.At)); got != c.want {
			t.Errorf("filter %q: %v, want %v", c.line, got, c.want)
		}
	}
}

func TestSplitReadsWhatCommandLineWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		argv := rapid.SliceOf(rapid.StringOfN(
			rapid.RuneFrom([]rune(`ab 'x"\$-_:*?;&|<>()[]{}~#!é日`)), 0, 12, -1)).Draw(t, "argv")
		got, err := split(repair.CommandLine(argv))
		if err != nil {
			t.Fatalf("%q: %v", repair.CommandLine(argv), err)
		}
		if len(argv) == 0 && len(got) == 0 {
			return
		}
		if !reflect.DeepEqual(got, argv) {
			t.Fatalf("%q read as %q, want %q", repair.CommandLine(argv), got, argv)
		}
	})
}

func TestSplitRefusesOpenQuotes(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"a 'b", `a "b`, `a \`} {
		if got, err := split(line); err == nil {
			t.Errorf("%q read as %q", line, got)
		}
	}
}

func TestConfirmTextVariesWithTheTarget(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"reward:player-8841": "8841-release",
		"reward:player-42":   "42-release",
		"reward:미라":          "ward-release",
		"\x1b[2J":            "2J-release",
		"한국":                 "confirm-release",
		"":                   "confirm-release",
	} {
		got := confirmText(release{ReleaseRequest: repair.ReleaseRequest{Resource: target}})
		if got != want {
			t.Errorf("confirm text of %q is %q, want %q", target, got, want)
		}
		if safetext.Cell(got) != got {
			t.Errorf("confirm text of %q cannot be typed: %q", target, got)
		}
	}
}

func TestDriftNamesGuardedFactsOnly(t *testing.T) {
	t.Parallel()
	saw := Observed{Facts: []Fact{
		{Name: "owner", Value: "a", Guard: true},
		{Name: "left", Value: "3"},
		{Name: "token", Value: "1", Guard: true},
	}}
	now := Observed{Facts: []Fact{{Name: "owner", Value: "b"}, {Name: "left", Value: "2"}}}
	if got := drift(saw, now); !reflect.DeepEqual(got, []string{"owner", "token"}) {
		t.Errorf("drift = %q", got)
	}
	if got := drift(saw, saw); got != nil {
		t.Errorf("drift without change = %q", got)
	}
}

func TestRenewalIsNoDrift(t *testing.T) {
	t.Parallel()
	for _, state := range inspect.States() {
		got := trust(inspect.Verdict{State: state})
		alive := state == inspect.Held || state == inspect.Expiring || state == inspect.OverdueRenewal
		if alive != (got == "alive") {
			t.Errorf("%s counts as %q", state, got)
		}
	}
}

func TestGraceEndsWithQuietOrItsBound(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	var g grace
	if g.absorbs(start) {
		t.Error("a grace that was not started absorbs keys")
	}
	g.start(start)
	if !g.absorbs(start.Add(100*time.Millisecond)) || !g.absorbs(start.Add(500*time.Millisecond)) {
		t.Error("keys in flight are not absorbed")
	}
	if g.absorbs(start.Add(930 * time.Millisecond)) {
		t.Error("a key after a quiet moment is absorbed")
	}
	g.start(start)
	for at := time.Duration(0); at < graceMax; at += 100 * time.Millisecond {
		if !g.absorbs(start.Add(at)) {
			t.Fatalf("the key at %s is not absorbed", at)
		}
	}
	if g.absorbs(start.Add(graceMax)) {
		t.Error("keys are absorbed beyond the bound")
	}
}

func TestErrorsStayUntilDismissed(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	var m messages
	m.add(message{at: start, level: Info, text: "note"})
	if m.show(start.Add(7*time.Second)) != nil {
		t.Error("a remark stays longer than six seconds")
	}
	m.add(message{at: start, level: Erred, text: "broken"})
	m.add(message{at: start, level: Info, text: "note"})
	m.acknowledge()
	if got := m.show(start.Add(time.Hour)); got == nil || got.text != "broken" {
		t.Errorf("shown is %+v, want the error", got)
	}
	if !m.dismiss() || m.show(start) != nil {
		t.Error("the error cannot be dismissed")
	}
	if got := m.lastError(); got == nil || got.text != "broken" {
		t.Errorf("the last error is %+v", got)
	}
	for i := range messagesMax + 50 {
		m.add(message{at: start, level: Info, text: fmt.Sprint(i)})
	}
	if len(m.log) != messagesMax {
		t.Errorf("%d messages are kept", len(m.log))
	}
}

func TestOutcomeAnswersCoverTheClosedList(t *testing.T) {
	t.Parallel()
	for _, o := range append(grant.Outcomes(), grant.Failed) {
		a := outcomeAnswer(testDesk(t, 0), grant.Result{Outcome: o})
		if a.Title == "" || len(a.Lines) == 0 {
			t.Errorf("%s has no words: %+v", o, a)
		}
		if (a.Kind == AnswerUnknown) != (o == grant.Unknown) {
			t.Errorf("%s is shown as %d", o, a.Kind)
		}
		if (a.Kind == AnswerFailed) != (o == grant.Failed) {
			t.Errorf("%s is shown as %d", o, a.Kind)
		}
	}
}

func TestFailureTellsDoubtFromRefusal(t *testing.T) {
	t.Parallel()
	r := release{ReleaseRequest: repair.ReleaseRequest{Resource: "r", Owner: "o", Token: 1}}
	for _, c := range []struct {
		err  error
		want AnswerKind
	}{
		{&repair.PreconditionError{Resource: "r"}, AnswerRefused},
		{&repair.BusyError{Resource: "r"}, AnswerRefused},
		{&grant.GateError{Problem: "p"}, AnswerRefused},
		{&grant.BackendError{Backend: grant.Redis, Err: context.Canceled}, AnswerFailed},
		{&grant.BackendError{Backend: grant.Redis, Err: errTest, Doubt: true}, AnswerUnknown},
		{fmt.Errorf("wrapped: %w", context.DeadlineExceeded), AnswerUnknown},
		{errTest, AnswerFailed},
	} {
		if got := failure(testDesk(t, 0), r, c.err).Kind; got != c.want {
			t.Errorf("%v is shown as %d, want %d", c.err, got, c.want)
		}
	}
}

var errTest = fmt.Errorf("test")

func TestBriefIsShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0us", 350 * time.Microsecond: "350us", 12 * time.Millisecond: "12.0ms",
		900 * time.Millisecond: "0.9s", 59 * time.Second: "59.0s", 251 * time.Second: "4m11s",
		2*time.Hour + 3*time.Minute: "2h03m", 80 * time.Hour: "3d",
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestOverlayKeepsWidths(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(20, 60).Draw(t, "w")
		lines := make([]string, 8)
		for i := range lines {
			lines[i] = safetext.Fit(safetext.Cell(rapid.String().Draw(t, "line")), w, "…")
		}
		box := []string{strings.Repeat("x", 11), strings.Repeat("y", 11)}
		overlay(lines, box, w)
		for _, line := range lines {
			if got := safetext.Width(line); got != w {
				t.Fatalf("%q is %d wide, want %d", line, got, w)
			}
		}
	})
}

func TestReleaseCommandNamesWhatWasSeen(t *testing.T) {
	t.Parallel()
	l := inspect.Lease{Resource: "reward:a b", Owner: "w@h/1#x", Token: 7}
	got := repair.CommandLine(newRelease(nil, l).WithReason("it's stuck").CLI())
	want := `rewardctl lease release 'reward:a b' --owner 'w@h/1#x' --token 7 ` +
		`--reason 'it'\''s stuck'`
	if got != want {
		t.Errorf("command\n%s\nwant\n%s", got, want)
	}
}
