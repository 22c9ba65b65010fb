package granttest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rewardctl/grant/granttest"
)

// pgWorld is a world with a proxy before its PostgreSQL and a one-column table.
type pgWorld struct {
	*granttest.World
	proxy *granttest.Proxy
}

func newPgWorld(t *testing.T) pgWorld {
	t.Helper()
	w := granttest.New(t)
	if _, err := w.Pool.Exec(t.Context(), "create table note (word text primary key)"); err != nil {
		t.Fatal(err)
	}
	target := net.JoinHostPort(w.Conn.Host, strconv.Itoa(int(w.Conn.Port)))
	return pgWorld{World: w, proxy: granttest.NewPostgresProxy(t, target)}
}

func (w pgWorld) dial(t *testing.T) *pgx.Conn {
	t.Helper()
	config := w.Conn.Copy()
	host, port, err := net.SplitHostPort(w.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	config.Host, config.Port, config.Fallbacks = host, uint16(n), nil
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}

// write inserts a word the way the engine writes: one pipeline of BEGIN, statement, COMMIT.
func write(ctx context.Context, conn *pgx.Conn, word string) error {
	batch := &pgx.Batch{}
	batch.Queue("begin")
	batch.Queue("insert into note (word) values ($1) returning word", word)
	batch.Queue("-- purpose: end the transaction\ncommit")
	return conn.SendBatch(ctx, batch).Close()
}

// words waits until nobody works in the world's schema any more, then lists the table.
func (w pgWorld) words(t *testing.T) []string {
	t.Helper()
	// The lock waits for every transaction that still writes to the table.
	rows, err := w.Pool.Query(t.Context(), "select word from note order by word for update")
	if err != nil {
		t.Fatal(err)
	}
	words, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return words
}

func TestPostgresProxyForwards(t *testing.T) {
	t.Parallel()
	w := newPgWorld(t)
	conn := w.dial(t)
	ctx := t.Context()
	if err := write(ctx, conn, "one"); err != nil {
		t.Fatal(err)
	}
	err := write(ctx, conn, "one")
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != "23505" {
		t.Fatalf("a second time: %v", err)
	}
	if _, err := conn.Exec(ctx, "rollback"); err != nil {
		t.Fatal(err)
	}
	var n int
	const many = "select count(*) from generate_series(1, $1::int) g, repeat('x', 1000) r"
	if err := conn.QueryRow(ctx, many, 5000).Scan(&n); err != nil || n != 5000 {
		t.Fatalf("%d, %v", n, err)
	}
	rows, err := conn.Query(ctx, "select repeat('x', 1000) from generate_series(1, 3000)")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(all) != 3000 {
		t.Fatalf("%d rows, %v", len(all), err)
	}
}

// TestPostgresProxyLosesAnswers loses the answer of the statement and of the commit, in each way:
// the client sees an error, the server has committed.
func TestPostgresProxyLosesAnswers(t *testing.T) {
	t.Parallel()
	rules := map[string]granttest.Rule{
		"statement": {At: granttest.AtReply, Match: granttest.SQL("insert into note")},
		"complete":  {At: granttest.AtComplete, Match: granttest.SQL("insert into note")},
		"commit":    {At: granttest.AtComplete, Match: granttest.Commit},
		"ready":     {At: granttest.AtReady, Match: granttest.SQL("insert into note")},
	}
	for name, rule := range rules {
		for _, fault := range granttest.LossFaults() {
			t.Run(name+"/"+fault.String(), func(t *testing.T) {
				t.Parallel()
				w := newPgWorld(t)
				conn := w.dial(t)
				hit := rule
				hit.Fault = fault
				lost := w.proxy.Add(hit)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := write(ctx, conn, "word")
				if err == nil {
					t.Fatal("answered although the answer was lost")
				}
				if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
					t.Fatalf("the server answered: %v", pgErr)
				}
				waitFor(t, lost.Fired(), "the rule")
				if words := w.words(t); len(words) != 1 {
					t.Fatalf("words: %q, want the one that was committed", words)
				}
				if err := write(t.Context(), w.dial(t), "next"); err != nil {
					t.Fatalf("a new connection: %v", err)
				}
			})
		}
	}
}

// TestPostgresProxyLosesRequests closes around the moment at which the server receives the
// statement: it is rolled back in each case.
func TestPostgresProxyLosesRequests(t *testing.T) {
	t.Parallel()
	rules := map[string]granttest.Rule{
		"before statement": {At: granttest.BeforeSend, Match: granttest.SQL("insert into note")},
		"after statement":  {At: granttest.AfterSend, Match: granttest.SQL("insert into note")},
		"before commit":    {At: granttest.BeforeSend, Match: granttest.Commit},
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newPgWorld(t)
			conn := w.dial(t)
			hit := rule
			hit.Fault = granttest.Close
			lost := w.proxy.Add(hit)
			if err := write(t.Context(), conn, "word"); err == nil {
				t.Fatal("answered")
			}
			waitFor(t, lost.Fired(), "the rule")
			// Inserting the same word waits for the lost transaction and then tells.
			if err := write(t.Context(), w.dial(t), "word"); err != nil {
				t.Fatalf("the lost statement took effect: %v", err)
			}
		})
	}
}

// TestPostgresProxyDelaysOnlyCommit holds the COMMIT on its way: the row is there but not
// committed until it is released.
func TestPostgresProxyDelaysOnlyCommit(t *testing.T) {
	t.Parallel()
	w := newPgWorld(t)
	conn := w.dial(t)
	held := w.proxy.Add(granttest.Rule{
		At: granttest.BeforeSend, Match: granttest.Commit, Fault: granttest.Hold,
	})
	done := make(chan error, 1)
	go func() { done <- write(t.Context(), conn, "word") }()
	waitFor(t, held.Fired(), "hold")
	var n int
	if err := w.Pool.QueryRow(t.Context(), "select count(*) from note").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 0 {
		t.Fatal("committed while the COMMIT was held")
	}
	held.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if words := w.words(t); fmt.Sprint(words) != "[word]" {
		t.Fatalf("words: %q", words)
	}
}
