package lease_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/config/embedded"
	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// aclRules are the users that the README tells administrators to make, as it writes them down.
func aclRules(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string][]string{}
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	for line := range strings.Lines(joined) {
		words := strings.Fields(line)
		if len(words) > 3 && words[0] == "ACL" && words[1] == "SETUSER" {
			rules[words[2]] = words[3:]
		}
	}
	return rules
}

// guarded is a Redis of its own on which the users of the README exist.
type guarded struct {
	addr  string
	admin *redis.Client
	rules map[string][]string
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	server, err := embedded.StartRedis(context.Background(), embedded.RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	g := &guarded{server.Addr(), dial(t, server.Addr()), aclRules(t)}
	if len(g.rules) < 3 {
		t.Fatalf("the README makes only %d users", len(g.rules))
	}
	for user, words := range g.rules {
		args := []any{"acl", "setuser", user}
		for _, w := range words {
			// The tests' keys begin otherwise than those of a default configuration.
			args = append(args, strings.Replace(w, "~rewardctl:", "~t", 1))
		}
		if err := g.admin.Do(t.Context(), args...).Err(); err != nil {
			t.Fatalf("%s: %v", user, err)
		}
	}
	return g
}

// as connects as a user.
func (g *guarded) as(t *testing.T, user string) *redis.Client {
	t.Helper()
	o := options(g.addr)
	o.Username = user
	for _, w := range g.rules[user] {
		if secret, ok := strings.CutPrefix(w, ">"); ok {
			o.Password = secret
		}
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// refusals are what the server wrote down about commands and keys that users may not use.
func (g *guarded) refusals(t *testing.T) []string {
	t.Helper()
	entries, err := g.admin.ACLLog(t.Context(), 100).Result()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Username+" "+e.Reason+" "+e.Context+" "+e.Object)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// workerTests are the parts of the suite in which a store does what workers do, and nothing else.
func workerTests() []string {
	return []string{
		"acquire answers", "asking again", "floor", "foreign data", "renew answers",
		"release answers", "expiry", "invalid asks", "B01 late holder", "B10 counter goes back",
		"one resource many owners",
	}
}

// The suite passes under the users of the README, and the server refuses none of its commands: an
// operator's does all of it, a worker's what workers do.
func TestUsersOfTheReadmeSuffice(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	open := func(user string) opener {
		return func(t *testing.T, o lease.Options) *bench {
			b := openAt(t, g.admin, o)
			o.Prefix = b.prefix
			if o.TTL == 0 {
				o.TTL = 10 * time.Second
			}
			var err error
			if b.Store, err = lease.New(g.as(t, user), o); err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
	t.Run("users", func(t *testing.T) {
		t.Run("rewardctl_operator", func(t *testing.T) {
			t.Parallel()
			conform(t, open("rewardctl_operator"))
		})
		t.Run("rewardctl_grant", func(t *testing.T) {
			t.Parallel()
			for _, name := range workerTests() {
				test := conformance()[name]
				if test == nil {
					t.Fatalf("the suite has no part %q", name)
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, open("rewardctl_grant"))
				})
			}
		})
		t.Run("rewardctl_view", func(t *testing.T) {
			t.Parallel()
			looksAround(t, open("rewardctl_grant"), g.as(t, "rewardctl_view"))
		})
		t.Run("rewardctl_relay", func(t *testing.T) {
			t.Parallel()
			relay := g.as(t, "rewardctl_relay")
			for _, args := range [][]any{{"xadd", "rewards", "*", "key", "k"}, {"wait", 0, 10}} {
				if err := relay.Do(t.Context(), args...).Err(); err != nil {
					t.Errorf("%v: %v", args, err)
				}
			}
		})
	})
	if list := g.refusals(t); len(list) > 0 {
		t.Errorf("refused:\n%s", strings.Join(list, "\n"))
	}
}

// looksAround reads everything there is under a user who may only look.
func looksAround(t *testing.T, worker opener, viewer *redis.Client) {
	w := worker(t, lease.Options{})
	l := w.take(t, grant.Ask{Resource: "r", Owner: owner("worker")})
	v, err := lease.New(viewer, lease.Options{Prefix: w.prefix, TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	list, err := v.List(ctx)
	if err != nil || len(list) != 1 || list[0].Token != l.Token {
		t.Errorf("list: %+v, %v", list, err)
	}
	if e, err := v.Show(ctx, "r"); err != nil || e.Owner != l.Owner {
		t.Errorf("show: %+v, %v", e, err)
	}
	if h, err := v.History(ctx, "r"); err != nil || len(h) != 1 {
		t.Errorf("history: %+v, %v", h, err)
	}
	if n, ok, err := v.Counter(ctx, "r"); err != nil || !ok || n != l.Token {
		t.Errorf("counter: %d, %t, %v", n, ok, err)
	}
	if _, err := v.Alive(ctx, []string{"worker@host-a/4711"}); err != nil {
		t.Errorf("alive: %v", err)
	}
	w.Release(ctx, []grant.Lease{l})
}

// What a user does not need is refused: other programs' keys, and commands that reach beyond keys.
func TestUsersOfTheReadmeAreHeld(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	if err := g.admin.Set(t.Context(), "other:key", "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	const away = "return redis.call('SET', 'other:key', 'y')"
	for user := range g.rules {
		c := g.as(t, user)
		commands := [][]any{
			{"set", "other:key", "y"},
			{"del", "other:key"},
			{"flushall"},
			{"flushdb"},
			{"keys", "*"},
			{"config", "get", "requirepass"},
			{"config", "set", "maxmemory", "1"},
			{"acl", "list"},
			{"acl", "setuser", user, "allkeys"},
			{"shutdown"},
			{"script", "flush"},
			{"client", "kill", "x"},
			{"eval", away, "0"},
			{"replicaof", "no", "one"},
			{"monitor"},
		}
		if user == "rewardctl_grant" {
			commands = append(commands, []any{"get", "other:key"}, []any{"scan", "0"})
		}
		if user == "rewardctl_view" {
			commands = append(commands, []any{"set", "tx", "y"}, []any{"del", "tx"},
				[]any{"eval", "return redis.call('SET', KEYS[1], 'y')", "1", "tx"})
		}
		for _, args := range commands {
			err := c.Do(t.Context(), args...).Err()
			var reply redis.Error
			if !errors.As(err, &reply) || !strings.Contains(reply.Error(), "NOPERM") &&
				!strings.Contains(reply.Error(), "The user executing the script can't") {
				t.Errorf("%s: %v answered %v, want a refusal", user, args, err)
			}
		}
	}
	if v := g.admin.Get(t.Context(), "other:key").Val(); v != "x" {
		t.Errorf("another program's key is %q", v)
	}
}

// A scan needs the number of keys for its progress only: a user who may not ask for it finds all
// the same.
func TestScanWithoutTheNumberOfKeys(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	b := openAt(t, g.admin, lease.Options{})
	b.take(t, grant.Ask{Resource: "r", Owner: owner("worker")})
	user := []any{"acl", "setuser", "rewardctl_view", "-dbsize"}
	if err := g.admin.Do(t.Context(), user...).Err(); err != nil {
		t.Fatal(err)
	}
	v, err := lease.New(g.as(t, "rewardctl_view"), lease.Options{Prefix: b.prefix, TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	report, err := v.Scan(t.Context(), lease.ScanOptions{}, func(page []lease.Found) error {
		for _, f := range page {
			found = append(found, f.Resource)
		}
		return nil
	})
	if err != nil || !report.Complete || len(found) != 1 || found[0] != "r" || report.Total < 1 {
		t.Errorf("%v, %+v, %q", err, report, found)
	}
}
