package outbox_test

import (
	"crypto/rand"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant/granttest"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

func TestMain(m *testing.M) { granttest.Main(m) }

const secret = "the shared secret"

// bench is a world with an item server in it.
type bench struct {
	*granttest.World
	items  *itemserver.Server
	server *httptest.Server
}

// setup starts an item server in a world of its own.
func setup(t testing.TB, opts itemserver.Options) *bench {
	t.Helper()
	w := granttest.New(t)
	opts.Secret = secret
	items, err := itemserver.New(t.Context(), w.Pool, opts)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(items)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(server.Close)
	return &bench{World: w, items: items, server: server}
}

// sink returns a sink that posts to an address.
func sink(t testing.TB, url string) *outbox.HTTPSink {
	t.Helper()
	s, err := outbox.NewHTTPSink(outbox.HTTPOptions{URL: url, Secret: secret, Connections: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// quick are options with short waits.
func quick() outbox.Options {
	return outbox.Options{
		Name: "relay@test/" + rand.Text()[:6], ClaimFor: 20 * time.Second,
		Timeout: 10 * time.Second, BackoffMin: 5 * time.Millisecond,
		BackoffMax: 50 * time.Millisecond, PauseMax: 50 * time.Millisecond,
		PollMax: 50 * time.Millisecond, StrikesMax: 5,
	}
}

func (b *bench) relay(t testing.TB, s outbox.Sink, opts outbox.Options) *outbox.Relay {
	t.Helper()
	r, err := outbox.New(b.Pool, s, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// post inserts postings, n for each of the players, in turns: p-1 e-1, p-2 e-1, ..., p-1 e-2.
// Those that are there already are left alone.
func (b *bench) post(t testing.TB, players, n int) {
	t.Helper()
	b.exec(t, `with posted as (
			insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
				lease_owner, actor, reason)
			select 'p-' || p, 'e-' || lpad(e::text, 4, '0'), 'gems', e, e, 'w@test/1#' || p, 'test',
				'test'
			from generate_series(1, $2::bigint) e, generate_series(1, $1::bigint) p
			order by e, p
			on conflict (player_id, reward_event_id) do nothing
			returning id, player_id, reward_event_id, kind, amount, fence_token
		), claimed as (
			insert into reward_claim (player_id, reward_event_id, kind, amount, fence_token, status)
			select player_id, reward_event_id, kind, amount, fence_token, 'applied' from posted
		), balanced as (
			insert into reward_balance as b (player_id, kind, amount)
			select player_id, kind, sum(amount) from posted group by player_id, kind
			on conflict (player_id, kind) do update set amount = b.amount + excluded.amount)
		insert into reward_outbox (ledger_id, player_id) select id, player_id from posted`,
		players, n)
}

func (b *bench) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := b.Pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bench) count(t testing.TB, sql string, args ...any) (n int64) {
	t.Helper()
	if err := b.Pool.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (b *bench) texts(t testing.TB, sql string, args ...any) []string {
	t.Helper()
	rows, err := b.Pool.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// states tells how many rows are in each state, such as "dead 10, delivered 500".
func (b *bench) states(t testing.TB) string {
	t.Helper()
	return strings.Join(b.texts(t, `select state || ' ' || count(*) from reward_outbox
		group by state order by state`), ", ")
}

// arrived fails the test unless the item server has exactly the delivered postings, each applied
// once and with its amount.
func (b *bench) arrived(t testing.TB) {
	t.Helper()
	for _, line := range b.texts(t, `
		select coalesce(l.player_id || ' ' || l.reward_event_id || ' did not arrive',
			r.key || ' was never posted or not marked')
		from (select l.player_id, l.reward_event_id, l.kind, l.amount from reward_ledger l
			join reward_outbox o on o.ledger_id = l.id where o.state = 'delivered') l
		full join itemserver_receipt r on r.player_id = l.player_id
			and r.reward_event_id = l.reward_event_id and r.kind = l.kind and r.amount = l.amount
		where l.player_id is null or r.key is null
		union all
		select i.player_id || ' has ' || i.amount || ' ' || i.kind || ', not ' || r.total
		from itemserver_item i
		join (select player_id, kind, sum(amount) as total from itemserver_receipt
			group by player_id, kind) r using (player_id, kind)
		where i.amount <> r.total
		limit 10`) {
		t.Error(line)
	}
}

// until waits until a condition holds.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	limit := time.NewTimer(60 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-limit.C:
			t.Fatal("not within a minute: " + what)
		case <-tick.C:
		}
	}
}

// allDelivered waits until every row is delivered.
func (b *bench) allDelivered(t testing.TB) {
	t.Helper()
	until(t, "all delivered", func() bool {
		return b.count(t, `select count(*) from (select from reward_outbox
			where state <> 'delivered' limit 1) u`) == 0
	})
}
