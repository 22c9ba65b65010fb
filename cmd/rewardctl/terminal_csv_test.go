package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// B45 and B44: CSV and JSON lines on a terminal show substitutes, with --raw and on a dumb one,
// too; in a pipe or a file every byte is kept, so that an export can be read back.
func TestB45CSVOnATerminalAndInAFile(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	evil := ""
	for _, one := range hostile {
		if utf8.ValidString(one) && !strings.Contains(one, "\x00") {
			evil += one
		}
	}
	player, reason := "p"+evil+"TAIL", "why"+evil+"TAIL"
	if _, err := c.world.Pool.Exec(t.Context(), `insert into reward_ledger (player_id,
		reward_event_id, kind, amount, fence_token, lease_owner, actor, reason)
		values ($1, 'e', 'gems', 5, 1, 'w', 'a', $2)`, player, reason); err != nil {
		t.Fatal(err)
	}
	history := []string{"player", "history", "-o", "csv", "--", player}
	for _, args := range [][]string{
		history,
		{"player", "history", "-o", "csv", "--raw", "--", player},
		{"player", "history", "-o", "jsonl", "--", player},
		{"player", "export", "-o", "csv", "--raw", "--", player},
		{"player", "export", "-o", "json", "--", player},
		{"audit", "run", "expected-sum", "-o", "csv"},
	} {
		for _, kind := range []string{"xterm-256color", "dumb"} {
			cmd := c.command(args...)
			cmd.Env = append(cmd.Env, "TERM="+kind)
			term := onTerminal(t, cmd)
			term.exit()
			shown := strings.ReplaceAll(term.shown(), "\r\n", "\n") // the terminal's own line ends
			shown = strings.ReplaceAll(shown, "\r\x1b[K", "")       // the progress line, taken away
			if i := strings.IndexFunc(shown, drives); i >= 0 {
				t.Errorf("%q on %s: %q acts on it", args[:4], kind, shown[i:min(i+20, len(shown))])
			}
			if !strings.Contains(shown, "TAIL") {
				t.Errorf("%q on %s: what follows is hidden: %q", args[:4], kind, shown)
			}
			if told := strings.Contains(shown, "shown as substitutes"); told !=
				slices.Contains(args, "csv") {
				t.Errorf("%q on %s: told about substitutes: %t", args[:4], kind, told)
			}
		}
	}
	piped, err := c.command(history...).Output()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "export.csv")
	if text, err := c.command("player", "export", "-o", "csv", "--output-file", path, "--",
		player).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"pipe": string(piped), "file": string(file)} {
		// encoding/csv reads CR LF within a cell as LF, as RFC 4180 readers do.
		want := strings.ReplaceAll(reason, "\r\n", "\n")
		records, err := csv.NewReader(strings.NewReader(data)).ReadAll()
		if err != nil || len(records) != 2 {
			t.Fatalf("%s: %v, %q", name, err, data)
		}
		if !slices.Contains(records[1], want) {
			t.Errorf("%s: the reason is not kept: %q, want %q", name, records[1], want)
		}
	}
}

// drives reports characters that act on a terminal or move text about on it.
func drives(r rune) bool {
	return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) || r >= 0x202a && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069
}
