package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

const readLimit = 6 * time.Second // one question to the servers

// pair writes a labelled value on one line.
func pair(t *paint.Theme, label, value string, role paint.Role) string {
	const labelWidth = 10
	// A label can come from outside, too: the kind of a reward is one.
	return t.Text(paint.Muted, safetext.Fit(safetext.Cell(label), labelWidth, "")) +
		t.Text(role, safetext.Cell(value))
}

// wrapped writes a labelled value on as many lines as it needs.
func wrapped(t *paint.Theme, label, value string, role paint.Role, w int) []string {
	const labelWidth = 10
	var lines []string
	for i, part := range safetext.Wrap(safetext.Cell(value), max(w-labelWidth, 8)) {
		if i > 0 {
			label = ""
		}
		lines = append(lines, pair(t, label, part, role))
	}
	return lines
}

// leaseVerdict writes the verdict on a lease with its evidence.
func leaseVerdict(d *desk, it *leaseItem, w int) []string {
	t, l := d.theme, it.row
	state := stateGlyph(t.Glyphs, l.Verdict.State) + " " + stateWords(d.lang, l.Verdict)
	role := stateRole(l.Verdict.State)
	if it.gone {
		state, role = t.Glyphs.Hollow+" "+d.tr("gone; this is how it was"), paint.Muted
	}
	lines := []string{t.Text(paint.Strong, safetext.Cut(safetext.Cell(l.Resource), w,
		t.Glyphs.Ellipsis)), pair(t, d.tr("verdict"), state, role)}
	for _, also := range l.Verdict.Also {
		lines = append(lines, pair(t, "", d.tr("also")+" "+stateWord(d.lang, also),
			stateRole(also)))
	}
	for _, e := range l.Reasons() {
		lines = append(lines, wrapped(t, e.Name, e.Finding, paint.Plain, w)...)
	}
	return lines
}

// leaseIdentity writes who holds a lease, until when and under which token.
func leaseIdentity(d *desk, held *holding, it *leaseItem, w int) []string {
	t, l := d.theme, it.row
	left := leftNow(l, d.now())
	share := heat(t.Glyphs, l, left, d.opts.LeaseTTL)
	lines := []string{pair(t, d.tr("left"), leftText(d.lang, l, left)+"  "+share, leftRole(l, left))}
	if it.gone {
		lines = []string{pair(t, d.tr("left"), t.Glyphs.Dash, paint.Muted)}
	}
	if d.watch.has(it.id) {
		words := d.tr("watched: no change seen")
		if at, ok := d.watch.changed[it.id]; ok {
			words = d.tr("watched: changed %s ago", seconds(d.now().Sub(at)))
		}
		lines = append(lines, pair(t, t.Glyphs.Mark, words, paint.Accent))
	}
	if l.Foreign != "" {
		lines = append(lines, pair(t, d.tr("foreign"), l.Foreign, paint.Warn))
	} else {
		lines = append(lines, pair(t, d.tr("token"), tokenText(l.Token), paint.Plain))
		if age, ok := held.of(l, d.now()); ok && !it.gone {
			words := d.tr("for %s", brief(age.Truncate(100*time.Millisecond)))
			lines = append(lines, pair(t, d.tr("held"), words, paint.Plain))
		}
		lines = append(lines, wrapped(t, d.tr("owner"), l.Owner, paint.Plain, w)...)
	}
	if l.Fence != nil {
		words := d.tr("%d by %s", l.Fence.Token, l.Fence.Owner)
		lines = append(lines, wrapped(t, d.tr("fence"), words, paint.Plain, w)...)
	}
	if l.Claims != nil {
		text := d.tr("%d pending, %d processing", l.Claims.Pending, l.Claims.Processing)
		lines = append(lines, pair(t, d.tr("due"), text, paint.Plain))
	}
	if l.Value == "" {
		return lines
	}
	return append(lines, wrapped(t, d.tr("value"), l.Value, paint.Muted, w)...)
}

// openHistory reads and shows the history of a resource.
func openHistory(d *desk, resource string) tea.Cmd {
	return openReading(d, resource, func(ctx context.Context) ([]string, error) {
		detail, err := d.opts.Inspector.Lease(ctx, resource)
		return historyText(d, detail), err
	})
}

func historyText(d *desk, detail inspect.LeaseDetail) []string {
	var lines []string
	put := func(words string) { lines = append(lines, safetext.Lines(words)...) }
	switch l := detail.Lease; {
	case l == nil:
		put(d.tr("nobody holds it now"))
	case l.Foreign != "":
		put(heldWords(d, l))
	default:
		put(d.tr("held by   %s", l.Owner))
		put(d.tr("token     %d", l.Token))
		put(d.tr("verdict   %s", stateWords(d.lang, l.Verdict)))
	}
	if f := detail.Fence; f != nil {
		words := d.tr("fence     %d by %s since %s", f.Token, f.Owner, stamp(f.At))
		if f.Burned {
			words += "  " + d.tr("burned: its holder can never write again")
		}
		put(words)
	}
	if len(detail.Due) > 0 {
		put("\n" + d.tr("Rewards that are due"))
	}
	for _, c := range detail.Due {
		put(fmt.Sprintf("  %-10s  %s  %d %s", c.Status, c.EventID, c.Amount, c.Kind))
	}
	put("\n" + d.tr("History, newest first"))
	for _, e := range detail.History {
		owner, _, _ := strings.Cut(e.Owner, "#") // without the nonce: the token tells them apart
		what := e.Detail
		if e.Token != 0 { // what other programs had under the key has none
			what = fmt.Sprintf("%s %d, %s: %s", d.tr("token"), e.Token, owner, e.Detail)
		}
		put(fmt.Sprintf("  %s  %-17s %s", stamp(e.At), e.Event, what))
	}
	if len(detail.History) == 0 {
		put("  " + d.tr("nothing is recorded"))
	}
	for _, m := range detail.Missing {
		put("\n" + d.missing(m))
	}
	return lines
}

// stamp writes a server's time to the second; a dash when it is not known.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
