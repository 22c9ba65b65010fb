package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"rewardctl/inspect"
)

// record is everything that a run tells.
type record struct {
	start    inspect.AuditStart
	found    []inspect.Finding
	units    []inspect.AuditUnit
	checks   []inspect.AuditCheckDone
	progress []inspect.AuditProgress
}

func (r *record) sink() inspect.AuditSink {
	return inspect.AuditSink{
		Start:    func(s inspect.AuditStart) error { r.start = s; return nil },
		Finding:  func(f inspect.Finding) error { r.found = append(r.found, f); return nil },
		Unit:     func(u inspect.AuditUnit) error { r.units = append(r.units, u); return nil },
		Check:    func(c inspect.AuditCheckDone) error { r.checks = append(r.checks, c); return nil },
		Progress: func(p inspect.AuditProgress) { r.progress = append(r.progress, p) },
	}
}

// marks returns where the next run begins.
func (r *record) marks() map[string]int64 {
	marks := map[string]int64{}
	for _, c := range r.checks {
		marks[c.Check] = c.Mark
	}
	return marks
}

// dirty plants one anomaly per check for a player.
func dirty(player string) []string {
	at := func(sql string) string { return fmt.Sprintf(sql, literal(player)) }
	return []string{
		posting(player, "twin", 50, 1, "30 h"), double(player, "twin", 50, 1),
		posting(player, "near", 40, 2, "5 h"), posting(player, "NEAR", 40, 3, "5 h"),
		posting(player, "login-1764506097", 7, 4, "5 h"),
		posting(player, "claim", 11, 5, "5 h"), posting(player, "low", 12, 4, "5 h"),
		at("update reward_claim set amount = 99 where player_id = %s and reward_event_id = 'claim'"),
		at("update reward_balance set amount = 1 where player_id = %s"),
		at(`delete from reward_outbox o using reward_ledger l
			where l.id = o.ledger_id and l.player_id = %s and l.reward_event_id = 'claim'`),
	}
}

// settle waits until everything written so far lies below the mark of the next run: a transaction
// of another test that is still open holds the mark back, and rows would rightly be told twice.
func (b *bench) settle(t *testing.T) {
	t.Helper()
	var written string
	b.query(t, &written, "select pg_current_xact_id()::text")
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	limit := time.After(30 * time.Second)
	for {
		var passed bool
		b.query(t, &passed, `select pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8`, written)
		if passed {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatal("a transaction stays open")
		}
	}
}

// An incremental run reports what is new and nothing else, even of players who are known for
// other findings.
func TestAuditSinceLast(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, dropLedgerKey)
	for _, sql := range dirty("old") {
		b.exec(t, sql)
	}
	b.exec(t, posting("known", "twin", 50, 1, "30 h"))
	b.exec(t, posting("known", "near", 40, 2, "5 h"))
	b.settle(t)
	var first record
	if err := b.reader.Audit(t.Context(), inspect.AuditPlan{Parts: 2}, first.sink()); err != nil {
		t.Fatal(err)
	}
	again := inspect.AuditPlan{Parts: 2, Origin: first.start.Origin, Since: first.marks()}
	var same record
	if err := b.reader.Audit(t.Context(), again, same.sink()); err != nil {
		t.Fatal(err)
	}
	if !same.start.Incremental || len(same.start.Full) > 0 {
		t.Errorf("not incremental: %+v", same.start)
	}
	same.found = slices.DeleteFunc(same.found, func(f inspect.Finding) bool {
		return f.Check == "schema" // always looked at as a whole; the key was dropped above
	})
	// What becomes late by doing nothing is told every time.
	if got := words(same.found); len(got) > 0 {
		t.Errorf("nothing is new, but found %q", got)
	}
	for _, sql := range dirty("new") {
		b.exec(t, sql)
	}
	b.exec(t, double("known", "twin", 50, 1))
	b.exec(t, posting("known", "near-retry", 40, 3, "4 h"))
	b.exec(t, posting("old", "fine", 3, 6, "4 h"))
	var second record
	again.Since = same.marks()
	if err := b.reader.Audit(t.Context(), again, second.sink()); err != nil {
		t.Fatal(err)
	}
	second.found = slices.DeleteFunc(second.found, func(f inspect.Finding) bool {
		return f.Check == "schema"
	})
	want := []string{
		"balance known", "balance new", "duplicate known twin", "duplicate new twin",
		"random", "respelled known near", "respelled new near", "sum known twin", "sum new claim",
		"sum new twin", "token_down new low", "unqueued known twin", "unqueued new claim",
		"unqueued new twin",
	}
	got := slices.DeleteFunc(words(second.found), func(w string) bool {
		// The balance of "old" changed, so that its old fault concerns a new row.
		return w == "balance old" || w == "token_down known twin"
	})
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}

// Marks of another server, or from too long ago, are not used: everything is read.
func TestAuditSinceElsewhereReadsEverything(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, dropLedgerKey)
	b.exec(t, posting("p", "e", 1, 1, "1 h"))
	b.exec(t, double("p", "e", 1, 1))
	var first record
	plan := inspect.AuditPlan{Checks: []string{"duplicate-key"}}
	if err := b.reader.Audit(t.Context(), plan, first.sink()); err != nil {
		t.Fatal(err)
	}
	mark := first.checks[0].Mark
	for name, p := range map[string]inspect.AuditPlan{
		"another origin": {Origin: "else", Since: map[string]int64{"duplicate-key": mark}},
		"never run":      {Origin: first.start.Origin, Since: map[string]int64{}},
		"too far": {Origin: first.start.Origin, Since: map[string]int64{
			"duplicate-key": mark - 1<<31 - 1000,
		}},
		"in the future": {Origin: first.start.Origin, Since: map[string]int64{
			"duplicate-key": mark + 1_000_000,
		}},
	} {
		p.Checks = plan.Checks
		var r record
		if err := b.reader.Audit(t.Context(), p, r.sink()); err != nil {
			t.Fatal(err)
		}
		if len(r.found) != 1 || r.start.Full["duplicate-key"] == "" || r.start.Incremental {
			t.Errorf("%s: %q, %+v", name, words(r.found), r.start)
		}
	}
}

// A run that was cut off goes on where it was: what it had read is not read again, and together
// the two find what one would have found.
func TestAuditGoesOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, dropLedgerKey)
	for _, player := range []string{"a", "b", "c", "d", "e"} {
		for _, sql := range dirty(player) {
			b.exec(t, sql)
		}
	}
	plan := inspect.AuditPlan{Parts: 4}
	var whole record
	if err := b.reader.Audit(t.Context(), plan, whole.sink()); err != nil {
		t.Fatal(err)
	}
	for stopAt := 0; stopAt < len(whole.units); stopAt += 5 {
		ctx, cancel := context.WithCancelCause(t.Context())
		cut := errors.New("cut off")
		var first, second record
		sink := first.sink()
		sink.Unit = func(u inspect.AuditUnit) error {
			first.units = append(first.units, u)
			if len(first.units) > stopAt {
				cancel(cut)
			}
			return nil
		}
		err := b.reader.Audit(ctx, plan, sink)
		if !errors.Is(err, cut) && stopAt+1 < len(whole.units) {
			t.Fatal(err)
		}
		rest := plan
		rest.Origin, rest.Done = first.start.Origin, map[string]map[string]int64{}
		for _, u := range first.units {
			if rest.Done[u.Check] == nil {
				rest.Done[u.Check] = map[string]int64{}
			}
			rest.Done[u.Check][u.Unit] = u.Mark
		}
		if err := b.reader.Audit(t.Context(), rest, second.sink()); err != nil {
			t.Fatal(err)
		}
		if n := len(first.units) + len(second.units); n != len(whole.units) {
			t.Errorf("%d units were read, want %d", n, len(whole.units))
		}
		got := words(append(first.found, second.found...))
		if want := words(whole.found); !slices.Equal(got, want) {
			t.Errorf("stopped after %d: found %q, want %q", stopAt+1, got, want)
		}
		if len(second.checks) != len(whole.checks) {
			t.Errorf("%d checks were ended, want %d", len(second.checks), len(whole.checks))
		}
		cancel(nil)
	}
	last := whole.progress[len(whole.progress)-1]
	if last.UnitsDone != last.Units || last.Units != len(whole.units) || last.Findings == 0 {
		t.Errorf("the last progress is %+v", last)
	}
}

// The number of reported findings is bounded; the rest is counted.
func TestAuditBoundsFindings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, dropLedgerKey)
	for range 2 {
		b.exec(t, `insert into reward_ledger (player_id, reward_event_id, kind, amount, fence_token,
			lease_owner, actor, reason) select 'p' || n, 'e', 'gems', 1, 1, 'w', 'a', 'r'
			from generate_series(1, 50) n`)
	}
	var r record
	err := b.reader.Audit(t.Context(), inspect.AuditPlan{
		Checks: []string{"duplicate-key"}, FindingsMax: 7, Parts: 4,
	}, r.sink())
	if err != nil {
		t.Fatal(err)
	}
	if c := r.checks[0]; len(r.found) != 7 || c.Findings != 50 || c.Dropped != 43 {
		t.Errorf("%d reported, %+v", len(r.found), c)
	}
}

// The studio's own table: doubles, respelled ids, rows without an id, and what cannot be read.
func TestAuditForeignLedger(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `create table "old_log" (who bigint, key text, item text, qty numeric, made timestamp)`)
	b.exec(t, `insert into old_log values
		(1, 'daily:1', 'gems', 50, '2026-11-01 10:00'), (1, 'daily:1', 'gems', 50, '2026-11-02 10:00'),
		(1, 'daily:2', 'gems', 50.00, '2026-11-02 10:00'), (2, 'daily:1', 'gems', 50, '2026-11-01 10:00'),
		(3, 'quest', 'gems', 50, '2026-11-01 10:00'), (3, 'QUEST ', 'Gems', 50.0, '2026-11-01 10:01'),
		(4, null, 'gems', 1, '2026-11-01 10:01'), (null, 'x', 'gems', 1, '2026-11-01 10:01'),
		(5, '  ', 'gems', 1, '2026-11-01 10:01'), (5, '  ', 'gems', 1, '2026-11-01 10:01'),
		(6, 'gift:1b4e28ba-2fa1-11d2-883f-0016d3cca427', 'gems', 1, '2026-11-01 10:01')`)
	table := inspect.LedgerTable{
		Table: "old_log", Player: "who", Event: "key", Kind: "item", Amount: "qty", At: "made",
	}
	with := func(change func(*inspect.LedgerTable)) inspect.AuditPlan {
		one := table
		change(&one)
		return inspect.AuditPlan{
			Checks: []string{"foreign-ledger"}, Ledgers: []inspect.LedgerTable{one}, Parts: 4,
		}
	}
	unreadable := []string{"unreadable"}
	for name, c := range map[string]struct {
		plan inspect.AuditPlan
		want []string
	}{
		"as it is": {with(func(*inspect.LedgerTable) {}), []string{
			"duplicate 1 daily:1", "keyless", "random", "respelled 3 quest",
		}},
		"with its schema": {
			with(func(l *inspect.LedgerTable) { l.Table = b.Schema + ".old_log" }),
			[]string{"duplicate 1 daily:1", "keyless", "random", "respelled 3 quest"},
		},
		"keys alone": {
			with(func(l *inspect.LedgerTable) { l.Kind, l.Amount, l.At = "", "", "" }),
			[]string{"duplicate 1 daily:1", "keyless", "random"},
		},
		"no such table":  {with(func(l *inspect.LedgerTable) { l.Table = "nope" }), unreadable},
		"no such column": {with(func(l *inspect.LedgerTable) { l.Event = "nope" }), unreadable},
		"no time":        {with(func(l *inspect.LedgerTable) { l.At = "key" }), unreadable},
		"no number":      {with(func(l *inspect.LedgerTable) { l.Amount = "key" }), unreadable},
	} {
		found := b.audit(t, c.plan)
		if got := words(found); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
		for _, f := range found {
			if f.Word != "unreadable" || name != "no such table" {
				b.complete(t, f)
			}
		}
	}
	b.settle(t)
	var first, second record
	plan := with(func(*inspect.LedgerTable) {})
	if err := b.reader.Audit(t.Context(), plan, first.sink()); err != nil {
		t.Fatal(err)
	}
	b.exec(t, `insert into old_log values (2, 'daily:1', 'gems', 50, '2026-11-03 10:00')`)
	plan.Origin, plan.Since = first.start.Origin, first.marks()
	if err := b.reader.Audit(t.Context(), plan, second.sink()); err != nil {
		t.Fatal(err)
	}
	if got := words(second.found); !slices.Equal(got, []string{"duplicate 2 daily:1"}) {
		t.Errorf("since: found %q", got)
	}
}
