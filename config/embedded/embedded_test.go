package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"rewardctl/config/embedded"
)

// childMark in the environment makes this test program play the process that gets killed.
const childMark = "REWARDCTL_EMBEDDED_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childMark) != "" {
		playChild()
	}
	os.Exit(m.Run())
}

// playChild starts both servers, prints where they are, and waits to be killed.
func playChild() {
	ctx := context.Background()
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	rd, err := embedded.StartRedis(ctx, embedded.RedisOptions{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("up", pg.Pid(), pg.Dir(), rd.Pid(), rd.Dir())
	select {}
}

func startPostgres(t *testing.T, o embedded.PostgresOptions) *embedded.Postgres {
	t.Helper()
	pg, err := embedded.StartPostgres(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	return pg
}

func query(t *testing.T, pg *embedded.Postgres, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var answer string
	if err := conn.QueryRow(t.Context(), sql).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

// waitGone polls until a process is gone, and a folder with it.
func waitGone(t *testing.T, pid int, dir string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		_, err := os.Stat(dir)
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && errors.Is(err, fs.ErrNotExist) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d or folder %s is still there", pid, dir)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func TestPostgresServesAndLeavesNothing(t *testing.T) {
	t.Parallel()
	pg := startPostgres(t, embedded.PostgresOptions{})
	for setting, want := range map[string]string{
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
		"server_encoding": "UTF8", "data_checksums": "on", "listen_addresses": "127.0.0.1",
	} {
		if got := query(t, pg, "show "+setting); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	begin := time.Now()
	if err := pg.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("stopped in %v", time.Since(begin))
	waitGone(t, pg.Pid(), pg.Dir())
	if err := pg.Stop(); err != nil {
		t.Errorf("the second Stop: %v", err)
	}
}

func TestPostgresStartsQuicklyOnceTheTemplateIsThere(t *testing.T) {
	t.Parallel()
	startPostgres(t, embedded.PostgresOptions{})
	begin := time.Now()
	startPostgres(t, embedded.PostgresOptions{})
	took := time.Since(begin)
	t.Logf("started in %v", took)
	if took > 20*time.Second { // the aim is 3 s on an idle machine; this one may be busy
		t.Errorf("the second start took %v", took)
	}
}

func TestPostgresRefusesAWrongPassword(t *testing.T) {
	t.Parallel()
	pg := startPostgres(t, embedded.PostgresOptions{})
	config, err := pgx.ParseConfig(pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	config.Password = "guess"
	if conn, err := pgx.ConnectConfig(t.Context(), config); err == nil {
		conn.Close(t.Context())
		t.Fatal("a wrong password was accepted")
	}
	info, err := os.Stat(pg.PasswordFile())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the password file has mode %v", info.Mode())
	}
}

func TestPostgresFastAndSettings(t *testing.T) {
	t.Parallel()
	pg := startPostgres(t, embedded.PostgresOptions{
		Fast: true, Settings: map[string]string{"lock_timeout": "1234ms"},
	})
	if got := query(t, pg, "show fsync"); got != "off" {
		t.Errorf("fsync is %s", got)
	}
	if got := query(t, pg, "show lock_timeout"); got != "1234ms" {
		t.Errorf("lock_timeout is %s", got)
	}
}

// tempDir returns a folder that the server's account may enter even when we are root.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "rewardctl-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPostgresFindsItsDataAgainAfterACrash(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tempDir(t), "server")
	pg := startPostgres(t, embedded.PostgresOptions{Dir: dir})
	conn, err := pgx.Connect(t.Context(), pg.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "create table kept as select 'yes' as word"); err != nil {
		t.Fatal(err)
	}
	// A crash, not a clean stop: the data must be there again.
	if err := syscall.Kill(pg.Pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-pg.Done()
	if err := pg.Stop(); err != nil {
		t.Fatal(err)
	}
	pg = startPostgres(t, embedded.PostgresOptions{Dir: dir, Remove: true})
	if got := query(t, pg, "select word from kept"); got != "yes" {
		t.Errorf("found %q", got)
	}
	if err := pg.Stop(); err != nil {
		t.Fatal(err)
	}
	waitGone(t, pg.Pid(), dir)
}

func TestPostgresStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pg, err := embedded.StartPostgres(ctx, embedded.PostgresOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	waitGone(t, pg.Pid(), pg.Dir())
}

func TestPostgresSaysWhyItCannotStart(t *testing.T) {
	t.Parallel()
	_, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{
		Settings: map[string]string{"shared_buffers": "nonsense"},
	})
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Fatalf("the error does not name the setting: %v", err)
	}
}

func TestPostgresRefusesAForeignFolder(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	if err := os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{Dir: dir, Remove: true})
	if err == nil {
		t.Fatal("a folder with other things was accepted")
	}
	if _, err := os.Stat(filepath.Join(dir, "thesis.txt")); err != nil {
		t.Fatal(err)
	}
}

func TestManyStartAtOnce(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			pg, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := pg.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestTwoServersCannotShareAPort(t *testing.T) {
	t.Parallel()
	first := startPostgres(t, embedded.PostgresOptions{})
	_, err := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{Port: first.Port()})
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(first.Port())) {
		t.Fatalf("the error does not name the port: %v", err)
	}
	query(t, first, "select 'still here'")
}

func TestRedisServesAndLeavesNothing(t *testing.T) {
	t.Parallel()
	rd, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Addr: rd.Addr()})
	defer client.Close()
	if err := client.Set(t.Context(), "k", "v", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if err := rd.Stop(); err != nil {
		t.Fatal(err)
	}
	waitGone(t, rd.Pid(), rd.Dir())
}

func TestRedisTakesArgumentsAndKeepsItsFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(tempDir(t), "redis")
	o := embedded.RedisOptions{Dir: dir, Args: []string{
		"--appendonly", "yes", "--appendfsync", "always", "--requirepass", "s3cret",
	}}
	for _, want := range []string{"", "v"} {
		rd, err := embedded.StartRedis(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		client := redis.NewClient(&redis.Options{Addr: rd.Addr(), Password: "s3cret"})
		var got string
		deadline := time.Now().Add(5 * time.Second)
		for {
			got, err = client.Get(t.Context(), "k").Result()
			if err == nil || errors.Is(err, redis.Nil) || time.Now().After(deadline) {
				break
			}
		}
		if got != want {
			t.Fatalf("k is %q (%v), want %q", got, err, want)
		}
		if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		client.Close()
		// A crash, not a clean stop: the data must be there again.
		if err := syscall.Kill(rd.Pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-rd.Done()
		if err := rd.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMiniTicks(t *testing.T) {
	t.Parallel()
	mini, err := embedded.StartMini(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := mini.Stop(); err != nil {
			t.Error(err)
		}
	}()
	client := redis.NewClient(&redis.Options{Addr: mini.Addr()})
	defer client.Close()
	if err := client.Set(t.Context(), "lease", "1:a", 150*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	left, err := client.PTTL(t.Context(), "lease").Result()
	if err != nil || left <= 0 || left > 150*time.Millisecond {
		t.Fatalf("%v left, %v", left, err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for client.Exists(t.Context(), "lease").Val() == 1 {
		if time.Now().After(deadline) {
			t.Fatal("the lease does not run down")
		}
	}
}

func TestKilledStarterLeavesNothing(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childMark+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pgPid, rdPid int
	var pgDir, rdDir string
	if _, err := fmt.Sscanf(line, "up %d %s %d %s", &pgPid, &pgDir, &rdPid, &rdDir); err != nil {
		t.Fatalf("the child says %q: %v", line, err)
	}
	for _, pid := range []int{pgPid, rdPid} {
		if err := syscall.Kill(pid, 0); err != nil {
			t.Fatalf("server %d does not run: %v", pid, err)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // reports the kill
	waitGone(t, pgPid, pgDir)
	waitGone(t, rdPid, rdDir)
}
