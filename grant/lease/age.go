package lease

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Held names one acquisition.
type Held struct{ Resource, Owner string }

// Ages returns how long ago each acquisition was made, by the server's clock, as the index tells:
// an acquisition that the index had lost and a renewal entered again counts from then. It is -1
// for one that the index does not have, such as one that ended. The error is a
// *grant.BackendError.
func (s *Store) Ages(ctx context.Context, held []Held) ([]time.Duration, error) {
	ages := make([]time.Duration, len(held))
	for from := 0; from < len(held); from += pageMax {
		to := min(from+pageMax, len(held))
		if err := s.ages(ctx, held[from:to], ages[from:to]); err != nil {
			return nil, broken("ages", err)
		}
	}
	return ages, nil
}

func (s *Store) ages(ctx context.Context, held []Held, ages []time.Duration) error {
	pipe := s.client.Pipeline()
	clock := pipe.Time(ctx)
	scores := make([]*redis.FloatCmd, len(held))
	for i, h := range held {
		tag := encodeTag(h.Resource)
		scores[i] = pipe.ZScore(ctx, s.shardKey(s.shardOf(tag)), member(tag, h.Owner))
	}
	// A member that is not there is an answer, which the driver calls an error.
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	now, err := clock.Result()
	if err != nil {
		return err
	}
	for i, cmd := range scores {
		ages[i] = -1
		if score, err := cmd.Result(); err == nil {
			ages[i] = max(now.Sub(time.UnixMicro(int64(score))), 0)
		}
	}
	return nil
}
