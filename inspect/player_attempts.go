package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// attemptsOf reads the attempts to deliver some postings, oldest first, by posting.
func attemptsOf(
	ctx context.Context, tx pgx.Tx, ids []int64,
) (map[int64][]OutboxAttempt, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	type row struct {
		LedgerID int64 `db:"ledger_id"`
		OutboxAttempt
	}
	rows, err := collect[row](ctx, tx, playerAttemptsSQL, struct {
		IDs []int64 `db:"ids"`
	}{ids})
	if err != nil {
		return nil, err
	}
	attempts := make(map[int64][]OutboxAttempt)
	for _, r := range rows {
		attempts[r.LedgerID] = append(attempts[r.LedgerID], r.OutboxAttempt)
	}
	return attempts, nil
}

// deliver adds the attempts to deliver them to the postings of a page.
func (p *PlayerPage) deliver(ctx context.Context, tx pgx.Tx) error {
	var ids []int64
	for _, e := range p.Entries {
		if e.Type == EntryPosting {
			ids = append(ids, e.ID)
		}
	}
	attempts, err := attemptsOf(ctx, tx, ids)
	if err != nil {
		return err
	}
	for i := range p.Entries {
		if e := &p.Entries[i]; e.Type == EntryPosting {
			e.Attempts = attempts[e.ID]
		}
	}
	return nil
}

// sentence says what came of an attempt.
func (a OutboxAttempt) sentence() string {
	s := fmt.Sprintf("attempt %d by %s at %s: %s", a.Attempt, a.Relay, clock(a.Started), a.Verdict)
	if !a.Kept && a.Verdict != "lost" {
		s += ", after its claim was over"
	}
	if a.Detail != "" {
		s += ", " + a.Detail
	}
	return s
}
