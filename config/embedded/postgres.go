package embedded

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// PostgresOptions says how a private PostgreSQL is to run. The zero value is a durable server
// with its data in a temporary folder.
type PostgresOptions struct {
	// Dir is where the data live; they are kept there and found again by the next start. Empty
	// means a temporary folder, which disappears with the server.
	Dir string
	// Remove makes Dir disappear with the server, too.
	Remove bool
	// Fast gives up safety against power cuts and crashes of the operating system (fsync and
	// full_page_writes off). A crash of PostgreSQL alone still loses nothing. For tests.
	Fast bool
	// Port to listen on at 127.0.0.1; 0 means a free one.
	Port int
	// BinDir is the folder with the binaries of PostgreSQL to use; empty means that they are
	// searched for, and fetched when the machine has none.
	BinDir string
	// Settings are further server settings by name, such as "max_connections".
	Settings map[string]string
}

// Postgres is a running private PostgreSQL.
type Postgres struct {
	process  *supervised
	version  string
	port     int
	password string
	unhook   func() bool
}

// startTries bounds how often a start is repeated: a port that was free may be taken by the time
// the server listens, and a template may turn out to be damaged.
const startTries = 4

// StartPostgres starts a private PostgreSQL and returns when it accepts connections: within
// 3 seconds on an idle machine, and some seconds later the first time, when it has to make the
// template of the data folder or even fetch the binaries. The server stops when Stop is called,
// when ctx ends, or when this process is gone. An error carries the server's last words.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	p, err := startPostgres(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("start a private PostgreSQL: %w", err)
	}
	p.unhook = context.AfterFunc(ctx, func() { _ = p.process.stop() })
	return p, nil
}

func startPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	bin, err := o.binaries(ctx)
	if err != nil {
		return nil, err
	}
	runAs, err := unprivileged()
	if err != nil {
		return nil, err
	}
	l := launcher{options: o, bin: bin, runAs: runAs}
	for try := range startTries {
		p, err := l.launch(ctx)
		if err == nil {
			return p, nil
		}
		if ctx.Err() != nil || try == startTries-1 || !l.mayRetry(err) {
			return nil, err
		}
	}
	return nil, errEnded
}

// launcher is what the tries of one start share.
type launcher struct {
	options PostgresOptions
	bin     binaries
	runAs   *account

	port  int  // of the last try
	found bool // the last try found data in the folder
	fresh bool // do not use the template: it may be damaged
}

// mayRetry says whether another try may get around err: another port if somebody took ours,
// fresh data if those of the template do not work, the same again if processes of a crashed
// server were still busy with the data.
func (l *launcher) mayRetry(err error) bool {
	if !errors.Is(err, errEnded) {
		return false
	}
	if portTaken(l.port) {
		return l.options.Port == 0
	}
	if l.found {
		return true
	}
	if l.fresh {
		return false
	}
	l.fresh = true
	return true
}

// binaries finds the PostgreSQL to run. Data that exist already decide the major version.
func (o PostgresOptions) binaries(ctx context.Context) (binaries, error) {
	major := 0
	if o.Dir != "" {
		text, err := os.ReadFile(filepath.Join(o.Dir, "data", "PG_VERSION"))
		if err == nil {
			major, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
	}
	if o.BinDir != "" {
		return findBinaries(ctx, []string{o.BinDir}, major)
	}
	found, err := findBinaries(ctx, candidates(ctx), major)
	if err == nil {
		return found, nil
	}
	fetched, fetchErr := fetchBinaries(ctx)
	if fetchErr == nil && (major == 0 || major == fetched.major) {
		return fetched, nil
	}
	return binaries{}, fmt.Errorf("%w, and fetching it failed (%v); install it, on Debian with"+
		" `apt-get install postgresql`, on macOS with `brew install postgresql`", err, fetchErr)
}

// launch tries once to bring a server up.
func (l *launcher) launch(ctx context.Context) (_ *Postgres, err error) {
	o, bin := l.options, l.bin
	if l.port, err = pickPort(o.Port); err != nil {
		return nil, err
	}
	s := spec{dir: o.Dir, remove: o.Remove, signal: "INT", initdb: bin.initdb(), runAs: l.runAs}
	if err := s.prepareDir("rewardctl-postgres-"); err != nil {
		return nil, err
	}
	s.command = append([]string{
		bin.postgres(), "-D", filepath.Join(s.dir, "data"), "-p", strconv.Itoa(l.port),
	}, o.settings()...)
	process, err := supervise(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, process.stop())
		}
	}()
	if l.found, err = fillData(ctx, process, bin, !l.fresh); err != nil {
		return nil, err
	}
	password, err := os.ReadFile(filepath.Join(s.dir, "password"))
	if err != nil {
		return nil, err
	}
	if err := process.start(ctx); err != nil {
		return nil, err
	}
	p := &Postgres{
		process: process, version: bin.version, port: l.port,
		password: strings.TrimSpace(string(password)),
	}
	if err := process.await(ctx, p.accepts); err != nil {
		return nil, err
	}
	return p, p.greet(ctx)
}

// settings returns the command-line form of all settings; later ones win.
func (o PostgresOptions) settings() []string {
	all := []string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=", "timezone=UTC",
		"log_timezone=UTC", "max_connections=200", "wal_init_zero=off", "log_destination=stderr",
		"logging_collector=off", "cluster_name=rewardctl",
	}
	if o.Fast {
		all = append(all, "fsync=off", "full_page_writes=off")
	}
	for name, value := range o.Settings {
		all = append(all, name+"="+value)
	}
	args := make([]string, 0, 2*len(all))
	for _, setting := range all {
		args = append(args, "-c", setting)
	}
	return args
}

// accepts says whether the server accepts connections: it writes that into its process file. One
// that was copied from another and follows it accepts readers.
func (p *Postgres) accepts() bool {
	text, err := os.ReadFile(filepath.Join(p.process.spec.dir, "data", "postmaster.pid"))
	if err != nil {
		return false
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) <= 7 || lines[0] != strconv.Itoa(p.process.pid) {
		return false
	}
	status := strings.TrimSpace(lines[7])
	return status == "ready" || status == "standby"
}

// greet connects once, which proves that the server on the port is ours and knows the password.
func (p *Postgres) greet(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.URL())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// URL returns the connection string, which includes the generated password.
func (p *Postgres) URL() string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword("rewardctl", p.password),
		Host: fmt.Sprintf("127.0.0.1:%d", p.port), Path: "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port returns the loopback port.
func (p *Postgres) Port() int { return p.port }

// Version returns the server's version, such as "15.18".
func (p *Postgres) Version() string { return p.version }

// Pid returns the server's process id.
func (p *Postgres) Pid() int { return p.process.pid }

// Dir returns the folder with the data, the password (file "password", mode 0600) and the log.
func (p *Postgres) Dir() string { return p.process.spec.dir }

// PasswordFile returns the path of the file that holds the password.
func (p *Postgres) PasswordFile() string { return filepath.Join(p.Dir(), "password") }

// Done is closed when the server has ended, for whatever reason.
func (p *Postgres) Done() <-chan struct{} { return p.process.done }

// Stop ends open sessions, stops the server cleanly, and removes what is temporary. It returns
// when all of that is done, and may be called repeatedly.
func (p *Postgres) Stop() error {
	p.unhook()
	return p.process.stop()
}

// newPassword returns 128 random bits as text.
func newPassword() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	return hex.EncodeToString(b[:])
}
