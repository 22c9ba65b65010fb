package inspect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewardctl/grant/granttest"

	"github.com/jackc/pgx/v5"
)

// Every embedded statement is valid against the migrated schema and opens with its contract.
func TestStatementsPrepare(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	conn, err := pgx.ConnectConfig(t.Context(), w.Conn.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	files, err := filepath.Glob("sql/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no statements: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for _, part := range []string{"-- purpose:", "-- params:", "-- result:", "-- locks:"} {
			i := strings.Index(string(text)[at:], part)
			if i < 0 {
				t.Errorf("%s: no %q in its place", file, part)
				break
			}
			at += i
		}
		sql, _, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), conn, string(text), nil)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if _, err := conn.Prepare(t.Context(), file, sql); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
