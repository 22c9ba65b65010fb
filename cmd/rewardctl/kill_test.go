package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"rewardctl/config"
	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// proxied is a child whose program reaches both servers through proxies, so that it can be stopped
// at an exact frame. Its second configuration goes straight to them.
type proxied struct {
	*child
	pg, redis *granttest.Proxy
	direct    string // the configuration without proxies
}

func newProxied(t *testing.T) *proxied {
	t.Helper()
	c := newChild(t)
	p := &proxied{child: c, direct: c.config}
	p.pg = granttest.NewPostgresProxy(t, fmt.Sprintf("%s:%d", c.world.Conn.Host,
		c.world.Conn.Port))
	p.redis = granttest.NewRedisProxy(t, c.world.RedisAddr)
	at, err := url.Parse(account(t, c.world, "mara", "operator"))
	if err != nil {
		t.Fatal(err)
	}
	at.Host = p.pg.Addr()
	var conf config.Context
	conf.Name, conf.Operator = "main", "mara"
	conf.Postgres.URL, conf.Postgres.Schema = at.String(), c.world.Schema
	conf.Redis.Addrs = []string{p.redis.Addr()}
	conf.Lease.Prefix, conf.Lease.TTL = c.world.Prefix, childTTL
	c.config = filepath.Join(c.dir, "proxied.yaml")
	if err := config.Write(c.config, "main", conf); err != nil {
		t.Fatal(err)
	}
	return p
}

// plain runs the program without the proxies.
func (p *proxied) plain(args ...string) (string, exitCode) {
	p.t.Helper()
	cmd := p.command(append([]string{"--config", p.direct}, args...)...)
	out, _ := cmd.CombinedOutput() // the exit code says how it went
	return string(out), exitCode(cmd.ProcessState.ExitCode())
}

// kill ends a process with kill -9 at a held frame, which then never arrives: the dead process's
// connections are cut.
func (p *proxied) kill(cmd *exec.Cmd) {
	p.t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = cmd.Wait() // "signal: killed"
	p.cut()
	p.t.Log("scoreboard: kill_9=1 kill_points=1")
}

// cut ends all connections, and what is held on them, and opens the way for new ones.
func (p *proxied) cut() {
	for _, proxy := range []*granttest.Proxy{p.pg, p.redis} {
		proxy.Clear()
		proxy.SetPath(granttest.Refused)
		proxy.SetPath(granttest.Open)
	}
}

// fired waits until a rule has hit its frame.
func fired(t *testing.T, rule *granttest.Trigger, what string) {
	t.Helper()
	until(t, what, func() bool { return rule.Count() > 0 })
}

// TestExportSurvivesKill kills an export at its first page, in its middle and at its end. There is
// never half a file under the name that was asked for, what was written says that it is partial,
// and once that is removed the same export is whole.
func TestExportSurvivesKill(t *testing.T) {
	t.Parallel()
	const entries = 4500
	p := newProxied(t)
	if _, err := p.world.Pool.Exec(t.Context(), `insert into reward_ledger (id, player_id,
			reward_event_id, kind, amount, fence_token, lease_owner, actor, reason)
		select n, 'p-1', 'e-' || n, 'gems', 1, 1, 'o', 'a', repeat('why ', 20)
		from generate_series(1, $1::bigint) n`, entries); err != nil {
		t.Fatal(err)
	}
	page := granttest.SQL("reward_ledger")
	all := p.pg.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: page, Times: -1, Fault: granttest.Watch,
	})
	export := func(name string) []string {
		return []string{"player", "export", "p-1", "--type", "posting", "--output-file", name}
	}
	whole := filepath.Join(p.dir, "whole.jsonl")
	if out, err := p.command(export(whole)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := os.ReadFile(whole)
	if err != nil || strings.Count(string(want), "\n") != entries || all.Count() < 3 {
		t.Fatalf("%d lines in %d pages, %v", strings.Count(string(want), "\n"), all.Count(), err)
	}
	for i, skip := range []int{0, 1, all.Count() - 1} {
		path := filepath.Join(p.dir, fmt.Sprintf("out-%d.jsonl", i))
		p.pg.Clear()
		held := p.pg.Add(granttest.Rule{
			At: granttest.BeforeSend, Match: page, Skip: skip, Fault: granttest.Hold,
		})
		cmd := p.start(export(path)...)
		fired(t, held, "a page of the export")
		p.kill(cmd)
		for _, name := range []string{path, path + digestEnd} {
			if _, err := os.Lstat(name); err == nil {
				t.Errorf("killed at page %d: %s is there", skip, name)
			}
		}
		out, code := p.plain(export(path)...)
		if _, err := os.Lstat(path + partialEnd); err == nil {
			if code != exitUsage || !strings.Contains(out, "remove what an export left") {
				t.Errorf("over a partial file: exit %d: %s", code, out)
			}
			if err := os.Remove(path + partialEnd); err != nil {
				t.Fatal(err)
			}
			out, code = p.plain(export(path)...)
		}
		if code != exitOK {
			t.Fatalf("again: exit %d: %s", code, out)
		}
		got, err := os.ReadFile(path)
		sum := sha256.Sum256(got)
		digest, derr := os.ReadFile(path + digestEnd)
		if err != nil || derr != nil || string(got) != string(want) ||
			!strings.HasPrefix(string(digest), hex.EncodeToString(sum[:])) {
			t.Errorf("again: %d bytes of %d, digest %s, %v, %v", len(got), len(want), digest, err,
				derr)
		}
	}
}

// after matches frames like next that come later than one like first.
func after(first, next func(granttest.Frame) bool) func(granttest.Frame) bool {
	var seen atomic.Bool
	return func(f granttest.Frame) bool {
		if first(f) {
			seen.Store(true)
			return false
		}
		return seen.Load() && next(f)
	}
}

// releaseStep is where a releasing console stands when it is ended.
type releaseStep struct {
	name   string
	redis  bool // the rule is for Redis
	rule   granttest.Rule
	burned bool // the token is burned by then
	freed  bool // the lock is gone by then
}

func releaseSteps(t *testing.T) []releaseStep {
	t.Helper()
	source, err := os.ReadFile("../../grant/lease/lua/release.lua")
	if err != nil {
		t.Fatal(err)
	}
	burn, script := granttest.SQL("insert into reward_fence as f"), granttest.Script(string(source))
	hold := func(at granttest.Point, match func(granttest.Frame) bool) granttest.Rule {
		return granttest.Rule{At: at, Match: match, Fault: granttest.Hold}
	}
	return []releaseStep{
		{name: "before the burn", rule: hold(granttest.BeforeSend, burn)},
		{
			name: "before the burn's commit",
			rule: hold(granttest.BeforeSend, after(burn, granttest.Commit)),
		},
		{
			name: "before the lock is freed", redis: true, burned: true,
			rule: hold(granttest.BeforeSend, script),
		},
		{
			name: "after the lock is freed", redis: true, burned: true, freed: true,
			rule: hold(granttest.AtReply, script),
		},
	}
}

// releasing opens the console on the one lease there is and lets it release that. It returns when
// the step is reached.
func (p *proxied) releasing(held grant.Lease, s releaseStep) *terminal {
	p.t.Helper()
	cmd := p.command("--home", "leases")
	cmd.Env = append(cmd.Env, "LANG=C.UTF-8", "XDG_STATE_HOME="+p.t.TempDir())
	term := onTerminal(p.t, cmd)
	term.waitFor("1 total")
	term.press("R")
	term.waitFor("now, live")
	breathe()
	term.write("dead")
	term.press("\t")
	breathe()
	_, player, _ := strings.Cut(held.Resource, "p-")
	term.write(player + "-release")
	term.waitFor("ready:")
	proxy := p.pg
	if s.redis {
		proxy = p.redis
	}
	rule := proxy.Add(s.rule)
	term.press("\r")
	term.waitFor("▶release")
	breathe()
	term.press("\r")
	fired(p.t, rule, s.name)
	return term
}

// TestConsoleKilledInTheMiddleOfARelease kills the console at each step of a release: nothing is
// half done that the same release, given as a command, does not finish.
func TestConsoleKilledInTheMiddleOfARelease(t *testing.T) {
	t.Parallel()
	for _, s := range releaseSteps(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newProxied(t)
			held := p.hold(p.longLeases(), "reward:p-1001", "worker-1@host/1#a")
			p.kill(p.releasing(held, s).cmd)
			p.finishRelease(held, s)
		})
	}
}

// finishRelease looks at what a console left behind, and releases again.
func (p *proxied) finishRelease(held grant.Lease, s releaseStep) {
	p.t.Helper()
	store := p.longLeases()
	fence := "select count(*) from reward_fence where last_token = $1 and last_owner like 'burned%'"
	var burned, open int
	until(p.t, "the end of the cut transaction", func() bool {
		err := p.world.Pool.QueryRow(p.t.Context(), fence, held.Token).Scan(&burned)
		return err == nil && burned == 0 == !s.burned
	})
	left := burned
	_, err := store.Show(p.t.Context(), held.Resource)
	if gone := err != nil; gone != s.freed {
		p.t.Errorf("%s: the lock is gone: %v (%v), want %v", s.name, gone, err, s.freed)
	}
	out, code := p.plain("lease", "release", held.Resource, "--owner", held.Owner, "--token",
		fmt.Sprint(held.Token), "--reason", "again")
	if code != exitOK {
		p.t.Fatalf("%s: release again: exit %d: %s", s.name, code, out)
	}
	if _, err := store.Show(p.t.Context(), held.Resource); err == nil {
		p.t.Errorf("%s: the lock is still there", s.name)
	}
	if err := p.world.Pool.QueryRow(p.t.Context(), fence, held.Token).Scan(&burned); err != nil ||
		burned != 1 {
		p.t.Errorf("%s: burned %d, %v", s.name, burned, err)
	}
	err = p.world.Pool.QueryRow(p.t.Context(), `select count(*) from operator_action i
		where i.phase = 'intent' and not exists (select from operator_action r
			where r.intent = i.id)`).Scan(&open)
	if err != nil || open > left {
		p.t.Errorf("%s: %d intents without a result, want %d at most, %v", s.name, open, left, err)
	}
	if out, code := p.plain("oplog", "verify"); code != exitOK {
		p.t.Errorf("%s: the log: exit %d: %s", s.name, code, out)
	}
	p.world.CheckInvariants(p.t)
}
