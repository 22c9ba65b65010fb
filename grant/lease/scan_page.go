package lease

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// page reads one primary, page by page. What is read of a page takes a few pipelines, each over
// fewer keys than the one before: types of all, the time left of what may be a lock, content of
// what still may be.
type page struct {
	store     *Store
	client    redis.UniversalClient
	addr      string
	patterned bool
}

// candidate is a key of a page that may be a lock.
type candidate struct {
	Found
	place  place
	left   int64 // PTTL in ms: -1 without expiry, -2 when the key is gone
	fields int64 // of a hash
	drop   bool  // it is no lock, or it went or changed while we looked
}

// look returns the locks among keys.
func (p *page) look(ctx context.Context, keys []string) ([]Found, error) {
	all, err := p.types(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, stage := range []func(context.Context, []*candidate) error{
		p.times, p.contents, p.holders, p.counts, p.index,
	} {
		if len(all) == 0 {
			return nil, nil
		}
		if err := stage(ctx, all); err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(c *candidate) bool { return c.drop })
	}
	found := make([]Found, len(all))
	for i, c := range all {
		c.setLeft(c.left)
		found[i] = c.Found
	}
	return found, nil
}

func (f *Found) setLeft(ms int64) {
	var e Entry
	e.setLeft(ms)
	f.Left, f.NoExpiry = e.Left, e.NoExpiry
}

// types asks for the type of each key and keeps what may be a lock. A name given twice in a page
// stays twice here: the walk as a whole emits each key once.
func (p *page) types(ctx context.Context, keys []string) ([]*candidate, error) {
	cmds := make([]redis.Cmder, len(keys))
	for i, key := range keys {
		cmds[i] = redis.NewStatusCmd(ctx, "type", key)
	}
	if err := p.send(ctx, p.client, cmds); err != nil {
		return nil, err
	}
	var all []*candidate
	for i, key := range keys {
		kind, err := cmds[i].(*redis.StatusCmd).Result()
		at := p.store.placeOf(key)
		if err != nil || kind == "none" || !p.interesting(at, kind) {
			continue
		}
		c := &candidate{place: at, Found: Found{Key: key, Addr: p.addr, Type: kind}}
		c.Resource = at.resource
		switch {
		case at.ours && kind != at.want:
			c.Kind = FoundWrongType
		case kind == "hash":
			c.Kind = FoundHash
		case !at.ours:
			c.Kind = FoundString
		}
		all = append(all, c)
	}
	return all, nil
}

// interesting reports whether a key of that name and type may be a lock.
func (p *page) interesting(at place, kind string) bool {
	switch {
	case at.ours:
		return at.lock || kind != at.want
	case kind == "string":
		return at.lockLike || p.patterned
	}
	return kind == "hash"
}

// times reads the time left, and drops what is no lock without an expiry.
func (p *page) times(ctx context.Context, all []*candidate) error {
	cmds := make([]redis.Cmder, len(all))
	for i, c := range all {
		cmds[i] = redis.NewIntCmd(ctx, "pttl", c.Key)
	}
	if err := p.send(ctx, p.client, cmds); err != nil {
		return err
	}
	for i, c := range all {
		c.left = cmds[i].(*redis.IntCmd).Val()
		gone := cmds[i].Err() != nil || c.left == -2
		c.drop = gone || c.left == -1 && !c.place.ours && !c.place.lockLike
	}
	return nil
}

// contents reads texts and the sizes of hashes, and says what the texts are.
func (p *page) contents(ctx context.Context, all []*candidate) error {
	cmds := make([]redis.Cmder, 0, 2*len(all))
	for _, c := range all {
		switch {
		case c.Kind == FoundWrongType:
		case c.Type == "hash":
			cmds = append(cmds, redis.NewIntCmd(ctx, "hlen", c.Key))
		default:
			// The time left comes last: an empty text and a key that is gone look alike.
			cmds = append(cmds, redis.NewStringCmd(ctx, "getrange", c.Key, 0, valueMax),
				redis.NewIntCmd(ctx, "pttl", c.Key))
		}
	}
	if err := p.send(ctx, p.client, cmds); err != nil {
		return err
	}
	at := 0
	for _, c := range all {
		switch {
		case c.Kind == FoundWrongType:
		case c.Type == "hash":
			size := cmds[at].(*redis.IntCmd)
			at++
			c.fields = size.Val()
			c.drop = size.Err() != nil || c.fields == 0 || c.fields > holdersMax
		default:
			text, left := cmds[at].(*redis.StringCmd), cmds[at+1].(*redis.IntCmd)
			at += 2
			c.left = left.Val()
			c.drop = text.Err() != nil || left.Err() != nil || c.left == -2
			c.read(text.Val())
		}
	}
	return nil
}

// read says what a text is.
func (c *candidate) read(text string) {
	long := len(text) > valueMax
	if long {
		text = text[:valueMax]
	}
	c.Value = text
	if !c.place.ours {
		c.drop = c.drop || long // nobody's lock is that large
		return
	}
	token, owner, err := ParseValue(text)
	if err != nil || long || c.Resource == "" {
		c.Kind = FoundForeign
		return
	}
	c.Kind, c.Token, c.Owner = FoundLease, token, owner
}

// holders reads the fields of small hashes, and drops those that are no locks.
func (p *page) holders(ctx context.Context, all []*candidate) error {
	hashes, cmds := hashCommands(all, func(c *candidate) redis.Cmder {
		return redis.NewStringSliceCmd(ctx, "hkeys", c.Key)
	})
	if err := p.send(ctx, p.client, cmds); err != nil {
		return err
	}
	for i, c := range hashes {
		c.drop = !holderFields(cmds[i].(*redis.StringSliceCmd).Val())
	}
	return nil
}

// counts reads the counters of hash locks.
func (p *page) counts(ctx context.Context, all []*candidate) error {
	hashes, cmds := hashCommands(all, func(c *candidate) redis.Cmder {
		return redis.NewMapStringStringCmd(ctx, "hgetall", c.Key)
	})
	if err := p.send(ctx, p.client, cmds); err != nil {
		return err
	}
	for i, c := range hashes {
		fields := cmds[i].(*redis.MapStringStringCmd).Val()
		pairs := make([]string, 0, len(fields))
		for field, count := range fields {
			if field != modeField && !isNumber(count) {
				c.drop = true
			}
			pairs = append(pairs, field+"="+count)
		}
		slices.Sort(pairs)
		c.Value = strings.Join(pairs, " ")
		c.drop = c.drop || len(fields) == 0
	}
	return nil
}

func hashCommands(
	all []*candidate, command func(*candidate) redis.Cmder,
) (hashes []*candidate, cmds []redis.Cmder) {
	for _, c := range all {
		if c.Kind == FoundHash {
			hashes = append(hashes, c)
			cmds = append(cmds, command(c))
		}
	}
	return hashes, cmds
}

// index tells the leases that are in the index from those that are not. An entry is there for as
// long as its lock is: it is entered before and leaves after it. So a lease without an entry is
// unindexed if its lock has not changed when it is read once more.
func (p *page) index(ctx context.Context, all []*candidate) error {
	var leases, without []*candidate
	var cmds []redis.Cmder
	for _, c := range all {
		if c.Kind != FoundLease {
			continue
		}
		tag := encodeTag(c.Resource)
		leases = append(leases, c)
		cmds = append(cmds, redis.NewFloatCmd(ctx, "zscore",
			p.store.shardKey(p.store.shardOf(tag)), member(tag, c.Owner)))
	}
	// The index has slots of its own, so the store's client has to find them.
	if err := p.send(ctx, p.store.client, cmds); err != nil {
		return err
	}
	for i, c := range leases {
		if cmds[i].Err() != nil {
			without = append(without, c)
		}
	}
	cmds = cmds[:0]
	for _, c := range without {
		cmds = append(cmds, redis.NewStringCmd(ctx, "get", c.Key))
	}
	if err := p.send(ctx, p.client, cmds); err != nil {
		return err
	}
	for i, c := range without {
		c.Kind = FoundUnindexed
		c.drop = cmds[i].(*redis.StringCmd).Val() != c.Value
	}
	return nil
}

// send sends commands in one pipeline. That a key is gone, or of another type than a moment ago, is
// for the caller to see in the command.
func (p *page) send(ctx context.Context, to redis.UniversalClient, cmds []redis.Cmder) error {
	if len(cmds) == 0 {
		return nil
	}
	pipe := to.Pipeline()
	_ = pipe.BatchProcess(ctx, cmds...)
	_, _ = pipe.Exec(ctx) // judged one by one
	for _, c := range cmds {
		if err := c.Err(); err != nil && !errors.Is(err, redis.Nil) && !moved(err) {
			return err
		}
	}
	return nil
}

// moved reports whether a key is of another type than a moment ago, or on another primary.
func moved(err error) bool {
	if wrongType(err) {
		return true
	}
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	c := code(reply.Error())
	return c == "MOVED" || c == "ASK"
}
