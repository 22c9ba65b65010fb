package repair_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"
	"rewardctl/repair"
)

// postings counts the ledger and sums it up.
func (b *bench) postings(t *testing.T) (rows, sum int64) {
	t.Helper()
	err := b.Pool.QueryRow(t.Context(),
		"select count(*), coalesce(sum(amount), 0)::bigint from reward_ledger").Scan(&rows, &sum)
	if err != nil {
		t.Fatal(err)
	}
	return rows, sum
}

// worker is another engine on the same servers, as in another process.
func (b *bench) worker(t *testing.T, name string, opt grant.Options) *grant.Engine {
	t.Helper()
	store, err := lease.New(b.Redis, lease.Options{Prefix: b.Prefix, TTL: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	opt.Worker, opt.NewID = name+"@host/1", rand.Text
	engine, err := grant.NewEngine(b.Pool, store, opt)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// B29: two operators import the same 10,000 rows at once, one of them reversed. No deadlock, no
// row twice, none missing.
func TestB29TwoImportsAtOnce(t *testing.T) {
	t.Parallel()
	const n = 10_000
	b := setup(t)
	rows := strings.Split(strings.TrimSuffix(manyRows(n), "\n"), "\n")
	header, rows := rows[0], rows[1:]
	forward := writeFile(t, "a.csv", header+"\n"+strings.Join(rows, "\n")+"\n")
	slices.Reverse(rows)
	backward := writeFile(t, "b.csv", header+"\n"+strings.Join(rows, "\n")+"\n")

	reports := make([]repair.ApplyReport, 2)
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i, path := range []string{forward, backward} {
		engine, file := b.worker(t, fmt.Sprintf("import-%d", i), grant.Options{}), openFile(t, path)
		both.Go(func() {
			reports[i], errs[i] = repair.ApplyFile(t.Context(), engine, file,
				repair.ApplyOptions{HeldRounds: 40})
		})
	}
	both.Wait()
	applied, replayed := 0, 0
	for i := range reports {
		if errs[i] != nil {
			t.Errorf("import %d: %v; %+v", i, errs[i], reports[i].Counts)
		}
		applied += reports[i].Counts.Of(grant.Applied)
		replayed += reports[i].Counts.Of(grant.Replayed)
	}
	if applied != n || replayed != n {
		t.Errorf("%d granted, %d already granted; want %d each", applied, replayed, n)
	}
	if posted, sum := b.postings(t); posted != n || sum != n {
		t.Errorf("%d postings of %d gems", posted, sum)
	}
	b.CheckInvariants(t)
}

// B42: a file that was cut off after about 600 of 1,000 rows is applied again as a whole, then
// under a new name.
func TestB42PartialThenTheWholeFileAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := writeFile(t, "grants.csv", manyRows(1000))
	out := filepath.Join(t.TempDir(), "out.csv")
	ctx, cancel := context.WithCancel(t.Context())
	first, _, err := applyFile(t, ctx, b.engine, path, repair.ApplyOptions{
		BatchMax: 100, ResultPath: out, OnProgress: func(p repair.ApplyProgress) {
			if p.Done >= 600 {
				cancel()
			}
		},
	})
	granted := first.Counts.Of(grant.Applied)
	if !errors.Is(err, context.Canceled) || granted < 600 || granted == 1000 {
		t.Fatalf("%v, %d granted", err, granted)
	}
	if posted, _ := b.postings(t); posted != int64(granted) {
		t.Fatalf("%d postings, %d said", posted, granted)
	}
	if rows := readCSV(t, first.ResultPath); len(rows) != 1000 || rows[999][5] != "not_run" {
		t.Errorf("%s: %d rows", first.ResultPath, len(rows))
	}

	second, _, err := applyFile(t, t.Context(), b.worker(t, "second", grant.Options{}), path,
		repair.ApplyOptions{ResultPath: out})
	if err != nil || second.Counts.Of(grant.Replayed) != granted ||
		second.Counts.Of(grant.Applied) != 1000-granted {
		t.Errorf("second run: %v, %+v", err, second.Counts)
	}
	other := writeFile(t, "under-a-new-name.csv", manyRows(1000))
	third, _, err := applyFile(t, t.Context(), b.engine, other, repair.ApplyOptions{})
	if err != nil || third.Counts.Of(grant.Replayed) != 1000 {
		t.Errorf("third run: %v, %+v", err, third.Counts)
	}
	fourth, _, err := applyFile(t, t.Context(), b.engine, out, repair.ApplyOptions{})
	if err != nil || fourth.Counts.Of(grant.Replayed) != 1000 {
		t.Errorf("the result file applied: %v, %+v", err, fourth.Counts)
	}
	if posted, sum := b.postings(t); posted != 1000 || sum != 1000 {
		t.Errorf("%d postings of %d gems", posted, sum)
	}
	b.CheckInvariants(t)
}

// B19: the same file with another amount is a mismatch that names both, and changes nothing.
func TestB19ChangedFileIsAMismatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, _, err := apply(t, b.engine, manyRows(3), repair.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(manyRows(3), "player-1,gems,1", "player-1,gems,500", 1)
	report, lines, err := apply(t, b.engine, changed, repair.ApplyOptions{})
	if err != nil || words(lines) != "replayed mismatch replayed" || report.GoOn != "" {
		t.Fatalf("%v, %s, %q", err, words(lines), report.GoOn)
	}
	mustContain(t, lines[0].Detail, "granted before, at 20")
	mustContain(t, lines[1].Detail, "amount is 1 there, 500 here", "posting ")
	if _, sum := b.postings(t); sum != 3 {
		t.Errorf("%d gems", sum)
	}
	b.CheckInvariants(t)
}

// B39: ids that look like numbers stay texts through the ledger, the result and back.
func TestB39LeadingZerosSurvive(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out := filepath.Join(t.TempDir(), "out.csv")
	text := "player_id,event,kind,amount\n00123,007,gems,5\n123,007,gems,5\n"
	if _, _, err := apply(t, b.engine, text, repair.ApplyOptions{ResultPath: out}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	err := b.Pool.QueryRow(t.Context(),
		"select array_agg(player_id || ' ' || reward_event_id order by player_id) "+
			"from reward_ledger").Scan(&ids)
	if err != nil || !slices.Equal(ids, []string{"00123 007", "123 007"}) {
		t.Errorf("%q, %v", ids, err)
	}
	report, lines, err := applyFile(t, t.Context(), b.engine, out, repair.ApplyOptions{})
	if err != nil || words(lines) != "replayed replayed" {
		t.Errorf("%v, %+v", err, report.Counts)
	}
}

// B21 on real servers: no database error reaches the user.
func TestB21OnRealServers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, lines, err := apply(t, b.engine, "player_id,event,kind,amount\np1,e1,gems,100\n"+
		"p2,e1,gems,100\np3,e1,gems,1\np1,e1,gems,100\np4,e1,gems,1\np2,e1,gems,250\n"+
		"p5,e1,gems,1\np1,e1,gems,100\n", repair.ApplyOptions{SkipInvalid: true})
	want := "applied rejected applied replayed applied rejected applied replayed"
	if err != nil || words(lines) != want {
		t.Errorf("%v, %s", err, words(lines))
	}
	if posted, sum := b.postings(t); posted != 4 || sum != 103 {
		t.Errorf("%d postings of %d gems", posted, sum)
	}
	b.CheckInvariants(t)
}

// A lease that a worker holds is waited for; one without end is not, and says who has it.
func TestHeldLeaseOnRealServers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	short := b.take(t, grant.ResourceFor("player-1"), "other")
	held := b.take(t, grant.ResourceFor("player-2"), "stuck")
	waits := 0
	_, lines, err := apply(t, b.engine, manyRows(4), repair.ApplyOptions{
		Wait: func(ctx context.Context, _ time.Duration) error {
			if waits++; waits == 2 {
				return errors.Join(b.store.Release(ctx, []grant.Lease{short})...)
			}
			return ctx.Err()
		},
	})
	if err != nil || words(lines) != "applied applied lease_held applied" {
		t.Fatalf("%v, %s after %d waits", err, words(lines), waits)
	}
	mustContain(t, lines[2].Detail, held.Owner, fmt.Sprint("token ", held.Token))
	b.CheckInvariants(t)
}
