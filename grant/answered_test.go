package grant_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// What a working database answers is told from a database in trouble by the code of the answer.
func TestAnswered(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	_, missing := w.Pool.Exec(t.Context(), "select 1 from no_such_table")
	_, column := w.Pool.Exec(t.Context(), "select no_such_column from reward_ledger")
	_, function := w.Pool.Exec(t.Context(), "select no_such_function()")
	for name, c := range map[string]struct {
		err            error
		denied, schema bool
	}{
		"nothing":  {nil, false, false},
		"refusal":  {&pgconn.PgError{Code: "42501", Message: "no"}, true, false},
		"table":    {missing, false, true},
		"column":   {column, false, true},
		"function": {function, false, true},
		"stopping": {&pgconn.PgError{Code: "57P01"}, false, false},
		"full":     {&pgconn.PgError{Code: "53300"}, false, false},
		"no reach": {&pgconn.ConnectError{}, false, false},
		"other":    {errors.New("relation does not exist"), false, false},
		"wrapped":  {fmt.Errorf("asked: %w", missing), false, true},
	} {
		got := grant.Answered(w.Pool, c.err)
		var denied *grant.DeniedError
		var schema *grant.SchemaError
		if errors.As(got, &denied) != c.denied || errors.As(got, &schema) != c.schema {
			t.Errorf("%s: %v (%T)", name, got, got)
		}
		if grant.Answers(got) != (c.denied || c.schema) || !errors.Is(got, c.err) {
			t.Errorf("%s: answers %v, is itself %v", name, grant.Answers(got), errors.Is(got, c.err))
		}
		if again := grant.Answered(w.Pool, got); again != got {
			t.Errorf("%s: told twice, %v", name, again)
		}
	}
}
