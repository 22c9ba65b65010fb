package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const beatShare = 3 // a heartbeat is renewed this often in its life

// Beat keeps a worker's heartbeat key alive until Stop.
type Beat struct {
	store  *Store
	key    string
	life   time.Duration
	warn   func(error)
	cancel context.CancelFunc
	done   chan struct{}
	stop   sync.Once
}

// Heartbeat announces that a worker lives, under its identity (an owner text will do), and keeps
// announcing it until Stop. The key outlives the process by life at most. warn is told about each
// beat that failed; nil means nobody. The error is a *grant.BackendError: the first beat failed.
func (s *Store) Heartbeat(
	ctx context.Context, worker string, life time.Duration, warn func(error),
) (*Beat, error) {
	if worker = Identity(worker); worker == "" {
		return nil, errors.New("lease: the worker's identity is empty")
	}
	if life < TTLMin {
		return nil, &OptionError{"heartbeat life", "is below " + TTLMin.String()}
	}
	b := &Beat{
		store: s, key: s.heartbeatKey(worker), life: life, warn: warn, done: make(chan struct{}),
	}
	if err := b.beat(ctx); err != nil {
		return nil, err
	}
	ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go b.run(ctx)
	return b, nil
}

func (b *Beat) beat(ctx context.Context) error {
	if err := b.store.client.Set(ctx, b.key, "1", b.life).Err(); err != nil {
		return broken("heartbeat", err)
	}
	return nil
}

func (b *Beat) run(ctx context.Context) {
	defer close(b.done)
	for pause(ctx, b.life/beatShare) {
		if err := b.beat(ctx); err != nil && ctx.Err() == nil && b.warn != nil {
			b.warn(err)
		}
	}
}

// Stop ends the heartbeat, waits for its goroutine and removes the key, so that the worker counts
// as gone at once. The error is a *grant.BackendError; the key then ends with its life.
func (b *Beat) Stop(ctx context.Context) error {
	var err error
	b.stop.Do(func() {
		b.cancel()
		<-b.done
		if e := b.store.client.Del(ctx, b.key).Err(); e != nil {
			err = broken("heartbeat", e)
		}
	})
	return err
}

// Alive tells which workers have a heartbeat, in one round trip. Workers are named by identity or
// by an owner text; the answer uses the names as given. The error is a *grant.BackendError, and
// then nothing can be said about anybody.
func (s *Store) Alive(ctx context.Context, workers []string) (map[string]bool, error) {
	alive := make(map[string]bool, len(workers))
	if len(workers) == 0 {
		return alive, nil
	}
	p := s.client.Pipeline()
	asked := make(map[string]*redis.IntCmd, len(workers))
	for _, w := range workers {
		id := Identity(w)
		if asked[id] == nil {
			asked[id] = p.Exists(ctx, s.heartbeatKey(id))
		}
	}
	if _, err := p.Exec(ctx); err != nil {
		return nil, broken("alive", err)
	}
	for _, w := range workers {
		alive[w] = asked[Identity(w)].Val() == 1
	}
	return alive, nil
}
