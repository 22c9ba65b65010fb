package repair_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"rewardctl/grant"
	"rewardctl/repair"
)

// keep keeps one finding about an event and returns the request to take it back.
func (b *bench) keep(t *testing.T, word, player, event, print string) repair.ReverseRequest {
	t.Helper()
	run, err := b.operator.StartAudit(t.Context(), repair.AuditRecord{
		Checks: []string{"some"}, Parts: 1, Command: "test", Origin: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	err = b.operator.RecordAuditFindings(t.Context(), run, []repair.AuditFinding{{
		Check: "some", Word: word, Severity: "critical", Rule: "r", What: "w", Table: "reward_ledger",
		PlayerID: player, EventID: event, Count: 1, Proof: "p", Remedy: "r", Fingerprint: print,
	}})
	if err != nil {
		t.Fatal(err)
	}
	id, _ := strconv.ParseInt(b.scalar(t, "select finding_id from audit_finding "+
		"where fingerprint = $1", print), 10, 64)
	return repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{Finding: id}, Reason: "the audit says so",
	}
}

// auditWords are the kinds of findings that audits know, as their rules are written down.
func auditWords(t *testing.T) []string {
	t.Helper()
	var words []string
	for _, name := range []string{"audit_rule.go", "audit_receiver_rule.go"} {
		text, err := os.ReadFile(filepath.Join("..", "inspect", name))
		if err != nil {
			t.Fatal(err)
		}
		rule := regexp.MustCompile(`(?m)^\t\t"([a-z_]+)": \{$`)
		for _, m := range rule.FindAllStringSubmatch(string(text), -1) {
			words = append(words, m[1])
		}
	}
	if len(words) < 20 {
		t.Fatalf("only %d kinds of findings: %v", len(words), words)
	}
	return words
}

// Every kind of finding that an audit knows is either taken back or refused with what to do
// instead, and what is taken back is taken back once.
func TestReverseEveryKindOfFinding(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := map[string]bool{
		"unclaimed": true, "token_down": true, "token_owners": true, "dead": true,
		"not_received": true, "received_other": true,
	}
	elsewhere := map[string]bool{ // tests of their own
		"duplicate": true, "respelled": true, "retried": true, "sum": true,
	}
	for i, word := range auditWords(t) {
		event := fmt.Sprintf("e-%d", i)
		posted := b.grant(t, "p1", event, 10)
		b.grant(t, "p2", event, 10) // another player's posting of the event
		ask := b.keep(t, word, "p1", event, word)
		if elsewhere[word] {
			continue
		}
		if !one[word] {
			var no *grant.Rejection
			_, err := b.operator.PreviewReverse(t.Context(), ask)
			if !errors.As(err, &no) || no.Problem == "" || no.WayOut == "" {
				t.Errorf("%s: %v", word, err)
			}
			continue
		}
		done := b.reverse(t, ask)
		if len(done.Items) != 1 || done.Items[0].Posting.ID != posted.LedgerID ||
			done.Items[0].Take != 10 || done.Changes() != 1 || len(done.Warnings) != 1 {
			t.Errorf("%s: %+v", word, done)
		}
		if again := b.reverse(t, ask); again.Changes() != 0 ||
			again.Counts()[grant.AlreadyReversed] != 1 {
			t.Errorf("%s again: %+v", word, again.Counts())
		}
	}
	var no *grant.Rejection
	ask := b.keep(t, "of-tomorrow", "p1", "e-0", "new")
	if _, err := b.operator.PreviewReverse(t.Context(), ask); !errors.As(err, &no) {
		t.Errorf("an unknown kind: %v", err)
	}
	ask = b.keep(t, "dead", "p1", "nowhere", "gone")
	if _, err := b.operator.PreviewReverse(t.Context(), ask); !errors.As(err, &no) {
		t.Errorf("no such posting: %v", err)
	}
	b.CheckInvariants(t)
}

// A posting that gave more than was claimed: only what is too much is taken back, once, also when
// some of it was taken back before.
func TestReverseWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.grant(t, "p1", "e1", 100)
	update(t, b, "update reward_claim set amount = 70 where reward_event_id = 'e1'")
	ask := b.keep(t, "sum", "p1", "e1", "more")
	for i, want := range []struct {
		took, balance int64
	}{{30, 70}, {0, 70}} {
		done := b.reverse(t, ask)
		if len(done.Items) != 1 || done.Totals[0].Take != want.took {
			t.Errorf("run %d took %+v", i+1, done.Totals)
		}
		if got := b.scalar(t, "select amount from reward_balance where player_id = 'p1'"); got !=
			strconv.FormatInt(want.balance, 10) {
			t.Errorf("run %d: balance %s", i+1, got)
		}
	}

	half := b.grant(t, "p2", "e1", 100)
	update(t, b, "update reward_claim set amount = 70 where player_id = 'p2'")
	b.reverse(t, repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{LedgerID: half.LedgerID}, Amount: 10, Reason: "r",
	})
	done := b.reverse(t, b.keep(t, "sum", "p2", "e1", "half"))
	if done.Totals[0].Take != 20 || done.Items[0].Result == nil || done.Items[0].Result.Parts != 2 {
		t.Errorf("the rest: %+v", done.Items)
	}

	b.grant(t, "p3", "e1", 100)
	update(t, b, "update reward_claim set kind = 'coins' where player_id = 'p3'")
	if done := b.reverse(t, b.keep(t, "sum", "p3", "e1", "kind")); done.Totals[0].Take != 100 {
		t.Errorf("another kind: %+v", done.Items)
	}

	b.grant(t, "p4", "e1", 100)
	update(t, b, "update reward_claim set amount = 170 where player_id = 'p4'")
	b.grant(t, "p5", "e1", 100)
	for _, player := range []string{"p4", "p5"} { // too little; settled
		var no *grant.Rejection
		ask := b.keep(t, "sum", player, "e1", player)
		if _, err := b.operator.PreviewReverse(t.Context(), ask); !errors.As(err, &no) {
			t.Errorf("%s: %v", player, err)
		}
	}
}

func update(t *testing.T, b *bench, sql string) {
	t.Helper()
	if _, err := b.Pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}
