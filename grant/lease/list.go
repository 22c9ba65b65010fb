package lease

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
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
	listWorkers = 4    // shards walked at the same time
)

// List returns every lock that was taken through the index, in no particular order, and removes
// dead index entries. It costs a walk over the leases, whatever else the server stores. A lock
// that goes away while the list is made may be missing. The error is a *grant.BackendError.
func (s *Store) List(ctx context.Context) ([]Entry, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	space, err := s.rooms(ctx)
	if err != nil {
		return nil, broken("list", err)
	}
	found := make([][]Entry, s.opts.Shards)
	shards := make(chan int, s.opts.Shards)
	for shard := range s.opts.Shards {
		shards <- shard
	}
	close(shards)
	var wg sync.WaitGroup
	for range min(listWorkers, s.opts.Shards) {
		wg.Go(func() {
			for shard := range shards {
				w := walk{store: s, shard: shard, out: space.of(shard)}
				if err := w.run(ctx); err != nil {
					cancel(err) // the first error counts; it ends the other walks
					return
				}
				found[shard] = w.out
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, broken("list", err)
	}
	return space.join(found), nil
}

// rooms are a piece of memory for the entries of all shards, one shard behind the other, so that
// joining them mostly moves nothing.
type rooms struct {
	all  []Entry
	ends []int
}

// rooms makes room for as many entries as the shards have members.
func (s *Store) rooms(ctx context.Context) (rooms, error) {
	cmds := make([]redis.Cmder, s.opts.Shards)
	for shard := range cmds {
		cmds[shard] = redis.NewIntCmd(ctx, "zcard", s.shardKey(shard))
	}
	p := s.client.Pipeline()
	_ = p.BatchProcess(ctx, cmds...)
	if _, err := p.Exec(ctx); err != nil {
		return rooms{}, err
	}
	r := rooms{ends: make([]int, len(cmds))}
	total := 0
	for shard, c := range cmds {
		total += int(c.(*redis.IntCmd).Val())
		r.ends[shard] = total
	}
	r.all = make([]Entry, total)
	return r, nil
}

// of returns the empty room of a shard.
func (r rooms) of(shard int) []Entry {
	start := 0
	if shard > 0 {
		start = r.ends[shard-1]
	}
	return r.all[start:start:r.ends[shard]]
}

// join returns what was found in the rooms in one piece. A shard may have outgrown its room, and
// then lies elsewhere.
func (r rooms) join(found [][]Entry) []Entry {
	n := 0
	for shard, part := range found {
		if len(part) > cap(r.of(shard)) {
			return slices.Concat(found...)
		}
		n += copy(r.all[n:], part) // moves up, by nothing while all rooms before are full
	}
	return r.all[:n:n]
}

// walk is the reading of one index shard.
type walk struct {
	store *Store
	shard int
	now   int64 // the server's time in microseconds before the page was read
	out   []Entry
	// odd remembers resources listed for an entry whose owner does not hold the lock: the lock's
	// own entry, if there is one, must not list it again.
	odd map[string]bool
}

// run walks the shard by score. New entries have higher scores and removed ones shift nothing,
// so no entry that stays is missed. Several entries may share a score: each page begins again at
// the score where the one before ended, and entries known from there are skipped.
func (w *walk) run(ctx context.Context) error {
	known := map[string]bool{}
	from, want := "-inf", w.store.page
	for {
		members, err := w.page(ctx, from, want)
		if err != nil {
			return err
		}
		fresh := members
		if len(known) > 0 {
			fresh = slices.DeleteFunc(slices.Clone(members), func(m string) bool {
				return known[m]
			})
		}
		if err := w.look(ctx, fresh); err != nil {
			return err
		}
		if len(members) < want {
			return nil
		}
		last, err := w.score(ctx, members[len(members)-1])
		switch {
		case err != nil:
			return err
		case last == from || last == "":
			want *= 2 // more entries share one score than fit, or the last one just went
		default:
			from, want = last, w.store.page
			clear(known)
		}
		for _, m := range members {
			known[m] = true
		}
	}
}

// page reads the server's time and then members from a score on.
func (w *walk) page(ctx context.Context, from string, want int) ([]string, error) {
	s := w.store
	c := newCall(s.scripts.now, 1, []string{s.shardKey(w.shard)})
	s.runBound(ctx, []*call{c})
	if c.err != nil {
		return nil, c.err
	}
	var err error
	if w.now, err = strconv.ParseInt(c.reply[0], 10, 64); err != nil {
		return nil, errShape
	}
	return s.client.ZRangeByScore(ctx, s.shardKey(w.shard), &redis.ZRangeBy{
		Min: from, Max: "+inf", Count: int64(want),
	}).Result()
}

// score returns the score of a member as text, and nothing for one that is gone.
func (w *walk) score(ctx context.Context, member string) (string, error) {
	s := w.store
	scores, err := s.client.ZMScore(ctx, s.shardKey(w.shard), member).Result()
	if err != nil || len(scores) == 0 || scores[0] == 0 {
		return "", err
	}
	return strconv.FormatFloat(scores[0], 'f', -1, 64), nil
}

// look reads the locks of members, lists what is there, and prunes what is dead.
func (w *walk) look(ctx context.Context, members []string) error {
	s := w.store
	var dead []string
	for part := range slices.Chunk(members, partMax) {
		locks, err := s.readLocks(ctx, part)
		if err != nil {
			return err
		}
		for i := range part {
			if !w.add(ctx, part[i], &locks, i) {
				dead = append(dead, part[i])
			}
		}
	}
	s.prune(ctx, w.shard, w.now, dead)
	return nil
}

// add lists the lock of one member. It answers false for a dead member: its lock is gone or has
// another owner.
func (w *walk) add(ctx context.Context, m string, locks *lockPage, i int) bool {
	tag, owner, _ := splitMember(m)
	resource, ok := decodeTag(tag)
	if !ok || locks.left[i] == -2 {
		return false
	}
	e := Entry{Resource: resource, Value: locks.values[i]}
	e.setLeft(locks.left[i])
	var err error
	switch e.Token, e.Owner, err = ParseValue(e.Value); {
	case e.Value == "":
		// Data of another type, or an empty text. The rare case costs a call of its own.
		e.Foreign = w.store.kind(ctx, tag)
	case err != nil:
		e.Foreign = "string"
	}
	mine := e.Owner == owner
	if !mine || w.odd[resource] {
		if w.odd[resource] {
			return mine
		}
		if w.odd == nil {
			w.odd = map[string]bool{}
		}
		w.odd[resource] = true
	}
	w.out = append(w.out, e)
	return mine
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
