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
	turn, err := newPageTurn(q)
	if err != nil {
		return PlayerPage{}, err
	}
	page := PlayerPage{PlayerID: q.PlayerID}
	const op = "read the player's history"
	err = r.readFrom(ctx, r.history(), op, func(ctx context.Context, tx pgx.Tx) error {
		if err := playerKnown(ctx, tx, q.PlayerID); err != nil {
			return err
		}
		statement := turn.way.fill(playerPageSQL)
		rows, err := collect[timelineRow](ctx, tx, statement, turn.args)
		if err != nil {
			return err
		}
		turn.take(&page, rows)
		if err := page.deliver(ctx, tx); err != nil {
			return err
		}
		return page.reckon(ctx, tx, turn)
	})
	if err != nil {
		return PlayerPage{}, err
	}
	turn.finish(&page)
	return page, nil
}

// reckon sets the balances of the player and those around the postings.
func (p *PlayerPage) reckon(ctx context.Context, tx pgx.Tx, turn pageTurn) error {
	have, err := kept(ctx, tx, p.PlayerID)
	if err != nil {
		return err
	}
	var ledger map[string]int64
	if turn.from == nil {
		if ledger, err = summed(ctx, tx, p.PlayerID); err != nil {
			return err
		}
	}
	p.Balances = listBalances(have, ledger)
	if len(p.Entries) == 0 {
		return nil
	}
	return p.balance(ctx, tx, turn, have)
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

// showsPostings reports whether postings can be among the entries.
func (a timelineArgs) showsPostings() bool {
	return slices.Contains(a.Types, string(EntryPosting)) &&
		(a.Outcome == "" || a.Outcome == "applied")
}

// dense reports whether the entries include every posting between them of the kinds they show.
func (a timelineArgs) dense() bool { return a.Event == "" && a.Campaign == "" }

// newPageTurn checks a query.
func newPageTurn(q PlayerQuery) (pageTurn, error) {
	if q.PlayerID == "" {
		return pageTurn{}, &grant.Rejection{
			Field: "player_id", Problem: "is empty", WayOut: "name the player",
		}
	}
	if q.Limit == 0 {
		q.Limit = pageDefault
	}
	if q.Limit < 0 || q.Limit > pageMax {
		return pageTurn{}, &grant.Rejection{
			Field: "limit", Value: strconv.Itoa(q.Limit), Problem: "is out of range",
			WayOut: fmt.Sprintf("give 1 to %d and turn pages", pageMax),
		}
	}
	at, err := parseCursor(q.Cursor)
	if err != nil {
		return pageTurn{}, &grant.Rejection{
			Field: "cursor", Value: q.Cursor, Problem: err.Error(), WayOut: "leave it out",
		}
	}
	campaign, err := campaignPrefix(q.Campaign)
	if err != nil {
		return pageTurn{}, err
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
	turn := pageTurn{args: args, from: at}
	if at != nil {
		turn.args.At, turn.args.Rank, turn.args.ID = &at.At, at.Rank, at.ID
		turn.way = direction(at.Newer)
	}
	return turn, nil
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

// pageTurn is one page on its way: what was asked, and the places at both of its ends.
type pageTurn struct {
	args timelineArgs
	from *timelinePlace // where the page begins; nil for the newest page
	way  direction

	// The places of its oldest and its newest entry; nil on an empty page.
	older, newest *timelinePlace
	hasOlder      bool // there are entries below it, or there may be
	hasNewer      bool
}

// take fills the page with the rows, of which the last may be one too many.
func (t *pageTurn) take(p *PlayerPage, rows []timelineRow) {
	more := len(rows) == t.args.Limit
	if more {
		rows = rows[:t.args.Limit-1]
	}
	if t.way == toNewer {
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
	t.older, t.newest = &older, &newest
	t.hasOlder = more || t.way == toNewer
	t.hasNewer = t.from != nil && (more || t.way == toOlder)
}

// finish sets the cursors, which carry the balances at both ends.
func (t *pageTurn) finish(p *PlayerPage) {
	if t.older != nil && t.hasOlder {
		p.Next = t.older.cursor()
	}
	if t.newest != nil && t.hasNewer {
		p.Prev = t.newest.cursor()
	}
}
