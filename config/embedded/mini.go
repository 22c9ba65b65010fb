package embedded

import (
	"context"
	"fmt"
	"sync"

	"github.com/alicebob/miniredis/v2"
)

// Mini is a Redis inside this process. Other processes can use it, too: it listens on a
// loopback port. Its clock is the machine's, so leases and other times to live run down.
type Mini struct {
	server *miniredis.Miniredis
	addr   string
	unhook func() bool
	once   sync.Once
}

// StartMini starts a Redis inside this process. It stops when Stop is called or ctx ends.
func StartMini(ctx context.Context) (*Mini, error) {
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true)
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start a Redis in this process: %w", err)
	}
	m := &Mini{server: server, addr: server.Addr()}
	m.unhook = context.AfterFunc(ctx, m.close)
	return m, nil
}

// Addr returns the address, such as "127.0.0.1:40123".
func (m *Mini) Addr() string { return m.addr }

// Stop closes all connections and forgets all data. It may be called repeatedly.
func (m *Mini) Stop() error {
	m.unhook()
	m.close()
	return nil
}

func (m *Mini) close() { m.once.Do(m.server.Close) }
