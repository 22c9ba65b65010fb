package lease

import (
	"context"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"
)

const lastTried = 16 // members whose score is asked for at the end of a page

// walk is the reading of one index shard.
type walk struct {
	store   *Store
	shard   int
	now     int64 // the server's time in microseconds before the first page was read
	members []string
}

// run walks the shard by score. New entries have higher scores and removed ones shift nothing,
// so no entry that stays is missed. Several entries may share a score, and a page may end between
// them: all that share its last score are read at once, and the next page begins above it.
func (w *walk) run(ctx context.Context) error {
	if err := w.clock(ctx); err != nil {
		return err
	}
	from := "-inf"
	for {
		page, err := w.page(ctx, from, "+inf", w.store.page)
		if err != nil {
			return err
		}
		if len(page) < w.store.page {
			w.members = append(w.members, page...)
			return nil
		}
		last, there, err := w.lastScore(ctx, page)
		if err != nil {
			return err
		}
		if there == 0 {
			continue // all of its end just went: read what moved up instead
		}
		page = page[:there] // what went is gone, or came back with a higher score
		same, err := w.page(ctx, last, last, -1)
		if err != nil {
			return err
		}
		w.members = append(without(w.members, page, same), same...)
		from = "(" + last
	}
}

// without appends the members of a page that are not among some others.
func without(to, page, others []string) []string {
	skip := make(map[string]bool, len(others))
	for _, m := range others {
		skip[m] = true
	}
	for _, m := range page {
		if !skip[m] {
			to = append(to, m)
		}
	}
	return to
}

// clock reads the server's time.
func (w *walk) clock(ctx context.Context) error {
	s := w.store
	c := newCall(s.scripts.now, 1, []string{s.shardKey(w.shard)})
	s.runBound(ctx, []*call{c})
	if c.err != nil {
		return c.err
	}
	var err error
	if w.now, err = strconv.ParseInt(c.reply[0], 10, 64); err != nil {
		return errShape
	}
	return nil
}

// page reads so many members with scores in a range; all of them for -1.
func (w *walk) page(ctx context.Context, from, to string, count int) ([]string, error) {
	s := w.store
	return s.client.ZRangeByScore(ctx, s.shardKey(w.shard), &redis.ZRangeBy{
		Min: from, Max: to, Count: int64(count),
	}).Result()
}

// lastScore returns the score, as text, of the last member of a page that is still there, and the
// length of the page up to it: 0 when the last few are all gone.
func (w *walk) lastScore(ctx context.Context, page []string) (last string, there int, err error) {
	s := w.store
	from := max(0, len(page)-lastTried)
	scores, err := s.client.ZMScore(ctx, s.shardKey(w.shard), page[from:]...).Result()
	if err != nil {
		return "", 0, err
	}
	for i, score := range slices.Backward(scores) {
		if score != 0 { // 0 stands for a member that is gone
			return strconv.FormatFloat(score, 'f', -1, 64), from + i + 1, nil
		}
	}
	return "", 0, nil
}
