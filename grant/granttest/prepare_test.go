package granttest_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant/granttest"
)

// statementFiles lists every embedded statement of the module: the files of all sql folders,
// without the migrations, which are run, and without this package's own, which its tests run.
// Those in folders below sql are parts, from which statements are composed for tables that the
// configuration names; the tests of their packages run them.
func statementFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("../..", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(at)
		switch {
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".sql" || !strings.Contains(name, "/sql/"):
		case strings.Contains(name, "grant/schema/"), strings.Contains(name, "grant/granttest/"),
			path.Base(path.Dir(name)) != "sql":
		default:
			files = append(files, at)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// prepare lets the server parse a statement and resolve every table, column and type in it.
func prepare(t *testing.T, conn *pgx.Conn, sql string) error {
	t.Helper()
	// The driver numbers named parameters; a name that is missing here is of no matter.
	numbered, _, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), conn, sql, nil)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Prepare(t.Context(), "", numbered, nil)
	return err
}

// TestStatementsFitTheSchema prepares every statement against the migrated schema, so that a
// column that was renamed or a type that does not fit is found without running it.
func TestStatementsFitTheSchema(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	conn, err := pgx.ConnectConfig(t.Context(), w.Conn.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	files := statementFiles(t)
	if len(files) < 5 {
		t.Fatalf("only %d statements were found; did they move?", len(files))
	}
	statements := map[string]string{}
	newTable := regexp.MustCompile(`(?m)^create table`)
	for _, at := range files {
		content, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		statements[at] = string(content)
		// Tables that a package makes for itself have to be there for its other statements.
		if newTable.Match(content) {
			if _, err := conn.Exec(t.Context(), string(content)); err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
	}
	for at, sql := range statements {
		if err := prepare(t, conn, sql); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestPrepareNoticesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	conn, err := pgx.ConnectConfig(t.Context(), w.Conn.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for sql, fits := range map[string]bool{
		"select amount from reward_ledger where player_id = @player and id > @after": true,
		"select amount from reward_ledger where player_id = $1":                      true,
		"select amuont from reward_ledger":                                           false,
		"select amount from reward_leger":                                            false,
		"select amount from reward_ledger where id = @player || 'x'":                 false,
	} {
		if err := prepare(t, conn, sql); (err == nil) != fits {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
