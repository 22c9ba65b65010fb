package grant_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	process "os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// startBouncer puts a PgBouncer in transaction mode, with two server connections for everybody,
// before the test's PostgreSQL, and returns its address.
func startBouncer(t *testing.T, w *granttest.World) string {
	t.Helper()
	port := granttest.FreePort(t)
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	folder, err := os.MkdirTemp("/tmp", "rewardctl-bouncer-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	users := filepath.Join(folder, "users.txt")
	conf := filepath.Join(folder, "bouncer.ini")
	text := fmt.Sprintf("[databases]\n%s = host=%s port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"+
		"listen_port = %d\nunix_socket_dir =\nauth_type = plain\nauth_file = %s\n"+
		"pool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 100\n"+
		"ignore_startup_parameters = extra_float_digits\n",
		w.Conn.Database, w.Conn.Host, w.Conn.Port, port, users)
	if os.Geteuid() == 0 {
		text += "user = nobody\n" // it refuses to run as root
	}
	for path, content := range map[string]string{
		conf: text, users: fmt.Sprintf("%q %q\n", w.Conn.User, w.Conn.Password),
	} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	binary, err := process.LookPath("pgbouncer")
	if err != nil {
		binary = "/usr/sbin/pgbouncer" // not everybody has that folder in the path
	}
	cmd := process.CommandContext(context.WithoutCancel(t.Context()), binary, conf)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	reached(t, "PgBouncer listens", func() bool {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return addr
}

// TestServerBouncer grants through a PgBouncer in transaction mode, where every transaction may
// run on another connection: settings that a session sets are lost, and statements cannot be
// prepared. The schema comes from the role, as it has to there.
func TestServerBouncer(t *testing.T) {
	t.Parallel()
	const clients, each = 16, 25
	w := granttest.New(t)
	role := pgx.Identifier{w.Schema}.Sanitize()
	exec(t, w, "create role "+role+" superuser login password 'bouncer-test'")
	t.Cleanup(func() {
		_, _ = w.Pool.Exec(context.WithoutCancel(t.Context()), "drop role "+role)
	})
	exec(t, w, "alter role "+role+" set search_path = "+role)
	user := w.Conn.Copy()
	user.User, user.Password = w.Schema, "bouncer-test"
	behind := *w
	behind.Conn = user
	host, port := hostPort(t, startBouncer(t, &behind))
	at := url.URL{
		Scheme: "postgres", User: url.UserPassword(w.Schema, "bouncer-test"),
		Host: net.JoinHostPort(host, strconv.Itoa(int(port))), Path: w.Conn.Database,
		RawQuery: "sslmode=disable",
	}
	config, err := pgxpool.ParseConfig(at.String())
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec // as postgres.pooler does
	config.ConnConfig.StatementCacheCapacity = 0
	config.ConnConfig.DescriptionCacheCapacity = 0
	config.MaxConns = clients
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	var load sync.WaitGroup
	for c := range clients {
		// An engine for each: they would gather their calls into few transactions else.
		engine := newEngine(t, pool, storeOf(t, w, w.RedisAddr, 30*time.Second), nil)
		load.Go(func() {
			for n := range each {
				r := reward(fmt.Sprintf("player-%d-%d", c, n))
				res, err := engine.Grant(t.Context(), r)
				if err != nil || res.Outcome != grant.Applied {
					t.Errorf("%s: %s, %v", r.EventID, res.Outcome, err)
					return
				}
			}
		})
	}
	load.Wait()
	if n := count(t, w, "select count(*) from reward_ledger"); n != clients*each {
		t.Errorf("%d postings, want %d", n, clients*each)
	}
	w.CheckInvariants(t)
}
