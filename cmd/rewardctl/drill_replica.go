package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"rewardctl/config/embedded"
)

// drillReplica is a replica of the drills' private Redis, for a failover that is real.
type drillReplica struct {
	servers *privateServers
	redis   *embedded.Redis
}

const (
	replicaPoll  = 5 * time.Millisecond
	replicaLimit = 20 * time.Second
)

func dialPrivate(port int) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr:            net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		DisableIdentity: true, ContextTimeoutEnabled: true,
	})
}

// Follow starts the replica and waits until it has what the primary has.
func (r *drillReplica) Follow(ctx context.Context) error {
	port := r.servers.redisPort
	primary := dialPrivate(port)
	defer primary.Close()
	// A primary waits some seconds for further replicas before it serves the first.
	if err := primary.ConfigSet(ctx, "repl-diskless-sync-delay", "0").Err(); err != nil {
		return err
	}
	var err error
	r.redis, err = embedded.StartRedis(r.servers.lasting, embedded.RedisOptions{
		Args: []string{"--replicaof", "127.0.0.1", strconv.Itoa(port)},
	})
	if err != nil {
		return err
	}
	replica := dialPrivate(r.redis.Port())
	defer replica.Close()
	have, err := replicationFacts(ctx, primary)
	if err != nil {
		return err
	}
	goal, err := strconv.ParseInt(have["master_repl_offset"], 10, 64)
	if err != nil {
		return err
	}
	return r.await(ctx, "the replica to catch up", func(ctx context.Context) bool {
		facts, err := replicationFacts(ctx, replica)
		at, perr := strconv.ParseInt(facts["slave_repl_offset"], 10, 64)
		return err == nil && perr == nil && facts["master_link_status"] == "up" && at >= goal
	})
}

// Lag sends the replica after a primary that is not there.
func (r *drillReplica) Lag(ctx context.Context) error {
	replica := dialPrivate(r.redis.Port())
	defer replica.Close()
	return replica.ReplicaOf(ctx, "127.0.0.1", "1").Err()
}

// TakeOver kills the primary, promotes the replica, and lets it listen where the primary did, as a
// virtual address would be moved.
func (r *drillReplica) TakeOver(ctx context.Context) error {
	p := r.servers
	process, err := os.FindProcess(p.redis.Pid())
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		return err
	}
	select {
	case <-p.redis.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	_ = p.redis.Stop() // it has ended, by a signal
	replica := dialPrivate(r.redis.Port())
	defer replica.Close()
	if err := replica.ReplicaOf(ctx, "no", "one").Err(); err != nil {
		return err
	}
	if err := replica.ConfigSet(ctx, "port", strconv.Itoa(p.redisPort)).Err(); err != nil {
		return err
	}
	p.redis, r.redis = r.redis, nil
	promoted := dialPrivate(p.redisPort)
	defer promoted.Close()
	return r.await(ctx, "the replica to answer as primary", func(ctx context.Context) bool {
		facts, err := replicationFacts(ctx, promoted)
		return err == nil && facts["role"] == "master"
	})
}

// stop ends a replica that was not promoted.
func (r *drillReplica) stop() {
	if r.redis != nil {
		_ = r.redis.Stop()
	}
}

// await polls until ok, for a while.
func (r *drillReplica) await(
	ctx context.Context, what string, ok func(context.Context) bool,
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, replicaLimit,
		fmt.Errorf("waited in vain for %s", what))
	defer cancel()
	tick := time.NewTicker(replicaPoll)
	defer tick.Stop()
	for !ok(ctx) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
	return nil
}

// replicationFacts are the lines of INFO about replication, by name.
func replicationFacts(ctx context.Context, client *redis.Client) (map[string]string, error) {
	text, err := client.Info(ctx, "replication").Result()
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, found := strings.Cut(strings.TrimSpace(line), ":"); found {
			facts[name] = value
		}
	}
	return facts, err
}
