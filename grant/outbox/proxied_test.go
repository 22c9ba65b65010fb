package outbox_test

import (
	"net"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant/granttest"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// proxied returns a pool whose connections go through a proxy.
func (b *bench) proxied(t testing.TB) (*pgxpool.Pool, *granttest.Proxy) {
	t.Helper()
	direct := net.JoinHostPort(b.Conn.Host, strconv.Itoa(int(b.Conn.Port)))
	proxy := granttest.NewPostgresProxy(t, direct)
	at, err := url.Parse(b.URL())
	if err != nil {
		t.Fatal(err)
	}
	at.Host = proxy.Addr()
	pool, err := pgxpool.New(t.Context(), at.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool, proxy
}

func statement(part string) func(granttest.Frame) bool {
	return func(f granttest.Frame) bool { return strings.Contains(f.SQL, part) }
}

// The answers to claims and marks are lost on their way: nothing is lost or applied twice, and a
// mark that was committed is found committed, not taken for a claim that was lost.
func TestLostAnswersOfTheDatabase(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]string{
		"claim": "from reward_outbox_claim(", "mark": "update reward_outbox o\n    set state = r.state",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, itemserver.Options{})
			b.post(t, 10, 5)
			pool, proxy := b.proxied(t)
			rule := proxy.Add(granttest.Rule{
				At: granttest.AtComplete, Match: statement(part), Times: 2, Fault: granttest.Close,
			})
			opts := quick()
			opts.ClaimFor, opts.Timeout = secondsOf(3), secondsOf(2)
			r, err := outbox.New(pool, sink(t, b.server.URL), opts)
			if err != nil {
				t.Fatal(err)
			}
			stop := start(t, r)
			b.allDelivered(t)
			stop()
			if rule.Count() != 2 {
				t.Errorf("the fault was met %d times", rule.Count())
			}
			b.arrived(t)
			b.inOrder(t)
			b.CheckInvariants(t)
			if tally := r.Tally(); name == "mark" && (tally.Delivered != 50 || tally.Lost != 0) {
				t.Errorf("%+v", tally)
			}
		})
	}
}

// PostgreSQL goes away and comes back while rows are on their way.
func TestDatabaseGoesAndComes(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	pool, proxy := b.proxied(t)
	opts := quick()
	opts.ClaimFor, opts.Timeout = secondsOf(3), secondsOf(2)
	opts.Listen = true
	r, err := outbox.New(pool, sink(t, b.server.URL), opts)
	if err != nil {
		t.Fatal(err)
	}
	start(t, r)
	for round := range 3 {
		b.post(t, 10, round+1)
		until(t, "some delivered", func() bool { return r.Tally().Delivered > 0 })
		proxy.SetPath(granttest.Refused)
		until(t, "unhealthy", func() bool { return !r.Health().OK })
		proxy.SetPath(granttest.Open)
		b.allDelivered(t)
	}
	until(t, "healthy", func() bool { return r.Health().OK })
	b.arrived(t)
	b.CheckInvariants(t)
}
