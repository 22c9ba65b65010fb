package tui

import (
	"testing"

	"rewardctl/tui/safetext"
	"rewardctl/tui/table"
	"rewardctl/tui/text"
)

// columned is a screen whose columns can be looked at.
type columned interface{ columns() []table.Column }

func (l *list[R]) columns() []table.Column {
	out := make([]table.Column, len(l.spec.columns))
	for i, c := range l.spec.columns {
		out[i] = c.Column
		out[i].Title, out[i].NoSort = l.d.tr(c.Title), c.compare == nil
	}
	return out
}

// A heading fits its column in every language, with the arrow of the sort.
func TestHeadingsFitTheirColumns(t *testing.T) {
	t.Parallel()
	for _, language := range text.Languages() {
		d := testDesk(t, 0)
		d.lang = text.New(language)
		for _, s := range newRoot(d).screens {
			var cols []table.Column
			if c, ok := s.(columned); ok {
				cols = c.columns()
			}
			for _, c := range cols {
				need := safetext.Width(c.Title)
				if !c.NoSort {
					need++
				}
				if need > c.Min {
					t.Errorf("%s, %s: %q needs %d columns, has %d", language, s.ID(), c.Title, need, c.Min)
				}
			}
		}
	}
}

// Labels stand before values: one that fills its width would run into them.
func TestLabelsFit(t *testing.T) {
	t.Parallel()
	for _, language := range text.Languages() {
		lang := text.New(language)
		for _, label := range []string{
			"target", "reason", "effect", "verdict", "left", "token", "owner", "fence", "due", "value",
			"answer", "balance", "lease", "event", "amount", "posted", "reverses", "time", "by",
			"delivery", "command", "row", "state", "version", "hash", "rows", "new", "granted",
			"mismatch", "tries", "stands", "error", "player", "posting", "back", "spent", "dead",
			"checks", "scope", "started", "rule", "found", "differs", "remedy", "proof", "why", "to do",
			"outcome", "ticket", "saw", "before", "after", "settles", "decided", "limit", "made", "done",
			"doubt", "behind", "relay", "file", "campaign", "open for", "plays", "defences", "where",
			"standing", "lock", "raise", "looked", "timeline", "alive", "set", "leases",
			"mark", "lost", "seen",
		} {
			if got := safetext.Width(lang.T(label)); got >= nameWidth {
				t.Errorf("%s: %q is %d wide, labels have %d", language, lang.T(label), got, nameWidth-1)
			}
		}
	}
}

func TestKeysOfEveryScreenMeanOneThing(t *testing.T) {
	t.Parallel()
	r := newRoot(testDesk(t, 0))
	for _, s := range r.screens {
		all := append(r.global(), s.Bindings()...)
		for _, err := range conflicts(string(s.ID()), all) {
			t.Error(err)
		}
	}
}

func TestCheckKeysNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for entry, wrong := range map[string]int{
		"release=ctrl+x": 0, "leases/release=ctrl+x": 0, "quit=off": 0, "mark=off": 0,
		"nonsense": 1, "no such deed=x": 1, "leases/release=enter": 1, "leases/release=q": 1,
		"release=alt+x": 0, "release=f6": 0, "release=shift+tab": 0, "release=space": 1,
		"release=é": 0, "release=가": 0, "release=ctrl+pgup": 0, "release=alt+가": 0,
		// what no terminal sends would only take the key away
		"release=ctrl+zz": 1, "release=Ctrl+X": 1, "release=xx": 1, "release=\x1b": 1,
		"release=\x1b[2J": 1, "release=\u202e": 1, "release=ctrl+": 1, "release=runes": 1,
		"release=alt+": 1,
	} {
		if got := CheckKeys(t.Context(), []string{entry}); len(got) != wrong {
			t.Errorf("%q: %v, want %d problems", entry, got, wrong)
		}
	}
}

func TestStateIsRemembered(t *testing.T) {
	t.Parallel()
	r := shown(t, 3, 120, 32)
	l := r.screen().(*leaseList)
	l.table.SetSort(colOwner, true)
	l.table.Hide(colFence, true)
	l.SetFilter("worker")
	r.prompt.history = []string{"lease list"}
	d := testDesk(t, 3)
	d.saved = readState(r.state())
	again := newLeasesScreen(d)
	key, desc := again.table.Sort()
	if key != colOwner || !desc || again.filter != "worker" || !again.table.IsHidden(colFence) {
		t.Errorf("sort %s %v, filter %q, hidden %v", key, desc, again.filter, again.table.Hidden())
	}
	if got := newRoot(d).prompt.history; len(got) != 1 {
		t.Errorf("the history is %q", got)
	}
	if bad := readState([]byte("{broken")); bad.Screens != nil {
		t.Errorf("a broken state reads as %+v", bad)
	}
}

// The words of the write window end where its dialog does, in every language.
func TestWriteWindowIsNotCut(t *testing.T) {
	t.Parallel()
	for _, language := range text.Languages() {
		d := testDesk(t, 1)
		d.lang = text.New(language)
		a := &armDialog{d: d, reason: newField(""), minutes: 5}
		for w := 60; w <= a.Width(300); w++ {
			for _, line := range a.Body(w, 20) {
				if safetext.Width(line) > w {
					t.Errorf("%s: %q is wider than %d", language, line, w)
				}
			}
		}
	}
}
