package batchfile_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rewardctl/repair/batchfile"
)

// open opens a file under a campaign, a reason and an actor, and closes it with the test.
func open(t testing.TB, path string, opt batchfile.Options) *batchfile.File {
	t.Helper()
	file, err := tryOpen(t, path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func tryOpen(t testing.TB, path string, opt batchfile.Options) (*batchfile.File, error) {
	t.Helper()
	if opt.Campaign == "" {
		opt.Campaign = "season-34"
	}
	opt.Actor, opt.Reason = "ops", "test"
	file, err := batchfile.Open(context.Background(), path, opt)
	if err == nil {
		t.Cleanup(func() { _ = file.Close() })
	}
	return file, err
}

// write puts text into a file of its own.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "grants.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// read validates a text and returns the check and every row.
func read(t testing.TB, text string) (*batchfile.Check, []batchfile.Row) {
	t.Helper()
	return readWith(t, text, batchfile.Options{})
}

func readWith(
	t testing.TB, text string, opt batchfile.Options,
) (*batchfile.Check, []batchfile.Row) {
	t.Helper()
	file := open(t, write(t, text), opt)
	check, err := file.Validate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var rows []batchfile.Row
	for row, err := range file.Rows(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if len(rows) != check.Rows || check.Good+check.Duplicates+check.Refused != check.Rows {
		t.Fatalf("%d rows given, check %+v", len(rows), check)
	}
	return check, rows
}

// refusal opens and validates a text that is refused as a whole, and returns why.
func refusal(t testing.TB, text string) string {
	t.Helper()
	file, err := tryOpen(t, write(t, text), batchfile.Options{})
	if err == nil {
		_, err = file.Validate(context.Background())
	}
	if err == nil {
		t.Fatalf("%q is not refused", text)
	}
	return err.Error()
}

func mustContain(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}
