package drill

import (
	"io"
	"net"
	"os"
	"time"
)

// wiredConn is a connection over a wire. Its fields belong to the wire's lock.
type wiredConn struct {
	net.Conn
	wire   *wire
	queue  [][]byte // sent while the wire was cut
	until  time.Time
	poke   chan struct{} // closed when until or closed changes
	closed bool
}

// Write sends, or keeps for later while the wire is cut: to the sender both look alike.
func (c *wiredConn) Write(b []byte) (int, error) {
	c.wire.mu.Lock()
	switch {
	case c.closed:
		c.wire.mu.Unlock()
		return 0, net.ErrClosed
	case c.wire.hung:
		c.queue = append(c.queue, append([]byte(nil), b...))
		c.wire.mu.Unlock()
		return len(b), nil
	}
	c.wire.mu.Unlock()
	return c.Conn.Write(b)
}

// deliver sends what waited. The wire's lock is held, so nothing new overtakes it.
func (c *wiredConn) deliver() {
	_ = c.Conn.SetWriteDeadline(time.Time{}) // the sender's patience does not bind the system
	for _, b := range c.queue {
		if _, err := c.Conn.Write(b); err != nil {
			break
		}
	}
	c.queue = nil
	if c.closed {
		_ = c.Conn.Close()
		delete(c.wire.conns, c)
	}
}

// Read hands over what came, once the wire lets it through.
func (c *wiredConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if os.IsTimeout(err) {
		return n, err
	}
	if held := c.hold(); held != nil {
		return 0, held
	}
	c.wire.mu.Lock()
	lost := n > 0 && c.wire.lose
	if lost {
		c.wire.lose = false
	}
	c.wire.mu.Unlock()
	if lost {
		_ = c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// hold waits until the wire lets answers through, and no longer than the reader would.
func (c *wiredConn) hold() error {
	for {
		c.wire.mu.Lock()
		hung, changed, poke, until, closed := c.wire.hung, c.wire.changed, c.poke, c.until, c.closed
		c.wire.mu.Unlock()
		switch {
		case closed:
			return net.ErrClosed
		case !hung:
			return nil
		}
		var late <-chan time.Time
		if !until.IsZero() {
			timer := time.NewTimer(until.Sub(c.wire.now()))
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-changed:
		case <-poke:
		case <-late:
			return &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
		}
	}
}

// SetDeadline bounds reads and writes.
func (c *wiredConn) SetDeadline(t time.Time) error {
	c.bound(t)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline bounds reads, those that wait for the wire as well.
func (c *wiredConn) SetReadDeadline(t time.Time) error {
	c.bound(t)
	return c.Conn.SetReadDeadline(t)
}

func (c *wiredConn) bound(t time.Time) {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	c.until = t
	c.wake()
}

// wake has waiting readers look again. The wire's lock is held.
func (c *wiredConn) wake() {
	close(c.poke)
	c.poke = make(chan struct{})
}

// Close ends the connection. What was sent while the wire was cut still arrives: the system keeps
// sending it after a program has closed its end, or died.
func (c *wiredConn) Close() error {
	c.wire.mu.Lock()
	defer c.wire.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.wake()
	if c.wire.hung && len(c.queue) > 0 {
		// The system that hangs up does not hear the other end any more.
		return c.Conn.SetReadDeadline(time.Unix(1, 0))
	}
	delete(c.wire.conns, c)
	return c.Conn.Close()
}
