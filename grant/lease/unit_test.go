package lease

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	single := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = single.Close() }()
	cluster := func(o redis.ClusterOptions) redis.UniversalClient {
		o.Addrs = []string{"127.0.0.1:1"}
		c := redis.NewClusterClient(&o)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer func() { _ = ring.Close() }()
	const ok = 5 * time.Second
	for _, c := range []struct {
		client redis.UniversalClient
		o      Options
		field  string
	}{
		{single, Options{TTL: 0}, "TTL"},
		{single, Options{TTL: -1}, "TTL"},
		{single, Options{TTL: 500 * time.Microsecond}, "TTL"},
		{single, Options{TTL: TTLMin - 1}, "TTL"},
		{single, Options{TTL: ok, Margin: -1}, "Margin"},
		{single, Options{TTL: ok, Margin: ok}, "Margin"},
		{single, Options{TTL: ok, Margin: 2 * ok}, "Margin"},
		{single, Options{TTL: ok, Prefix: "a{b"}, "Prefix"},
		{single, Options{TTL: ok, Prefix: "a}b"}, "Prefix"},
		{single, Options{TTL: ok, Shards: -1}, "Shards"},
		{single, Options{TTL: ok, Shards: shardsMax + 1}, "Shards"},
		{single, Options{TTL: ok, FenceIdle: time.Millisecond}, "FenceIdle"},
		{single, Options{TTL: ok, FenceIdle: -1}, "FenceIdle"},
		{cluster(redis.ClusterOptions{ReadOnly: true}), Options{TTL: ok}, "ReadOnly"},
		{cluster(redis.ClusterOptions{RouteByLatency: true}), Options{TTL: ok}, "RouteByLatency"},
		{cluster(redis.ClusterOptions{RouteRandomly: true}), Options{TTL: ok}, "RouteRandomly"},
		{ring, Options{TTL: ok}, "client"},
		{single, Options{TTL: TTLMin}, ""},
		{single, Options{TTL: ok, Margin: ok - 1}, ""},
		{cluster(redis.ClusterOptions{}), Options{TTL: ok}, ""},
	} {
		_, err := New(c.client, c.o)
		var bad *OptionError
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%+v: %v", c.o, err)
		case c.field != "" && (!errors.As(err, &bad) || bad.Field != c.field):
			t.Errorf("%+v: %v, want an error that names %s", c.o, err, c.field)
		case bad != nil && !strings.Contains(err.Error(), c.field):
			t.Errorf("message %q does not name %s", err, c.field)
		}
	}
	if _, err := New(nil, Options{TTL: ok}); err == nil {
		t.Error("no client was accepted")
	}
}

// reply is a server's error as the driver hands it out.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestJudge(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", errors.New("refused"))}
	read := &net.OpError{Op: "read", Err: errors.New("reset")}
	for _, c := range []struct {
		err          error
		doubt, again bool
	}{
		{reply("OOM command not allowed when used memory > 'maxmemory'."), false, false},
		{reply("NOREPLICAS Not enough good replicas to write."), false, false},
		{reply("READONLY You can't write against a read only replica."), false, true},
		{reply("LOADING Redis is loading the dataset in memory"), false, true},
		{reply("MASTERDOWN Link with MASTER is down"), false, true},
		{reply("CLUSTERDOWN The cluster is down"), false, true},
		{reply("TRYAGAIN Multiple keys request during rehashing of slot"), false, true},
		{reply("MOVED 3999 127.0.0.1:6381"), false, true},
		{reply("ASK 3999 127.0.0.1:6381"), false, true},
		{reply("BUSY Redis is busy running a script."), false, false},
		{reply("NOPERM this user has no permissions"), false, false},
		{reply("NOAUTH Authentication required."), false, false},
		{reply("WRONGTYPE Operation against a key"), false, false},
		{reply("CROSSSLOT Keys in request don't hash to the same slot"), false, false},
		{reply("ERR anything"), false, false},
		{ServerError("OOM no"), false, false},
		{&DamagedError{"r", "x"}, false, false},
		{dial, false, false},
		{&unsentError{context.Canceled}, false, false},
		{redis.ErrPoolTimeout, false, false},
		{redis.ErrPoolExhausted, false, false},
		{redis.ErrClosed, false, false},
		{read, true, true},
		{io.EOF, true, true},
		{io.ErrUnexpectedEOF, true, true},
		{os.ErrDeadlineExceeded, true, true},
		{context.DeadlineExceeded, true, false},
		{context.Canceled, true, false},
		{errShape, true, true},
		{errors.New("LOADING is only a word here"), true, true},
	} {
		if v := judge(c.err); v.doubt != c.doubt || v.again != c.again {
			t.Errorf("%v: %+v, want doubt %v, again %v", c.err, v, c.doubt, c.again)
		}
		var b *grant.BackendError
		if err := broken("acquire", c.err); !errors.As(err, &b) || b.Doubt != c.doubt {
			t.Errorf("%v: wrapped as %v", c.err, err)
		}
	}
}

func TestOwner(t *testing.T) {
	t.Parallel()
	text, err := NewOwner("granter", "host-a", 4711, "f00")
	if err != nil || text != "granter@host-a/4711#f00" {
		t.Fatalf("owner %q, %v", text, err)
	}
	if id := Identity(text); id != "granter@host-a/4711" {
		t.Errorf("identity %q", id)
	}
	if o, ok := ParseOwner(text); !ok || o != (Owner{"granter", "host-a", 4711, "f00"}) {
		t.Errorf("parts %+v, %v", o, ok)
	}
	if o, ok := ParseOwner(Identity(text)); !ok || o.Nonce != "" || o.PID != 4711 {
		t.Errorf("parts of an identity %+v, %v", o, ok)
	}
	for _, bad := range []string{
		"", "a", "a@b", "@b/1#c", "a@/1#c", "a@b/x#c", "a@b/0#c", "a@b/-1#c", "a@b/01#c", "a@b/1#",
		"a@b/1#c#d", "some-uuid",
	} {
		if o, ok := ParseOwner(bad); ok {
			t.Errorf("%q was taken apart: %+v", bad, o)
		}
	}
	for _, bad := range []Owner{
		{"", "h", 1, "n"},
		{"w@", "h", 1, "n"},
		{"w#", "h", 1, "n"},
		{"w", "", 1, "n"},
		{"w", "h/", 1, "n"},
		{"w", "h#", 1, "n"},
		{"w", "h", 0, "n"},
		{"w", "h", 1, ""},
		{"w", "h", 1, "n#"},
	} {
		if text, err := NewOwner(bad.Worker, bad.Host, bad.PID, bad.Nonce); err == nil {
			t.Errorf("%+v was accepted as %q", bad, text)
		}
	}
}

func TestParseValueRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", ":", "1", "1:", ":a", "0:a", "-1:a", "+1:a", "01:a", "1.0:a", " 1:a", "1 :a", "x:a",
		"9007199254740992:a", "99999999999999999:a", "一:a",
	} {
		if token, owner, err := ParseValue(bad); err == nil {
			t.Errorf("%q was read as token %d of %q", bad, token, owner)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	for _, seed := range []string{"42:worker@host/1#n", "1:a:b", "9007199254740991:x", "07:a", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, owner, err := ParseValue(value)
		if err != nil {
			return
		}
		if token < 1 || token > TokenMax || owner == "" {
			t.Fatalf("%q: token %d, owner %q", value, token, owner)
		}
		if back := FormatValue(token, owner); back != value {
			t.Fatalf("%q became %q", value, back)
		}
	})
}

func FuzzTag(f *testing.F) {
	for _, seed := range []string{"p1", "a}b", "{a}b", "日本", "%7D", "\x00\x7f", "100%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		tag := encodeTag(text)
		if tag == "" || strings.ContainsAny(tag, "{}") {
			t.Fatalf("tag %q of %q would move the hash tag", tag, text)
		}
		if back, ok := decodeTag(tag); !ok || back != text {
			t.Fatalf("%q -> %q -> %q, %v", text, tag, back, ok)
		}
		// One spelling: text that decodes is what its resource encodes to.
		if resource, ok := decodeTag(text); ok && encodeTag(resource) != text {
			t.Fatalf("%q decodes to %q, which encodes to %q", text, resource, encodeTag(resource))
		}
		tag2, owner, ok := splitMember(member(tag, "o}x"))
		if !ok || tag2 != tag || owner != "o}x" {
			t.Fatalf("member of %q came apart as %q and %q", tag, tag2, owner)
		}
	})
}

// TestScriptHeaders checks that every script says what it takes and gives.
func TestScriptHeaders(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir("lua")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile("lua/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"-- purpose:", "-- keys:", "-- args:", "-- result:"} {
			if !strings.Contains(string(text), word) {
				t.Errorf("%s has no line %q", file.Name(), word)
			}
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	got := readInfo("# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nmaxmemory:1024\r\n" +
		"used_memory:512\r\nmaxmemory_policy:volatile-lru\r\nrole:slave\r\naof_enabled:1\r\n" +
		"loading:1\r\nconnected_slaves:2\r\nodd line\r\n")
	want := Facts{
		Version: "7.0.15", Mode: "standalone", Role: "slave", Replicas: 2, MaxMemory: 1024,
		UsedMemory: 512, Policy: "volatile-lru", AppendOnly: true, Loading: true,
	}
	if got != want {
		t.Errorf("facts %+v, want %+v", got, want)
	}
}

func TestFreedomWords(t *testing.T) {
	t.Parallel()
	for f, want := range map[Freedom]string{
		Released: "released", Gone: "gone", Changed: "changed", 9: "freedom(9)",
	} {
		if f.String() != want {
			t.Errorf("%d is %q, want %q", f, f, want)
		}
	}
}
