package inspect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// LogPhase is what a row of the operator log stands for.
type LogPhase string

// The phases of a row. A deed whose effect is one transaction has one row, its result; another has
// an intent before and a result after.
const (
	LogIntent LogPhase = "intent"
	LogResult LogPhase = "result"
	LogDenied LogPhase = "denied" // refused: nothing was changed
	LogFailed LogPhase = "failed" // tried, and nothing was changed
)

// LogEntry is one row of the operator log.
type LogEntry struct {
	ID       int64 // the place in the chain, gap-free from 1
	At       time.Time
	Operator string // who, as the program was told
	DBUser   string // who, as the database knows the session
	Host     string // the machine, as it calls itself
	Client   string // its address, as the database sees it
	Action   string // the command's words, such as "lease release"
	Target   string
	Phase    LogPhase
	Intent   int64 // the intent that a result completes; 0 for none
	Outcome  string
	Reason   string
	Ticket   string // empty for none
	Approval int64  // 0 for none
	Command  string // the command line that does the same

	ArgsVersion int
	Arguments   string // a JSON object, as PostgreSQL writes it
	Observed    string // likewise
	Before      string // likewise; empty when nothing was changed
	After       string // likewise

	PrevHash []byte
	Hash     []byte
}

// LogQuery selects rows of the operator log. The zero value selects the newest page.
type LogQuery struct {
	From, To time.Time // from this time, and before that one; zero for no bound
	Actor    string    // an operator or a database user
	Action   string    // a command such as "lease release", or its first word
	Target   string
	Outcome  string // an outcome, what stands before its colon, or a phase such as "denied"
	// Unfinished selects intents without a result: deeds that were cut off.
	Unfinished bool
	Older      int64 // only rows before this one; 0 for no bound
	Newer      int64 // only rows after this one, the next ones first; 0 for no bound
	Limit      int   // rows on a page; 0 means 100
}

// LogPage is a page of the operator log, newest first.
type LogPage struct {
	Entries []LogEntry
	Next    int64 // the value of Older for the next page; 0 when there is none
	Prev    int64 // the value of Newer for the page before; 0 on the first page
}

type logRow struct {
	ID          int64     `db:"id"`
	Operator    string    `db:"operator"`
	DBUser      string    `db:"db_user"`
	Host        string    `db:"host"`
	Client      string    `db:"client"`
	Action      string    `db:"action"`
	Target      string    `db:"target"`
	ArgsVersion int       `db:"args_version"`
	Arguments   string    `db:"arguments"`
	Observed    string    `db:"observed"`
	Before      *string   `db:"before"`
	After       *string   `db:"after"`
	Reason      string    `db:"reason"`
	Ticket      *string   `db:"ticket"`
	Approval    *int64    `db:"approval"`
	Phase       string    `db:"phase"`
	Intent      *int64    `db:"intent"`
	Outcome     string    `db:"outcome"`
	Command     string    `db:"command"`
	CreatedAt   time.Time `db:"created_at"`
	PrevHash    []byte    `db:"prev_hash"`
	Hash        []byte    `db:"hash"`
}

func (r logRow) entry() LogEntry {
	return LogEntry{
		ID: r.ID, At: r.CreatedAt, Operator: r.Operator, DBUser: r.DBUser, Host: r.Host,
		Client: r.Client, Action: r.Action, Target: r.Target, Phase: LogPhase(r.Phase),
		Intent: value(r.Intent), Outcome: r.Outcome, Reason: r.Reason, Ticket: value(r.Ticket),
		Approval: value(r.Approval), Command: r.Command, ArgsVersion: r.ArgsVersion,
		Arguments: r.Arguments, Observed: r.Observed, Before: value(r.Before),
		After: value(r.After), PrevHash: r.PrevHash, Hash: r.Hash,
	}
}

type logArgs struct {
	From       *time.Time `db:"from"`
	To         *time.Time `db:"to"`
	Actor      string     `db:"actor"`
	Action     string     `db:"action"`
	Target     string     `db:"target"`
	Outcome    string     `db:"outcome"`
	Unfinished bool       `db:"unfinished"`
	ID         *int64     `db:"id"`
	Limit      int        `db:"limit"`
}

// Log returns a page of the operator log. It returns a *grant.Rejection when the query makes no
// sense, and a *grant.BackendError when PostgreSQL could not be asked.
func (r *Reader) Log(ctx context.Context, q LogQuery) (LogPage, error) {
	if q.Limit == 0 {
		q.Limit = pageDefault
	}
	if q.Limit < 0 || q.Limit > pageMax {
		return LogPage{}, &grant.Rejection{
			Field: "limit", Value: strconv.Itoa(q.Limit), Problem: "is out of range",
			WayOut: fmt.Sprintf("give 1 to %d and turn pages", pageMax),
		}
	}
	if q.Older < 0 || q.Newer < 0 || q.Older > 0 && q.Newer > 0 {
		return LogPage{}, &grant.Rejection{
			Field: "id", Problem: "does not say where the page begins",
			WayOut: "give the number of one row, older or newer than which the page is",
		}
	}
	args := logArgs{
		From: moment(q.From), To: moment(q.To), Actor: q.Actor, Action: q.Action,
		Target: q.Target, Outcome: q.Outcome, Unfinished: q.Unfinished, Limit: q.Limit + 1,
	}
	way := toOlder
	switch {
	case q.Older > 0:
		args.ID = &q.Older
	case q.Newer > 0:
		way, args.ID = toNewer, &q.Newer
	}
	var rows []logRow
	const op = "read the operator log"
	err := r.read(ctx, op, func(ctx context.Context, tx pgx.Tx) error {
		var err error
		rows, err = collect[logRow](ctx, tx, way.fill(oplogPageSQL), args)
		return err
	})
	if err != nil {
		return LogPage{}, err
	}
	return newLogPage(q, rows), nil
}

// newLogPage cuts the row off that was read to learn whether there is more.
func newLogPage(q LogQuery, rows []logRow) LogPage {
	more := len(rows) > q.Limit
	if more {
		rows = rows[:q.Limit]
	}
	if q.Newer > 0 {
		slices.Reverse(rows)
	}
	page := LogPage{Entries: make([]LogEntry, len(rows))}
	for i, row := range rows {
		page.Entries[i] = row.entry()
	}
	if len(rows) == 0 {
		return page
	}
	if more || q.Newer > 0 {
		page.Next = rows[len(rows)-1].ID
	}
	if q.Older > 0 || q.Newer > 0 && more {
		page.Prev = rows[0].ID
	}
	return page
}
