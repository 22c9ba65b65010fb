package tui

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// staleAfter is the age from which data is not acted upon any more.
const staleAfter = 10 * time.Second

// leaseList is the screen of who holds what, with the verdict on each.
type leaseList = list[inspect.Lease]

func newLeasesScreen(d *desk) *leaseList {
	held := newHolding(d)
	d.watch = newWatch(d)
	l := newList(d, listSpec[inspect.Lease]{
		id: ScreenLeases, title: "Leases", columns: leaseColumns(d, held),
		rowID: func(l *inspect.Lease) string { return l.Resource },
		load: func(ctx context.Context, _ Args) (batch[inspect.Lease], error) {
			list, err := d.opts.Inspector.Leases(ctx, inspect.LeaseFilter{
				Sort: inspect.SortState, Terse: true,
			})
			if err == nil {
				err = list.Blind() // the rows that were read last are better than none
			}
			return batch[inspect.Lease]{rows: list.Leases, missing: list.Missing}, err
		},
		glance:  d.glanceAtLeases,
		servers: []grant.Backend{grant.Redis, grant.PostgreSQL},
		sortKey: colState, empty: "nobody holds a lease",
		look: lookAtLease(d.lang, held), mark: markGone(d), digest: summarise(d.lang),
		summary: leaseSummaryLine,
		detail: func(it *leaseItem, w int) (a, b []string) {
			return leaseVerdict(d, it, w), leaseIdentity(d, held, it, w)
		},
		keys: leaseKeys, absent: absentLease, also: held.update,
		attention: func(l *inspect.Lease) bool { return needsSomebody(l.Verdict.State) },
		proof:     func(l *inspect.Lease) []inspect.Proof { return d.opts.Inspector.ProveLease(*l) },
		cli:       func(Args, string) []string { return []string{"rewardctl", "lease", "list"} },
		flags:     leaseFlags,
	})
	if len(l.pins) > 0 {
		d.watch.set(l.pins)
	}
	return l
}

// glanceAtLeases reads some leases again. An answer of one server alone is no good here: reading
// all leases says what is missing.
func (d *desk) glanceAtLeases(ctx context.Context, resources []string) ([]inspect.Lease, error) {
	list, err := d.opts.Inspector.LeasesOf(ctx, resources)
	for _, m := range list.Missing {
		err = errors.Join(err, m.Err)
	}
	return list.Leases, err
}

// needsSomebody reports whether a state is more than work that goes on.
func needsSomebody(s inspect.State) bool {
	switch s {
	case inspect.Held, inspect.Expiring, inspect.CannotTell:
		return false
	}
	return true
}

// globbed writes a text so that a pattern takes it literally.
func globbed(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(text)
}

// markGone draws a row whose lease is gone, and since when it is missed.
func markGone(d *desk) func(it *leaseItem, out []table.Cell, now time.Time) {
	g := d.theme.Glyphs
	return func(it *leaseItem, out []table.Cell, now time.Time) {
		if d.watch.has(it.id) {
			out[0].Text = g.Mark + " " + out[0].Text
		}
		if !it.gone {
			return
		}
		words := d.tr("gone")
		if !it.since.IsZero() {
			words = d.tr("gone %s ago", seconds(now.Sub(goneSince(it))))
		}
		if it.since.IsZero() && it.row.Owner == "" {
			words = d.tr("not held") // it is watched, and was never seen here
		}
		out[1] = table.Cell{Text: g.Hollow + " " + words, Role: paint.Muted}
		out[2], out[3] = table.Cell{Text: g.Dash, Role: paint.Muted}, table.Cell{}
		out[heldAt] = table.Cell{}
	}
}

// goneSince is when a lease ended, as far as it can be told: when it was first missed, or before
// that, when its time was over.
func goneSince(it *leaseItem) time.Time {
	end := it.row.At.Add(it.row.Left)
	if !it.row.NoExpiry && it.row.Left > 0 && end.Before(it.since) {
		return end
	}
	return it.since
}

// seconds writes a time that has passed, to the second where it is short.
func seconds(d time.Duration) string {
	if d = max(d, 0); d < time.Minute {
		return strconv.Itoa(int(d.Seconds())) + "s"
	}
	return brief(d)
}

// lookAtLease has a filter look at a lease without drawing it.
func lookAtLease(lang language, held *holding) func(l *inspect.Lease, now time.Time) filtered {
	return func(l *inspect.Lease, now time.Time) filtered {
		left := leftNow(l, now)
		return filtered{now: now, text: func(field string) string {
			switch field {
			case colResource:
				return l.Resource
			case colOwner:
				return l.Owner
			case colState:
				return string(l.Verdict.State) + " " + stateWords(lang, l.Verdict)
			case colToken:
				return strconv.FormatInt(l.Token, 10)
			case colLeft:
				return leftText(lang, l, left)
			}
			return l.Resource + "\n" + l.Owner + "\n" + string(l.Verdict.State) + "\n" +
				stateWords(lang, l.Verdict) + "\n" + tokenText(l.Token)
		}, value: func(field string) table.Value {
			switch field {
			case colLeft:
				return leftValue(l, left)
			case colToken:
				return table.Value{Kind: table.Number, N: l.Token}
			case colFence:
				return table.Value{Kind: table.Number, N: fenceOf(l)}
			case colHeld:
				if age, ok := held.of(l, now); ok {
					return table.Value{Kind: table.Duration, N: int64(age)}
				}
			case colClaims:
				return table.Value{Kind: table.Number, N: int64(dueOf(l))}
			}
			return table.Value{}
		}}
	}
}

func leaseSummaryLine(l *leaseList, w int) string {
	t := l.d.theme
	sum, _ := l.shown.digest.(leaseSummary)
	left := " " + t.Text(paint.Muted, sum.counts)
	right := l.held()
	if right == "" && len(sum.expiries) > 0 && len(l.shown.items) > 0 {
		label := l.d.tr("ending in the next minute ")
		if textWidth(label)+len(sum.expiries)+textWidth(sum.counts)+4 > w {
			label = ""
		}
		right = t.Text(paint.Muted, label) +
			t.Text(paint.Accent, t.Glyphs.Spark(sum.expiries)) + " "
	}
	return spread(left, right, w, t.Glyphs.Ellipsis)
}

// leaseKeys are what can be done with leases.
func leaseKeys(l *leaseList) []Binding {
	return []Binding{
		{
			Keys: []string{"R"}, Help: "release", Note: l.markNote(), Changes: true,
			Enabled: canRelease(l), Action: func() tea.Cmd {
				if l.table.MarkCount() > 0 {
					return releaseMarked(l)
				}
				return releaseLease(l, *l.selected().row)
			},
		},
		{
			Keys: []string{"B"}, Help: "burn its token", Changes: true, Quiet: true,
			Enabled: canBurn(l), Action: func() tea.Cmd {
				row := l.selected().row
				return askBurn(l.d, row.Resource, row.Token, row.Owner)
			},
		},
		{Keys: []string{"enter"}, Help: "tokens", Enabled: hasRow(l), Action: func() tea.Cmd {
			return l.d.root.goTo(ScreenTokens, Args{"resource": l.selected().row.Resource})
		}},
		{
			Keys: []string{"H"}, Help: "history", Quiet: true, Enabled: hasRow(l),
			Action: func() tea.Cmd { return openHistory(l.d, l.selected().row.Resource) },
		},
		{Keys: []string{"P"}, Help: "player", Quiet: true, Enabled: hasRow(l), Action: func() tea.Cmd {
			return toPlayer(l)
		}},
		{Keys: []string{"W"}, Help: "watch", Quiet: true, Enabled: hasRow(l), Action: func() tea.Cmd {
			return watchLease(l)
		}},
	}
}

// watchLease watches the lease under the cursor, or no longer: it stands on top, and what happens
// to it is said on every screen.
func watchLease(l *leaseList) tea.Cmd {
	d, id := l.d, l.selected().id
	switch at := slices.Index(l.pins, id); {
	case at >= 0:
		l.pins = slices.Delete(slices.Clone(l.pins), at, at+1)
		d.say(Info, d.tr("%s is not watched any more", id))
	case len(l.pins) >= watchMax:
		d.say(Warned, d.tr("%d are watched already; W on one of them makes room", watchMax))
		return nil
	default:
		l.pins = append(slices.Clone(l.pins), id)
		d.say(Info, d.tr("%s is watched: it stays on top, and what happens to it is said", id))
	}
	d.watch.set(l.pins)
	l.requery()
	return nil
}

// hasRow says whether there is a row under the cursor.
func hasRow[R any](l *list[R]) func() (bool, string) {
	return func() (bool, string) {
		if l.selected() == nil {
			return false, l.d.tr("there is no row under the cursor")
		}
		return true, ""
	}
}

// actable says whether the row under the cursor can be acted upon by a deed of this word.
func actable[R any](l *list[R], word string) (bool, string) {
	if why := l.d.cannot(word); why != "" {
		return false, why
	}
	it := l.selected()
	switch {
	case it == nil:
		return false, l.d.tr("there is no row under the cursor")
	case it.gone:
		return false, l.d.tr("this row is gone already")
	case l.d.now().Sub(l.shown.readAt(it)) > staleAfter:
		return false, l.d.tr("what is shown is too old to act upon; r reads it again")
	}
	return true, ""
}

func canRelease(l *leaseList) func() (bool, string) {
	return func() (bool, string) {
		if marks := l.table.MarkCount(); marks > 0 {
			return canReleaseMarked(l, marks)
		}
		if ok, why := actable(l, repair.WordRelease); !ok {
			return false, why
		}
		if row := l.selected().row; row.Foreign != "" && row.Value == "" {
			return false, l.d.tr("other data is under the key; it has no value that could be compared")
		}
		return true, ""
	}
}

func canBurn(l *leaseList) func() (bool, string) {
	return func() (bool, string) {
		if ok, why := actable(l, repair.WordBurn); !ok {
			return false, why
		}
		if l.selected().row.Token == 0 {
			return false, l.d.tr("a foreign lock has no token")
		}
		return true, ""
	}
}

func releaseLease(l *leaseList, row inspect.Lease) tea.Cmd {
	action := newRelease(l.d, row)
	return openDeed(l.d, action, action.listed(row))
}

// toPlayer opens the player whose rewards the lease protects, if its name says so.
func toPlayer(l *leaseList) tea.Cmd {
	player, ok := playerOf(*l.selected().row)
	if !ok {
		l.d.say(Info, l.d.tr("this resource is not a player's own: the player is not known"))
		return nil
	}
	return l.d.root.goTo(ScreenPlayer, Args{"player": player})
}

func playerOf(l inspect.Lease) (string, bool) {
	const own = "reward:"
	if len(l.Resource) > len(own) && l.Resource[:len(own)] == own {
		return l.Resource[len(own):], true
	}
	return "", false
}
