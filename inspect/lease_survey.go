package inspect

import (
	"context"
	"slices"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/lease"

	"github.com/jackc/pgx/v5"
)

// survey is a picture of all leases, in the form in which very many of them are judged and sorted.
// Whatever is shown is made from the few that are picked.
type survey struct {
	entries []lease.Entry
	places  []int32 // of the entries, among the resources of the index
	// fences by place, read at the same time as the locks; nil unless the filter needs them.
	// fenceErr says why they are missing.
	fences   []fenceState
	fenceErr error
	// alive tells the heartbeats of the picked leases' workers; nil when Redis did not.
	alive map[string]bool

	picks []int32 // positions of the leases that the filter selects
	ranks []uint8 // of all entries, by position: the place of the state in States
}

// fenceState is what a verdict needs of a fence.
type fenceState struct {
	there bool
	token int64
	owner string
}

// fencesAtOnce is how many fences one question asks for: enough to be few questions, and few
// enough that the answer to one is read while the next is looked up.
const fencesAtOnce = 8192

// survey reads all leases and, when the filter needs them, the fences of all resources in the
// index: PostgreSQL looks them up while Redis looks up the locks.
func (r *Reader) survey(ctx context.Context, chosen selection) (*survey, error) {
	const op = "list the leases"
	seen := &survey{}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	known := make(chan *lease.Index, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if chosen.needsState() {
			seen.fences, seen.fenceErr = r.fenceStates(ctx, known, chosen)
		}
	}()
	var index *lease.Index
	err := r.redis(ctx, op, func(ctx context.Context) (err error) {
		index, err = r.store.Index(ctx)
		return err
	})
	if err == nil {
		known <- index
		more := time.Duration(index.Len()) * lockTime
		err = r.redisFor(ctx, r.opts.Timeout+more, op, func(ctx context.Context) (err error) {
			seen.entries, seen.places, err = index.Locks(ctx)
			return err
		})
	}
	if err != nil {
		cancel() // nobody waits for fences without leases
	}
	<-done
	return seen, err
}

// lockTime is the time that reading one lock among very many may take besides what any question
// may: ten times what it takes.
const lockTime = 20 * time.Microsecond

// fenceStates reads the fences of the resources that the filter takes by name, by their place in
// the index. It gets ready while the index is still being read.
func (r *Reader) fenceStates(
	ctx context.Context, known <-chan *lease.Index, chosen selection,
) ([]fenceState, error) {
	var fences []fenceState
	err := r.readLong(ctx, "read the fences", func(
		ctx context.Context, tx pgx.Tx, heard func(),
	) error {
		if _, err := tx.Exec(ctx, fencePlanSQL); err != nil {
			return err
		}
		var index *lease.Index
		select {
		case index = <-known:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		heard()
		fences = make([]fenceState, index.Len())
		q := fenceQuestion{tx: tx, fences: fences, heard: heard}
		for _, n := range namesOf(index, chosen) {
			if err := q.ask(ctx, n.place, n.resource); err != nil {
				return err
			}
		}
		return q.flush(ctx)
	})
	return fences, err
}

type placedName struct {
	resource string
	place    int
}

// namesOf returns the resources that the filter takes by name, in the order of the fences' index:
// each then lies beside the one before, and looking it up costs a third.
func namesOf(index *lease.Index, chosen selection) []placedName {
	names := make([]placedName, 0, index.Len())
	for place := range index.Len() {
		if resource, ok := index.Resource(place); ok && storable(resource) &&
			chosen.takesName(resource) {
			names = append(names, placedName{resource, place})
		}
	}
	slices.SortFunc(names, func(a, b placedName) int {
		return strings.Compare(a.resource, b.resource)
	})
	return names
}

// fenceQuestion gathers resources, asks for their fences, and puts them in their places.
type fenceQuestion struct {
	tx        pgx.Tx
	fences    []fenceState
	heard     func() // called with each answer
	resources []string
	places    []int
}

func (q *fenceQuestion) ask(ctx context.Context, place int, resource string) error {
	q.resources, q.places = append(q.resources, resource), append(q.places, place)
	if len(q.resources) < fencesAtOnce {
		return nil
	}
	return q.flush(ctx)
}

func (q *fenceQuestion) flush(ctx context.Context) error {
	if len(q.resources) == 0 {
		return nil
	}
	var (
		at     []int32
		tokens []int64
		owners []string
	)
	err := q.tx.QueryRow(ctx, fenceStateSQL, pgx.StrictStructArgs(struct {
		Resources []string `db:"resources"`
	}{q.resources})).Scan(&at, &tokens, &owners)
	if err != nil {
		return err
	}
	for i, position := range at {
		q.fences[q.places[position-1]] = fenceState{true, tokens[i], owners[i]}
	}
	q.heard()
	q.resources, q.places = q.resources[:0], q.places[:0]
	return nil
}

// pick applies everything of the filter but the state.
func (s *survey) pick(chosen selection) {
	s.picks = make([]int32, 0, len(s.entries))
	for i := range s.entries {
		if chosen.takes(&s.entries[i]) {
			s.picks = append(s.picks, int32(i))
		}
	}
}

// hearPicked asks for the heartbeats of the picked leases' workers.
func (r *Reader) hearPicked(ctx context.Context, s *survey, list *LeaseList) {
	if len(s.picks) == 0 {
		return
	}
	alive, ok := r.hear(ctx, list, func(yield func(string) bool) {
		for _, at := range s.picks {
			e := &s.entries[at]
			if e.Foreign == "" && !yield(lease.Identity(e.Owner)) {
				return
			}
		}
	})
	if ok {
		s.alive = alive
	}
}

// facts of one lease.
func (s *survey) facts(at int32, ttl time.Duration, fence *grant.Fence) Facts {
	e := &s.entries[at]
	f := Facts{
		Token: e.Token, Owner: e.Owner, Foreign: e.Foreign, NoExpiry: e.NoExpiry, Left: e.Left,
		FenceSeen: s.fenceErr == nil, TTL: ttl,
	}
	if s.alive != nil && e.Foreign == "" {
		f.Heartbeat = heartbeatOf(s.alive[lease.Identity(e.Owner)])
	}
	if s.fenceErr != nil {
		return f
	}
	if state := &s.fences[s.places[at]]; state.there {
		*fence = grant.Fence{Resource: e.Resource, Token: state.token, Owner: state.owner}
		f.Fence = fence
	}
	return f
}

// rank judges the picked leases and drops those in states that the filter does not want.
func (s *survey) rank(chosen selection, ttl time.Duration) {
	wanted := setOf(chosen.States)
	s.ranks = make([]uint8, len(s.entries))
	kept := s.picks[:0]
	var fence grant.Fence // of one lease after the other
	for _, at := range s.picks {
		facts := s.facts(at, ttl, &fence)
		states := facts.applies()
		if wanted != 0 && states.told()&wanted == 0 {
			continue
		}
		s.ranks[at] = uint8(states.rank())
		kept = append(kept, at)
	}
	s.picks = kept
}

// leases makes the leases that are shown: the first of those that were picked.
func (s *survey) leases(chosen selection, at time.Time) []Lease {
	o := order{by: chosen.Sort, reverse: chosen.Reverse}
	if s.ranks == nil {
		s.ranks = make([]uint8, len(s.entries))
	}
	if !chosen.Terse {
		s.picks = firstOf(s.picks, chosen.Limit, func(a, b int32) int {
			return o.compare(&s.entries[a], &s.entries[b], s.ranks[a], s.ranks[b])
		})
	}
	out := make([]Lease, len(s.picks))
	for i, pick := range s.picks {
		out[i] = leaseOf(s.entries[pick], at)
	}
	return out
}

// judge sets the verdicts of the leases that are shown, with or without words.
func (s *survey) judge(shown []Lease, chosen selection, ttl time.Duration) {
	for i, at := range s.picks {
		l := &shown[i]
		facts := s.facts(at, ttl, new(grant.Fence))
		l.Heartbeat, l.Fence, l.Verdict = facts.Heartbeat, facts.Fence, facts.verdict()
		if chosen.Terse {
			l.ttl, l.fenceSeen = ttl, facts.FenceSeen
		} else {
			l.Verdict.Evidence = facts.evidence()
		}
	}
}
