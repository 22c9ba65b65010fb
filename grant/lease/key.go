package lease

import (
	"errors"
	"strconv"
	"strings"
)

// ErrNoResource refuses an empty resource: an empty hash tag is ignored by Cluster, so its keys
// would part.
var ErrNoResource = errors.New("lease: the resource is empty")

const (
	hexDigits = "0123456789ABCDEF"
	fnvOffset = 2166136261
	fnvPrime  = 16777619
)

// escaped reports whether a byte of a resource is written as %XX in its tag. Braces would end or
// shift the hash tag, and end the tag in an index member.
func escaped(b byte) bool { return b == '{' || b == '}' || b == '%' || b < 0x20 || b == 0x7f }

// encodeTag returns the hash tag of a resource. It is the identity for ordinary names.
func encodeTag(resource string) string {
	n := 0
	for i := range len(resource) {
		if escaped(resource[i]) {
			n++
		}
	}
	if n == 0 {
		return resource
	}
	var b strings.Builder
	b.Grow(len(resource) + 2*n)
	for i := range len(resource) {
		c := resource[i]
		if !escaped(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

// decodeTag is the inverse of encodeTag. It refuses text that encodeTag does not produce, so that
// every resource has one spelling.
func decodeTag(tag string) (resource string, ok bool) {
	if tag == "" {
		return "", false
	}
	first := strings.IndexByte(tag, '%')
	if first < 0 {
		return tag, encodeTag(tag) == tag
	}
	var b strings.Builder
	b.Grow(len(tag))
	for i := 0; i < len(tag); i++ {
		if tag[i] != '%' {
			b.WriteByte(tag[i])
			continue
		}
		if i+2 >= len(tag) {
			return "", false
		}
		v, err := strconv.ParseUint(tag[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(v))
		i += 2
	}
	resource = b.String()
	return resource, encodeTag(resource) == tag
}

// LockKey returns the key that holds the lease of a resource.
func (s *Store) LockKey(resource string) string { return s.lockKeyOf(encodeTag(resource)) }

// FenceKey returns the key that counts the tokens of a resource.
func (s *Store) FenceKey(resource string) string { return s.fenceKeyOf(encodeTag(resource)) }

// HistoryKey returns the key of the stream of events of a resource.
func (s *Store) HistoryKey(resource string) string { return s.historyKeyOf(encodeTag(resource)) }

func (s *Store) lockKeyOf(tag string) string    { return s.text.lock + tag + "}" }
func (s *Store) fenceKeyOf(tag string) string   { return s.text.fence + tag + "}" }
func (s *Store) historyKeyOf(tag string) string { return s.text.history + tag + "}" }

// texts are the parts of keys and arguments that never change, made once.
type texts struct {
	lock, fence, history string   // what stands before the tag
	shards               []string // the index keys
	ttl, idle, keep      string   // script arguments
}

func newTexts(o Options) texts {
	t := texts{
		lock: o.Prefix + "lock:{", fence: o.Prefix + "fence:{", history: o.Prefix + "history:{",
		ttl: millis(o.TTL), idle: millis(o.FenceIdle), keep: strconv.Itoa(max(o.HistoryMax, 0)),
	}
	for i := range o.Shards {
		t.shards = append(t.shards, o.Prefix+"index:"+strconv.Itoa(i))
	}
	return t
}

// slab makes the keys of one script call in one piece of memory.
type slab struct{ strings.Builder }

func newSlab(items []item, heads ...string) *slab {
	var b slab
	size := 0
	for _, head := range heads {
		size += len(head) + 1
	}
	size *= len(items)
	for _, it := range items {
		size += len(heads) * len(it.tag)
	}
	b.Grow(size)
	return &b
}

func (b *slab) key(head, tag string) string {
	start := b.Len()
	b.WriteString(head)
	b.WriteString(tag)
	b.WriteByte('}')
	return b.String()[start:]
}

// Resource returns the resource of a lock key, and false for a key that is none of ours.
func (s *Store) Resource(lockKey string) (string, bool) {
	tag, ok := strings.CutPrefix(lockKey, s.text.lock)
	if !ok {
		return "", false
	}
	if tag, ok = strings.CutSuffix(tag, "}"); !ok {
		return "", false
	}
	return decodeTag(tag)
}

func (s *Store) heartbeatKey(worker string) string {
	return s.opts.Prefix + "heartbeat:" + worker
}

func (s *Store) shardKey(shard int) string { return s.text.shards[shard] }

// shardOf returns the index shard of a tag: its FNV-1a hash modulo the number of shards.
func (s *Store) shardOf(tag string) int {
	h := uint32(fnvOffset)
	for i := range len(tag) {
		h = (h ^ uint32(tag[i])) * fnvPrime
	}
	return int(h % uint32(s.opts.Shards))
}

// member returns the index member of one acquisition. A tag holds no brace, so the first one ends
// it.
func member(tag, owner string) string { return tag + "}" + owner }

func splitMember(m string) (tag, owner string, ok bool) { return strings.Cut(m, "}") }
