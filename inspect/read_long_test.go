package inspect

import (
	"context"
	"errors"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/granttest"

	"github.com/jackc/pgx/v5"
)

// A question in parts may take longer than one part may; a part may not.
func TestLongQuestionsAreBoundByTheirParts(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	r, err := New(w.Pool, nil, Options{Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(parts int, each string) error {
		return r.readLong(t.Context(), "wait", func(
			ctx context.Context, tx pgx.Tx, heard func(),
		) error {
			for range parts {
				if _, err := tx.Exec(ctx, "select pg_sleep_for($1::interval)", each); err != nil {
					return err
				}
				heard()
			}
			return nil
		})
	}
	if err := ask(4, "700ms"); err != nil {
		t.Errorf("four parts: %v", err)
	}
	if err := ask(1, "30s"); !errors.Is(err, errTooSlow) || !grant.Unavailable(err) {
		t.Errorf("one long part: %v", err)
	}
}
