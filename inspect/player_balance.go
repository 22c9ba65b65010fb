package inspect

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// cursorKinds is how many balances a cursor carries at most. A player with more kinds has the
// balance before each page summed anew.
const cursorKinds = 64

// kindSum is a sum of one kind.
type kindSum struct {
	Kind   string `db:"kind"`
	Amount int64  `db:"amount"`
}

// sums turns rows into a map by kind.
func sums(rows []kindSum) map[string]int64 {
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.Kind] = r.Amount
	}
	return out
}

// kept returns what the player has of each kind, as the balances say.
func kept(ctx context.Context, tx pgx.Tx, player string) (map[string]int64, error) {
	rows, err := collect[kindSum](ctx, tx, playerBalanceSQL, struct {
		Player string `db:"player"`
	}{player})
	return sums(rows), err
}

// posted sums the player's postings that are newer than a place; all of them without one.
func posted(
	ctx context.Context, tx pgx.Tx, player string, place *timelinePlace,
) (map[string]int64, error) {
	at := value(place)
	rows, err := collect[kindSum](ctx, tx, playerPostedSQL, struct {
		Player string     `db:"player"`
		At     *time.Time `db:"at"`
		Rank   int        `db:"rank"`
		ID     int64      `db:"id"`
	}{player, moment(at.At), at.Rank, at.ID})
	return sums(rows), err
}

// summed sums all of a player's postings; nil when there are too many for a page to wait for.
func summed(ctx context.Context, tx pgx.Tx, player string) (map[string]int64, error) {
	rows, err := collect[kindSum](ctx, tx, playerSumSQL, struct {
		Player string `db:"player"`
	}{player})
	if err != nil || len(rows) == 1 && rows[0].Kind == "" {
		return nil, err
	}
	return sums(rows), nil
}

// listBalances returns the balances of a player. The newest page also compares them with the
// ledger, unless that is very long; further pages leave that out, since it costs a look at every
// posting.
func listBalances(have, ledger map[string]int64) []Balance {
	all := maps.Clone(have)
	for kind := range ledger {
		all[kind] = have[kind]
	}
	out := make([]Balance, 0, len(all))
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		b := Balance{Kind: kind, Amount: all[kind]}
		if ledger != nil {
			sum := ledger[kind]
			b.Ledger = &sum
		}
		out = append(out, b)
	}
	return out
}

// stretch is the part of a timeline that a page covers, with the sums of its postings.
type stretch struct {
	whole map[string]int64 // by kind: all postings of the stretch
	upto  map[int64]int64  // by posting: those of its kind from the newest down to it
}

// balance sets the balances around the postings of the page and hands them on to the cursors, so
// that no page costs more than the first, however deep it lies.
func (p *PlayerPage) balance(
	ctx context.Context, tx pgx.Tx, turn pageTurn, have map[string]int64,
) error {
	if !turn.args.showsPostings() {
		return nil
	}
	start, err := turn.start(ctx, tx, have)
	if err != nil {
		return err
	}
	part := denseStretch(p.Entries)
	if !turn.args.dense() {
		if part, err = turn.sparseStretch(ctx, tx, p.Entries); err != nil {
			return err
		}
	}
	low, high := maps.Clone(start), maps.Clone(start)
	for kind, sum := range part.whole {
		if turn.way == toNewer {
			high[kind] += sum
		} else {
			low[kind] -= sum
		}
	}
	for i := range p.Entries {
		e := &p.Entries[i]
		if e.Type == EntryPosting {
			before := high[e.Kind] - part.upto[e.ID]
			after := before + e.Amount
			e.BalanceBefore, e.BalanceAfter = &before, &after
		}
	}
	// Between the place where a sparse page begins and its first entry lie postings that it does
	// not show: only the far end of the page has a balance that is known.
	if turn.args.dense() || turn.way == toOlder {
		turn.older.carry(low)
	}
	if turn.args.dense() || turn.way == toNewer {
		turn.newest.carry(high)
	}
	return nil
}

func (p *timelinePlace) carry(balances map[string]int64) {
	if len(balances) <= cursorKinds {
		p.Balances = balances
	}
}

// start returns the balances at the place where the page begins.
func (t pageTurn) start(
	ctx context.Context, tx pgx.Tx, have map[string]int64,
) (map[string]int64, error) {
	if t.from != nil && t.from.Balances != nil {
		return t.from.Balances, nil
	}
	var above timelinePlace
	switch {
	case t.from != nil:
		above = *t.from
		if !above.Newer {
			above.ID-- // the entry itself stands above an older page
		}
	case t.args.To != nil:
		above.At = *t.args.To
	default:
		return have, nil
	}
	newer, err := posted(ctx, tx, t.args.Player, &above)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(have)
	for kind, sum := range newer {
		out[kind] -= sum
	}
	return out, nil
}

// denseStretch sums a page that shows every posting of its stretch.
func denseStretch(entries []PlayerEntry) stretch {
	s := stretch{whole: make(map[string]int64), upto: make(map[int64]int64)}
	for _, e := range entries {
		if e.Type == EntryPosting {
			s.whole[e.Kind] += e.Amount
			s.upto[e.ID] = s.whole[e.Kind]
		}
	}
	return s
}

// sparseStretch sums a stretch of which the page shows only some postings.
func (t pageTurn) sparseStretch(
	ctx context.Context, tx pgx.Tx, entries []PlayerEntry,
) (stretch, error) {
	s := stretch{whole: make(map[string]int64), upto: make(map[int64]int64)}
	if len(entries) == 0 {
		return s, nil
	}
	low, high := t.bounds()
	args := struct {
		Player   string     `db:"player"`
		Kind     string     `db:"kind"`
		IDs      []int64    `db:"ids"`
		LowAt    *time.Time `db:"low_at"`
		LowRank  int        `db:"low_rank"`
		LowID    int64      `db:"low_id"`
		HighAt   *time.Time `db:"high_at"`
		HighRank int        `db:"high_rank"`
		HighID   int64      `db:"high_id"`
	}{
		Player: t.args.Player, Kind: t.args.Kind, LowAt: moment(low.At), LowRank: low.Rank,
		LowID: low.ID, HighAt: moment(high.At), HighRank: high.Rank, HighID: high.ID,
	}
	for _, e := range entries {
		if e.Type == EntryPosting {
			args.IDs = append(args.IDs, e.ID)
		}
	}
	rows, err := collect[struct {
		ID   int64  `db:"id"`
		Kind string `db:"kind"`
		Upto int64  `db:"upto"`
	}](ctx, tx, playerRunningSQL, args)
	for _, r := range rows {
		s.upto[r.ID], s.whole[r.Kind] = r.Upto, r.Upto // the last of a kind is its whole
	}
	return s, err
}

// bounds returns the places just outside of the stretch; zero places for open ends.
func (t pageTurn) bounds() (low, high timelinePlace) {
	if t.way == toNewer {
		low, high = *t.from, *t.newest
		high.ID++
		return low, high
	}
	low = *t.older
	low.ID--
	switch {
	case t.from != nil:
		high = *t.from
	case t.args.To != nil:
		high.At = *t.args.To
	}
	return low, high
}
