package simulator

import (
	"fmt"

	"rewardctl/grant"
)

// Report is what became of one schedule.
type Report struct {
	Seed      uint64
	Steps     int
	Violation string         // empty when all went well
	Seen      map[string]int // how often each situation occurred
	Trace     []string       // one line per event; only when asked for
	Calls     []Call         // of Redis and PostgreSQL; only when asked for
	Submitted int            // items sent to the database
	Granted   int            // postings
}

// Call is one call of a server with the model's answer, for comparison with a real server. What is
// due, a lease that expires and a Redis that lost data are calls too.
type Call struct {
	Do       string // due, acquire, renew, release, expire, reset, grant or burn
	Resource int
	Owner    int
	Token    int64 // presented; of acquire: the holder's
	Floor    int64
	Holder   int // of acquire: who holds the lock after the call
	OK       bool
	Again    bool
	Items    []item
	Verdicts []verdict
	Locks    []lock // of reset: what the server holds from now on
	Counters []int64
}

// Options say what a Run keeps.
type Options struct {
	Defect Defect
	Trace  bool
	Calls  bool
}

// freshFrom is added to an event's number by the defect FreshEvent.
const freshFrom = 1000

// world is the state of one schedule.
type world struct {
	rng      random
	defect   Defect
	opts     Options
	report   *Report
	now      int64
	redis    redis
	pg       postgres
	net      []message
	actors   []actor
	jobs     []*job
	open     int // jobs that are not final
	attempts int
	losing   int // per mille of messages that are lost
	dying    int // per mille of steps in which somebody dies
	breaking int // per mille of steps in which Redis breaks
	quiet    bool

	due      map[event]bool // must be paid in the end
	told     map[event]int  // answered applied
	denied   map[denied]bool
	writers  []int // by posting: the acquisition
	promised []int64
}

// Run plays the schedule of a seed.
func Run(seed uint64, opts Options) Report {
	report := Report{Seed: seed, Seen: map[string]int{}}
	w := &world{
		rng: random{seed}, defect: opts.Defect, opts: opts,
		report: &report, due: map[event]bool{}, told: map[event]int{}, denied: map[denied]bool{},
	}
	w.build()
	for range 40 + w.rng.below(160) {
		w.step()
		if report.Violation != "" {
			break
		}
	}
	w.drain()
	report.Granted = len(w.pg.ledger)
	return report
}

// chance is true n times out of a hundred.
func (w *world) chance(n int) bool { return w.rng.below(100) < n }

func (w *world) note(format string, args ...any) {
	if w.opts.Trace {
		w.report.Trace = append(w.report.Trace,
			fmt.Sprintf("%6d ms  ", w.now)+fmt.Sprintf(format, args...))
	}
}

func (w *world) record(c Call) {
	if c.Do == "grant" {
		w.report.Submitted += len(c.Items)
	}
	if w.opts.Calls {
		w.report.Calls = append(w.report.Calls, c)
	}
}

// build draws the players, what is due, the requests, the processes, and which kinds of faults
// this schedule has: a schedule in which everything fails at once explores little.
func (w *world) build() {
	players := 1 + w.rng.below(2)
	w.redis, w.pg = newRedis(players), newPostgres(players)
	w.promised = make([]int64, players)
	for p := range players {
		w.buildJobs(p, 1+w.rng.below(3))
	}
	workers, relays := 2+w.rng.below(3), 1+w.rng.below(2)
	for range workers {
		w.actors = append(w.actors, &worker{wire: wire{id: len(w.actors)}})
	}
	for range relays {
		w.actors = append(w.actors, &relay{wire: wire{id: len(w.actors)}})
	}
	w.actors = append(w.actors, &operator{wire: wire{id: len(w.actors)}, deeds: w.rng.below(3)})
	for _, f := range []*int{&w.losing, &w.dying, &w.breaking} {
		if w.chance(60) {
			*f = 10 + w.rng.below(100)
		}
	}
	if w.chance(10) {
		w.losing *= 4
	}
}

// buildJobs draws the requests of a player: every event in one to three of them, sometimes with
// an amount that is wrong.
func (w *world) buildJobs(player, events int) {
	for n := range events {
		e := event{player, n}
		amount := int64(10 * (n + 1))
		if w.chance(50) {
			w.pg.claims[e] = claim{amount: amount}
			w.record(Call{Do: "due", Resource: player, Items: []item{{e, amount}}})
		}
		for range 1 + w.rng.below(3) {
			asked := amount
			if w.chance(10) {
				asked++
			}
			if _, known := w.pg.claims[e]; !known || asked == amount {
				w.due[e] = true
			}
			items := []item{{e, asked}}
			if n > 0 && w.chance(30) {
				items = append([]item{{event{player, n - 1}, int64(10 * n)}}, items...)
				w.due[event{player, n - 1}] = true
			}
			w.jobs = append(w.jobs, &job{
				res: player, items: items, answers: make([]grant.Outcome, len(items)),
			})
			w.open++
		}
	}
}

// requeue gives a job that is not decided back.
func (w *world) requeue(j *job) {
	if w.defect == FreshEvent {
		j.items = append([]item(nil), j.items...)
		for i := range j.items {
			if !j.answers[i].Final() {
				j.items[i].n += freshFrom
			}
		}
	}
	w.jobs = append(w.jobs, j)
}
