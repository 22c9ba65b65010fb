package inspect_test

import (
	"testing"
	"time"

	"rewardctl/inspect"
)

// Broken glass that nobody else has looked at is told by the doctor with its age, and handed over
// from shift to shift, until somebody signs. Rows are planted past the triggers, which know only
// this one database session.
func TestBrokenGlassIsTold(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, "alter table grant_plan disable trigger all")
	b.exec(t, "alter table grant_approval disable trigger all")
	b.exec(t, "insert into grant_plan (plan_id, campaign, source_name, requested_by, reason, state, "+
		"plan_hash, content_hash, db_user) select n, 'c', 'f.csv', 'alice', 'r', 'done', 'h', "+
		"n::text::bytea, 'u_alice' from generate_series(1, 4) n")
	decide := func(plan int, decision, who string, glass, used bool, ago string) {
		t.Helper()
		b.exec(t, "insert into grant_approval (plan_id, decision, plan_hash, operator, db_user, "+
			"requested_by, requested_db_user, break_glass, reason, expires_at, used_at) values "+
			"($1, $2, 'h', $3, 'u_' || $3, 'alice', 'u_alice', $4, 'nobody is awake', now(), "+
			"case when $5 then now() - $6::text::interval end)", plan, decision, who, glass, used, ago)
	}
	decide(1, "approve", "alice", true, true, "3 hours")
	decide(2, "approve", "carol", true, true, "5 hours")
	decide(3, "approve", "alice", true, false, "0") // nothing began under it
	decide(4, "approve", "bob", false, true, "9 hours")
	now := time.Now()
	check := func(want inspect.Status, parts ...string) {
		t.Helper()
		d, err := b.reader.Doctor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Checks {
			if c.Name != "broken glass" {
				continue
			}
			if c.Status != want {
				t.Errorf("%+v", c)
			}
			mustContain(t, "the doctor", c.Value+" "+c.Fix, parts...)
			return
		}
		t.Error("the doctor does not look at broken glass")
	}
	handed := func(before time.Duration, plans ...int64) {
		t.Helper()
		s, err := b.reader.Shift(t.Context(), now.Add(-24*time.Hour), now.Add(-before), "")
		if err != nil || len(s.Glass) != len(plans) {
			t.Fatalf("%+v, %v", s.Glass, err)
		}
		for i, plan := range plans {
			if s.Glass[i].Plan != plan || s.Glass[i].State != "done" ||
				s.Glass[i].Reason != "nobody is awake" {
				t.Errorf("%+v", s.Glass[i])
			}
		}
	}
	check(inspect.Fail, "2 to be reviewed; the oldest for 5h0m", "plan 2 by carol: nobody is awake",
		"rewardctl grant approve 2 --reason")
	handed(0, 2, 1)
	handed(4*time.Hour, 2)
	decide(2, "review", "bob", false, false, "0")
	check(inspect.Fail, "1 to be reviewed; the oldest for 3h0m", "plan 1 by alice")
	decide(1, "reject", "bob", false, false, "0")
	check(inspect.Fail, "plan 1 by alice")
	decide(1, "approve", "bob", false, false, "0")
	check(inspect.Pass, "no plan waits")
	handed(0)
}
