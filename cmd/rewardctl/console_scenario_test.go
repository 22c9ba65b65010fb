package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// longLeases is a store whose leases outlive a test.
func (c *child) longLeases() *lease.Store {
	c.t.Helper()
	store, err := lease.New(c.world.Redis, lease.Options{
		Prefix: c.world.Prefix, TTL: 10 * time.Minute,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return store
}

func (c *child) hold(store *lease.Store, resource, owner string) grant.Lease {
	c.t.Helper()
	answer := store.Acquire(c.t.Context(), []grant.Ask{{Resource: resource, Owner: owner}})[0]
	if answer.Err != nil {
		c.t.Fatal(answer.Err)
	}
	return *answer.Lease
}

// write presses the keys of a text one by one, each when the one before is on the screen.
func (term *terminal) write(words string) {
	term.t.Helper()
	for i := range words {
		term.press(words[i : i+1])
		term.waitFor("m" + words[:i+1] + "\x1b[0m\x1b[7m") // then the cell of the cursor
		pause := time.NewTimer(30 * time.Millisecond)      // longer than keys that count as one
		<-pause.C
	}
}

// breathe lets the console handle a key before the next one: keys that come together are not taken.
func breathe() {
	pause := time.NewTimer(300 * time.Millisecond)
	<-pause.C
}

// leave quits from wherever the console is.
func (term *terminal) leave() {
	for range 2 {
		breathe()
		term.press("\x03")
	}
}

// The owner of a lease changes under the dialog of the built program: it refuses, on real servers.
func TestConsoleRefusesALeaseThatChanged(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	store := c.longLeases()
	first := c.hold(store, "reward:p-1001", "worker-1@host/1#a")
	cmd := c.command("--home", "leases")
	cmd.Env = append(cmd.Env, "LANG=C.UTF-8", "XDG_STATE_HOME="+t.TempDir())
	term := onTerminal(t, cmd)
	term.waitFor("1 total")
	term.press("R")
	term.waitFor("now, live")
	breathe()
	term.write("dead")
	term.press("\t")
	breathe()
	term.write("1001-release")
	term.waitFor("ready:")
	if err := store.Release(t.Context(), []grant.Lease{first})[0]; err != nil {
		t.Fatal(err)
	}
	second := c.hold(store, "reward:p-1001", "worker-2@host/2#b")
	term.waitFor("CHANGED while you looked")
	term.press("\r\r\r")
	term.leave()
	if code := term.exit(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	if got, err := store.Show(t.Context(), "reward:p-1001"); err != nil || got.Token != second.Token {
		t.Errorf("the second lease is %+v, %v", got, err)
	}
}

// Release as the program shows it, and what the console remembers.
func TestConsoleReleasesAndRemembers(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	store, state := c.longLeases(), t.TempDir()
	c.hold(store, "reward:p-1001", "worker-1@host/1#a")
	cmd := c.command("--home", "leases")
	cmd.Env = append(cmd.Env, "LANG=C.UTF-8", "XDG_STATE_HOME="+state)
	term := onTerminal(t, cmd)
	term.waitFor("1 total")
	term.press("/")
	breathe()
	term.write("p-1001")
	term.press("\r")
	term.waitFor("1 match")
	term.press("R")
	term.waitFor("now, live")
	breathe()
	term.write("dead")
	term.press("\t")
	breathe()
	term.write("1001-release")
	term.waitFor("ready:")
	term.press("\r")
	term.waitFor("▶release") // the button has the focus
	breathe()
	term.press("\r")
	term.waitFor("released: reward:p-1001")
	term.leave()
	if code := term.exit(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	raw, err := os.ReadFile(filepath.Join(state, "rewardctl", "console-main.json"))
	if err != nil || !strings.Contains(string(raw), `"filter": "p-1001"`) {
		t.Errorf("remembered %s, %v", raw, err)
	}
}

// Configured keys that mean two things are an error of the configuration, before anything opens.
func TestConsoleRefusesConflictingKeys(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	cmd := c.command()
	cmd.Env = append(cmd.Env, "REWARDCTL_UI_KEYS=leases/release=q")
	term := onTerminal(t, cmd)
	if code := term.exit(); code != exitUsage {
		t.Errorf("exit %d: %q", code, term.shown())
	}
	if !strings.Contains(term.shown(), `the key "q" would mean both`) ||
		strings.Contains(term.shown(), "\x1b[?1049h") {
		t.Errorf("shown %q", term.shown())
	}
}

// Shells complete names from live data.
func TestCompletionFromLiveData(t *testing.T) {
	t.Parallel()
	c := newChild(t)
	c.hold(c.longLeases(), "reward:p-1001", "worker-1@host/1#a")
	path := c.file("plan.csv", 3)
	if out, err := c.command("grant", "plan", path, "--campaign", "spring", "--reason", "r").
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for words, want := range map[string]string{
		"lease show ":            "reward:p-1001\t",
		"lease release reward:p": "reward:p-1001\t",
		"token list ":            "reward:p-1001\t",
		"player history p-":      "p-1001",
		"grant status ":          "1\tready, spring",
		"drill run ":             "paused-holder\t",
		"audit run dup":          "duplicate-key\t",
		"grant create --player ": "p-1001",
	} {
		argv := strings.Split(words, " ")
		out, err := c.command(append([]string{"__complete"}, argv...)...).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%q completes to %q (%v), want %q", words, out, err, want)
		}
	}
}
