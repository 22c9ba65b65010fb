// Package drill plays failures on real servers, on purpose, and shows which line of defence
// stops what: each drill runs in a schema and under a key prefix of its own, which it makes and
// removes, prints a timeline and checks the invariants.
//
// A drill runs with all defences, with one of them alone, or with none: the control, which shows
// the damage that the defences are there to prevent.
package drill

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
)

// Defence says what stands between a late writer and a double payment.
type Defence string

// The defences a drill can run with.
const (
	// None is the control: neither the fence check nor the unique key.
	None Defence = "none"
	// Fence is the fencing token alone, without the unique key.
	Fence Defence = "fence"
	// Unique is the unique key (player_id, reward_event_id) alone, without the fence check.
	Unique Defence = "unique"
	// All is the engine as workers use it, on the schema as it is migrated.
	All Defence = "all"
)

// Defences returns the defences a drill can run with, the control first.
func Defences() []Defence { return []Defence{None, Fence, Unique, All} }

// ParseDefence reads a defence's word; an empty word means All. It fails for any other word.
func ParseDefence(word string) (Defence, error) {
	if word == "" {
		return All, nil
	}
	if d := Defence(word); slices.Contains(Defences(), d) {
		return d, nil
	}
	return "", &grant.Rejection{
		Field: "defence", Value: word, Problem: "is not a defence",
		WayOut: "use one of " + joined(Defences()),
	}
}

// Description is one line of the list of drills.
type Description struct {
	Name     string
	Plays    string // one sentence: what goes wrong in it
	Defences []Defence
}

// List returns the drills, in the order in which they are shown.
func List() []Description {
	all := registry()
	list := make([]Description, len(all))
	for i, e := range all {
		list[i] = e.Description
	}
	return list
}

// entry is a drill: what is said about it, what it wants of the options beyond what all want, and
// how it is played.
type entry struct {
	Description
	complete func(*Options) error
	play     func(context.Context, Options) (Report, error)
}

// registry lists the drills.
func registry() []entry {
	return []entry{{
		Description{
			Name: PausedHolder,
			Plays: "Worker A takes the lease and stalls for longer than its time to live; " +
				"worker B takes it and pays; A wakes up and pays again.",
			Defences: Defences(),
		},
		completePausedHolder, pausedHolder,
	}, {
		Description{
			Name: LostUpdate,
			Plays: "Workers take points from one balance at the same moment: without a lock, with a " +
				"row lock, with a version, with a lease.",
			Defences: []Defence{All},
		},
		completeLostUpdate, lostUpdate,
	}}
}

// Options say which drill runs, and where. Name, Pool, Redis and NewID are required.
type Options struct {
	Name    string
	Defence Defence // All when empty
	// TTL is the time to live of the leases, 5 s when zero.
	TTL time.Duration
	// Pause is how long worker A stalls, counted from its acquisition. It must be longer than
	// TTL; TTL + 100 ms when zero. Of paused-holder only.
	Pause time.Duration
	// Workers is how many workers collide, 2 when zero, and Rounds how often each of them makes a
	// deduction, 1 when zero. Of lost-update only.
	Workers, Rounds int

	// Pool reaches the database in which the drill makes its schema. The schema that the pool
	// uses otherwise is not touched.
	Pool *pgxpool.Pool
	// Redis holds the drill's leases, under a prefix of this run.
	Redis redis.UniversalClient

	Now   func() time.Time // the clock of the timeline; time.Now when nil
	NewID func() string    // a fresh random text of at least 128 bits
	// Wait pauses, and returns early with the context's error. A timer when nil. It must really
	// let the time pass: the lease expires on the server's clock.
	Wait func(context.Context, time.Duration) error
	// OnRow is called with each row of the timeline as it happens; nil does nothing.
	OnRow func(Row)
}

// Row is one moment of the timeline. A column that does not change is empty.
type Row struct {
	At      time.Duration // since the start
	WorkerA string
	Lease   string // what Redis says about the lease after the moment
	WorkerB string
}

// Refusal is a payment that a line of defence refused.
type Refusal struct {
	Worker string  // "A" or "B"
	Line   Defence // Fence or Unique
	// Outcome is the engine's answer; grant.Failed when the drill ran without the engine.
	Outcome grant.Outcome
	Detail  string
}

// Check is one invariant with what was found.
type Check struct {
	Name  string
	Want  string
	Have  string
	Holds bool
}

// Report is what a drill showed.
type Report struct {
	Name     string
	Defence  Defence
	TTL      time.Duration
	Pause    time.Duration
	Started  time.Time
	PlayerID string
	EventID  string
	Expected int64 // what the event should pay

	Timeline []Row
	Refusals []Refusal
	// Workers, Rounds, Methods and Steps are set by lost-update. Steps are given for two workers
	// and one round.
	Workers, Rounds int
	Methods         []Method
	Steps           []Step
	Checks          []Check
	OK              bool // every check holds
}

// Run plays a drill. A drill whose invariants broke is a report that is not OK, not an error.
// It returns a *grant.Rejection for options that make no drill, a *grant.BackendError when a
// server could not be used, and the context's error when it was stopped.
func Run(ctx context.Context, opt Options) (Report, error) {
	e, err := opt.complete()
	if err != nil {
		return Report{}, err
	}
	return e.play(ctx, opt)
}

const (
	ttlDefault = 5 * time.Second
	overPause  = 100 * time.Millisecond // how far the default pause passes the TTL
)

func (o *Options) complete() (entry, error) {
	var found *entry
	names := make([]string, 0, len(registry()))
	for _, e := range registry() {
		names = append(names, e.Name)
		if e.Name == o.Name {
			found = &e
		}
	}
	if found == nil {
		return entry{}, &grant.Rejection{
			Field: "drill", Value: o.Name, Problem: "is not a drill",
			WayOut: "use one of " + strings.Join(names, ", "),
		}
	}
	if o.Pool == nil || o.Redis == nil || o.NewID == nil {
		return entry{}, fmt.Errorf("drill %s: Options.Pool, Redis and NewID are required", o.Name)
	}
	var err error
	if o.Defence, err = ParseDefence(string(o.Defence)); err != nil {
		return entry{}, err
	}
	if !slices.Contains(found.Defences, o.Defence) {
		return entry{}, &grant.Rejection{
			Field: "defence", Value: string(o.Defence), Problem: "is not one of this drill",
			WayOut: "use one of " + joined(found.Defences),
		}
	}
	if o.TTL == 0 {
		o.TTL = ttlDefault
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = waitTimer
	}
	if o.OnRow == nil {
		o.OnRow = func(Row) {}
	}
	return *found, found.complete(o)
}

func waitTimer(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func joined(all []Defence) string {
	words := make([]string, len(all))
	for i, d := range all {
		words[i] = string(d)
	}
	return strings.Join(words, ", ")
}
