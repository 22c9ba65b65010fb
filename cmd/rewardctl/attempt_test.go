package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// canary stands for a secret that somebody pastes where words are asked for.
const canary = "hunter2-canary"

// logRows are the rows of the operator log behind a number.
func (c *child) logRows(after int64) (rows []string, last int64) {
	c.t.Helper()
	result, err := c.world.Pool.Query(c.t.Context(), `select id, concat_ws(' | ', phase, action,
			outcome, observed->>'context', split_part(command, ' ', 1)), a::text
		from operator_action a where id > $1 order by id`, after)
	if err != nil {
		c.t.Fatal(err)
	}
	defer result.Close()
	last = after
	for result.Next() {
		var row, whole string
		if err := result.Scan(&last, &row, &whole); err != nil {
			c.t.Fatal(err)
		}
		if strings.Contains(whole, canary) {
			c.t.Errorf("what was typed is in the log: %s", whole)
		}
		rows = append(rows, row)
	}
	if err := result.Err(); err != nil {
		c.t.Fatal(err)
	}
	return rows, last
}

// confirmed lists the commands that can ask for words.
func confirmed(cmd *cobra.Command) map[string]bool {
	found := map[string]bool{}
	if cmd.Flags().Lookup("confirm") != nil {
		found[strings.TrimPrefix(cmd.CommandPath(), "rewardctl ")] = true
	}
	for _, sub := range cmd.Commands() {
		maps.Copy(found, confirmed(sub))
	}
	return found
}

// withSomethingToDeny has a posting and a plan of two rows. It returns the plan's file and the last
// row of the log.
func withSomethingToDeny(t *testing.T) (c *child, file string, last int64) {
	t.Helper()
	c = newChild(t)
	file = c.file("two.csv", 2)
	for _, line := range []string{
		"grant create --player p-1 --event e-1 --kind gems --amount 5 --reason why",
		"grant plan " + file + " --campaign c1 --reason why",
	} {
		if out, err := c.command(strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	_, last = c.logRows(0)
	return c, file, last
}

// Whatever command asks for words in a protected context: without them it changes nothing, ends
// with 5, and leaves one row of the log, in which what was typed does not stand.
func TestRefusedConfirmationsAreLogged(t *testing.T) {
	t.Parallel()
	c, file, last := withSomethingToDeny(t)
	lines := map[string]string{
		"audit ack":      "audit ack 1 --reason why",
		"fence reseed":   "fence reseed reward:p-1 --reason why",
		"grant create":   "grant create --player p-2 --event e-2 --kind gems --amount 5 --reason why",
		"grant apply":    "grant apply " + file + " --campaign c2 --reason why",
		"grant apply 1":  "grant apply 1",
		"grant approve":  "grant approve 1 --reason why",
		"grant reject":   "grant reject 1 --reason why",
		"grant pause":    "grant pause 1 --reason why",
		"grant cancel":   "grant cancel 1 --reason why",
		"lease burn":     "lease burn reward:p-1 --token 1 --reason why",
		"lease release":  "lease release reward:p-1 --owner o --token 1 --reason why",
		"ledger reverse": "ledger reverse 1 --reason why",
		"migrate roles":  "migrate roles --reason why",
		"migrate up":     "migrate up --reason why",
		"outbox park":    "outbox park 1 --reason why",
		"outbox requeue": "outbox requeue 1 --reason why",
	}
	for word := range confirmed((&app{}).rootCommand()) {
		if lines[word] == "" {
			t.Errorf("%s asks for words, but is not tried here", word)
		}
	}
	for _, word := range slices.Sorted(maps.Keys(lines)) {
		args := append(strings.Fields(lines[word]), "--context", "live", "--confirm", canary)
		cmd := c.command(args...)
		out, _ := cmd.CombinedOutput()
		if code := exitCode(cmd.ProcessState.ExitCode()); code != exitDenied {
			t.Errorf("%s: exit %d\n%s", word, code, out)
		}
		rows, now := c.logRows(last)
		want := "denied | " + strings.TrimSuffix(word, " 1") +
			" | denied: not confirmed | live | rewardctl"
		if len(rows) != 1 || rows[0] != want {
			t.Errorf("%s: %q, want %q\n%s", word, rows, want, out)
		}
		if !strings.Contains(string(out), fmt.Sprintf("operator log: row %d", now)) {
			t.Errorf("%s does not say where it is written down:\n%s", word, out)
		}
		last = now
	}
	if n := c.rows(); n != 1 {
		t.Errorf("%d postings", n)
	}
}

// A precondition that has changed, a limit, and a privilege that is missing leave one row each;
// where nothing can be written, that is said.
func TestRefusedDeedsAreLogged(t *testing.T) {
	t.Parallel()
	c, _, last := withSomethingToDeny(t)
	const release = "lease release reward:p-1 --owner o --token 77 --reason why"
	view := account(t, c.world, "looker", "view")
	for _, try := range []struct {
		line string
		exit exitCode
		row  string // "" when nothing can be written
		says string
		env  string
	}{
		{line: release, exit: exitPrecondition, row: "denied | lease release"},
		{
			line: "lease burn reward:p-1 --token 900 --reason why", exit: exitPrecondition,
			row: "denied | lease burn",
		},
		{
			line: "grant approve 1 --if-version 99 --reason why", exit: exitPrecondition,
			row: "denied | grant approve",
		},
		{
			line: "outbox requeue 1 --state dead --reason why", exit: exitPrecondition,
			row: "denied | outbox requeue",
		},
		{
			line: "lease release --set 0123456789ab --reason why reward:p-1 reward:p-2",
			exit: exitPrecondition, row: "denied | lease release",
		},
		{
			line: "grant create --player p-1 --event e-9 --kind gems --amount 2000000000 --reason why",
			exit: exitUsage, row: "denied | grant create | denied: over the limit of 1000000 per grant",
		},
		{
			line: release + " --context audit", exit: exitDenied,
			says: "not written to the operator log: context audit is read-only",
		},
		{
			line: release + " --context noredis", exit: exitUnavailable,
			row: "failed | lease release | failed: Redis does not answer",
		},
		{
			line: release + " --context nopostgres", exit: exitUnavailable, says: "does not answer",
		},
		{
			line: "lease burn reward:p-1 --token 1 --reason why", exit: exitDenied,
			says: "could not be written to the operator log", env: "REWARDCTL_POSTGRES_URL=" + view,
		},
	} {
		cmd := c.command(strings.Fields(try.line)...)
		if try.env != "" {
			cmd.Env = append(cmd.Env, try.env)
		}
		out, _ := cmd.CombinedOutput()
		if code := exitCode(cmd.ProcessState.ExitCode()); code != try.exit {
			t.Errorf("%s: exit %d, want %d\n%s", try.line, code, try.exit, out)
		}
		var rows []string
		rows, last = c.logRows(last)
		switch {
		case try.row == "" && len(rows) > 0:
			t.Errorf("%s: %q", try.line, rows)
		case try.row != "" && (len(rows) != 1 || !strings.HasPrefix(rows[0], try.row)):
			t.Errorf("%s: %q, want %q\n%s", try.line, rows, try.row, out)
		}
		if !strings.Contains(string(out), try.says) {
			t.Errorf("%s does not say %q:\n%s", try.line, try.says, out)
		}
	}
}
