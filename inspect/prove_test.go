package inspect_test

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"

	"github.com/jackc/pgx/v5"
)

// hostileNames are ids that break careless quoting.
func hostileNames() []string {
	return []string{
		"p-1", "o'clock", `back\slash`, "a';drop table reward_ledger;--", "tab\tnewline\n",
		"\x1b[2Jcleared", "right\u202eleft", "$(reboot)`id`", "-n", "미라 {42}%", `"quoted"`,
	}
}

// Every statement that a screen offers runs as it is, and finds what it is about.
func TestProofsRunAsTheyAreShown(t *testing.T) {
	t.Parallel()
	w := setup(t)
	conn, err := pgx.ConnectConfig(t.Context(), w.Conn.Copy())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows := func(p inspect.Proof) int {
		t.Helper()
		if p.Tool != inspect.ProofSQL {
			t.Fatalf("%q is for %s", p.Text, p.Tool)
		}
		got, err := conn.Query(t.Context(), p.Text, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatalf("%s: %v", p.Text, err)
		}
		n := 0
		for got.Next() {
			n++
		}
		if got.Err() != nil {
			t.Fatalf("%s: %v", p.Text, got.Err())
		}
		return n
	}
	for _, name := range hostileNames() {
		if strings.ContainsAny(name, "\n\t\x1b\u202e") {
			continue // the engine refuses such ids; they are quoted in the test below
		}
		res, err := w.engine.Grant(t.Context(), grant.Request{
			PlayerID: name, EventID: "e:" + name, Kind: "gems", Amount: 5, Actor: "t", Reason: "t",
		})
		if err != nil || res.Outcome != grant.Applied {
			t.Fatalf("%q: %v %v", name, res.Outcome, err)
		}
		for what, list := range map[string][]inspect.Proof{
			"history": inspect.ProveHistory(name),
			"posting": inspect.ProveEntry(inspect.PlayerEntry{
				Type: inspect.EntryPosting, ID: res.LedgerID,
			}),
			"delivery": inspect.ProveDelivery(res.LedgerID),
			"fence":    inspect.ProveFence(grant.ResourceFor(name)),
		} {
			if len(list) != 1 || rows(list[0]) != 1 {
				t.Errorf("%q: the %s is not shown by %v", name, what, list)
			}
		}
	}
	for what, list := range map[string][]inspect.Proof{
		"claim":   inspect.ProveEntry(inspect.PlayerEntry{Type: inspect.EntryClaim, ID: 1}),
		"refusal": inspect.ProveEntry(inspect.PlayerEntry{Type: inspect.EntryRefusal, ID: 1}),
		"action":  inspect.ProveAction(1), "run": inspect.ProveRun(1), "plan": inspect.ProvePlan(1),
		"row": inspect.ProvePlanRow(1, 2), "odd": inspect.ProveHistory("tab\tnewline\n\x1b[2J"),
	} {
		if len(list) != 1 || strings.Contains(list[0].Text, "{") {
			t.Errorf("%s: %v", what, list)
			continue
		}
		rows(list[0])
	}
	if got := inspect.ProveHistory("a\x00b"); got != nil {
		t.Errorf("no row can have a zero byte: %v", got)
	}
}

// The statements have no places left, whoever adds one.
func TestEveryShownStatementIsUsed(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("sql/show"), "*.sql")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d statements: %v", len(files), err)
	}
	source, err := os.ReadFile("prove.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.Contains(string(source), `"`+strings.TrimSuffix(f, ".sql")+`"`) {
			t.Errorf("nobody shows %s", f)
		}
	}
}

// The command line for a lock reads exactly its key, whatever is in its name: a shell hands
// redis-cli, for which a script stands here, the words that the store uses.
func TestLeaseProofSurvivesTheShell(t *testing.T) {
	t.Parallel()
	w := setup(t)
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := inspect.New(nil, w.store, inspect.Options{RedisCLI: "printf '%s\\0'"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range hostileNames() {
		proofs := reader.ProveLease(inspect.Lease{Resource: "reward:" + name, Left: time.Second})
		if len(proofs) != 2 || proofs[0].Tool != inspect.ProofRedis {
			t.Fatalf("%q: %v", name, proofs)
		}
		got, err := exec.CommandContext(t.Context(), shell, "-c", proofs[0].Text).Output()
		if err != nil {
			t.Fatalf("%s: %v", proofs[0].Text, err)
		}
		key := w.store.LockKey("reward:" + name)
		if want := "GET\x00" + key + "\x00PTTL\x00" + key + "\x00"; string(got) != want {
			t.Errorf("%q: the shell reads %q, want %q", name, got, want)
		}
	}
}
