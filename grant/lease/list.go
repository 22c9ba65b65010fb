package lease

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
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
	pageMax     = 1000 // entries read at a time
	listWorkers = 4    // shards read at a time
)

// List returns every lock that an engine took through the index, in no particular order, and
// removes dead index entries. It costs a walk over the leases, whatever else the server stores.
// A lock that goes away while the list is made may be missing. The error is a
// *grant.BackendError.
func (s *Store) List(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	found := make([][]Entry, s.opts.Shards)
	errs := make([]error, s.opts.Shards)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(listWorkers, s.opts.Shards) {
		wg.Go(func() {
			for shard := range next {
				if found[shard], errs[shard] = s.listShard(ctx, shard); errs[shard] != nil {
					cancel(errs[shard])
				}
			}
		})
	}
	for shard := range s.opts.Shards {
		next <- shard
	}
	close(next)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, broken("list", context.Cause(ctx))
		}
	}
	return slices.Concat(found...), nil
}

// page is one read of an index shard.
type page struct {
	now     int64 // the server's time in microseconds
	last    string
	members []string
}

// listShard walks one shard by score. New entries have higher scores and removed ones shift
// nothing, so no entry that stays is missed. Several entries may share a score; each page begins
// again at the score where the one before ended, and known members are skipped.
func (s *Store) listShard(ctx context.Context, shard int) ([]Entry, error) {
	var out []Entry
	listed := make(map[string]bool) // resources whose lock has another owner than the entry
	tail := map[string]bool{}       // members seen with the score at which the next page begins
	from, want := "-inf", pageMax
	for {
		p, err := s.readPage(ctx, shard, from, want)
		if err != nil {
			return nil, err
		}
		fresh := make([]string, 0, len(p.members))
		for _, m := range p.members {
			if !tail[m] {
				fresh = append(fresh, m)
			}
		}
		if out, err = s.verify(ctx, shard, p.now, fresh, out, listed); err != nil {
			return nil, err
		}
		switch {
		case len(p.members) < want:
			return out, nil
		case len(fresh) == 0 || p.last == from:
			want *= 2 // more entries share one score than fit a page
		default:
			want = pageMax
		}
		if p.last != from {
			clear(tail)
		}
		for _, m := range p.members {
			tail[m] = true
		}
		from = p.last
	}
}

func (s *Store) readPage(ctx context.Context, shard int, from string, want int) (page, error) {
	c := newCall(s.scripts.indexPage, 1, []string{s.shardKey(shard), from, strconv.Itoa(want)})
	s.runBound(ctx, []*call{c})
	if c.err != nil {
		return page{}, c.err
	}
	if len(c.reply) < 2 {
		return page{}, errShape
	}
	now, err := strconv.ParseInt(c.reply[0], 10, 64)
	if err != nil {
		return page{}, errShape
	}
	return page{now: now, last: c.reply[1], members: c.reply[2:]}, nil
}

// verify looks at the locks of index members, appends what is there to out, and prunes members
// that are dead since longer than the grace.
func (s *Store) verify(
	ctx context.Context, shard int, now int64, members []string, out []Entry,
	listed map[string]bool,
) ([]Entry, error) {
	keys := make([]string, len(members))
	for i, m := range members {
		tag, _, _ := splitMember(m)
		keys[i] = s.lockKeyOf(tag)
	}
	reads, err := s.readLocks(ctx, keys)
	if err != nil {
		return nil, err
	}
	var dead []string
	for i, m := range members {
		tag, owner, _ := splitMember(m)
		resource, ok := decodeTag(tag)
		if !ok {
			dead = append(dead, m)
			continue
		}
		e, there, err := readEntry(resource, reads[i])
		if err != nil {
			return nil, err
		}
		if !there || e.Owner != owner {
			dead = append(dead, m)
		}
		if !there {
			continue
		}
		if e.Owner != owner || listed[resource] {
			// The lock's own entry is elsewhere in this shard, or nowhere. Show it once.
			if listed[resource] {
				continue
			}
			listed[resource] = true
		}
		out = append(out, e)
	}
	return out, s.prune(ctx, shard, now, dead)
}

// readLocks reads locks with the read script: in parts on a single server, one by one on Cluster,
// in one round trip either way.
func (s *Store) readLocks(ctx context.Context, keys []string) ([]string, error) {
	size := pageMax
	if s.cluster {
		size = 1
	}
	var calls []*call
	for part := range slices.Chunk(keys, size) {
		calls = append(calls, newCall(s.scripts.read, len(part), part))
	}
	s.runBound(ctx, calls)
	out := make([]string, 0, len(keys))
	for _, c := range calls {
		if c.err != nil {
			return nil, c.err
		}
		out = append(out, c.reply...)
	}
	if len(out) != len(keys) {
		return nil, errShape
	}
	return out, nil
}

// readEntry reads one answer of the read script.
func readEntry(resource, answer string) (e Entry, there bool, err error) {
	if answer == "g" {
		return e, false, nil
	}
	if len(answer) < 2 {
		return e, false, errShape
	}
	left, rest, err := cutLeft(answer[1:])
	if err != nil {
		return e, false, err
	}
	e = Entry{Resource: resource, Left: left}
	if left < 0 {
		e.Left, e.NoExpiry = 0, true
	}
	if answer[0] == 't' {
		e.Foreign = rest
		return e, true, nil
	}
	e.Value = rest
	if e.Token, e.Owner, err = ParseValue(rest); err != nil {
		e.Foreign = "string"
	}
	return e, true, nil
}

// prune removes dead members that were entered before the grace. It is best effort: whatever
// stays is looked at again by the next list.
func (s *Store) prune(ctx context.Context, shard int, now int64, dead []string) error {
	var calls []*call
	for part := range slices.Chunk(dead, membersMax) {
		strs := append([]string{
			s.shardKey(shard), strconv.FormatInt(now-s.grace.Microseconds(), 10),
		}, part...)
		calls = append(calls, newCall(s.scripts.indexPrune, 1, strs))
	}
	if len(calls) > 0 {
		s.run(ctx, calls)
	}
	return nil
}

// Show returns the lock of one resource. The error is ErrNoLease when there is none,
// ErrNoResource, or a *grant.BackendError.
func (s *Store) Show(ctx context.Context, resource string) (Entry, error) {
	if resource == "" {
		return Entry{}, ErrNoResource
	}
	reads, err := s.readLocks(ctx, []string{s.LockKey(resource)})
	if err != nil {
		return Entry{}, broken("show", err)
	}
	e, there, err := readEntry(resource, reads[0])
	switch {
	case err != nil:
		return Entry{}, broken("show", err)
	case !there:
		return Entry{}, ErrNoLease
	}
	return e, nil
}
