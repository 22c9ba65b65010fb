package inspect

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// OutboxQuery selects outbox rows. The zero value selects the oldest rows that are not delivered.
type OutboxQuery struct {
	Lane   OutboxLane // empty: all that are not delivered
	All    bool       // delivered rows, too; excludes Lane
	IDs    []int64    // exactly these, in any lane; excludes Lane and All
	Player string     // empty for any, as the following
	Kind   string
	Error  string    // part of the last error
	Since  time.Time // posted at or after
	Until  time.Time // posted before
	Newest bool      // newest first instead of oldest first
	Limit  int       // rows; default 100, at most 1000
	Cursor string    // OutboxPage.Next of the page before
}

// OutboxPage is one page of outbox rows.
type OutboxPage struct {
	Rows []OutboxRow
	Next string // cursor of the next page; empty at the end
}

type outboxListArgs struct {
	After  int64      `db:"after"`
	Player string     `db:"player"`
	Kind   string     `db:"kind"`
	Error  string     `db:"error"`
	Since  *time.Time `db:"since"`
	Until  *time.Time `db:"until"`
	Lane   string     `db:"lane"`
	Pass   bool       `db:"pass"`
	Limit  int        `db:"limit"`
	IDs    []int64    `db:"ids"`
}

const (
	outboxPage    = 100
	outboxPageMax = 1000
)

// Outbox lists deliveries. It returns a *grant.Rejection for a query that makes no sense and a
// *grant.BackendError when PostgreSQL could not be asked.
func (r *Reader) Outbox(ctx context.Context, q OutboxQuery) (OutboxPage, error) {
	if q.Limit == 0 {
		q.Limit = outboxPage
	}
	after, problem := q.check()
	if problem != nil {
		return OutboxPage{}, problem
	}
	var page OutboxPage
	err := r.read(ctx, "list the outbox", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[outboxRow](ctx, tx, q.sql(), outboxListArgs{
			after, q.Player, q.Kind, q.Error, moment(q.Since), moment(q.Until), string(q.Lane),
			r.opts.OutboxPass, q.Limit + 1, append([]int64{}, q.IDs...),
		})
		for _, one := range rows {
			page.Rows = append(page.Rows, one.row())
		}
		return err
	})
	if len(page.Rows) > q.Limit {
		page.Rows = page.Rows[:q.Limit]
		page.Next = strconv.FormatInt(page.Rows[q.Limit-1].LedgerID, 10)
	}
	return page, err
}

func (q OutboxQuery) check() (after int64, problem *grant.Rejection) {
	if q.Lane != "" && !slices.Contains(OutboxLanes(), q.Lane) {
		words := make([]string, 0, len(OutboxLanes()))
		for _, lane := range OutboxLanes() {
			words = append(words, string(lane))
		}
		return 0, &grant.Rejection{
			Field: "state", Value: string(q.Lane), Problem: "is not a state of a delivery",
			WayOut: "use " + strings.Join(words, ", "),
		}
	}
	if q.Limit < 1 || q.Limit > outboxPageMax {
		return 0, &grant.Rejection{
			Field: "limit", Value: strconv.Itoa(q.Limit), Problem: "is out of range",
			WayOut: "give 1 to " + strconv.Itoa(outboxPageMax),
		}
	}
	if q.Cursor == "" {
		return 0, nil
	}
	after, err := strconv.ParseInt(q.Cursor, 10, 64)
	if err != nil || after < 1 {
		return 0, &grant.Rejection{
			Field: "cursor", Value: q.Cursor, Problem: "is damaged", WayOut: "begin again without one",
		}
	}
	return after, nil
}

// sql fills in which rows, in the words of the partial indexes, so that each lane has its own.
func (q OutboxQuery) sql() string {
	lane := "o.state <> 'delivered'"
	switch {
	case len(q.IDs) > 0:
		lane = "o.ledger_id = any (@ids::bigint[])"
	case q.All:
		lane = "true"
	case q.Lane == OutboxFresh || q.Lane == OutboxRetrying || q.Lane == OutboxWaiting:
		lane = "o.state <> 'delivered' and o.state = 'pending'"
	case q.Lane == OutboxClaimed:
		lane = "o.state = 'claimed'"
	case q.Lane == OutboxDelivered:
		lane = "o.state = 'delivered'"
	case q.Lane == OutboxDead || q.Lane == OutboxParked:
		lane = "o.state in ('dead', 'parked') and o.state = '" + string(q.Lane) + "'"
	}
	after, order := "o.ledger_id > @after::bigint", "o.ledger_id"
	if q.Newest {
		after = "(@after::bigint = 0 or o.ledger_id < @after::bigint)"
		order = "o.ledger_id desc"
	}
	return strings.NewReplacer("{lane}", lane, "{after}", after, "{order}", order).
		Replace(outboxListSQL)
}
