package lease

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	checkLife = time.Second // how long the key of a check stays
	checkKeys = 32          // keys checked on Cluster, enough to meet every primary
)

// Check proves that scripts run and may write: a server answers PING long after it lost its
// scripts, its memory or its role. On Cluster it tries keys all over the slots. The error is a
// *grant.BackendError.
func (s *Store) Check(ctx context.Context) error {
	keys := 1
	if s.cluster {
		keys = checkKeys
	}
	calls := make([]*call, keys)
	for i := range calls {
		key := s.opts.Prefix + "check:{" + strconv.Itoa(i) + "}"
		calls[i] = newCall(s.scripts.check, 1, []string{key, millis(checkLife)})
	}
	s.runBound(ctx, calls)
	for _, c := range calls {
		if c.err != nil {
			return broken("check", c.err)
		}
	}
	return nil
}

// Facts is what one Redis server says about itself. Text is empty and numbers are 0 where the
// server did not say, as where a command is forbidden.
type Facts struct {
	Addr    string
	Version string // such as "7.0.15"
	Mode    string // "standalone", "sentinel" or "cluster"
	Role    string // "master" or "slave", in the server's words
	// Replicas is the number of replicas connected.
	Replicas int64
	// MaxMemory is the limit in bytes, 0 for none; UsedMemory is what is in use.
	MaxMemory, UsedMemory int64
	// Policy is maxmemory_policy. Anything but "noeviction" may throw leases away.
	Policy string
	// AppendOnly is true when an append-only file is kept.
	AppendOnly bool
	// AppendSync is appendfsync, where CONFIG is permitted.
	AppendSync string
	// LoadTruncated is aof-load-truncated and MinReplicas is min-replicas-to-write, where CONFIG is
	// permitted.
	LoadTruncated, MinReplicas string

	Loading bool
	// Time is the server's clock, and Skew how far it is ahead of ours, less than half a round
	// trip off. Leases do not depend on it.
	Time time.Time
	Skew time.Duration
}

// Facts asks every primary about itself, in order of address. The error is a *grant.BackendError.
func (s *Store) Facts(ctx context.Context) ([]Facts, error) {
	var (
		mu  sync.Mutex
		all []Facts
	)
	one := func(ctx context.Context, c redis.UniversalClient, addr string) error {
		f, err := s.facts(ctx, c, addr)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return nil
	}
	err := s.eachPrimary(ctx, one)
	if err != nil {
		return nil, broken("facts", err)
	}
	slices.SortFunc(all, func(a, b Facts) int { return cmp.Compare(a.Addr, b.Addr) })
	return all, nil
}

// eachPrimary calls one with a client of each primary and its address, at the same time on Cluster.
// It returns the first error.
func (s *Store) eachPrimary(
	ctx context.Context,
	one func(ctx context.Context, c redis.UniversalClient, addr string) error,
) error {
	switch c := s.client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
			return one(ctx, node, node.Options().Addr)
		})
	case *redis.Client:
		return one(ctx, c, c.Options().Addr)
	default:
		return one(ctx, c, "")
	}
}

func (s *Store) facts(ctx context.Context, c redis.UniversalClient, addr string) (Facts, error) {
	before := s.opts.Now()
	at, err := c.Time(ctx).Result()
	if err != nil {
		return Facts{}, err
	}
	trip := s.opts.Now().Sub(before)
	info, err := c.Info(ctx).Result()
	if err != nil {
		return Facts{}, err
	}
	f := readInfo(info)
	f.Addr, f.Time = addr, at
	f.Skew = at.Sub(before.Add(trip / 2).Round(0))
	// A managed server may forbid CONFIG, and then these stay empty.
	for name, into := range map[string]*string{
		"appendfsync": &f.AppendSync, "aof-load-truncated": &f.LoadTruncated,
		"min-replicas-to-write": &f.MinReplicas,
	} {
		if set, err := c.ConfigGet(ctx, name).Result(); err == nil {
			*into = set[name]
		}
	}
	return f, nil
}

// readInfo reads the answer of INFO: lines "name:value".
func readInfo(info string) Facts {
	var f Facts
	for line := range strings.Lines(info) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok {
			continue
		}
		number, _ := strconv.ParseInt(value, 10, 64) // 0 when it is no number
		switch name {
		case "redis_version":
			f.Version = value
		case "redis_mode":
			f.Mode = value
		case "role":
			f.Role = value
		case "connected_slaves":
			f.Replicas = number
		case "maxmemory":
			f.MaxMemory = number
		case "used_memory":
			f.UsedMemory = number
		case "maxmemory_policy":
			f.Policy = value
		case "aof_enabled":
			f.AppendOnly = number == 1
		case "loading":
			f.Loading = number == 1
		}
	}
	return f
}
