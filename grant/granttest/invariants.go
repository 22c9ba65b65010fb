package granttest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// CheckInvariants fails the test for everything in the schema that contradicts I1 to I4: an event
// posted twice (I1); postings that are not what was claimed, or a balance that is not their sum
// (I2); a posting without exactly one outbox row, or the other way round (I3); tokens that went
// down, or two owners under one token (I4). Tables are read without their indexes, since an index
// may have lost the very row that matters.
func (w *World) CheckInvariants(tb testing.TB) {
	tb.Helper()
	ctx, cancel := lateContext(tb)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, w.Conn.Copy())
	if err != nil {
		tb.Fatalf("invariants: %v", err)
	}
	defer conn.Close(ctx)
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	})
	if err != nil {
		tb.Fatalf("invariants: %v", err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, scansPlainSQL); err != nil {
		tb.Fatalf("invariants: %v", err)
	}
	for _, check := range []struct{ name, sql string }{
		{"I1 an event is posted once", i1EventOnceSQL},
		{"I2 a claim is paid as it says", i2ClaimPaidSQL},
		{"I2 a balance is the sum of its postings", i2BalanceSumSQL},
		{"I3 postings and outbox rows match", i3OutboxOnceSQL},
		{"I4 tokens never go down", i4TokenOrderSQL},
		{"I4 a token has one owner", i4TokenOwnerSQL},
	} {
		for _, line := range violations(ctx, tb, tx, check.sql) {
			tb.Errorf("%s: %s", check.name, line)
		}
	}
}

func violations(ctx context.Context, tb testing.TB, tx pgx.Tx, sql string) []string {
	tb.Helper()
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		tb.Fatalf("invariants: %v", err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		tb.Fatalf("invariants: %v", err)
	}
	return lines
}
