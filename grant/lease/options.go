package lease

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// TTLMin is the shortest lease time accepted. Below it a round trip eats the lease.
const TTLMin = 100 * time.Millisecond

const (
	fenceIdleMin      = time.Second
	fenceIdleDefault  = 7 * 24 * time.Hour
	historyMaxDefault = 64
	shardsDefault     = 16
	shardsMax         = 1024
	marginShare       = 10 // the default margin is TTL/marginShare
	indexGrace        = time.Minute
)

// Options configures a Store. TTL is required; every worker on one prefix uses the same Prefix
// and Shards.
type Options struct {
	// Prefix opens every key, such as "prod:". It must not hold braces. Empty is allowed.
	Prefix string
	// TTL is how long a lease lasts without renewal, TTLMin or longer, in whole milliseconds.
	TTL time.Duration
	// Margin is taken off the trusted time for what clocks and pauses may steal. Zero means a
	// tenth of TTL. It must be shorter than TTL.
	Margin time.Duration
	// FenceIdle is how long an unused token counter and an unused history are kept, a second or
	// longer. Zero means 7 days. The floor read from PostgreSQL makes up for a counter that is
	// gone.
	FenceIdle time.Duration
	// HistoryMax is the number of events kept per resource. Zero means 64; negative means none.
	HistoryMax int
	// Shards is the number of index keys. Zero means 16.
	Shards int
	// Now returns the time with a monotonic reading. Nil means time.Now.
	Now func() time.Time
}

// OptionError names an option that New refuses.
type OptionError struct {
	Field   string // the field of Options, such as "TTL", or the client's option
	Problem string // such as "is 0s; give at least 100ms"
}

// Error reads "lease: TTL is 0s; give at least 100ms".
func (e *OptionError) Error() string { return "lease: " + e.Field + " " + e.Problem }

// Store keeps leases in Redis. It is safe for concurrent use and starts no goroutine of its own,
// except for what Keep and Heartbeat are asked to do.
type Store struct {
	client  redis.UniversalClient
	cluster bool // keys of different resources may not share a script
	opts    Options
	text    texts
	scripts scripts
	chunk   int // items per script call
	page    int // index entries read at a time
	grace   time.Duration
	wait    func(attempt int) time.Duration // pause before another attempt
}

// New checks the options and returns a Store. It sends nothing. The client stays the caller's.
// It fails with an *OptionError that names the field.
func New(client redis.UniversalClient, o Options) (*Store, error) {
	if client == nil {
		return nil, errors.New("lease: no Redis client")
	}
	cluster, err := topology(client)
	if err != nil {
		return nil, err
	}
	if o, err = o.check(); err != nil {
		return nil, err
	}
	s := &Store{
		client: client, cluster: cluster, opts: o, text: newTexts(o), scripts: loadScripts(),
		chunk: chunkMax, page: pageMax, grace: indexGrace, wait: backoff,
	}
	if cluster {
		s.chunk = 1
	}
	return s, nil
}

// topology tells whether keys of different slots must stay apart, and refuses clients that would
// read leases from a replica. A client of unknown type is treated like Cluster, which works
// everywhere.
func topology(client redis.UniversalClient) (cluster bool, err error) {
	switch c := client.(type) {
	case *redis.Client:
		return false, nil
	case *redis.ClusterClient:
		o := c.Options()
		for _, bad := range []struct {
			set  bool
			name string
		}{
			{o.RouteByLatency, "RouteByLatency"},
			{o.RouteRandomly, "RouteRandomly"},
			{o.ReadOnly, "ReadOnly"},
		} {
			if bad.set {
				return true, &OptionError{
					bad.name, "reads leases from replicas, which lag; leave it off",
				}
			}
		}
		return true, nil
	case *redis.Ring:
		return false, &OptionError{
			"client", "is a Ring, which loses a lease when a server leaves; " +
				"use a single server, Sentinel or Cluster",
		}
	}
	return true, nil
}

func (o Options) check() (Options, error) {
	switch {
	case strings.ContainsAny(o.Prefix, "{}"):
		return o, &OptionError{
			"Prefix", fmt.Sprintf("%q holds a brace, which would move the hash tag", o.Prefix),
		}
	case o.TTL < TTLMin:
		return o, &OptionError{"TTL", fmt.Sprintf("is %v; give at least %v", o.TTL, TTLMin)}
	case o.Margin < 0:
		return o, &OptionError{"Margin", fmt.Sprintf("is %v; give 0 or more", o.Margin)}
	case o.Margin >= o.TTL:
		return o, &OptionError{
			"Margin", fmt.Sprintf("is %v, which leaves nothing of the TTL of %v", o.Margin, o.TTL),
		}
	case o.FenceIdle < 0 || o.FenceIdle > 0 && o.FenceIdle < fenceIdleMin:
		return o, &OptionError{
			"FenceIdle", fmt.Sprintf("is %v; give at least %v", o.FenceIdle, fenceIdleMin),
		}
	case o.Shards < 0 || o.Shards > shardsMax:
		return o, &OptionError{
			"Shards", fmt.Sprintf("is %d; give 1 to %d", o.Shards, shardsMax),
		}
	}
	o.TTL = o.TTL.Truncate(time.Millisecond)
	if o.Margin == 0 {
		o.Margin = o.TTL / marginShare
	}
	if o.FenceIdle == 0 {
		o.FenceIdle = fenceIdleDefault
	}
	if o.HistoryMax == 0 {
		o.HistoryMax = historyMaxDefault
	}
	if o.Shards == 0 {
		o.Shards = shardsDefault
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// TTL returns how long a lease lasts without renewal.
func (s *Store) TTL() time.Duration { return s.opts.TTL }

// Margin returns what is taken off the trusted time of a lease.
func (s *Store) Margin() time.Duration { return s.opts.Margin }
