package lease

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
)

// lockPage is what was read of several locks: the text, empty for data of another type, and PTTL
// in ms: -1 without expiry, -2 when nothing is there.
type lockPage struct {
	values []string
	left   []int64
}

// readLocks reads the locks of index members in one round trip. Value and time left are read one
// right after the other, not in one moment: a list is a picture of something that moves.
func (s *Store) readLocks(ctx context.Context, members []string) (lockPage, error) {
	keys := make([]string, len(members))
	size := 0
	for i, m := range members {
		keys[i], _, _ = splitMember(m)
		size += len(s.text.lock) + len(keys[i]) + 1
	}
	var text slab
	text.Grow(size)
	for i, tag := range keys {
		keys[i] = text.key(s.text.lock, tag)
	}
	if s.cluster {
		return s.readEach(ctx, keys)
	}
	for {
		p, err := s.readMany(ctx, keys)
		if !missing(err) {
			return p, err
		}
		if err := s.client.ScriptLoad(ctx, s.scripts.left.source).Err(); err != nil {
			return p, err
		}
	}
}

// readMany reads all locks with two commands for every lookMax of them. The first command has to
// find its keys all over the server's memory; the second finds them where the first just looked.
func (s *Store) readMany(ctx context.Context, keys []string) (lockPage, error) {
	var cmds []redis.Cmder
	for part := range slices.Chunk(keys, lookMax) {
		get := make([]any, 1, 1+len(part))
		get[0] = "mget"
		for i := range part {
			get = append(get, &part[i])
		}
		left := newCall(s.scripts.left, len(part), part)
		left.args[0], left.args[1] = "evalsha", left.script.sha
		cmds = append(cmds,
			redis.NewStringSliceCmd(ctx, get...), redis.NewIntSliceCmd(ctx, left.args...))
	}
	p := s.client.Pipeline()
	_ = p.BatchProcess(ctx, cmds...)
	if _, err := p.Exec(ctx); err != nil {
		return lockPage{}, err
	}
	out := lockPage{make([]string, 0, len(keys)), make([]int64, 0, len(keys))}
	for i := 0; i < len(cmds); i += 2 {
		out.values = append(out.values, cmds[i].(*redis.StringSliceCmd).Val()...)
		out.left = append(out.left, cmds[i+1].(*redis.IntSliceCmd).Val()...)
	}
	if len(out.values) != len(keys) || len(out.left) != len(keys) {
		return lockPage{}, errShape
	}
	return out, nil
}

// readEach reads lock by lock, as Cluster demands, all in one pipeline per node.
func (s *Store) readEach(ctx context.Context, keys []string) (lockPage, error) {
	cmds := make([]redis.Cmder, 0, 2*len(keys))
	for i := range keys {
		cmds = append(cmds, redis.NewStringCmd(ctx, "get", keys[i]),
			redis.NewIntCmd(ctx, "pttl", keys[i]))
	}
	p := s.client.Pipeline()
	_ = p.BatchProcess(ctx, cmds...)
	_, _ = p.Exec(ctx) // judged one by one: a lock may be gone or of another type
	out := lockPage{make([]string, len(keys)), make([]int64, len(keys))}
	for i := range keys {
		value, left := cmds[2*i].(*redis.StringCmd), cmds[2*i+1].(*redis.IntCmd)
		err := value.Err()
		if err != nil && !errors.Is(err, redis.Nil) && !wrongType(err) {
			return out, err
		}
		if left.Err() != nil {
			return out, left.Err()
		}
		out.values[i], out.left[i] = value.Val(), left.Val()
	}
	return out, nil
}

// kind returns the type of what occupies a lock that reads as no text.
func (s *Store) kind(ctx context.Context, tag string) string {
	kind, err := s.client.Type(ctx, s.lockKeyOf(tag)).Result()
	if err != nil || kind == "none" {
		return "unknown" // it changed while we looked
	}
	return kind
}

// Show returns the lock of one resource. The error is ErrNoLease when there is none,
// ErrNoResource, or a *grant.BackendError.
func (s *Store) Show(ctx context.Context, resource string) (Entry, error) {
	if resource == "" {
		return Entry{}, ErrNoResource
	}
	c := newCall(s.scripts.read, 1, []string{s.LockKey(resource)})
	s.runBound(ctx, []*call{c})
	if c.err != nil {
		return Entry{}, broken("show", c.err)
	}
	e, err := readEntry(resource, c.reply)
	if err != nil && !errors.Is(err, ErrNoLease) {
		return Entry{}, broken("show", err)
	}
	return e, err
}

// readEntry reads the answer of the read script.
func readEntry(resource string, reply []string) (Entry, error) {
	switch {
	case slices.Equal(reply, []string{"g"}):
		return Entry{}, ErrNoLease
	case len(reply) != 1 || len(reply[0]) < 2:
		return Entry{}, errShape
	}
	left, rest, err := cutLeft(reply[0][1:])
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Resource: resource, Left: max(left, 0), NoExpiry: left < 0}
	if reply[0][0] == 't' {
		e.Foreign = rest
		return e, nil
	}
	e.Value = rest
	if e.Token, e.Owner, err = ParseValue(rest); err != nil {
		e.Foreign = "string"
	}
	return e, nil
}
