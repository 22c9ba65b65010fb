package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// RedisOptions says how a private redis-server is to run. The zero value is a server without
// persistence in a temporary folder.
type RedisOptions struct {
	// Dir is the server's working folder, which is kept. Empty means a temporary folder, which
	// disappears with the server.
	Dir string
	// Remove makes Dir disappear with the server, too.
	Remove bool
	// Port to listen on at 127.0.0.1; 0 means a free one.
	Port int
	// Args are further arguments, such as "--appendonly", "yes"; they come last and win.
	Args []string
}

// Redis is a running private redis-server.
type Redis struct {
	process *supervised
	port    int
	unhook  func() bool
}

// StartRedis starts a real redis-server from PATH and returns when it answers. It stops when
// Stop is called, when ctx ends, or when this process is gone.
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("start a private Redis: no redis-server in PATH; install it, on "+
			"Debian with `apt-get install redis-server`, on macOS with `brew install redis`: %w",
			err)
	}
	var r *Redis
	for range startTries {
		r, err = launchRedis(ctx, o, path)
		// Only a port that somebody took meanwhile is worth another try.
		if !errors.Is(err, errPortTaken) || o.Port != 0 || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start a private Redis: %w", err)
	}
	r.unhook = context.AfterFunc(ctx, func() { _ = r.process.stop() })
	return r, nil
}

// errPortTaken says that the port was free when we asked, and taken when the server did.
var errPortTaken = errors.New("somebody took port")

func launchRedis(ctx context.Context, o RedisOptions, path string) (*Redis, error) {
	port, err := pickPort(o.Port)
	if err != nil {
		return nil, err
	}
	s := spec{dir: o.Dir, remove: o.Remove, signal: "TERM"}
	if err := s.prepareDir("rewardctl-redis-"); err != nil {
		return nil, err
	}
	s.command = append([]string{
		path, "--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", s.dir,
		"--daemonize", "no", "--save", "", "--appendonly", "no",
	}, o.Args...)
	process, err := supervise(ctx, s)
	if err != nil {
		return nil, err
	}
	r := &Redis{process: process, port: port}
	if err := process.start(ctx); err != nil {
		return nil, errors.Join(err, process.stop())
	}
	if err := process.await(ctx, func() bool { return r.answers(ctx) }); err != nil {
		if errors.Is(err, errEnded) && portTaken(port) {
			err = fmt.Errorf("%w %d: %w", errPortTaken, port, err)
		}
		return nil, errors.Join(err, process.stop())
	}
	return r, nil
}

// answers says whether a Redis with our process id serves the port. A server that wants a
// password has answered, too: only Args can have asked for one.
func (r *Redis) answers(ctx context.Context) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", r.Addr())
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("INFO server\r\n")); err != nil {
		return false
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "-NOAUTH") {
			return true
		}
		if strings.HasPrefix(line, "-") {
			return false
		}
		if id, found := strings.CutPrefix(line, "process_id:"); found {
			return strings.TrimSpace(id) == strconv.Itoa(r.process.pid) && r.loaded(ctx)
		}
	}
	return false
}

// loaded says whether the server has read its data from disk.
func (r *Redis) loaded(ctx context.Context) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", r.Addr())
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("EXISTS ready\r\n")); err != nil {
		return false
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	// A node of a cluster that is yet to be formed answers CLUSTERDOWN, and is up all the same.
	return err == nil && !strings.HasPrefix(answer, "-LOADING")
}

// Addr returns the address, such as "127.0.0.1:40123".
func (r *Redis) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)) }

// Port returns the loopback port.
func (r *Redis) Port() int { return r.port }

// Pid returns the server's process id.
func (r *Redis) Pid() int { return r.process.pid }

// Dir returns the server's working folder, which also holds its log, "server.log".
func (r *Redis) Dir() string { return r.process.spec.dir }

// Done is closed when the server has ended, for whatever reason.
func (r *Redis) Done() <-chan struct{} { return r.process.done }

// Stop stops the server cleanly and removes what is temporary. It returns when that is done, and
// may be called repeatedly.
func (r *Redis) Stop() error {
	r.unhook()
	return r.process.stop()
}
