package simulator

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// real plays the calls of a schedule on real servers: the scripts through a lease store, the
// statements as they are embedded in the product.
type real struct {
	*granttest.World
	t      *testing.T
	store  *lease.Store
	batch  string
	burn   string
	seed   uint64
	called map[string]int
}

// TestLikeness replays the calls of schedules on a real Redis and a real PostgreSQL: each must
// answer as the model did. What the simulator proves, it proves of the model alone.
func TestLikeness(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	store, err := lease.New(w.Redis, lease.Options{Prefix: w.Prefix, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	r := &real{
		World: w, t: t, store: store, called: map[string]int{},
		batch: statement(t, "../../sql/grant_batch.sql"),
		burn:  statement(t, "../../../repair/sql/fence_burn.sql"),
	}
	for seed := range number(t, "REWARDCTL_SIM_LIKENESS", 60) {
		r.seed = seed
		report := Run(seed, Options{Calls: true})
		for i, c := range report.Calls {
			r.called[c.Do]++
			if problem := r.play(c); problem != "" {
				t.Fatalf("seed %d, call %d, %+v: %s", seed, i, c, problem)
			}
		}
	}
	for _, do := range []string{
		"due", "acquire", "renew", "release", "expire", "reset", "grant", "burn",
	} {
		if r.called[do] == 0 {
			t.Errorf("no schedule had the call %q", do)
		}
	}
	w.CheckInvariants(t)
}

// statement reads a statement of the product from its file.
func statement(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *real) player(n int) string { return fmt.Sprintf("sim-%d-%d", r.seed, n) }

func (r *real) resource(n int) string { return grant.ResourceFor(r.player(n)) }

func ownerText(n int) string { return fmt.Sprintf("worker@sim/1#%d", n) }

// play makes one call and returns how its answer differs from the model's, or "".
func (r *real) play(c Call) string {
	resource := r.resource(c.Resource)
	mine := grant.Lease{Resource: resource, Owner: ownerText(c.Owner), Token: c.Token}
	ctx := r.t.Context()
	switch c.Do {
	case "due":
		return r.due(c)
	case "acquire":
		return r.acquire(c)
	case "renew":
		if a := r.store.Renew(ctx, []grant.Lease{mine})[0]; a.Err != nil || a.Lost == c.OK {
			return fmt.Sprintf("renew answered %+v", a)
		}
	case "release":
		f, err := r.store.ReleaseExact(ctx, resource, lease.FormatValue(c.Token, mine.Owner))
		if err != nil || (f.Answer == lease.Released) != c.OK {
			return fmt.Sprintf("release answered %+v, %v", f, err)
		}
	case "expire":
		if err := r.Redis.Del(ctx, r.store.LockKey(resource)).Err(); err != nil {
			return err.Error()
		}
	case "reset":
		return r.reset(c)
	case "grant":
		return r.grant(c)
	case "burn":
		return r.raise(c)
	}
	return ""
}

func (r *real) acquire(c Call) string {
	a := r.store.Acquire(r.t.Context(), []grant.Ask{{
		Resource: r.resource(c.Resource), Owner: ownerText(c.Owner), Floor: c.Floor,
	}})[0]
	switch {
	case a.Err != nil:
		return a.Err.Error()
	case c.Holder == c.Owner && (a.Lease == nil || a.Lease.Token != c.Token):
		return fmt.Sprintf("acquire answered %+v", a)
	case c.Holder != c.Owner &&
		(a.Holder == nil || a.Holder.Token != c.Token || a.Holder.Owner != ownerText(c.Holder)):
		return fmt.Sprintf("acquire answered %+v", a)
	}
	return ""
}

// reset makes Redis hold what the model's holds after a failure.
func (r *real) reset(c Call) string {
	pipe := r.Redis.Pipeline()
	for n := range c.Locks {
		lockKey, fenceKey := r.store.LockKey(r.resource(n)), r.store.FenceKey(r.resource(n))
		pipe.Del(r.t.Context(), lockKey, fenceKey)
		if l := c.Locks[n]; l.owner != 0 {
			value := lease.FormatValue(l.token, ownerText(int(l.owner)))
			pipe.Set(r.t.Context(), lockKey, value, time.Hour)
		}
		if c.Counters[n] != 0 {
			pipe.Set(r.t.Context(), fenceKey, c.Counters[n], time.Hour)
		}
	}
	if _, err := pipe.Exec(r.t.Context()); err != nil {
		return err.Error()
	}
	return ""
}

const simKind = "gems"

func (r *real) due(c Call) string {
	_, err := r.Pool.Exec(r.t.Context(), `insert into reward_claim
		(player_id, reward_event_id, kind, amount) values ($1, $2, $3, $4)`,
		r.player(c.Resource), eventText(c.Items[0].n), simKind, c.Items[0].amount)
	if err != nil {
		return err.Error()
	}
	return ""
}

func eventText(n int) string { return fmt.Sprintf("season-1:event-%d", n) }

func (r *real) grant(c Call) string {
	n := len(c.Items)
	lead, numbers := make([]bool, n), make([]int32, n)
	resources, owners := make([]string, n), make([]string, n)
	tokens, amounts := make([]int64, n), make([]int64, n)
	players, events, kinds := make([]string, n), make([]string, n), make([]string, n)
	for i, it := range c.Items {
		lead[i], numbers[i] = i == 0, 1
		resources[i], owners[i], tokens[i] = r.resource(c.Resource), ownerText(c.Owner), c.Token
		players[i], events[i] = r.player(it.player), eventText(it.n)
		kinds[i], amounts[i] = simKind, it.amount
	}
	rows, err := r.Pool.Query(r.t.Context(), r.batch, numbers, lead, resources, tokens, owners,
		players, events, kinds, amounts, owners, kinds, c.Again)
	if err != nil {
		return err.Error()
	}
	answers, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		return fmt.Sprint(values[1]), err
	})
	want := make([]string, n)
	for i, v := range c.Verdicts {
		want[i] = v.outcome.String()
	}
	if err != nil || strings.Join(answers, " ") != strings.Join(want, " ") {
		return fmt.Sprintf("answered %v, %v; the model says %v", answers, err, want)
	}
	return ""
}

func (r *real) raise(c Call) string {
	_, err := r.Pool.Exec(r.t.Context(), r.burn, pgx.StrictStructArgs(struct {
		Resource  string `db:"resource"`
		Token     int64  `db:"token"`
		Tombstone string `db:"tombstone"`
		Prefix    string `db:"prefix"`
	}{r.resource(c.Resource), c.Token, grant.BurnOwner("sim"), grant.BurnOwner("")}))
	if err != nil {
		return err.Error()
	}
	return ""
}
