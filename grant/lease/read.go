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
	tags := make([]string, len(members))
	for i, m := range members {
		tags[i], _, _ = splitMember(m)
	}
	return s.readTags(ctx, tags)
}

// readTags reads the locks of tags, which it turns into keys.
func (s *Store) readTags(ctx context.Context, tags []string) (lockPage, error) {
	size := 0
	for _, tag := range tags {
		size += len(s.text.lock) + len(tag) + 1
	}
	keys := tags
	var text slab
	text.Grow(size)
	for i, tag := range tags {
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

// Look returns the locks of some resources, those that are there, in the order in which they are
// asked for: a list of the few that matter, however many there are. It costs one round trip for
// every 1,024. The error is ErrNoResource or a *grant.BackendError.
func (s *Store) Look(ctx context.Context, resources []string) ([]Entry, error) {
	if slices.Contains(resources, "") {
		return nil, ErrNoResource
	}
	entries := make([]Entry, 0, len(resources))
	for part := range slices.Chunk(resources, partMax) {
		tags := make([]string, len(part))
		for i, resource := range part {
			tags[i] = encodeTag(resource)
		}
		locks, err := s.readTags(ctx, tags)
		if err != nil {
			return nil, broken("look", err)
		}
		for i, resource := range part {
			if locks.left[i] != nothingThere {
				entries = append(entries, s.entryOf(ctx, resource, locks.values[i], locks.left[i]))
			}
		}
	}
	return entries, nil
}

// nothingThere is what PTTL says of a key that is not there.
const nothingThere = -2

// entryOf makes an entry of what was read of a lock that is there.
func (s *Store) entryOf(ctx context.Context, resource, value string, left int64) Entry {
	e := Entry{Resource: resource, Value: value}
	e.setLeft(left)
	var err error
	switch e.Token, e.Owner, err = ParseValue(value); {
	case value == "":
		// Data of another type, or an empty text. The rare case costs a call of its own.
		e.Foreign = s.kind(ctx, encodeTag(resource))
	case err != nil:
		e.Foreign = "string"
	}
	return e
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
