// Package drill plays failures on real servers, on purpose, and shows which line of defence
// stops what: each drill runs in a schema and under a key prefix of its own, which it makes and
// removes, prints a timeline and checks the invariants.
//
// A drill runs with all its defences, with one of them alone, or with none: the control, which
// shows the damage that the defences are there to prevent. Prove runs the control and then all
// defences, and wants both the damage and its absence. Damage is done by construction: the actors
// take turns or meet at a barrier, so no run depends on luck.
//
// A drill is one entry of the table in catalogue.go: its name, a sentence, its defences, the names
// of the timeline's columns, and the function that plays it on a stage.
package drill

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// Defence says what stands between a failure and its damage. Each drill has defences of its own:
// see Description.
type Defence string

// The defences that several drills share.
const (
	// None is the control: nothing stands in the way.
	None Defence = "none"
	// Fence is the fencing token alone, without the unique key.
	Fence Defence = "fence"
	// Unique is the unique key (player_id, reward_event_id) alone, without the fence check.
	Unique Defence = "unique"
	// TokenOnly is a fence that compares the token and forgets the owner.
	TokenOnly Defence = "token-only"
	// Compare is that a lease is extended or deleted only by whoever presents its exact value.
	Compare Defence = "compare"
	// Lease is the lease alone, and a look before paying.
	Lease Defence = "lease"
	// Idempotency is that a receiver knows a repeat by its key, or a lease by its owner.
	Idempotency Defence = "idempotency"
	// All is the engine as workers use it, on the schema as it is migrated.
	All Defence = "all"
)

// Description is one line of the list of drills.
type Description struct {
	Name  string
	Plays string // one sentence: what goes wrong in it
	// Defences are what it can be run with: the control first, everything last.
	Defences []Defence
	// Columns name the timeline's columns: an actor, what both share, and the other actor.
	Columns [3]string
	// TTL is the time to live of its leases unless Options say otherwise.
	TTL time.Duration
	// Processes is true when it needs Options.Spawn: some of its workers are processes.
	Processes bool
}

// Control is the run that does damage: the drill's first defence.
func (d Description) Control() Defence { return d.Defences[0] }

// Full is the run with everything that stops the damage: the drill's last defence.
func (d Description) Full() Defence { return d.Defences[len(d.Defences)-1] }

// Parse reads the word of one of the drill's defences; an empty word means Full. It returns a
// *grant.Rejection for any other word.
func (d Description) Parse(word string) (Defence, error) {
	if word == "" {
		return d.Full(), nil
	}
	if one := Defence(word); slices.Contains(d.Defences, one) {
		return one, nil
	}
	words := make([]string, len(d.Defences))
	for i, one := range d.Defences {
		words[i] = string(one)
	}
	return "", &grant.Rejection{
		Field: "defence", Value: word, Problem: "is not a defence of the drill " + d.Name,
		WayOut: "use one of " + strings.Join(words, ", "),
	}
}

// List returns the drills, in the order in which they are shown.
func List() []Description {
	all := catalogue()
	list := make([]Description, len(all))
	for i, one := range all {
		list[i] = one.Description
	}
	return list
}

// Find returns the drill of that name, or a *grant.Rejection that names those there are.
func Find(name string) (Description, error) {
	one, err := find(name)
	return one.Description, err
}

func find(name string) (script, error) {
	all := catalogue()
	names := make([]string, len(all))
	for i, one := range all {
		if one.Name == name {
			return one, nil
		}
		names[i] = one.Name
	}
	return script{}, &grant.Rejection{
		Field: "drill", Value: name, Problem: "is not a drill",
		WayOut: "use one of " + strings.Join(names, ", "),
	}
}

// Replica is a replica of the server behind Options.Redis, of the drills' own.
type Replica interface {
	// Follow starts it and returns when it has everything that was written so far.
	Follow(ctx context.Context) error
	// Lag cuts it off: what is written from now on, it does not get.
	Lag(ctx context.Context) error
	// TakeOver kills the primary without a word and makes the replica the primary, at the
	// primary's address. It returns when it answers there.
	TakeOver(ctx context.Context) error
}

// Options say which drill runs, and where. Name, Pool, Redis and NewID are required.
type Options struct {
	Name    string
	Defence Defence // the drill's last, everything, when empty; Prove sets it
	// TTL is the time to live of the leases; the drill's own when zero.
	TTL time.Duration
	// Pause is how long the worker of paused-holder stalls, counted from its acquisition. It must
	// be longer than TTL; a little longer, by the seed, when zero. Other drills refuse it.
	Pause time.Duration
	// Workers is how many collide in lost-update, 2 when zero, and Rounds how often, once when zero.
	// Other drills refuse them.
	Workers, Rounds int
	// Seed decides what a drill leaves open, such as how far a pause passes the TTL and how many
	// copies a message has. The same seed makes the same choices.
	Seed uint64

	// Pool reaches the database in which the drill makes its schema. The schema that the pool
	// uses otherwise is not touched.
	Pool *pgxpool.Pool
	// Redis holds the drill's leases, under a prefix of this run.
	Redis redis.UniversalClient
	// RestartRedis stops the server behind Redis, starts it again without data, and returns when it
	// answers. Nil when the server is shared: drills then forget what is under their prefix.
	RestartRedis func(context.Context) error
	// Replica makes the server behind Redis fail over to a real replica. Nil when the server is
	// shared: drills then put what is under their prefix back to what a replica would have.
	Replica Replica
	// Spawn returns a command, not started, whose process calls Work. Its standard input and output
	// belong to the drill. Nil means that drills with Processes are refused.
	Spawn func(context.Context) *exec.Cmd

	Now   func() time.Time // the clock of the timeline; time.Now when nil
	NewID func() string    // a fresh random text of at least 128 bits
	// Wait pauses, and returns early with the context's error. A timer when nil. It must really
	// let the time pass: the lease expires on the server's clock.
	Wait func(context.Context, time.Duration) error
	// OnRow is called with each row of the timeline as it happens; nil does nothing. Calls do not
	// overlap.
	OnRow func(Row)
}

// Run plays a drill once. A drill whose invariants broke is a report that is not OK, not an error.
// It returns a *grant.Rejection for options that make no drill, a *grant.BackendError when a
// server could not be used, and the context's error when it was stopped.
func Run(ctx context.Context, opt Options) (Report, error) {
	one, err := opt.complete()
	if err == nil {
		err = opt.wired(one.Description)
	}
	if err != nil {
		return Report{}, err
	}
	report, err := one.run(ctx, opt)
	report.Name, report.Plays, report.Seed, report.Columns = one.Name, one.Plays, opt.Seed, one.Columns
	if err != nil && ctx.Err() != nil {
		return report, ctx.Err() // what broke meanwhile broke because of it
	}
	return report, err
}

// Prove plays a drill twice: first the control, which has to do damage, then with everything that
// stops it. The errors are those of Run.
func Prove(ctx context.Context, opt Options) (Proof, error) { return ProveWith(ctx, opt, Run) }

// ProveWith is Prove with a Run of the caller's, which may show the runs as they come.
func ProveWith(
	ctx context.Context, opt Options, run func(context.Context, Options) (Report, error),
) (p Proof, err error) {
	about, err := Find(opt.Name)
	if err != nil {
		return p, err
	}
	alone := len(about.Defences) == 1 // it plays its control beside the rest
	if !alone {
		opt.Defence = about.Control()
		if p.Control, err = run(ctx, opt); err != nil {
			return p, err
		}
	}
	opt.Defence = about.Full()
	if p.Defended, err = run(ctx, opt); err != nil {
		return p, err
	}
	p.Proved = p.Defended.OK && (alone || !p.Control.OK)
	return p, nil
}

// overPause is how far a default pause passes the TTL at least; the seed adds up to as much again.
const overPause = 50 * time.Millisecond

// Check refuses options that make no drill, before there are servers to play on: Pool, Redis, Spawn
// and NewID are not looked at. The error is a *grant.Rejection.
func (o Options) Check() error {
	_, err := o.complete()
	return err
}

// wired refuses options with which nothing can be played.
func (o *Options) wired(d Description) error {
	if o.Pool == nil || o.Redis == nil || o.NewID == nil {
		return fmt.Errorf("drill %s: Options.Pool, Redis and NewID are required", d.Name)
	}
	if d.Processes && o.Spawn == nil {
		return fmt.Errorf("drill %s: Options.Spawn is required", d.Name)
	}
	return nil
}

// complete checks the options and fills in what is left out.
func (o *Options) complete() (script, error) {
	one, err := find(o.Name)
	if err != nil {
		return one, err
	}
	if o.Defence, err = one.Parse(string(o.Defence)); err != nil {
		return one, err
	}
	if err := one.refuseForeign(o); err != nil {
		return one, err
	}
	if o.TTL == 0 {
		o.TTL = one.TTL
	}
	if o.TTL < lease.TTLMin {
		return one, &grant.Rejection{
			Field: "ttl", Value: o.TTL.String(), Problem: "is too short for a lease",
			WayOut: "give " + lease.TTLMin.String() + " or more",
		}
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
	if one.complete != nil {
		return one, one.complete(o)
	}
	return one, nil
}

// refuseForeign refuses options that mean nothing to a drill.
func (s script) refuseForeign(o *Options) error {
	for _, one := range []struct {
		field, value, of string
		given            bool
	}{
		{"pause", o.Pause.String(), PausedHolder, o.Pause != 0},
		{"workers", strconv.Itoa(o.Workers), LostUpdate, o.Workers != 0},
		{"rounds", strconv.Itoa(o.Rounds), LostUpdate, o.Rounds != 0},
	} {
		if one.given && s.Name != one.of {
			return &grant.Rejection{
				Field: one.field, Value: one.value, Problem: "means nothing to the drill " + s.Name,
				WayOut: "leave it out: only " + one.of + " knows it",
			}
		}
	}
	return nil
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
