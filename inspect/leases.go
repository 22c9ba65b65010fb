package inspect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

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
	entries, err := r.entries(ctx)
	if err != nil {
		return r.withoutRedis(ctx, list, err)
	}
	list.Total = len(entries)
	entries = slices.DeleteFunc(entries, func(e lease.Entry) bool { return !chosen.takes(e) })
	list.Leases = make([]Lease, len(entries)) // a lease is large: no growing by copies
	for i, e := range entries {
		list.Leases[i] = leaseOf(e, list.At)
	}
	if !chosen.needsState() {
		list.cut(f)
	}
	r.judgeAll(ctx, &list, chosen.needsState())
	if chosen.needsState() {
		list.Leases = slices.DeleteFunc(list.Leases, func(l Lease) bool {
			return !chosen.takesState(l.Verdict)
		})
		list.cut(f)
		for i := range list.Leases {
			l := &list.Leases[i]
			l.Verdict.Evidence = l.facts(r.opts.TTL, l.Fence, list.sees(grant.PostgreSQL)).evidence()
		}
	}
	r.countClaims(ctx, &list)
	return list, nil
}

func (r *Reader) entries(ctx context.Context) ([]lease.Entry, error) {
	var entries []lease.Entry
	err := r.redis(ctx, "list the leases", func(ctx context.Context) error {
		var err error
		entries, err = r.store.List(ctx)
		return err
	})
	return entries, err
}

// cut sorts the leases, counts them and keeps the first.
func (l *LeaseList) cut(f LeaseFilter) {
	l.Matched = len(l.Leases)
	order := sortLeases(l.Leases, f.Sort, f.Reverse)
	if f.Limit > 0 && len(order) > f.Limit {
		order = order[:f.Limit]
	}
	kept := make([]Lease, len(order))
	for i, at := range order {
		kept[i] = l.Leases[at]
	}
	l.Leases = kept
}

func (l *LeaseList) sees(backend grant.Backend) bool {
	return !slices.ContainsFunc(l.Missing, func(m Missing) bool { return m.Backend == backend })
}

// withoutRedis answers with what PostgreSQL knows.
func (r *Reader) withoutRedis(
	ctx context.Context, list LeaseList, redisErr error,
) (LeaseList, error) {
	list.Missing = append(list.Missing, Missing{grant.Redis, "leases", redisErr})
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

// judgeAll asks for heartbeats and fences, once each, and sets every verdict. With statesOnly the
// evidence is left for later: most of the leases will be dropped.
func (r *Reader) judgeAll(ctx context.Context, list *LeaseList, statesOnly bool) {
	if len(list.Leases) == 0 {
		return
	}
	r.hearHearts(ctx, list)
	fences, err := r.fences(ctx, list.Leases)
	if err != nil {
		list.Missing = append(list.Missing,
			Missing{grant.PostgreSQL, "fences and claims", err})
	}
	for i := range list.Leases {
		l := &list.Leases[i]
		if fence, ok := fences[l.Resource]; ok {
			l.Fence = &fence.Fence
		}
		facts := l.facts(r.opts.TTL, l.Fence, err == nil)
		if statesOnly {
			l.Verdict = facts.verdict()
		} else {
			l.Verdict = Judge(facts)
		}
	}
}

func (r *Reader) hearHearts(ctx context.Context, list *LeaseList) {
	seen := make(map[string]bool)
	var workers []string
	for _, l := range list.Leases {
		if l.Foreign == "" && !seen[l.Worker] {
			seen[l.Worker] = true
			workers = append(workers, l.Worker)
		}
	}
	var alive map[string]bool
	err := r.redis(ctx, "ask for heartbeats", func(ctx context.Context) error {
		var err error
		alive, err = r.store.Alive(ctx, workers)
		return err
	})
	if err != nil {
		list.Missing = append(list.Missing, Missing{grant.Redis, "heartbeats", err})
		return
	}
	for i := range list.Leases {
		if l := &list.Leases[i]; l.Foreign == "" {
			l.Heartbeat = heartbeatOf(alive[l.Worker])
		}
	}
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

// selection is a filter made ready.
type selection struct {
	LeaseFilter
	glob pattern
}

func newSelection(f LeaseFilter) (selection, error) {
	s := selection{LeaseFilter: f}
	reject := func(field, value, problem, wayOut string) error {
		return &grant.Rejection{Field: field, Value: value, Problem: problem, WayOut: wayOut}
	}
	for _, state := range f.States {
		if !slices.Contains(States(), state) {
			return s, reject("state", string(state), "is no state of a lease",
				"choose among "+stateWords())
		}
	}
	switch f.Sort {
	case "", SortResource, SortLeft, SortOwner, SortToken, SortState:
	default:
		return s, reject("sort", string(f.Sort), "is no order of leases",
			"choose among resource, left, owner, token, state")
	}
	if f.Limit < 0 || f.ExpiringWithin < 0 {
		return s, reject("limit", "", "or the time left is below zero", "give zero or more")
	}
	if f.Glob && f.Resource != "" {
		glob, err := parsePattern(f.Resource)
		if err != nil {
			return s, reject("resource", f.Resource, err.Error(), "close it, or write \\[")
		}
		s.glob = glob
	}
	return s, nil
}

func stateWords() string {
	words := make([]string, 0, len(States()))
	for _, s := range States() {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

func (s selection) needsState() bool { return len(s.States) > 0 || s.Sort == SortState }

// takes applies everything but the state.
func (s selection) takes(e lease.Entry) bool {
	switch {
	case s.glob != nil && !s.glob.matches(e.Resource):
		return false
	case s.glob == nil && s.Resource != "" && s.Resource != e.Resource:
		return false
	case s.ExpiringWithin > 0 && (e.NoExpiry || e.Left > s.ExpiringWithin):
		return false
	case s.Owner == "" || s.Owner == e.Owner:
		return true
	}
	worker := lease.Identity(e.Owner)
	name, _, _ := strings.Cut(worker, "@")
	return e.Owner != "" && (s.Owner == worker || s.Owner == name)
}

func (s selection) takesState(v Verdict) bool {
	return len(s.States) == 0 || slices.ContainsFunc(s.States, v.Is)
}

// sortLeases returns the positions of the leases in order. A lease is large, so moving positions
// about is much cheaper than moving leases.
func sortLeases(leases []Lease, by LeaseSort, reverse bool) []int {
	positions := make([]int, len(leases))
	for i := range positions {
		positions[i] = i
	}
	rank := make(map[State]int, len(States()))
	for i, s := range States() {
		rank[s] = i
	}
	slices.SortFunc(positions, func(i, j int) int {
		a, b := &leases[i], &leases[j]
		var order int
		switch by {
		case SortLeft:
			order = cmp.Compare(leftRank(a), leftRank(b))
		case SortOwner:
			order = cmp.Compare(a.Owner, b.Owner)
		case SortToken:
			order = cmp.Compare(a.Token, b.Token)
		case SortState:
			order = cmp.Compare(rank[a.Verdict.State], rank[b.Verdict.State])
		case SortResource:
		}
		if reverse {
			order = -order
		}
		tie := cmp.Compare(a.Resource, b.Resource)
		if reverse && (by == SortResource || by == "") {
			tie = -tie
		}
		return cmp.Or(order, tie)
	})
	return positions
}

// leftRank puts a lease without expiry behind all others.
func leftRank(l *Lease) time.Duration {
	if l.NoExpiry {
		return 1<<63 - 1
	}
	return l.Left
}
