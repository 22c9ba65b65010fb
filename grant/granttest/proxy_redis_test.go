package granttest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant/granttest"
)

// dialRedis opens a client through the proxy: one attempt per call and a short wait, so that a
// lost reply shows as an error at once.
func dialRedis(t *testing.T, addr string, wait time.Duration) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, DialerRetries: 1, ReadTimeout: wait, WriteTimeout: wait,
		DialTimeout: wait, PoolSize: 2, ContextTimeoutEnabled: true, DisableIdentity: true,
	})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func waitFor(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: did not happen within 10 s", what)
	}
}

func TestRedisProxyForwards(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	proxy := granttest.NewRedisProxy(t, w.RedisAddr)
	client := dialRedis(t, proxy.Addr(), 5*time.Second)
	ctx := t.Context()
	key := w.Prefix + "forward"
	big := string(bytes.Repeat([]byte("x\r\n$5\r\n*"), 20_000))
	if err := client.Set(ctx, key, big, time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	got, err := client.Get(ctx, key).Result()
	if err != nil || got != big {
		t.Fatalf("got %d bytes, %v; want %d bytes", len(got), err, len(big))
	}
	answers, err := client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Incr(ctx, key+"n")
		p.HSet(ctx, key+"h", "a", "1", "b", "2")
		p.HGetAll(ctx, key+"h")
		p.Get(ctx, key+"absent")
		p.Del(ctx, key, key+"n", key+"h")
		return nil
	})
	if !errors.Is(err, redis.Nil) || len(answers) != 5 {
		t.Fatalf("pipeline: %d answers, %v", len(answers), err)
	}
	if all, err := answers[2].(*redis.MapStringStringCmd).Result(); err != nil || all["b"] != "2" {
		t.Fatalf("hash: %v, %v", all, err)
	}
}

// TestRedisProxyLosesOneReply hits the second INCR: both took effect, one answer is lost, and the
// connection that comes after works.
func TestRedisProxyLosesOneReply(t *testing.T) {
	t.Parallel()
	for _, fault := range granttest.LossFaults() {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			w := granttest.New(t)
			proxy := granttest.NewRedisProxy(t, w.RedisAddr)
			client := dialRedis(t, proxy.Addr(), 300*time.Millisecond)
			lost := proxy.Add(granttest.Rule{
				At: granttest.AtReply, Match: granttest.Command("incr"), Skip: 1, Fault: fault,
			})
			ctx, key := t.Context(), w.Prefix+"n"
			if n, err := client.Incr(ctx, key).Result(); n != 1 || err != nil {
				t.Fatalf("first: %d, %v", n, err)
			}
			if n, err := client.Incr(ctx, key).Result(); err == nil {
				t.Fatalf("second: answered %d although the reply was lost", n)
			}
			waitFor(t, lost.Fired(), "the rule")
			if n, err := client.Incr(ctx, key).Result(); n != 3 || err != nil {
				t.Fatalf("third: %d, %v; want 3: the second took effect", n, err)
			}
			if lost.Count() != 1 {
				t.Fatalf("the rule fired %d times", lost.Count())
			}
		})
	}
}

// TestRedisProxyLosesOneRequest closes before the server sees the command.
func TestRedisProxyLosesOneRequest(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	proxy := granttest.NewRedisProxy(t, w.RedisAddr)
	client := dialRedis(t, proxy.Addr(), time.Second)
	ctx, key := t.Context(), w.Prefix+"n"
	lost := proxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.Command("incr"), Fault: granttest.Close,
	})
	if err := client.Incr(ctx, key).Err(); err == nil {
		t.Fatal("answered although the request was lost")
	}
	waitFor(t, lost.Fired(), "the rule")
	if n, err := client.Incr(ctx, key).Result(); n != 1 || err != nil {
		t.Fatalf("%d, %v; want 1: the first never arrived", n, err)
	}
}

func TestRedisProxyKnowsScripts(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	proxy := granttest.NewRedisProxy(t, w.RedisAddr)
	client := dialRedis(t, proxy.Addr(), 5*time.Second)
	const source, other = "return redis.call('incr', KEYS[1])", "return 7"
	seen := proxy.Add(granttest.Rule{
		At: granttest.AtReply, Match: granttest.Script(source), Times: -1, Fault: granttest.Watch,
	})
	ctx, keys := t.Context(), []string{w.Prefix + "n"}
	if err := client.ScriptLoad(ctx, source).Err(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := redis.NewScript(source).EvalSha(ctx, client, keys).Err(); err != nil {
			t.Fatal(err)
		}
		if err := redis.NewScript(other).Eval(ctx, client, keys).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := redis.NewScript(source).Eval(ctx, client, keys).Err(); err != nil {
		t.Fatal(err)
	}
	if seen.Count() != 3 {
		t.Fatalf("seen %d runs of the script, want 3: two EVALSHA, one EVAL", seen.Count())
	}
}

func TestRedisProxyHoldsAndDelays(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	proxy := granttest.NewRedisProxy(t, w.RedisAddr)
	client := dialRedis(t, proxy.Addr(), 10*time.Second)
	ctx, key := t.Context(), w.Prefix+"k"
	held := proxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.Command("set"), Fault: granttest.Hold,
	})
	done := make(chan error, 1)
	go func() { done <- client.Set(ctx, key, "v", time.Minute).Err() }()
	waitFor(t, held.Fired(), "hold")
	if n, err := w.Redis.Exists(ctx, key).Result(); n != 0 || err != nil {
		t.Fatalf("the held command arrived: %d, %v", n, err)
	}
	held.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	const wait = 50 * time.Millisecond
	proxy.Add(granttest.Rule{
		At: granttest.AtReply, Match: granttest.Command("get"), Fault: granttest.Delay, Wait: wait,
	})
	start := time.Now()
	if err := client.Get(ctx, key).Err(); err != nil || time.Since(start) < wait {
		t.Fatalf("answered after %v, %v; want at least %v", time.Since(start), err, wait)
	}
}

func TestProxyPath(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	proxy := granttest.NewRedisProxy(t, w.RedisAddr)
	client := dialRedis(t, proxy.Addr(), 300*time.Millisecond)
	ctx := t.Context()
	if err := client.Ping(ctx).Err(); err != nil || proxy.Connections() == 0 {
		t.Fatalf("open: %v, %d connections", err, proxy.Connections())
	}
	for _, path := range []granttest.Path{granttest.Refused, granttest.BlackHole} {
		proxy.SetPath(path)
		start := time.Now()
		err := client.Ping(ctx).Err()
		if err == nil {
			t.Fatalf("path %d: answered", path)
		}
		if path == granttest.BlackHole && time.Since(start) < 200*time.Millisecond {
			t.Fatalf("black hole: failed after %v with %v, want a wait", time.Since(start), err)
		}
		proxy.SetPath(granttest.Open)
		if err := pingUntil(ctx, client); err != nil {
			t.Fatalf("path %d healed: %v", path, err)
		}
	}
}

// pingUntil tries until the pool has got rid of its dead connections, at most 10 s.
func pingUntil(ctx context.Context, client *redis.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		err := client.Ping(ctx).Err()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
}

// FuzzRedisReplies checks that the cutter never changes a stream: what it accepts it passes on
// byte for byte, and it ends on everything else.
func FuzzRedisReplies(f *testing.F) {
	for _, seed := range []string{
		"+OK\r\n", "-ERR no\r\n", ":12\r\n", "$-1\r\n", "$5\r\nhello\r\n", "*2\r\n$1\r\na\r\n:1\r\n",
		"%1\r\n+k\r\n*-1\r\n", "|1\r\n+ttl\r\n:3\r\n+OK\r\n", ">2\r\n+a\r\n+b\r\n", "_\r\n",
		"#t\r\n", ",1.5\r\n", "(123456789\r\n", "=7\r\ntxt:abc\r\n", "!3\r\nERR\r\n", "$3\r\nab",
		"*1048577\r\n", "*1\r\n*1\r\n", "\r\n", "$99999999999\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var passed []byte
		in := bytes.NewReader(stream)
		next := granttest.RESPReplies(in)
		for {
			raw, err := next()
			if err != nil {
				if len(passed) == len(stream) && !errors.Is(err, io.EOF) {
					t.Fatalf("a whole stream ends with %v", err)
				}
				break
			}
			passed = append(passed, raw...)
		}
		if !bytes.HasPrefix(stream, passed) {
			t.Fatalf("changed the stream:\n%q\n%q", stream, passed)
		}
	})
}
