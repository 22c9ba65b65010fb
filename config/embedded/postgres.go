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
	var p *Postgres
	for range startTries {
		p, err = launch(ctx, o, bin, runAs)
		if err == nil || ctx.Err() != nil || !errors.Is(err, errAgain) {
			break
		}
	}
	return p, err
}

// errAgain marks a failure that another try may get around.
var errAgain = errors.New("another try may help")

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
func launch(ctx context.Context, o PostgresOptions, bin binaries, runAs *account) (
	_ *Postgres, err error,
) {
	port, err := o.pickPort()
	if err != nil {
		return nil, err
	}
	s := spec{dir: o.Dir, remove: o.Remove, signal: "INT", initdb: bin.initdb(), runAs: runAs}
	if err := s.prepareDir("rewardctl-postgres-"); err != nil {
		return nil, err
	}
	s.command = append([]string{
		bin.postgres(), "-D", filepath.Join(s.dir, "data"), "-p", strconv.Itoa(port),
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
	template, err := fillData(ctx, process, bin)
	if err != nil {
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
		process: process, version: bin.version, port: port,
		password: strings.TrimSpace(string(password)),
	}
	if err := process.await(ctx, p.accepts); err != nil {
		return nil, again(err, o.Port == 0 && portTaken(port), template)
	}
	return p, p.greet(ctx)
}

// again marks err as worth another try when the port was taken meanwhile, or when the data came
// from a template, which is dropped then, since it may be damaged.
func again(err error, taken bool, template string) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	if taken {
		return fmt.Errorf("%w; %w", err, errAgain)
	}
	if template != "" && os.RemoveAll(template) == nil {
		return fmt.Errorf("%w; %w", err, errAgain)
	}
	return err
}

func (o PostgresOptions) pickPort() (int, error) {
	if o.Port != 0 {
		return o.Port, nil
	}
	return freePort()
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

// accepts says whether the server accepts connections: it writes that into its process file.
func (p *Postgres) accepts() bool {
	text, err := os.ReadFile(filepath.Join(p.process.spec.dir, "data", "postmaster.pid"))
	if err != nil {
		return false
	}
	lines := strings.Split(string(text), "\n")
	return len(lines) > 7 && lines[0] == strconv.Itoa(p.process.pid) &&
		strings.TrimSpace(lines[7]) == "ready"
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
