package embedded

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Mini is a Redis inside this process. Other processes can use it, too: it listens on a
// loopback port. Its clock is the machine's, so leases and other times to live run down.
type Mini struct {
	server *miniredis.Miniredis
	addr   string
	unhook func() bool
	once   sync.Once
	closed chan struct{}
}

const (
	// miniTick is how often the times to live run down.
	miniTick = 20 * time.Millisecond
	// miniTickShare bounds the share of time spent on it: each run visits every key.
	miniTickShare = 20
)

// StartMini starts a Redis inside this process. It stops when Stop is called or ctx ends.
func StartMini(ctx context.Context) (*Mini, error) {
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start a Redis in this process: %w", err)
	}
	m := &Mini{server: server, addr: server.Addr(), closed: make(chan struct{})}
	m.unhook = context.AfterFunc(ctx, m.close)
	go m.tick()
	return m, nil
}

// tick lets the times to live run down with the machine's clock. The library's own way, ClockTTL,
// visits and sorts all keys at every single command: a script over a thousand leases then takes
// minutes.
func (m *Mini) tick() {
	last, pause := time.Now(), miniTick
	for {
		timer := time.NewTimer(pause)
		select {
		case <-m.closed:
			timer.Stop()
			return
		case <-timer.C:
		}
		now := time.Now()
		m.server.FastForward(now.Sub(last))
		last = now
		pause = max(miniTick, miniTickShare*time.Since(now))
	}
}

// Addr returns the address, such as "127.0.0.1:40123".
func (m *Mini) Addr() string { return m.addr }

// Stop closes all connections and forgets all data. It may be called repeatedly.
func (m *Mini) Stop() error {
	m.unhook()
	m.close()
	return nil
}

func (m *Mini) close() {
	m.once.Do(func() {
		close(m.closed)
		m.server.Close()
	})
}
