package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// outboxShown is how many deliveries are listed: the oldest that are not done.
const outboxShown = 1000

// outboxList is the screen of what is on its way to the game.
type outboxList = list[inspect.OutboxRow]

// outboxSums are what stands above the list.
type outboxSums struct {
	inspect.OutboxBacklog

	ages inspect.OutboxAges
}

func newOutboxScreen(d *desk) *outboxList {
	return newList(d, listSpec[inspect.OutboxRow]{
		id: ScreenOutbox, title: "Outbox", columns: outboxColumns(d),
		rowID: func(r *inspect.OutboxRow) string { return idText(r.LedgerID) },
		load: func(ctx context.Context, _ Args) (batch[inspect.OutboxRow], error) {
			page, err := d.opts.Inspector.Outbox(ctx, inspect.OutboxQuery{Limit: outboxShown})
			if err != nil {
				return batch[inspect.OutboxRow]{}, err
			}
			var sums outboxSums
			if sums.OutboxBacklog, err = d.opts.Inspector.OutboxBacklog(ctx); err == nil {
				sums.ages, err = d.opts.Inspector.OutboxAges(ctx)
			}
			return batch[inspect.OutboxRow]{rows: page.Rows, about: sums}, err
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "posted",
		empty: "everything is delivered",
		summary: func(l *outboxList, w int) string {
			sums, _ := l.shown.about.(outboxSums)
			return backlogLine(l, sums, w)
		},
		attention: func(r *inspect.OutboxRow) bool {
			return r.Lane == inspect.OutboxDead || r.Lane == inspect.OutboxParked
		},
		detail: func(it *item[inspect.OutboxRow], w int) (a, b []string) {
			return deliveryDetail(d, it.row, w)
		},
		keys:  outboxKeys,
		proof: func(r *inspect.OutboxRow) []inspect.Proof { return inspect.ProveDelivery(r.LedgerID) },
		cli: func(Args, string) []string {
			return []string{"rewardctl", "outbox", "list", "--limit", strconv.Itoa(outboxShown)}
		},
		flags: outboxFlags,
	})
}

func outboxColumns(d *desk) []column[inspect.OutboxRow] {
	type row = inspect.OutboxRow
	return []column[row]{
		numberColumn(table.Column{Key: "row", Title: "ROW", Min: 9},
			func(r *row) int64 { return r.LedgerID }),
		{
			table.Column{Key: "state", Title: "STATE", Min: 13},
			func(r *row, _ time.Time) table.Cell {
				words, role := laneWord(d, r.Lane)
				return table.Cell{Text: words, Role: role}
			},
			func(a, b *row) int { return cmp.Compare(laneRank(a.Lane), laneRank(b.Lane)) },
		},
		plainColumn(table.Column{Key: "player", Title: "PLAYER", Min: 14, Flex: 1, Max: 26},
			func(r *row) string { return r.PlayerID }),
		plainColumn(table.Column{Key: "event", Title: "EVENT", Min: 18, Flex: 3, Max: 60, Priority: 2},
			func(r *row) string { return r.EventID }),
		numberColumn(table.Column{Key: "tries", Title: "TRIES", Min: 7},
			func(r *row) int64 { return int64(r.Attempts) }),
		timeColumn(table.Column{Key: "posted", Title: "POSTED", Min: 14, Priority: 1},
			func(r *row) time.Time { return r.PostedAt }),
		timeColumn(table.Column{Key: "next", Title: "NEXT TRY", Min: 14, Priority: 3},
			func(r *row) time.Time { return r.NextAttempt }),
		plainColumn(table.Column{
			Key: "error", Title: "LAST ERROR", Min: 20, Flex: 2, Max: 60, Priority: 4,
		}, func(r *row) string { return r.LastError }),
	}
}

// laneRank puts what needs somebody first.
func laneRank(lane inspect.OutboxLane) int {
	return slices.Index([]inspect.OutboxLane{
		inspect.OutboxDead, inspect.OutboxParked, inspect.OutboxRetrying, inspect.OutboxWaiting,
		inspect.OutboxClaimed, inspect.OutboxFresh, inspect.OutboxDelivered,
	}, lane)
}

func laneWord(d *desk, lane inspect.OutboxLane) (string, paint.Role) {
	g := d.theme.Glyphs
	switch lane {
	case inspect.OutboxDead:
		return g.Wrong + " " + d.tr("dead"), paint.Bad
	case inspect.OutboxParked:
		return g.Hollow + " " + d.tr("parked"), paint.Warn
	case inspect.OutboxRetrying:
		return g.Warning + " " + d.tr("retrying"), paint.Warn
	case inspect.OutboxWaiting:
		return g.Hollow + " " + d.tr("behind"), paint.Muted
	case inspect.OutboxClaimed:
		return g.Arrow + " " + d.tr("in flight"), paint.Accent
	case inspect.OutboxFresh:
		return g.Dot + " " + d.tr("waiting"), paint.Plain
	default:
		return g.OK + " " + strings.ReplaceAll(string(lane), "_", " "), paint.Muted
	}
}

func backlogLine(l *outboxList, b outboxSums, w int) string {
	d, t := l.d, l.d.theme
	if l.shown.at.IsZero() {
		return safetext.Spaces(w)
	}
	flow := d.tr("%d waiting   %d retrying   %d in flight", b.Fresh, b.Retrying, b.InFlight)
	line := " " + t.Text(paint.Muted, flow)
	if b.Parked > 0 {
		line += "   " + t.Text(paint.Warn, d.tr("%d parked", b.Parked))
	}
	if b.Dead > 0 {
		line += "   " + t.Text(paint.Bad, d.tr("%d given up", b.Dead))
	}
	right := l.held()
	if right == "" {
		right = ageBars(d, b, w-textWidth(line)-2)
	}
	return spread(line, right, w, t.Glyphs.Ellipsis)
}

// ageBars draws how old what is to be sent is, as a bar and a number for each range of ages, or
// with less room as bars alone; the oldest is in words.
func ageBars(d *desk, b outboxSums, room int) string {
	t := d.theme
	if b.ages.Looked == 0 {
		return ""
	}
	oldest := ""
	if b.Oldest() > 0 {
		oldest = d.tr("the oldest for %s ", brief(b.Oldest()))
	}
	names := []string{"<1s", "<10s", "<1m", "<10m", "<1h", "1h+"}
	bars := strings.Split(t.Glyphs.Spark(b.ages.Counts), "")
	var long, short strings.Builder
	for i, n := range b.ages.Counts {
		role := paint.Accent
		if n > 0 && i >= len(names)-2 { // ten minutes or more
			role = paint.Warn
		}
		if n == 0 {
			role = paint.Muted
		}
		long.WriteString(t.Text(paint.Muted, names[i]+" ") +
			t.Text(role, bars[i]+idText(int64(n))) + "  ")
		short.WriteString(t.Text(role, bars[i]))
	}
	if waiting := b.Fresh + b.Retrying + b.InFlight; int64(b.ages.Looked) < waiting {
		long.WriteString(t.Text(paint.Muted, d.tr("of the oldest %d", b.ages.Looked)) + "  ")
	}
	oldest = t.Text(paint.Muted, oldest)
	for _, words := range []string{
		long.String() + oldest, long.String(),
		t.Text(paint.Muted, d.tr("ages to 1h+ ")) + short.String() + " " + oldest,
		short.String() + " " + oldest, short.String() + " " + brief(b.Oldest()) + " ", short.String(),
	} {
		if textWidth(words) <= room {
			return words
		}
	}
	return ""
}

func deliveryDetail(d *desk, r *inspect.OutboxRow, w int) (left, right []string) {
	a, b := facts{d: d, w: w}, facts{d: d, w: w}
	word, role := laneWord(d, r.Lane)
	a.title(fmt.Sprintf("%s  %+d %s", word, r.Amount, r.Kind), role)
	a.add("", r.Why())
	a.add(d.tr("player"), r.PlayerID)
	a.add(d.tr("event"), r.EventID)
	a.add(d.tr("tries"), d.tr("%d, %d of them count", r.Attempts, r.Strikes))
	if r.Doubt {
		a.in(d.tr("doubt"), d.tr("the last try may have arrived"), paint.Warn)
	}
	b.in(d.tr("error"), r.LastError, paint.Bad)
	if !r.NextAttempt.IsZero() {
		words := stamp(r.NextAttempt)
		if left := r.NextAttempt.Sub(d.now()); left > 0 {
			words += ", " + d.tr("in %s", brief(left.Truncate(time.Second)))
		}
		b.add(d.tr("next try"), words)
	}
	if r.BehindID != 0 {
		b.add(d.tr("behind"), d.tr("row %d, which is %s", r.BehindID, r.BehindState))
	}
	if r.ClaimedBy != "" {
		b.add(d.tr("relay"), d.tr("%s until %s", r.ClaimedBy, stamp(r.ClaimedUntil)))
	}
	b.add(d.tr("posted"), stamp(r.PostedAt))
	return a.lines, b.lines
}

func outboxKeys(l *outboxList) []Binding {
	d := l.d
	return []Binding{
		{
			Keys: []string{"enter"}, Help: "tries and message", Enabled: hasRow(l),
			Action: func() tea.Cmd { return openDelivery(d, l.selected().row.LedgerID) },
		},
		deliveryKey(l, "T", text.N("requeue"), outboxRequeue),
		deliveryKey(l, "D", text.N("park"), outboxPark),
		{
			Keys: []string{"V"}, Help: "requeue all that are dead", Quiet: true, Changes: true,
			Enabled: func() (bool, string) {
				if why := d.cannot(repair.WordRequeue); why != "" {
					return false, why
				}
				if b, ok := l.shown.about.(outboxSums); !ok || b.Dead == 0 {
					return false, d.tr("none is dead")
				}
				return true, ""
			},
			Action: func() tea.Cmd { return askAllDead(d) },
		},
		{
			Keys: []string{"P"}, Help: "player", Quiet: true, Enabled: hasRow(l),
			Action: func() tea.Cmd {
				return d.root.goTo(ScreenPlayer, Args{"player": l.selected().row.PlayerID})
			},
		},
	}
}
