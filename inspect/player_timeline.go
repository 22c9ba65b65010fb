package inspect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

const (
	pageDefault = 100
	pageMax     = 10_000
)

// Player returns one page of a player's timeline, newest first. It returns a *NotFoundError when
// nothing names the player, a *grant.Rejection when the query makes no sense, and a
// *grant.BackendError when PostgreSQL could not be asked.
func (r *Reader) Player(ctx context.Context, q PlayerQuery) (PlayerPage, error) {
	args, newer, err := timelineArguments(q)
	if err != nil {
		return PlayerPage{}, err
	}
	page := PlayerPage{PlayerID: q.PlayerID}
	const op = "read the player's history"
	err = r.readFrom(ctx, r.history(), op, func(ctx context.Context, tx pgx.Tx) error {
		if err := playerKnown(ctx, tx, q.PlayerID); err != nil {
			return err
		}
		statement := playerOlderSQL
		if newer {
			statement = playerNewerSQL
		}
		rows, err := collect[timelineRow](ctx, tx, statement, args)
		if err != nil {
			return err
		}
		page.turn(rows, args, newer)
		if page.Balances, err = balances(ctx, tx, q.PlayerID); err != nil {
			return err
		}
		return runningBalances(ctx, tx, q.PlayerID, page.Entries)
	})
	if err != nil {
		return PlayerPage{}, err
	}
	return page, nil
}

type timelineArgs struct {
	Player   string     `db:"player"`
	Resource string     `db:"resource"`
	From     *time.Time `db:"from"`
	To       *time.Time `db:"to"`
	Types    []string   `db:"types"`
	Kind     string     `db:"kind"`
	Event    string     `db:"event"`
	Campaign string     `db:"campaign"`
	Outcome  string     `db:"outcome"`
	At       *time.Time `db:"at"`
	Rank     int        `db:"rank"`
	ID       int64      `db:"id"`
	Limit    int        `db:"limit"` // one more than the page, to learn whether there is more
}

func timelineArguments(q PlayerQuery) (timelineArgs, bool, error) {
	if q.PlayerID == "" {
		return timelineArgs{}, false, &grant.Rejection{
			Field: "player_id", Problem: "is empty", WayOut: "name the player",
		}
	}
	if q.Limit == 0 {
		q.Limit = pageDefault
	}
	if q.Limit < 0 || q.Limit > pageMax {
		return timelineArgs{}, false, &grant.Rejection{
			Field: "limit", Value: strconv.Itoa(q.Limit), Problem: "is out of range",
			WayOut: fmt.Sprintf("give 1 to %d and turn pages", pageMax),
		}
	}
	at, err := parseCursor(q.Cursor)
	if err != nil {
		return timelineArgs{}, false, &grant.Rejection{
			Field: "cursor", Value: q.Cursor, Problem: err.Error(), WayOut: "leave it out",
		}
	}
	campaign, err := campaignPrefix(q.Campaign)
	if err != nil {
		return timelineArgs{}, false, err
	}
	args := timelineArgs{
		Player: q.PlayerID, Resource: grant.ResourceFor(q.PlayerID), Kind: q.Kind,
		Event: q.Event, Campaign: campaign, Outcome: q.Outcome, Limit: q.Limit + 1,
		From: moment(q.From), To: moment(q.To),
	}
	for _, t := range q.Types {
		args.Types = append(args.Types, string(t))
	}
	if len(q.Types) == 0 {
		args.Types = []string{
			string(EntryPosting), string(EntryClaim), string(EntryRefusal), string(EntryAction),
		}
	}
	if at == nil {
		return args, false, nil
	}
	args.At, args.Rank, args.ID = &at.At, at.Rank, at.ID
	return args, at.Newer, nil
}

// campaignPrefix is how the events of a campaign begin: an event id with the rest cut off, so that
// its spelling is known in one place only.
func campaignPrefix(campaign string) (string, error) {
	if campaign == "" {
		return "", nil
	}
	const player, kind = "p", "k"
	id, err := grant.EventID(grant.EventParts{Campaign: campaign, PlayerID: player, Kind: kind})
	if err != nil {
		return "", err
	}
	rest, err := grant.EventID(grant.EventParts{Campaign: "c", PlayerID: player, Kind: kind})
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(id, strings.TrimPrefix(rest, "c:")), nil
}

// moment is nil for the zero time, which stands for an open end.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func playerKnown(ctx context.Context, tx pgx.Tx, player string) error {
	var known bool
	err := tx.QueryRow(ctx, playerKnownSQL, pgx.StrictStructArgs(struct {
		Player   string `db:"player"`
		Resource string `db:"resource"`
	}{player, grant.ResourceFor(player)})).Scan(&known)
	if err == nil && !known {
		return &NotFoundError{What: "player", Name: player}
	}
	return err
}

// turn fills the page with the rows, of which the last may be one too many, and sets the cursors.
func (p *PlayerPage) turn(rows []timelineRow, args timelineArgs, newer bool) {
	more := len(rows) == args.Limit
	if more {
		rows = rows[:args.Limit-1]
	}
	if newer {
		slices.Reverse(rows)
	}
	for _, row := range rows {
		p.Entries = append(p.Entries, row.entry())
	}
	if len(rows) == 0 {
		return
	}
	older, newest := rows[len(rows)-1].place(), rows[0].place()
	newest.Newer = true
	if more || newer {
		p.Next = older.cursor()
	}
	if args.At != nil && (more || !newer) {
		p.Prev = newest.cursor()
	}
}

func balances(ctx context.Context, tx pgx.Tx, player string) ([]Balance, error) {
	type row struct {
		Kind   string `db:"kind"`
		Amount int64  `db:"amount"`
		Ledger int64  `db:"ledger"`
	}
	rows, err := collect[row](ctx, tx, playerBalanceSQL, struct {
		Player string `db:"player"`
	}{player})
	if err != nil {
		return nil, err
	}
	out := make([]Balance, 0, len(rows))
	for _, b := range rows {
		out = append(out, Balance(b))
	}
	return out, nil
}

// runningBalances sets the balances around each posting.
func runningBalances(ctx context.Context, tx pgx.Tx, player string, entries []PlayerEntry) error {
	args := struct {
		Player string    `db:"player"`
		Kinds  []string  `db:"kinds"`
		Until  time.Time `db:"until"`
		IDs    []int64   `db:"ids"`
	}{Player: player}
	for _, e := range entries {
		if e.Type != EntryPosting {
			continue
		}
		args.IDs = append(args.IDs, e.ID)
		if !slices.Contains(args.Kinds, e.Kind) {
			args.Kinds = append(args.Kinds, e.Kind)
		}
		if e.At.After(args.Until) {
			args.Until = e.At
		}
	}
	if len(args.IDs) == 0 {
		return nil
	}
	type row struct {
		ID    int64 `db:"id"`
		After int64 `db:"after"`
	}
	rows, err := collect[row](ctx, tx, playerRunningSQL, args)
	if err != nil {
		return err
	}
	after := make(map[int64]int64, len(rows))
	for _, s := range rows {
		after[s.ID] = s.After
	}
	for i := range entries {
		if entries[i].Type == EntryPosting {
			sum := after[entries[i].ID]
			before := sum - entries[i].Amount
			entries[i].BalanceAfter, entries[i].BalanceBefore = &sum, &before
		}
	}
	return nil
}
