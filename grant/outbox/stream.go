package outbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

// StreamOptions configure a Redis stream sink. Key is required.
type StreamOptions struct {
	// Key is the stream.
	Key string
	// Replicas is on how many replicas a message must be before it counts as delivered; 0 asks
	// for none. A failover loses what the new master did not have.
	Replicas int
	// ReplicaWait bounds the wait for them; default 1 s.
	ReplicaWait time.Duration
}

// StreamSink appends messages to a Redis stream. Nothing is ever trimmed: that is up to whoever
// owns the stream. The fields of an entry are those of an HTTP request: key, player_id,
// fence_token and event, the JSON.
type StreamSink struct {
	client redis.UniversalClient
	opts   StreamOptions
}

// NewStreamSink returns a sink on a client, which Close closes.
func NewStreamSink(client redis.UniversalClient, opts StreamOptions) *StreamSink {
	if opts.ReplicaWait <= 0 {
		opts.ReplicaWait = time.Second
	}
	return &StreamSink{client: client, opts: opts}
}

// Name returns "stream".
func (s *StreamSink) Name() string { return "stream" }

// Close closes the client.
func (s *StreamSink) Close() { _ = s.client.Close() }

// sendOnce is a command that the driver does not repeat: after a lost answer it would append the
// message twice.
type sendOnce struct{ *redis.Cmd }

// NoRetry tells the driver.
func (sendOnce) NoRetry() bool { return true }

// Publish appends the message.
func (s *StreamSink) Publish(ctx context.Context, m grant.Message) Report {
	body, err := m.Encode()
	if err != nil {
		return Report{Verdict: Refused, Detail: "cannot be rendered: " + err.Error()}
	}
	add := redis.NewCmd(ctx, "xadd", s.opts.Key, "*", "key", m.Key(), "player_id", m.PlayerID,
		"fence_token", m.Token, "event", body)
	if err := s.client.Process(ctx, sendOnce{add}); err != nil {
		return s.problem(err)
	}
	if s.opts.Replicas == 0 {
		return Report{Verdict: Delivered}
	}
	return s.replicated(ctx)
}

// replicated waits until replicas have what was appended before. Without them the message counts
// as not delivered, and is appended again: consumers know it by its key.
func (s *StreamSink) replicated(ctx context.Context) Report {
	wait := redis.NewCmd(ctx, "wait", s.opts.Replicas, s.opts.ReplicaWait.Milliseconds())
	wait.SetFirstKeyPos(0)
	err := s.client.Process(ctx, sendOnce{wait})
	n, parseErr := wait.Int()
	switch {
	case err != nil:
		return Report{Verdict: Unknown, Detail: "appended, but not known to be replicated: " +
			plainLine(err.Error())}
	case parseErr != nil || n < s.opts.Replicas:
		return Report{
			Verdict: Failed, Doubt: true,
			Detail: fmt.Sprintf("appended, but only %d of %d replicas have it", n, s.opts.Replicas),
		}
	}
	return Report{Verdict: Delivered}
}

// problem judges an error. An answer of the server means that nothing was appended; so does a
// connection that could not be made, or a pool without a free one.
func (s *StreamSink) problem(err error) Report {
	detail := plainLine(err.Error())
	var answered redis.Error
	var network *net.OpError
	switch {
	case errors.As(err, &answered) && redis.HasErrorPrefix(err, "WRONGTYPE"):
		return Report{Verdict: NotNow, Detail: "the key holds something else: " + detail}
	case errors.As(err, &answered):
		return Report{Verdict: NotNow, Detail: detail}
	case errors.As(err, &network) && network.Op == "dial", errors.Is(err, redis.ErrPoolTimeout):
		return Report{Verdict: NotNow, Detail: detail}
	}
	return Report{Verdict: Unknown, Detail: "no answer: " + detail}
}
