package lease

import (
	"context"
	"slices"
	"strconv"

	"rewardctl/grant"
)

// membersMax bounds the members of one index call, as Lua cannot unpack much more than that.
const membersMax = 1000

// shardSet is what one script call names of the index: the keys of the shards that its items use.
type shardSet struct {
	keys  []string
	order []int // the shard of each key
}

// shardSet collects the shards of items. On Cluster it is empty: index and locks have slots of
// their own.
func (s *Store) shardSet(items []item) shardSet {
	var set shardSet
	if s.cluster {
		return set
	}
	size := min(len(items), s.opts.Shards)
	set.keys, set.order = make([]string, 0, size), make([]int, 0, size)
	for _, it := range items {
		if it.member != "" && !slices.Contains(set.order, it.shard) {
			set.order = append(set.order, it.shard)
			set.keys = append(set.keys, s.shardKey(it.shard))
		}
	}
	return set
}

// place returns the position of a shard among the keys, counted from 1, and "0" for none.
func (set shardSet) place(shard int) string {
	return strconv.Itoa(slices.Index(set.order, shard) + 1)
}

// enter puts items into the index on Cluster, before their locks are taken. Items that could not
// be entered are answered and left out of what it returns: no lock was tried for them.
func (s *Store) enter(ctx context.Context, items []item, answers []grant.Answer) []item {
	calls, parts := s.memberCalls(s.scripts.indexEnter, items)
	s.runBound(ctx, calls)
	entered := make([]item, 0, len(items))
	for i, c := range calls {
		if c.err == nil {
			entered = append(entered, parts[i]...)
			continue
		}
		for _, it := range parts[i] {
			answers[it.pos].Err = &grant.BackendError{
				Backend: grant.Redis, Op: "acquire", Err: c.err,
			}
		}
	}
	return entered
}

// leave takes items out of the index on Cluster. It is best effort, under a bound of its own: the
// lister removes what stays behind.
func (s *Store) leave(ctx context.Context, items []item) {
	if len(items) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupMax)
	defer cancel()
	calls, _ := s.memberCalls(s.scripts.indexLeave, items)
	s.run(ctx, calls)
}

// memberCalls groups items by shard into calls that take members only, and returns the items of
// each call.
func (s *Store) memberCalls(sc *script, items []item) (calls []*call, parts [][]item) {
	byShard := make(map[int][]item)
	for _, it := range items {
		if it.member != "" {
			byShard[it.shard] = append(byShard[it.shard], it)
		}
	}
	for shard, all := range byShard {
		for part := range slices.Chunk(all, membersMax) {
			strs := make([]string, 1, 1+len(part))
			strs[0] = s.shardKey(shard)
			for _, it := range part {
				strs = append(strs, it.member)
			}
			calls = append(calls, newCall(sc, 1, strs))
			parts = append(parts, part)
		}
	}
	return calls, parts
}
