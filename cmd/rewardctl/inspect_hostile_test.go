package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rewardctl/config"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// B45: whatever a name, an event, an owner, a reason or an error of the item server holds, no
// command that looks at things lets it drive the terminal, in no form of output; and what follows
// it stays visible.
func TestB45NoQuestionPrintsWhatDrivesTheTerminal(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	same := func(*config.Context) {}
	// All of them in one text, and one that only Redis stores.
	texts := []string{"", ""}
	for _, evil := range hostile {
		if utf8.ValidString(evil) {
			texts[0] += evil
		} else {
			texts[1] += evil
		}
	}
	plantHostile(t, w, texts[0], 0)
	for _, evil := range texts {
		asks := []grant.Ask{{Resource: "reward:p" + evil + "TAIL", Owner: "w" + evil + "@h/1#TAIL"}}
		if a := store.Acquire(t.Context(), asks)[0]; a.Lease == nil {
			t.Fatalf("%q: %+v", evil, a)
		}
	}
	for _, evil := range texts {
		player := "p" + evil + "TAIL"
		questions := [][]string{
			{"lease", "show", "reward:" + player}, {"token", "list", "reward:" + player},
		}
		if utf8.ValidString(evil) {
			questions = append(questions, []string{"player", "history", player},
				[]string{"explain", player, "e" + evil + "TAIL"})
		}
		for _, q := range questions {
			harmless(t, w, same, exitOK, q)
		}
		harmless(t, w, same, exitNotFound, []string{"lease", "show", "nobody" + evil + "TAIL"})
		harmless(t, w, same, exitUsage, []string{"lease", "list", "--state", evil + "TAIL"})
		harmless(t, w, same, exitUsage, []string{"player", "history", "p", "--from", evil + "TAIL"})
	}
	harmless(t, w, same, exitOK, []string{"lease", "list"})
	harmless(t, w, same, exitOK, []string{"lease", "scan"})
	harmless(t, w, same, exitFindings, []string{"audit", "run", "--all"})
}

// plantHostile puts a text into every column that a command shows.
func plantHostile(t *testing.T, w *granttest.World, evil string, i int) {
	t.Helper()
	x := evil + "TAIL"
	for _, sql := range []string{
		`insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
			lease_owner, actor, reason) values ('p' || $1, 'e' || $1, 'k' || $1, 1, $2 + 1,
			'w' || $1, 'a' || $1, 'r' || $1)`,
		`insert into reward_outbox (ledger_id, player_id, state, attempts, last_error)
			select id, player_id, 'dead', $2 + 1, 'e' || $1 from reward_ledger
			where player_id = 'p' || $1`,
		`insert into reward_claim (player_id, reward_event_id, kind, amount, status)
			select 'p' || $1, 'due' || $1, 'k' || $1, $2 + 1, 'pending'`,
		`insert into grant_refusal (resource, player_id, reward_event_id, kind, amount, token,
			owner, outcome, actor, reason, fence_token, fence_owner)
			values ('reward:p' || $1, 'p' || $1, 'late' || $1, 'k' || $1, 1, $2 + 1, 'o' || $1,
			'stale_token', 'a' || $1, 'r' || $1, 99, 'f' || $1)`,
		`insert into reward_fence (resource, last_token, last_owner)
			values ('reward:p' || $1, $2 + 99, 'f' || $1)`,
		`insert into reward_balance (player_id, kind, amount) values ('p' || $1, 'k' || $1, $2 + 5)`,
	} {
		if _, err := w.Pool.Exec(t.Context(), sql, x, i); err != nil {
			t.Fatalf("%q: %v\n%s", evil, err, sql)
		}
	}
}

// harmless asks a question in the forms that people and programs read at once. CSV is for files: it
// keeps every byte, so that an export can be imported again.
func harmless(
	t *testing.T, w *granttest.World, change func(*config.Context), want exitCode,
	question []string,
) {
	t.Helper()
	for _, form := range []string{"table", "json", "jsonl"} {
		exit, out, said := wired(t, w, change, append(question, "-o", form)...)
		if exit != want {
			t.Errorf("%q in %s: exit %d, want %d: %s", question, form, exit, want, said)
		}
		if acts(out) || acts(said) {
			t.Errorf("%q in %s: %q %q", question, form, out, said)
		}
		if !strings.Contains(out+said, "TAIL") {
			t.Errorf("%q in %s hides what follows: %q %q", question, form, out, said)
		}
	}
}
