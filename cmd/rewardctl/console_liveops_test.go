package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
)

// liveopsFile has rows of two hundred players under other names, and four bad ones.
func (c *child) liveopsFile() string {
	c.t.Helper()
	text := "Spieler;Menge;Art\n"
	for n := range 200 {
		text += "p-" + digits(int64(1000+n)) + ";5;gems\n"
	}
	text += "p 1;5;gems\np-1;1,5;gems\n;5;gems\np-2;-5;gems\n"
	path := filepath.Join(c.dir, "outage.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// confirm types what a dialog asks for, and goes through with it.
func (p *pane) confirm(words ...string) {
	p.t.Helper()
	p.see("now, live")
	for i, text := range words {
		if i > 0 {
			p.press("Tab")
		}
		for _, key := range strings.Split(text, "") {
			pause := time.NewTimer(40 * time.Millisecond) // keys that come together are not taken
			<-pause.C
			p.tmux("send-keys", "-l", key)
		}
	}
	p.press("Enter", "Enter")
}

// leave presses escape until no dialog is left: one that changed by itself absorbs keys at first.
func (p *pane) leave() {
	p.t.Helper()
	untilWithin(p.t, time.Minute, "no dialog", func() bool {
		gone := !strings.Contains(p.screen(), "╭─")
		if !gone {
			p.press("Escape")
		}
		return gone
	})
}

// The first minutes of somebody in live-ops, on the built program: a file with bad rows, a plan
// over the limit, somebody else's approval in a console of his own, a run that is paused and goes
// on, and what a scheduler learns afterwards.
func TestConsoleLeadsAFileToItsGrants(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	store := c.longLeases()
	held := c.hold(store, "reward:p-1007", "worker-1@host/1#a") // its row has to wait
	limit := "REWARDCTL_APPROVAL_ROWS=100"
	p := c.inTmux("cd "+c.dir+" && rewardctl --home liveops", limit)
	p.see("nothing was planned yet")
	p.press(":")
	p.paste("grant plan " + c.liveopsFile() + " --column amount=Menge --column kind=Art " +
		"--campaign outage-48 --reason outage")
	p.press("Enter")
	p.see("GUESSED")
	p.press("C-s")
	p.see("204 rows: 200 good, 4 bad")
	p.press("e", "Enter")
	p.see("4 rows written to rewardctl-bad-rows")
	bad, err := filepath.Glob(filepath.Join(c.dir, "rewardctl-bad-rows-*.csv"))
	if err != nil || len(bad) != 1 {
		t.Fatalf("exported %v, %v", bad, err)
	}
	if text, err := os.ReadFile(bad[0]); err != nil || strings.Count(string(text), "\n") != 5 {
		t.Errorf("the bad rows are %q, %v", text, err)
	}
	p.press("C-g", "C-s")
	p.see("somebody else approves it")
	p.see("needed, by somebody else")

	bob := c.inTmux("rewardctl --home liveops", limit, "REWARDCTL_OPERATOR=bob",
		"REWARDCTL_POSTGRES_URL="+account(t, c.world, "bob", "operator"))
	bob.see("outage-48")
	bob.press("5")
	bob.see("=200")
	bob.press("V")
	bob.confirm("ok", "1-approve")
	bob.see("is now approved")

	p.see("approved by bob")
	p.press("B")
	p.confirm("200-grant")
	p.see("199 of 200 rows")
	p.press("Z")
	p.confirm("wait", "1-pause")
	p.see("plan 1 is now paused")
	p.leave()
	if err := store.Release(t.Context(), []grant.Lease{held})[0]; err != nil {
		t.Fatal(err)
	}
	p.press(":") // wherever the last escape led
	p.paste("grant status 1")
	p.press("Enter")
	p.see("B goes on")
	p.press("B")
	p.confirm("1-grant")
	p.see("200 of 200 rows")
	p.see("200 applied")
	if n := c.rows(); n != 200 {
		t.Errorf("%d postings", n)
	}
	// Rows that were refused before the plan are no part of what the run owes.
	var ended *exec.ExitError
	err = c.command("grant", "apply", "1").Run()
	if errors.As(err, &ended); ended == nil || exitCode(ended.ExitCode()) != exitPartial {
		t.Errorf("the plan again: %v", err)
	}
}
