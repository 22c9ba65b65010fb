package outbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"rewardctl/grant/granttest"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// redisClient returns a client of its own for a sink, which closes it.
func redisClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, ContextTimeoutEnabled: true, ReadTimeout: time.Second, DialerRetries: 1,
		DialTimeout: time.Second, DisableIdentity: true,
	})
}

func TestStreamSink(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	b.post(t, 6, 5)
	key := b.Prefix + "rewards"
	s := outbox.NewStreamSink(redisClient(b.RedisAddr), outbox.StreamOptions{Key: key})
	t.Cleanup(s.Close)
	tally, err := b.relay(t, s, quick()).Drain(t.Context())
	if err != nil || tally.Delivered != 30 {
		t.Fatalf("%+v, %v", tally, err)
	}
	entries, err := b.Redis.XRange(t.Context(), key, "-", "+").Result()
	if err != nil || len(entries) != 30 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	last := map[string]string{}
	for _, e := range entries {
		player, id := fmt.Sprint(e.Values["player_id"]), fmt.Sprint(e.Values["key"])
		if id <= last[player] {
			t.Errorf("%s: %s came after %s", player, id, last[player])
		}
		last[player] = id
		var event struct{ ID string }
		err := json.Unmarshal([]byte(fmt.Sprint(e.Values["event"])), &event)
		if err != nil || event.ID != id || e.Values["fence_token"] == "" {
			t.Errorf("entry %v", e.Values)
		}
	}
}

// A lost answer of XADD is unknown and is not repeated by the driver; errors of the server and
// servers that are not there prove that nothing was appended.
func TestStreamSinkFailures(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	key := b.Prefix + "rewards"
	proxy := granttest.NewRedisProxy(t, b.RedisAddr)
	s := outbox.NewStreamSink(redisClient(proxy.Addr()), outbox.StreamOptions{Key: key})
	t.Cleanup(s.Close)
	proxy.Add(granttest.Rule{
		At: granttest.AtReply, Fault: granttest.Close,
		Match: func(f granttest.Frame) bool { return f.Name == "XADD" },
	})
	if got := s.Publish(t.Context(), testMessage); got.Verdict != outbox.Unknown {
		t.Errorf("a lost answer: %+v", got)
	}
	if n := b.Redis.XLen(t.Context(), key).Val(); n != 1 {
		t.Errorf("appended %d times", n)
	}
	if got := s.Publish(t.Context(), testMessage); got.Verdict != outbox.Delivered {
		t.Errorf("again: %+v", got)
	}
	proxy.SetPath(granttest.Refused)
	if got := s.Publish(t.Context(), testMessage); got.Verdict == outbox.Delivered {
		t.Errorf("nobody there: %+v", got)
	}
	nobody := outbox.NewStreamSink(redisClient("127.0.0.1:1"), outbox.StreamOptions{Key: key})
	t.Cleanup(nobody.Close)
	if got := nobody.Publish(t.Context(), testMessage); got.Verdict != outbox.NotNow {
		t.Errorf("nobody listens: %+v", got)
	}
	other := b.Prefix + "text"
	if err := b.Redis.Set(t.Context(), other, "x", 0).Err(); err != nil {
		t.Fatal(err)
	}
	wrong := outbox.NewStreamSink(redisClient(b.RedisAddr), outbox.StreamOptions{Key: other})
	t.Cleanup(wrong.Close)
	if got := wrong.Publish(t.Context(), testMessage); got.Verdict != outbox.NotNow {
		t.Errorf("a key that holds something else: %+v", got)
	}
	many := outbox.NewStreamSink(redisClient(b.RedisAddr), outbox.StreamOptions{
		Key: key, Replicas: 2, ReplicaWait: 20 * time.Millisecond,
	})
	t.Cleanup(many.Close)
	if got := many.Publish(t.Context(), testMessage); got.Verdict != outbox.Failed || !got.Doubt {
		t.Errorf("without replicas: %+v", got)
	}
}

// broker starts an in-process Kafka with one topic and returns a sink that produces to it.
func broker(t *testing.T, timeout time.Duration) (*kfake.Cluster, *outbox.KafkaSink) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "rewards"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	s, err := outbox.NewKafkaSink(outbox.KafkaOptions{
		Brokers: cluster.ListenAddrs(), Topic: "rewards", Timeout: timeout,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return cluster, s
}

// consume reads n records of the topic.
func consume(t *testing.T, cluster *kfake.Cluster, n int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...),
		kgo.ConsumeTopics("rewards"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var records []*kgo.Record
	for len(records) < n && ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) { records = append(records, r) })
	}
	return records
}

// Messages arrive in order per player, under the player's key, once although the broker answers
// some with an error after or instead of doing the work.
func TestKafkaSink(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	b.post(t, 6, 5)
	cluster, s := broker(t, 10*time.Second)
	fault := cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 3,
	})
	tally, err := b.relay(t, s, quick()).Drain(t.Context())
	if err != nil || tally.Delivered != 30 || fault.Hits() != 3 {
		t.Fatalf("%+v, %v, %d faults", tally, err, fault.Hits())
	}
	records := consume(t, cluster, 30)
	if len(records) != 30 {
		t.Fatalf("%d records", len(records))
	}
	last := map[string]string{}
	for _, r := range records {
		headers := map[string]string{}
		for _, h := range r.Headers {
			headers[h.Key] = string(h.Value)
		}
		player, id := string(r.Key), headers["idempotency-key"]
		if id <= last[player] || headers["fence-token"] == "" {
			t.Errorf("%s: %s came after %s: %v", player, id, last[player], headers)
		}
		last[player] = id
	}
}

// A broker that answers with errors for longer than an attempt lasts leaves the outcome unknown: it
// may have done the work all the same. It never counts as delivered.
func TestKafkaSinkFailures(t *testing.T) {
	t.Parallel()
	for _, fault := range []*kerr.Error{
		kerr.RequestTimedOut, kerr.NotEnoughReplicasAfterAppend, kerr.NotLeaderForPartition,
	} {
		cluster, s := broker(t, 1500*time.Millisecond)
		cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: fault, Count: -1})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if got := s.Publish(ctx, testMessage); got.Verdict != outbox.Unknown || got.Detail == "" {
			t.Errorf("%v: %+v, want unknown", fault, got)
		}
		cancel()
	}
}

// A topic that is not there is a receiver that is not set up; no message is to blame.
func TestKafkaSinkWithoutTopic(t *testing.T) {
	t.Parallel()
	cluster, _ := broker(t, time.Second)
	s, err := outbox.NewKafkaSink(outbox.KafkaOptions{
		Brokers: cluster.ListenAddrs(), Topic: "nowhere", Timeout: 20 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if got := s.Publish(t.Context(), testMessage); got.Verdict != outbox.NotNow {
		t.Errorf("%+v", got)
	}
}
