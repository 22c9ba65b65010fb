package lease

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// walk is the reading of one index shard.
type walk struct {
	store   *Store
	shard   int
	now     int64 // the server's time in microseconds before the first page was read
	members []string
}

// run walks the shard by score. New entries have higher scores and removed ones shift nothing,
// so no entry that stays is missed. Several entries may share a score: each page begins again at
// the score where the one before ended. What is known already is skipped, as is an entry that was
// made again meanwhile and met at both of its scores.
func (w *walk) run(ctx context.Context) error {
	if err := w.clock(ctx); err != nil {
		return err
	}
	known := map[string]bool{}
	from, want := "-inf", w.store.page
	for {
		members, err := w.page(ctx, from, want)
		if err != nil {
			return err
		}
		for _, m := range members {
			if !known[m] {
				w.members = append(w.members, m)
			}
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
		}
		for _, m := range members {
			known[m] = true
		}
	}
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

// page reads members from a score on.
func (w *walk) page(ctx context.Context, from string, want int) ([]string, error) {
	s := w.store
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
