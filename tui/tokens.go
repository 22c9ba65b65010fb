package tui

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// tokenList is the screen of every token of one resource: who had it, for how long, what was
// written under it and what the fence refused.
type tokenList = list[inspect.TokenUse]

func newTokensScreen(d *desk) *tokenList {
	l := newList(d, listSpec[inspect.TokenUse]{
		id: ScreenTokens, parent: ScreenLeases, title: "Tokens", columns: tokenColumns(d),
		rowID: func(u *inspect.TokenUse) string { return fmt.Sprintf("%d %s", u.Token, u.Owner) },
		load: func(ctx context.Context, about Args) (batch[inspect.TokenUse], error) {
			got, err := d.opts.Inspector.Tokens(ctx, about["resource"])
			return batch[inspect.TokenUse]{rows: got.Tokens, missing: got.Missing, about: got}, err
		},
		servers: []grant.Backend{grant.Redis, grant.PostgreSQL}, sortKey: "token", desc: true,
		empty: "no token of it is recorded", summary: tokenLine, chart: tokenChart,
		attention: func(u *inspect.TokenUse) bool { return len(u.Marks) > 0 },
		crumb: func(args Args) string {
			return d.tr("Leases") + " › " + d.tr("tokens of %s", safetext.Cell(args["resource"]))
		},
		detail: func(it *item[inspect.TokenUse], w int) (a, b []string) {
			l, _ := d.root.screen().(*tokenList)
			return tokenWhat(d, l, it.row, w), tokenEvents(d, l, it.row, w)
		},
		keys: tokenKeys,
		cli: func(args Args, _ string) []string {
			return []string{"rewardctl", "token", "list", args["resource"]}
		},
	})
	l.spec.proof = func(*inspect.TokenUse) []inspect.Proof { return proveTokens(l) }
	return l
}

// proveTokens shows again who holds the resource now, and how far its fence is: both judge each of
// its tokens.
func proveTokens(l *tokenList) []inspect.Proof {
	lease := inspect.Lease{Resource: l.args["resource"]}
	if held := tokenHistory(l).Lease; held != nil {
		lease = *held
	}
	return l.d.opts.Inspector.ProveLease(lease)
}

// history returns the whole history that was read.
func tokenHistory(l *tokenList) inspect.TokenHistory {
	if l == nil {
		return inspect.TokenHistory{}
	}
	h, _ := l.shown.about.(inspect.TokenHistory)
	return h
}

func tokenColumns(d *desk) []column[inspect.TokenUse] {
	type row = inspect.TokenUse
	return []column[row]{
		numberColumn(table.Column{Key: "token", Title: "TOKEN", Min: 10},
			func(u *row) int64 { return u.Token }),
		plainColumn(table.Column{Key: "owner", Title: "OWNER", Min: 16, Flex: 2, Max: 40},
			func(u *row) string {
				owner, _, _ := strings.Cut(u.Owner, "#") // the token tells the nonces apart
				return owner
			}),
		timeColumn(table.Column{Key: "issued", Title: "ISSUED", Min: 14},
			func(u *row) time.Time { return u.Issued }),
		{
			table.Column{Key: "held", Title: "HELD", Min: 7, Right: true, Priority: 2},
			func(u *row, _ time.Time) table.Cell { return table.Cell{Text: heldFor(u)} },
			func(a, b *row) int { return cmp.Compare(a.Ended.Sub(a.Issued), b.Ended.Sub(b.Issued)) },
		},
		{
			table.Column{Key: "end", Title: "END", Min: 12, Priority: 1},
			func(u *row, _ time.Time) table.Cell {
				return table.Cell{Text: plain(string(u.End)), Role: paint.Muted}
			},
			func(a, b *row) int { return cmp.Compare(a.End, b.End) },
		},
		numberColumn(table.Column{Key: "writes", Title: "WRITES", Min: 8},
			func(u *row) int64 { return int64(u.Accepted) }),
		numberColumn(table.Column{Key: "refused", Title: "REFUSED", Min: 9},
			func(u *row) int64 { return int64(u.Refused) }),
		{
			table.Column{Key: "marks", Title: "MARKS", Min: 10, Flex: 1, Max: 30, Priority: 3},
			func(u *row, _ time.Time) table.Cell {
				words, role := tokenMarks(d, u)
				return table.Cell{Text: words, Role: role}
			}, nil,
		},
	}
}

func plain(word string) string { return strings.ReplaceAll(word, "_", " ") }

// heldFor writes how long a token was held; nothing while it is, or when that is not known.
func heldFor(u *inspect.TokenUse) string {
	if u.Issued.IsZero() || u.Ended.IsZero() {
		return ""
	}
	return brief(max(u.Ended.Sub(u.Issued), 0))
}

// tokenMarks writes what is odd about a token. A write that the fence refused is the fence at work.
func tokenMarks(d *desk, u *inspect.TokenUse) (string, paint.Role) {
	words, role := make([]string, len(u.Marks)), paint.Muted
	for i, m := range u.Marks {
		words[i] = plain(string(m))
		switch m {
		case inspect.MarkLateWrite, inspect.MarkRegression, inspect.MarkTwoOwners:
			role = paint.Bad
		case inspect.MarkFencedOff:
			words[i] = d.theme.Glyphs.OK + " " + words[i]
			if role == paint.Muted {
				role = paint.Good
			}
		case inspect.MarkGap:
		}
	}
	return strings.Join(words, ", "), role
}

// tokenLine says who holds the resource, how far the fence is, and what is odd.
func tokenLine(l *tokenList, w int) string {
	d, t := l.d, l.d.theme
	h := tokenHistory(l)
	if l.shown.at.IsZero() {
		return spread(" "+t.Text(paint.Muted, d.tr("looking")+t.Glyphs.Ellipsis), "", w, "")
	}
	words := d.tr("nobody holds it now")
	if lease := h.Lease; lease != nil {
		words = heldWords(d, lease)
	}
	if f := h.Fence; f != nil {
		words += "   " + d.tr("fence %d", f.Token)
	}
	counts := map[inspect.MarkKind]int{}
	for _, m := range h.Marks {
		counts[m.Kind]++
	}
	bad := counts[inspect.MarkRegression] + counts[inspect.MarkLateWrite] +
		counts[inspect.MarkTwoOwners]
	odd := d.tr("gaps %d   fenced off %d   wrong %d", counts[inspect.MarkGap],
		counts[inspect.MarkFencedOff], bad)
	role := paint.Muted
	if bad > 0 {
		role = paint.Bad
	}
	return spread(" "+t.Text(paint.Plain, safetext.Cell(words)), t.Text(role, odd)+" ", w,
		t.Glyphs.Ellipsis)
}

// tokenChart draws who held the resource when, where that leaves enough of the list.
func tokenChart(l *tokenList, w, h int) []string {
	const least = 10 // lines of the list and its inspector
	if l.shown.at.IsZero() || len(l.shown.all) == 0 || h < least+timelineHeight {
		return nil
	}
	var cursor *inspect.TokenUse
	if it := l.selected(); it != nil {
		cursor = it.row
	}
	return newTimeline(l.d, tokenHistory(l), cursor, w-2).lines(cursor)
}

// heldWords says what is under the key of a resource: a lease of ours, or what other programs left.
func heldWords(d *desk, l *inspect.Lease) string {
	switch {
	case l.Foreign != "" && l.Value != "":
		return d.tr("a foreign lock is under its key: %s", l.Value)
	case l.Foreign != "":
		return d.tr("other data of type %s is under its key: no lease of ours", l.Foreign)
	}
	return d.tr("held under %d by %s", l.Token, ownerShort(l))
}

// tokenWhat writes one token: who, when, and what is odd about it.
func tokenWhat(d *desk, l *tokenList, u *inspect.TokenUse, w int) []string {
	a := facts{d: d, w: w}
	a.title(d.tr("token %d", u.Token), paint.Strong)
	a.add(d.tr("owner"), u.Owner)
	for _, m := range tokenHistory(l).Marks {
		if m.Token == u.Token {
			a.in(d.tr("mark"), plain(string(m.Kind))+": "+m.Why, markRole(m.Kind))
		}
	}
	if h := tokenHistory(l); h.Fence != nil && h.Fence.Token == u.Token {
		words := d.tr("accepted up to here")
		if h.Fence.Burned {
			words = d.tr("burned: its holder can never write again")
		}
		a.add(d.tr("fence"), words)
	}
	a.add(d.tr("lost"), tokenHistory(l).Lost)
	return a.lines
}

func markRole(k inspect.MarkKind) paint.Role {
	switch k {
	case inspect.MarkFencedOff:
		return paint.Good
	case inspect.MarkGap:
		return paint.Plain
	default:
		return paint.Bad
	}
}

// tokenEvents writes what happened under a token, newest first.
func tokenEvents(d *desk, l *tokenList, u *inspect.TokenUse, _ int) []string {
	var lines []string
	entries := tokenHistory(l).Entries
	for i := len(entries) - 1; i >= 0; i-- {
		if e := entries[i]; e.Token == u.Token {
			lines = append(lines, d.theme.Text(paint.Muted, e.At.Local().Format("15:04:05"))+"  "+
				safetext.Cell(plain(string(e.Event))+"  "+e.EventID+" "+e.Detail))
		}
	}
	return lines
}

func tokenKeys(l *tokenList) []Binding {
	d := l.d
	return []Binding{
		{
			Keys: []string{"enter"}, Help: "writes", Enabled: hasRow(l), Action: func() tea.Cmd {
				player, ok := playerOf(inspect.Lease{Resource: l.args["resource"]})
				if !ok {
					d.say(Info, d.tr("this resource is not a player's own: the player is not known"))
					return nil
				}
				token := strconv.FormatInt(l.selected().row.Token, 10)
				return d.root.goTo(ScreenPlayer, Args{"player": player, "filter": "token:" + token})
			},
		},
		{
			Keys: []string{"B"}, Help: "burn", Changes: true, Enabled: func() (bool, string) {
				return actable(l, repair.WordBurn)
			},
			Action: func() tea.Cmd {
				u := l.selected().row
				return askBurn(d, l.args["resource"], u.Token, u.Owner)
			},
		},
		{Keys: []string{"H"}, Help: "everything, by time", Quiet: true, Action: func() tea.Cmd {
			return openHistory(d, l.args["resource"])
		}},
	}
}
