package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
	"rewardctl/inspect"
)

// asked is the item server behind an HTTP sink, as the program wires it.
type asked struct{ sink *outbox.HTTPSink }

func (a asked) Ask(ctx context.Context, m grant.Message) inspect.Receipt {
	report := a.sink.Probe(ctx, m)
	r := inspect.Receipt{
		State: inspect.ReceiptNone, Kind: report.Kind, Amount: report.Amount, Detail: report.Detail,
		RetryAfter: report.RetryAfter,
	}
	switch {
	case report.Verdict == outbox.Repeated:
		r.State = inspect.ReceiptHas
	case report.Verdict == outbox.Refused:
		r.State = inspect.ReceiptOther
	case report.Verdict == outbox.Absent && report.Guessed:
		r.State = inspect.ReceiptUnasked
	case report.Verdict == outbox.Absent:
		r.State = inspect.ReceiptAbsent
	}
	return r
}

func (a asked) List(ctx context.Context, after string) ([]inspect.Received, string, error) {
	listed, next, err := a.sink.List(ctx, after)
	if errors.Is(err, outbox.ErrNoListing) {
		err = inspect.ErrNoList
	}
	var page []inspect.Received
	for _, one := range listed {
		page = append(page, inspect.Received(one))
	}
	return page, next, err
}

// receives starts an item server on the world's tables; wrap may stand in its way.
func (b *bench) receives(
	t testing.TB, wrap func(w http.ResponseWriter, r *http.Request, items http.Handler),
) asked {
	t.Helper()
	const secret = "shared"
	items, err := itemserver.New(t.Context(), b.Pool, itemserver.Options{Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wrap != nil {
			wrap(w, r, items)
			return
		}
		items.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	sink, err := outbox.NewHTTPSink(outbox.HTTPOptions{URL: server.URL, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	return asked{sink}
}

// deliverAll tells the item server of every posting, as a relay would have done.
const deliverAll = `insert into itemserver_receipt
	(key, player_id, reward_event_id, kind, amount, fence_token)
	select l.player_id || '/' || l.reward_event_id, l.player_id, l.reward_event_id, l.kind, l.amount,
		l.fence_token
	from reward_ledger l`

// compare runs the outbox check with the receiver asked.
func (b *bench) compare(
	t testing.TB, plan inspect.ReceiverPlan,
) (found []inspect.Finding, notes []string, err error) {
	t.Helper()
	err = b.reader.Audit(t.Context(), inspect.AuditPlan{
		Checks: []string{"outbox"}, Receiver: plan,
	}, inspect.AuditSink{
		Finding: func(f inspect.Finding) error {
			found = append(found, f)
			return nil
		},
		Note: func(check, text string) error {
			notes = append(notes, check+": "+text)
			return nil
		},
	})
	return found, notes, err
}

// Each way in which the outbox and the item server can disagree is planted beside deliveries that
// are right, and found alone.
func TestAuditComparesWithTheReceiver(t *testing.T) {
	t.Parallel()
	b := setup(t)
	receiver := b.receives(t, nil)
	for _, player := range []string{
		"ok", "missing", "less", "kind", "dead", "parked", "fresh", "doubt", "flying", "waits",
	} {
		b.exec(t, posting(player, "e", 50, 1, "5 h"))
	}
	b.exec(t, posting("old", "e", 50, 1, "100 h"))
	b.exec(t, deliverAll)
	for _, sql := range []string{
		"delete from itemserver_receipt where player_id in ('missing', 'waits', 'old')",
		"update itemserver_receipt set amount = 40 where player_id = 'less'",
		"update itemserver_receipt set kind = 'gold' where player_id = 'kind'",
		`update reward_outbox o set state = case l.player_id when 'dead' then 'dead'
			when 'parked' then 'parked' when 'flying' then 'claimed' else 'pending' end,
			doubt = l.player_id = 'doubt',
			claim_id = case when l.player_id = 'flying' then gen_random_uuid() end
			from reward_ledger l where l.id = o.ledger_id
			and l.player_id in ('dead', 'parked', 'fresh', 'doubt', 'flying', 'waits')`,
		`insert into itemserver_receipt (key, player_id, reward_event_id, kind, amount, fence_token)
			values ('stranger/e', 'stranger', 'e', 'gems', 7, 1), ('no key of ours', 'x', 'y', 'gems', 1, 1),
				('bad%00/e', 'x', 'y', 'gems', 1, 1)`,
	} {
		b.exec(t, sql)
	}
	found, notes, err := b.compare(t, inspect.ReceiverPlan{
		Receiver: receiver, From: time.Now().Add(-50 * time.Hour),
	})
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	found = slices.DeleteFunc(found, func(f inspect.Finding) bool { // the check's own
		return f.Word == "late" || f.Word == "dead"
	})
	want := []string{
		"not_received missing e", "received_early dead e", "received_early fresh e",
		"received_early parked e", "received_other kind e", "received_other less e",
		"received_unknown", "received_unknown", "received_unknown stranger e",
	}
	if got := words(found); !slices.Equal(got, want) {
		t.Fatalf("found %q\nwant %q", got, want)
	}
	for _, f := range found {
		b.complete(t, f)
		switch f.Word + " " + f.PlayerID {
		case "not_received missing":
			mustContain(t, "remedy", f.Remedy, "--state delivered")
		case "received_early dead":
			mustContain(t, "remedy", f.Remedy, "--state dead")
		case "received_other less":
			mustContain(t, "what", f.What, "posted 50 gems, but the receiver has 40 gems")
			mustContain(t, "remedy", f.Remedy, "rewardctl ledger reverse ")
			if !slices.Contains(f.Differs, "amount") || slices.Contains(f.Differs, "kind") {
				t.Errorf("differs in %q", f.Differs)
			}
		case "received_unknown stranger":
			mustContain(t, "remedy", f.Remedy, "--player stranger --event e --kind gems --amount 7")
		}
	}
}

// A receiver that cannot list is asked about each posting all the same, and the audit says what it
// did not see; one that cannot be asked at all, or is down, ends it: nothing is called missing.
func TestAuditOfAReceiverThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 40 {
		b.exec(t, posting(fmt.Sprintf("p%d", i), "e", 50, 1, "5 h"))
	}
	b.receives(t, nil)
	b.exec(t, deliverAll)
	noList := b.receives(t, func(w http.ResponseWriter, r *http.Request, items http.Handler) {
		if r.URL.Query().Get("key") == "" {
			http.NotFound(w, r)
			return
		}
		items.ServeHTTP(w, r)
	})
	found, notes, err := b.compare(t, inspect.ReceiverPlan{Receiver: noList})
	if err != nil || len(found) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "not list") {
		t.Error(words(found), notes, err)
	}
	never := b.receives(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.NotFound(w, r)
	})
	found, _, err = b.compare(t, inspect.ReceiverPlan{Receiver: never})
	var problem *inspect.ReceiverError
	if !errors.As(err, &problem) || !problem.Unasked || len(found) > 0 {
		t.Error(words(found), err)
	}
	down := b.receives(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "out of order", http.StatusServiceUnavailable)
	})
	found, _, err = b.compare(t, inspect.ReceiverPlan{Receiver: down, Concurrency: 16})
	if !errors.As(err, &problem) || problem.Unasked || len(found) > 0 ||
		!strings.Contains(err.Error(), "out of order") {
		t.Error(words(found), err)
	}
	// One key in trouble is told; the rest is compared.
	trouble := b.receives(t, func(w http.ResponseWriter, r *http.Request, items http.Handler) {
		if r.URL.Query().Get("key") == "p7/e" {
			http.Error(w, "stuck", http.StatusInternalServerError)
			return
		}
		items.ServeHTTP(w, r)
	})
	found, _, err = b.compare(t, inspect.ReceiverPlan{Receiver: trouble})
	if got := words(found); err != nil || !slices.Equal(got, []string{"not_answered"}) ||
		found[0].Count != 1 {
		t.Fatal(got, err)
	}
	b.complete(t, found[0])
}

// Questions keep to the rate, and a cancelled run ends at once even when the receiver hangs.
func TestAuditAsksWithinBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
		lease_owner, actor, reason) select 'p' || n, 'e', 'gems', 1, 1, 'w', 'a', 'r'
		from generate_series(1, 60) n`)
	b.exec(t, "insert into reward_outbox (ledger_id, state) select id, 'delivered' from reward_ledger")
	var now, most, all atomic.Int64
	hang := make(chan struct{})
	held := make(chan struct{}, 100)
	t.Cleanup(func() { close(hang) })
	var hanging atomic.Bool
	receiver := b.receives(t, func(w http.ResponseWriter, r *http.Request, items http.Handler) {
		n := now.Add(1)
		defer now.Add(-1)
		most.Store(max(most.Load(), n))
		all.Add(1)
		if hanging.Load() {
			held <- struct{}{}
			select {
			case <-hang:
			case <-r.Context().Done():
			}
			return
		}
		items.ServeHTTP(w, r)
	})
	b.exec(t, deliverAll)
	began := time.Now()
	_, _, err := b.compare(t, inspect.ReceiverPlan{Receiver: receiver, Rate: 60, Concurrency: 3})
	if took := time.Since(began); err != nil || took < 900*time.Millisecond {
		t.Errorf("60 questions at 60 per second took %v: %v", took, err)
	}
	if most.Load() > 3 || all.Load() != 61 { // one page of the list
		t.Errorf("%d at once, %d in all", most.Load(), all.Load())
	}
	hanging.Store(true)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	var stopped time.Time
	go func() {
		<-held
		stopped = time.Now()
		cancel(stop)
	}()
	err = b.reader.Audit(ctx, inspect.AuditPlan{
		Checks: []string{"outbox"}, Receiver: inspect.ReceiverPlan{Receiver: receiver},
	}, inspect.AuditSink{})
	if took := time.Since(stopped); !errors.Is(err, stop) || took > time.Second {
		t.Errorf("%v after %v", err, took)
	}
}
