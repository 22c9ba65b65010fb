package lease

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Entry is one lock as it stands in Redis.
type Entry struct {
	Resource string
	Value    string // what the lock holds; empty for data of another type
	Token    int64  // 0 for foreign data
	Owner    string // empty for foreign data
	// Left is the time left by the server's clock; 0 when NoExpiry is set.
	Left time.Duration
	// NoExpiry is true when the lock never ends by itself.
	NoExpiry bool
	// Foreign is empty for a value of ours. Otherwise it is the kind of data that occupies the
	// key: a Redis type such as "hash", or "string" for text that is not TOKEN:OWNER.
	Foreign string
}

const (
	pageMax     = 5000 // index entries read at a time
	partMax     = 1024 // locks read in one round trip
	lookMax     = 64   // locks read by one command
	listWorkers = 4    // connections that a list keeps busy at the same time
)

// List returns every lock that was taken through the index, in no particular order, and removes
// dead index entries. It costs a walk over the leases, whatever else the server stores. A lock
// that goes away while the list is made may be missing. The error is a *grant.BackendError.
func (s *Store) List(ctx context.Context) ([]Entry, error) {
	index, err := s.Index(ctx)
	if err != nil {
		return nil, err
	}
	entries, _, err := index.Locks(ctx)
	return entries, err
}

// Index is what the index said at one moment: which resources may have a lock. It is the first
// half of a list, for who wants to ask others about the resources while Locks reads the locks.
type Index struct {
	store   *Store
	members []string // every entry, in about the order in which they were made
	shards  []int32  // of each member
	now     []int64  // of each shard: its server's time in microseconds before it was read
}

// Index reads all of the index, and no lock. The error is a *grant.BackendError.
func (s *Store) Index(ctx context.Context) (*Index, error) {
	all := make([][]string, s.opts.Shards)
	x := &Index{store: s, now: make([]int64, s.opts.Shards)}
	g, group := errgroup.WithContext(ctx)
	g.SetLimit(listWorkers)
	for shard := range all {
		g.Go(func() error {
			w := walk{store: s, shard: shard}
			err := w.run(group)
			all[shard], x.now[shard] = w.members, w.now
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, broken("list", err)
	}
	x.mix(all)
	return x, nil
}

// mix lays the members of all shards in one row, taking one of each in turn. Every shard is in the
// order in which its entries were made, and a hash spreads them evenly, so the row is nearly in
// that order: locks that the server made one after the other, and keeps side by side, are then
// read one after the other, which costs it up to a third less than an order by shard: most of a
// look is waiting for memory.
func (x *Index) mix(all [][]string) {
	total, longest := 0, 0
	for _, members := range all {
		total += len(members)
		longest = max(longest, len(members))
	}
	x.members, x.shards = make([]string, 0, total), make([]int32, 0, total)
	for i := range longest {
		for shard, members := range all {
			if i < len(members) {
				x.members = append(x.members, members[i])
				x.shards = append(x.shards, int32(shard))
			}
		}
	}
}

// Len is the number of places in the index.
func (x *Index) Len() int { return len(x.members) }

// Resource returns the resource at a place, from 0 on, which may have a lock. One that was taken
// over lately may stand at two places. It answers false for an entry that nobody of ours made.
func (x *Index) Resource(place int) (string, bool) {
	tag, _, _ := splitMember(x.members[place])
	return decodeTag(tag)
}

// Locks reads the locks of the index, as List does, and tells the place in the index of each. The
// error is a *grant.BackendError.
func (x *Index) Locks(ctx context.Context) (entries []Entry, places []int32, err error) {
	entries = make([]Entry, len(x.members))
	looks := make([]uint8, len(x.members))
	g, group := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range listWorkers {
		g.Go(func() error {
			for {
				end := int(next.Add(partMax))
				start := end - partMax
				if end = min(end, len(entries)); start >= end {
					return nil
				}
				if err := x.look(group, start, entries[start:end], looks[start:end]); err != nil {
					return err
				}
			}
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, broken("list", err)
	}
	x.bury(ctx, looks)
	entries, places = condense(entries, looks)
	return entries, places, nil
}

// What was found for a member of the index.
const (
	lookGone  = iota // no lock
	lookOther        // a lock that another owner holds, or that is none of ours
	lookMine         // the lock of the member's owner
)

// look reads the locks of some members, from a position on.
func (x *Index) look(ctx context.Context, start int, entries []Entry, looks []uint8) error {
	members := x.members[start : start+len(entries)]
	locks, err := x.store.readLocks(ctx, members)
	if err != nil {
		return err
	}
	for i, m := range members {
		tag, owner, _ := splitMember(m)
		resource, ok := decodeTag(tag)
		if !ok || locks.left[i] == nothingThere {
			continue
		}
		e := &entries[i]
		*e = x.store.entryOf(ctx, resource, locks.values[i], locks.left[i])
		looks[i] = lookOther
		if e.Owner == owner {
			looks[i] = lookMine
		}
	}
	return nil
}

// condense moves the locks that are there to the front, each once: a lock that another owner holds
// may have an entry of its own besides, and then that one counts.
func condense(entries []Entry, looks []uint8) (kept []Entry, places []int32) {
	odd := make(map[string]int) // where the lock of a doubtful resource was kept; -1: not yet
	for i, l := range looks {
		if l == lookOther {
			odd[entries[i].Resource] = -1
		}
	}
	places = make([]int32, 0, len(entries))
	for i, l := range looks {
		if l == lookGone {
			continue
		}
		if len(odd) > 0 {
			if at, is := odd[entries[i].Resource]; is && at >= 0 {
				if l == lookMine {
					entries[at], places[at] = entries[i], int32(i)
				}
				continue
			} else if is {
				odd[entries[i].Resource] = len(places)
			}
		}
		if n := len(places); n != i {
			entries[n] = entries[i]
		}
		places = append(places, int32(i))
	}
	return entries[:len(places):len(places)], places
}

// bury removes the members that no longer name a lock's owner.
func (x *Index) bury(ctx context.Context, looks []uint8) {
	dead := make([][]string, len(x.now))
	for i, l := range looks {
		if l != lookMine {
			shard := x.shards[i]
			dead[shard] = append(dead[shard], x.members[i])
		}
	}
	for shard, members := range dead {
		x.store.prune(ctx, shard, x.now[shard], members)
	}
}

func (e *Entry) setLeft(ms int64) {
	if ms < 0 {
		e.NoExpiry = true
		return
	}
	e.Left = time.Duration(ms) * time.Millisecond
}

// prune removes dead members that were entered before the grace. It is best effort: whatever
// stays is looked at again by the next list.
func (s *Store) prune(ctx context.Context, shard int, now int64, dead []string) {
	if len(dead) == 0 {
		return
	}
	cutoff := strconv.FormatInt(now-s.grace.Microseconds(), 10)
	var calls []*call
	for part := range slices.Chunk(dead, membersMax) {
		strs := append([]string{s.shardKey(shard), cutoff}, part...)
		calls = append(calls, newCall(s.scripts.indexPrune, 1, strs))
	}
	s.run(ctx, calls)
}
