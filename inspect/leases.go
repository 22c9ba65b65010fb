package inspect

import (
	"context"
	"errors"
	"iter"
	"slices"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

const (
	fencesShown = 100  // fences that stand in for leases when Redis is down
	claimsOf    = 1000 // leases in one answer up to which claims are counted
	claimBound  = 200  // claims counted per player
)

// Leases lists the leases that a filter selects, with a verdict on each. It asks each server once,
// however many leases there are. Claims are counted for answers of at most 1,000 leases.
//
// With one server down the answer says what is missing; with both down it returns an error that
// wraps a *grant.BackendError. A filter that makes no sense gives a *grant.Rejection.
func (r *Reader) Leases(ctx context.Context, f LeaseFilter) (LeaseList, error) {
	chosen, err := newSelection(f)
	if err != nil {
		return LeaseList{}, err
	}
	list := LeaseList{At: r.opts.Now()}
	seen, err := r.survey(ctx, chosen)
	if err != nil {
		return r.withoutRedis(ctx, list, err)
	}
	list.Total = len(seen.entries)
	seen.pick(chosen)
	if chosen.needsState() {
		r.hearPicked(ctx, seen, &list)
		if seen.fenceErr != nil {
			list.Missing = append(list.Missing, noFences(seen.fenceErr))
		}
		seen.rank(chosen, r.opts.TTL)
	}
	list.Matched = len(seen.picks)
	list.Leases = seen.leases(chosen, list.At)
	if chosen.needsState() {
		seen.judge(list.Leases, chosen, r.opts.TTL)
	} else {
		r.judgeAll(ctx, &list)
	}
	r.countClaims(ctx, &list)
	return list, nil
}

// LeasesOf lists the leases of some resources, with a verdict on each, in the order in which they
// are asked for. One that nobody holds is left out. It reads nothing else, however many there
// are: Total and Matched count those that it found, and no claims are counted. Without PostgreSQL
// the answer says what is missing; without Redis the error wraps a *grant.BackendError.
func (r *Reader) LeasesOf(ctx context.Context, resources []string) (LeaseList, error) {
	list := LeaseList{At: r.opts.Now()}
	var entries []lease.Entry
	err := r.redis(ctx, "look at leases", func(ctx context.Context) (err error) {
		entries, err = r.store.Look(ctx, resources)
		return err
	})
	if err != nil {
		return LeaseList{}, err
	}
	list.Total, list.Matched = len(entries), len(entries)
	list.Leases = make([]Lease, len(entries))
	for i, e := range entries {
		list.Leases[i] = leaseOf(e, list.At)
	}
	r.judgeAll(ctx, &list)
	return list, nil
}

func noFences(err error) Missing {
	return Missing{grant.PostgreSQL, "fences and claims", err}
}

func (l *LeaseList) sees(backend grant.Backend) bool {
	return !slices.ContainsFunc(l.Missing, func(m Missing) bool { return m.Backend == backend })
}

// withoutRedis answers with what PostgreSQL knows.
func (r *Reader) withoutRedis(
	ctx context.Context, list LeaseList, redisErr error,
) (LeaseList, error) {
	list.Missing = append(list.Missing, Missing{grant.Redis, lackLeases, redisErr})
	err := r.read(ctx, "read the latest fences", func(ctx context.Context, tx pgx.Tx) error {
		rows, err := collect[fenceRow](ctx, tx, fenceLatestSQL, struct {
			Limit int `db:"limit"`
		}{fencesShown})
		for _, row := range rows {
			list.Fences = append(list.Fences, row.seen())
		}
		return err
	})
	if err != nil {
		return LeaseList{}, errors.Join(redisErr, err)
	}
	return list, nil
}

// lackLeases is what is missing when Redis did not tell the leases.
const lackLeases = "leases"

// Blind says why nothing is known of the leases: that none is listed does not mean that none is
// held. It is nil when they were read.
func (l *LeaseList) Blind() error { return blind(l.Missing) }

func blind(missing []Missing) error {
	for _, m := range missing {
		if m.Backend == grant.Redis && m.Lacks == lackLeases {
			return m.Err
		}
	}
	return nil
}

// judgeAll asks for heartbeats and fences, once each, and sets every verdict.
func (r *Reader) judgeAll(ctx context.Context, list *LeaseList) {
	if len(list.Leases) == 0 {
		return
	}
	r.hearHearts(ctx, list)
	fences, err := r.fences(ctx, list.Leases)
	if err != nil {
		list.Missing = append(list.Missing, noFences(err))
	}
	for i := range list.Leases {
		l := &list.Leases[i]
		if fence, ok := fences[l.Resource]; ok {
			l.Fence = &fence.Fence
		}
		l.Verdict = Judge(l.facts(r.opts.TTL, l.Fence, err == nil))
	}
}

func (r *Reader) hearHearts(ctx context.Context, list *LeaseList) {
	alive, ok := r.hear(ctx, list, func(yield func(string) bool) {
		for i := range list.Leases {
			if l := &list.Leases[i]; l.Foreign == "" && !yield(l.Worker) {
				return
			}
		}
	})
	for i := range list.Leases {
		if l := &list.Leases[i]; ok && l.Foreign == "" {
			l.Heartbeat = heartbeatOf(alive[l.Worker])
		}
	}
}

// hear asks which of the workers live, each once. It answers false when Redis did not tell, and
// then says so in the list.
func (r *Reader) hear(
	ctx context.Context, list *LeaseList, workers iter.Seq[string],
) (alive map[string]bool, ok bool) {
	seen := make(map[string]bool)
	var names []string
	for w := range workers {
		if !seen[w] {
			seen[w] = true
			names = append(names, w)
		}
	}
	err := r.redis(ctx, "ask for heartbeats", func(ctx context.Context) error {
		var err error
		alive, err = r.store.Alive(ctx, names)
		return err
	})
	if err != nil {
		list.Missing = append(list.Missing, Missing{grant.Redis, "heartbeats", err})
		return nil, false
	}
	return alive, true
}

func (r *Reader) fences(ctx context.Context, leases []Lease) (map[string]FenceSeen, error) {
	resources := make([]string, len(leases))
	for i, l := range leases {
		resources[i] = l.Resource
	}
	var fences map[string]FenceSeen
	err := r.read(ctx, "read the fences", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		fences, err = fencesOf(ctx, tx, resources)
		return err
	})
	return fences, err
}

// countClaims counts what is due under the leases of a short list.
func (r *Reader) countClaims(ctx context.Context, list *LeaseList) {
	if len(list.Leases) == 0 || len(list.Leases) > claimsOf || !list.sees(grant.PostgreSQL) {
		return
	}
	var players []string
	for _, l := range list.Leases {
		if player, ok := playerOf(l.Resource); ok {
			players = append(players, player)
		}
	}
	var due map[string]Claims
	err := r.read(ctx, "count the claims", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		due, err = claimsDue(ctx, tx, players)
		return err
	})
	if err != nil {
		list.Missing = append(list.Missing, Missing{grant.PostgreSQL, "claims", err})
		return
	}
	for i := range list.Leases {
		if player, ok := playerOf(list.Leases[i].Resource); ok {
			list.Leases[i].addClaims(due[player])
		}
	}
}

func (l *Lease) addClaims(c Claims) {
	l.Claims = &c
	l.Verdict.Evidence = append(l.Verdict.Evidence, Evidence{"claims", c.String()})
}

func claimsDue(ctx context.Context, tx pgx.Tx, players []string) (map[string]Claims, error) {
	type row struct {
		PlayerID   string `db:"player_id"`
		Pending    int    `db:"pending"`
		Processing int    `db:"processing"`
	}
	rows, err := collect[row](ctx, tx, claimDueSQL, struct {
		Players []string `db:"players"`
		Bound   int      `db:"bound"`
	}{players, claimBound})
	if err != nil {
		return nil, err
	}
	due := make(map[string]Claims, len(rows))
	for _, c := range rows {
		due[c.PlayerID] = Claims{c.Pending, c.Processing, c.Pending+c.Processing >= claimBound}
	}
	return due, nil
}
