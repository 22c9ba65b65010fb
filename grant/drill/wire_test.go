package drill

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// echoes starts a server that answers each line with itself, and tells each line it gets.
func echoes(t *testing.T) (addr string, got <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	lines := make(chan string, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					line, err := in.ReadString('\n')
					if err != nil {
						return
					}
					lines <- line
					if _, err := io.WriteString(conn, line); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String(), lines
}

func connect(t *testing.T, w *wire, addr string) net.Conn {
	t.Helper()
	conn, err := w.through((&net.Dialer{}).DialContext)(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func send(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	if _, err := io.WriteString(conn, line); err != nil {
		t.Fatal(err)
	}
}

// hears waits for a line with a bound.
func hears(t *testing.T, got <-chan string, want string) {
	t.Helper()
	select {
	case line := <-got:
		if line != want {
			t.Fatalf("the server got %q, want %q", line, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("the server did not get %q", want)
	}
}

// What is sent into a cut wire arrives, in order, when it heals; answers are held back until then.
func TestWireDelays(t *testing.T) {
	t.Parallel()
	w := newWire(time.Now)
	addr, got := echoes(t)
	conn := connect(t, w, addr)
	in := bufio.NewReader(conn)
	send(t, conn, "one\n")
	hears(t, got, "one\n")
	if line, err := in.ReadString('\n'); line != "one\n" || err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	w.cut()
	send(t, conn, "two\n")
	send(t, conn, "three\n")
	select {
	case line := <-got:
		t.Fatalf("%q came through a cut wire", line)
	case <-time.After(50 * time.Millisecond):
	}
	answer := make(chan string, 1)
	go func() {
		line, _ := in.ReadString('\n')
		answer <- line
	}()
	w.heal()
	hears(t, got, "two\n")
	hears(t, got, "three\n")
	if line := <-answer; line != "two\n" {
		t.Errorf("the answer is %q", line)
	}
}

// A reader waits no longer than its deadline, also one that is set while it waits, which is how the
// drivers end a call; and what it had sent arrives all the same.
func TestWireOfTheDead(t *testing.T) {
	t.Parallel()
	w := newWire(time.Now)
	addr, got := echoes(t)
	conn := connect(t, w, addr)
	w.cut()
	send(t, conn, "late\n")
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}()
	if err := conn.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read ended with %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
	_, err := w.through((&net.Dialer{}).DialContext)(t.Context(), "tcp", addr)
	if !errors.Is(err, syscall.ENETUNREACH) {
		t.Errorf("a new connection: %v", err)
	}
	w.heal()
	hears(t, got, "late\n")
}

// An answer that came before the cut is held back as well, and its reader ends with its deadline.
func TestWireHoldsAnswers(t *testing.T) {
	t.Parallel()
	w := newWire(time.Now)
	addr, got := echoes(t)
	conn := connect(t, w, addr)
	send(t, conn, "one\n")
	hears(t, got, "one\n")
	w.cut()
	if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 10)); n != 0 || !os.IsTimeout(err) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A lost answer ends the connection; the deed was done. Later connections are whole.
func TestWireLosesReply(t *testing.T) {
	t.Parallel()
	w := newWire(time.Now)
	addr, got := echoes(t)
	conn := connect(t, w, addr)
	w.loseReply()
	send(t, conn, "one\n")
	hears(t, got, "one\n")
	if n, err := conn.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, %v", n, err)
	}
	second := connect(t, w, addr)
	send(t, second, "two\n")
	hears(t, got, "two\n")
	if line, err := bufio.NewReader(second).ReadString('\n'); line != "two\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
}

// A wire that is shut lets nobody hang.
func TestWireShut(t *testing.T) {
	t.Parallel()
	w := newWire(time.Now)
	addr, _ := echoes(t)
	conn := connect(t, w, addr)
	w.cut()
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}()
	w.shut()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a read from a wire that is shut succeeds")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a reader hangs on a wire that is shut")
	}
	_ = connect(t, w, addr) // as before
}
