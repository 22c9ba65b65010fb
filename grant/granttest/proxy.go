package granttest

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Path is the state of the whole network path through a proxy.
type Path uint8

// The three states of a path.
const (
	// Open forwards everything; rules apply.
	Open Path = iota
	// Refused closes every connection, and each new one at once: the server seems to be down.
	Refused
	// BlackHole forwards nothing in either direction, not even the end of a connection: packets
	// seem to vanish. Connections that lived through it stay dead when the path opens again.
	BlackHole
)

// Proxy stands between a client and one server and understands the frames that pass, so that a
// Rule can hit exactly one of them. It listens on a free loopback port.
type Proxy struct {
	listener net.Listener
	target   string
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu    sync.Mutex
	rules []*Trigger
	links map[*link]struct{}
	path  Path
}

// wire is the protocol of a proxy. Each function runs until its side of the connection ends.
type wire struct {
	requests func(*link) error
	replies  func(*link) error
}

// newProxy starts a proxy to the server at target and stops it when the test ends. newWire is
// called for each connection.
func newProxy(tb testing.TB, target string, newWire func() wire) *Proxy {
	tb.Helper()
	listener, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("proxy: listen: %v", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	p := &Proxy{
		listener: listener, target: target, ctx: ctx, cancel: cancel,
		links: map[*link]struct{}{},
	}
	p.running.Go(func() { p.accept(newWire) })
	tb.Cleanup(func() {
		cancel()
		_ = listener.Close()
		p.cut(func(*link) bool { return true })
		p.running.Wait()
	})
	return p
}

// Addr is the address that clients dial, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// SetPath changes the state of the path for all connections, present and future.
func (p *Proxy) SetPath(path Path) {
	p.mu.Lock()
	p.path = path
	for l := range p.links {
		if path == BlackHole {
			l.toServer.discard()
			l.toClient.discard()
		}
	}
	p.mu.Unlock()
	if path == Refused {
		p.cut(func(*link) bool { return true })
	}
}

// Connections is the number of client connections that are open now.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Add puts a rule in force and returns its trigger.
func (p *Proxy) Add(rule Rule) *Trigger {
	t := &Trigger{rule: rule, fired: make(chan struct{}), release: make(chan struct{})}
	p.mu.Lock()
	p.rules = append(p.rules, t)
	p.mu.Unlock()
	return t
}

// Clear takes all rules out of force. Connections that a rule has broken stay broken.
func (p *Proxy) Clear() {
	p.mu.Lock()
	p.rules = nil
	p.mu.Unlock()
}

func (p *Proxy) cut(which func(*link) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		if which(l) {
			l.close()
		}
	}
}

func (p *Proxy) accept(newWire func() wire) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client, newWire()) })
	}
}

func (p *Proxy) serve(client net.Conn, w wire) {
	p.mu.Lock()
	path := p.path
	p.mu.Unlock()
	if path == Refused {
		_ = client.Close()
		return
	}
	server, err := new(net.Dialer).DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	l := newLink(p, client, server)
	p.mu.Lock()
	p.links[l] = struct{}{}
	if p.path == BlackHole {
		l.toServer.discard()
		l.toClient.discard()
	}
	late := p.path == Refused || p.ctx.Err() != nil
	p.mu.Unlock()
	if late {
		l.close()
	}
	l.run(w)
	p.mu.Lock()
	delete(p.links, l)
	p.mu.Unlock()
}

// link is one client connection with its connection to the server.
type link struct {
	proxy    *Proxy
	client   net.Conn
	server   net.Conn
	toServer *pipe
	toClient *pipe
	ended    chan struct{} // closed by close: nothing waits on this link any more
	once     sync.Once
}

func newLink(p *Proxy, client, server net.Conn) *link {
	return &link{
		proxy: p, client: client, server: server,
		toServer: &pipe{conn: server}, toClient: &pipe{conn: client},
		ended: make(chan struct{}),
	}
}

// run forwards both ways until both sides have ended.
func (l *link) run(w wire) {
	var both sync.WaitGroup
	both.Go(func() {
		err := w.requests(l)
		l.finish(l.client, l.toServer, err)
	})
	both.Go(func() {
		err := w.replies(l)
		l.finish(l.server, l.toClient, err)
	})
	both.Wait()
	l.close()
}

// finish passes the end of one direction on, unless that direction swallows everything.
func (l *link) finish(from net.Conn, to *pipe, err error) {
	if err == nil || errors.Is(err, io.EOF) {
		to.end()
		return
	}
	if _, isNet := errors.AsType[net.Error](err); !isNet {
		// A frame that cannot be parsed, or a rule that closes: nothing can be forwarded.
		l.close()
		return
	}
	_ = from.Close()
	to.end()
}

// close ends the link at once on both sides.
func (l *link) close() {
	l.once.Do(func() {
		close(l.ended)
		_ = l.client.Close()
		_ = l.server.Close()
	})
}

// pipe is one direction of a link: what is written to its far end.
type pipe struct {
	conn net.Conn
	mu   sync.Mutex
	dead bool
}

// send forwards bytes, or swallows them once the direction is dead.
func (p *pipe) send(b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return nil
	}
	_, err := p.conn.Write(b)
	return err
}

// discard makes the direction swallow everything from now on, its end included.
func (p *pipe) discard() {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
}

// end tells the far end that nothing more comes, unless the direction is dead.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	p.dead = true
	if c, ok := p.conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// errClosed ends a direction whose rule said Close.
var errClosed = errors.New("granttest: a rule closed the connection")

// hit lets the rules see a frame, and does what the first that matches says. Frames after it
// are then forwarded, swallowed or refused by the state that hit left behind.
func (l *link) hit(f Frame) error {
	t := l.proxy.match(f)
	if t == nil {
		return nil
	}
	if t.rule.Fault == Hold {
		t.report()
		select {
		case <-t.release:
			return nil
		case <-l.ended:
			return errClosed // a frame that is held never arrives once the connection is cut
		}
	}
	defer t.report()
	switch t.rule.Fault {
	case Drop:
		if f.At == BeforeSend {
			l.toServer.discard()
		} else {
			l.toClient.discard()
		}
	case Close:
		l.close()
		return errClosed
	case HalfClose:
		l.toClient.end()
	case Hang:
		l.toServer.discard()
		l.toClient.discard()
	case Delay:
		timer := time.NewTimer(t.rule.Wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.ended:
			return errClosed
		}
	case Watch, Hold:
	}
	return nil
}

// match finds the first rule that fires for the frame, and counts.
func (p *Proxy) match(f Frame) *Trigger {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.rules {
		if t.rule.At != f.At || (t.rule.Match != nil && !t.rule.Match(f)) {
			continue
		}
		t.seen++
		if t.seen <= t.rule.Skip {
			continue
		}
		if times := max(t.rule.Times, 1); t.rule.Times >= 0 && t.seen > t.rule.Skip+times {
			continue
		}
		return t
	}
	return nil
}
