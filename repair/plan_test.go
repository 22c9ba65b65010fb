package repair_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// planner is an operator in a session of a database user of its own, so that two of them are two
// people to the database.
func (b *bench) planner(t *testing.T, name string, policy repair.PlanPolicy) *repair.Operator {
	t.Helper()
	user := pgx.Identifier{b.Schema + "_" + name}.Sanitize()
	var there bool
	err := b.Pool.QueryRow(t.Context(), "select exists (select from pg_roles where rolname = $1)",
		b.Schema+"_"+name).Scan(&there)
	if err != nil {
		t.Fatal(err)
	}
	if !there {
		b.exec(t, "create role "+user+" superuser login password '"+
			strings.ReplaceAll(b.Conn.Password, "'", "''")+"'")
		t.Cleanup(func() { b.dropRole(t, user) })
	}
	return b.session(t, name, name, policy)
}

// session is an operator under any name in the session of a planner.
func (b *bench) session(
	t *testing.T, user, name string, policy repair.PlanPolicy,
) *repair.Operator {
	t.Helper()
	o, err := repair.New(b.poolOf(t, user), b.store, b.engine, repair.Options{
		Operator: name, NewID: rand.Text, LockTimeout: 300 * time.Millisecond, Plans: policy,
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// poolOf connects as the database user of a planner.
func (b *bench) poolOf(t *testing.T, user string) *pgxpool.Pool {
	t.Helper()
	settings := b.Pool.Config().Copy()
	settings.ConnConfig.User = b.Schema + "_" + user
	pool, err := pgxpool.NewWithConfig(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func (b *bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.Pool.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// dropRole removes a role after its sessions ended. The test's context is over by then.
func (b *bench) dropRole(t *testing.T, user string) {
	t.Helper()
	ctx, cancel := lateContext(t)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, b.Conn.Copy())
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "drop role "+user); err != nil {
		t.Error(err)
	}
}

func planOf(
	t *testing.T, o *repair.Operator, path string, req repair.PlanRequest,
) (repair.Plan, repair.PlanPreview) {
	t.Helper()
	if req.Reason == "" {
		req.Reason = "outage on 30 November"
	}
	req.Campaign = "season-34"
	plan, preview, err := o.MakePlan(t.Context(), openFile(t, path), req)
	if err != nil {
		t.Fatal(err)
	}
	return plan, preview
}

func runPlan(
	t *testing.T, b *bench, o *repair.Operator, id int64, run repair.PlanRun,
) (repair.PlanReport, error) {
	t.Helper()
	run.Plan.ID = id
	return o.ApplyPlan(t.Context(), b.engine, run)
}

// A plan is frozen, previewed, applied once; the same rows under another name grant nothing new.
func TestPlanIsMadeAppliedAndFoundDone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := writeFile(t, "grants.csv", manyRows(2500))
	plan, preview := planOf(t, b.operator, path, repair.PlanRequest{})
	if plan.State != repair.PlanReady || plan.Rows != 2500 || plan.Due != 2500 ||
		len(plan.Hash) != 64 || plan.RequestedBy != "alice" {
		t.Fatalf("%+v", plan)
	}
	if preview.Fresh != 2500 || preview.Granted != 0 || preview.Players != 2500 ||
		len(preview.Kinds) != 1 || preview.Kinds[0].Total != 2500 ||
		preview.Kinds[0].Largest != 1 || preview.Kinds[0].BalanceAfter != 2500 {
		t.Fatalf("%+v", preview)
	}
	if rows, _ := b.postings(t); rows != 0 {
		t.Fatalf("a plan granted %d rows", rows)
	}
	again, _ := planOf(t, b.operator, writeFile(t, "other.csv", manyRows(2500)),
		repair.PlanRequest{})
	if !again.Existing || again.ID != plan.ID {
		t.Fatalf("the same rows became plan %d beside %d", again.ID, plan.ID)
	}
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
	if err != nil || !report.Complete() || report.Counts.Of(grant.Applied) != 2500 {
		t.Fatalf("%v, %+v", err, report)
	}
	if rows, sum := b.postings(t); rows != 2500 || sum != 2500 {
		t.Fatalf("%d postings of %d", rows, sum)
	}
	if got := b.scalar(t, "select distinct actor || '|' || reason from reward_ledger"); got !=
		"alice|outage on 30 November" {
		t.Errorf("the postings say %q", got)
	}
	report, err = runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
	if err != nil || !report.Complete() || report.Counts.Of(grant.Applied) != 2500 {
		t.Fatalf("applying it again: %v, %+v", err, report)
	}
	third, preview := planOf(t, b.operator, path, repair.PlanRequest{})
	if third.Existing || third.DoneBefore != plan.ID || preview.Granted != 2500 {
		t.Fatalf("%+v %+v", third, preview)
	}
	report, err = runPlan(t, b, b.operator, third.ID, repair.PlanRun{})
	if err != nil || report.Counts.Of(grant.Replayed) != 2500 {
		t.Fatalf("the third time: %v, %+v", err, report)
	}
	if rows, _ := b.postings(t); rows != 2500 {
		t.Fatalf("%d postings", rows)
	}
	b.CheckInvariants(t)
}

// Every data row has its line in the result, whatever became of it: I6.
func TestPlanKeepsEveryRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.engine.Grant(t.Context(), b.request("p-5", "season-34:p-5::gems:v1", 9))
	if err != nil {
		t.Fatal(err)
	}
	path := writeFile(t, "mixed.csv", "player_id,kind,amount\np-1,gems,10\np-1,gems,10\n"+
		"p-2,gems,\"1,5\"\np-3,gems,30\np-4,gems,1\np-4,gems,2\np-5,gems,8\n,gems,1\n")
	file := openFile(t, path)
	_, _, err = b.operator.MakePlan(t.Context(), file, repair.PlanRequest{Reason: "why"})
	var invalid *repair.InvalidRowsError
	if !errors.As(err, &invalid) {
		t.Fatalf("invalid rows: %v", err)
	}
	plan, preview := planOf(t, b.operator, path, repair.PlanRequest{SkipInvalid: true})
	if plan.Rows != 8 || plan.Due != 3 || plan.Duplicates != 1 || plan.Invalid != 4 {
		t.Fatalf("%+v", plan)
	}
	if preview.Mismatches != 1 || len(preview.Odd) != 1 || preview.Odd[0].HaveAmount != 9 {
		t.Fatalf("%+v", preview)
	}
	report, err := runPlan(t, b, b.operator, plan.ID, repair.PlanRun{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line, err := range b.operator.PlanLines(t.Context(), plan.ID, false) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%d %s %s", line.Line, line.AmountText, line.Word()))
	}
	want := "2 10 applied|3 10 replayed|4 1,5 rejected|5 30 applied|6 1 rejected|7 2 rejected|" +
		"8 8 mismatch|9 1 rejected"
	if got := strings.Join(lines, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if sum := report.Counts.Sum(); sum != 8 {
		t.Errorf("%d rows counted", sum)
	}
	var rest int
	for range b.operator.PlanLines(t.Context(), plan.ID, true) {
		rest++
	}
	if rest != 5 {
		t.Errorf("%d rows in the rest, want 5", rest)
	}
	b.CheckInvariants(t)
}

// What Go hashes and what the database hashes is the same, also for texts that could be taken
// apart in two ways.
func TestPlanHashIsTheDatabasesOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := writeFile(t, "odd.jsonl", "player_id,kind,amount,event\n"+
		"\"1:2\",\"3 4:5\",6,e:1\n1,\"2 3 4:5\",6,e2\nüñ,gems,7,☃\n")
	plan, _ := planOf(t, b.operator, path, repair.PlanRequest{Reason: "wörd: 1"})
	got := b.scalar(t, "select encode(grant_plan_hash_now($1), 'hex')", plan.ID)
	if got != plan.Hash {
		t.Errorf("%s is not %s", got, plan.Hash)
	}
}

// Two people who plan the same rows at the same time get one plan.
func TestPlanTwiceAtOnceIsOnePlan(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := make([]int64, 4)
	var all sync.WaitGroup
	for i := range ids {
		o := b.as(t, fmt.Sprintf("operator-%d", i))
		file, err := batchfile.Open(t.Context(), writeFile(t, "g.csv", manyRows(500)),
			batchfile.Options{Campaign: "c", Actor: "ops", Reason: "test"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		all.Go(func() {
			plan, _, err := o.MakePlan(t.Context(), file, repair.PlanRequest{
				Campaign: "c", Reason: "why",
			})
			if err != nil {
				t.Error(err)
			}
			ids[i] = plan.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		if id != ids[0] || id == 0 {
			t.Fatalf("plans %v", ids)
		}
	}
	if got := b.scalar(t, "select count(*) from grant_plan"); got != "1" {
		t.Errorf("%s plans", got)
	}
}

// lateContext bounds what is cleaned up after a test.
func lateContext(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
}

// dropOwned takes a role's privileges away, so that it can be dropped.
func (b *bench) dropOwned(t *testing.T, user string) {
	t.Helper()
	ctx, cancel := lateContext(t)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, b.Conn.Copy())
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "drop owned by "+pgx.Identifier{user}.Sanitize()); err != nil {
		t.Error(err)
	}
}
