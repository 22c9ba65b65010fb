package inspect

import (
	"context"
	"slices"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// LogSum says how often somebody did something with one outcome.
type LogSum struct {
	Operator string   `db:"operator"`
	Action   string   `db:"action"`
	Phase    LogPhase `db:"phase"` // intent: cut off, without a result
	Outcome  string   `db:"outcome"`
	Deeds    int64    `db:"deeds"`
	FirstID  int64    `db:"first_id"`
	LastID   int64    `db:"last_id"`
}

// LogShift is what operators did in a span of time.
type LogShift struct {
	From, To time.Time
	Actor    string // whose deeds; empty for everybody's
	Sums     []LogSum
	Refused  []LogEntry // denied and failed attempts of the span, oldest first
	// Unfinished are the intents without a result, of any time before To, oldest first: whoever
	// takes over has to look at them.
	Unfinished []LogEntry
	// Glass are the runs without a second person, of any time before To, that nobody else has
	// looked at yet, oldest first.
	Glass []BrokenGlass
	Deeds []LogEntry // the deeds of the span, oldest first; intents with a result left out
	Cut   bool       // there are more deeds than are listed: these are the newest
	Head  LogHead    // the end of the log when it was read
}

// shiftMax is how many rows of each kind a shift lists.
const shiftMax = 500

// Shift sums up what operators did from one time to another; actor is an operator or a database
// user, empty for all. What is left unfinished is of anybody: whoever takes over has to look. It
// returns a *grant.Rejection for a span that is none, and a *grant.BackendError when PostgreSQL
// could not be asked.
func (r *Reader) Shift(
	ctx context.Context, from, to time.Time, actor string,
) (LogShift, error) {
	s := LogShift{From: from, To: to, Actor: actor}
	if !from.Before(to) {
		return s, &grant.Rejection{
			Field: "since", Value: from.UTC().Format(time.RFC3339), Problem: "is not before the end",
			WayOut: "give an earlier time",
		}
	}
	span := LogQuery{From: from, To: to, Actor: actor, Limit: shiftMax}
	denied, failed, unfinished := span, span, LogQuery{To: to, Unfinished: true, Limit: shiftMax}
	denied.Outcome, failed.Outcome = string(LogDenied), string(LogFailed)
	for _, part := range []struct {
		query LogQuery
		take  func([]LogEntry)
	}{
		{denied, func(e []LogEntry) { s.Refused = append(s.Refused, e...) }},
		{failed, func(e []LogEntry) { s.Refused = append(s.Refused, e...) }},
		{unfinished, func(e []LogEntry) { s.Unfinished = e }},
	} {
		page, err := r.Log(ctx, part.query)
		if err != nil {
			return s, err
		}
		slices.Reverse(page.Entries)
		part.take(page.Entries)
	}
	slices.SortFunc(s.Refused, func(a, b LogEntry) int { return int(a.ID - b.ID) })
	if err := r.shiftDeeds(ctx, &s, span); err != nil {
		return s, err
	}
	var err error
	if s.Glass, err = r.glassBefore(ctx, to); err != nil {
		return s, err
	}
	return s, r.shiftSums(ctx, &s)
}

// shiftDeeds lists the deeds, each once.
func (r *Reader) shiftDeeds(ctx context.Context, s *LogShift, span LogQuery) error {
	page, err := r.Log(ctx, span)
	if err != nil {
		return err
	}
	s.Cut = page.Next != 0
	done := make(map[int64]bool)
	for _, e := range page.Entries {
		done[e.Intent] = true
		if e.Phase == LogIntent && done[e.ID] {
			continue
		}
		s.Deeds = append(s.Deeds, e)
	}
	slices.Reverse(s.Deeds)
	return nil
}

func (r *Reader) shiftSums(ctx context.Context, s *LogShift) error {
	const op = "sum up the operator log"
	return r.read(ctx, op, func(ctx context.Context, tx pgx.Tx) error {
		var err error
		s.Sums, err = collect[LogSum](ctx, tx, oplogShiftSQL, struct {
			From  time.Time `db:"from"`
			To    time.Time `db:"to"`
			Actor string    `db:"actor"`
		}{s.From, s.To, s.Actor})
		if err != nil {
			return err
		}
		head, err := logHead(ctx, tx)
		if head != nil {
			s.Head = LogHead{Chain: head.Chain, ID: head.LastID, Hash: head.Hash, At: s.To}
		}
		return err
	})
}
