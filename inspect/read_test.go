package inspect

import (
	"context"
	"errors"
	"testing"

	"rewardctl/grant/granttest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A write through a Reader is refused by PostgreSQL, whatever the account may do.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	r, err := New(w.Pool, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"insert into reward_fence (resource, last_token, last_owner) values ('r', 1, 'o')",
		"delete from reward_fence", "create table x (n integer)",
		"select nextval('reward_ledger_id_seq')",
	} {
		err = r.read(t.Context(), "write", func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, sql)
			return err
		})
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "25006" {
			t.Errorf("%s: %v, want a refusal as read-only", sql, err)
		}
	}
	if _, err := New(nil, nil, Options{}); err == nil {
		t.Error("a reader of nothing was made")
	}
}

func TestCursors(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"?", "e30", "bnVsbA", "eyJhdCI6IngifQ"} {
		if _, err := parseCursor(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
