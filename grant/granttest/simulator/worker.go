package simulator

import (
	"slices"

	"rewardctl/grant"
)

// actor is one process of the schedule.
type actor interface {
	// step lets it begin something, or give up waiting for a reply.
	step(w *world)
	// hear gives it a reply.
	hear(w *world, m message)
	// line is its connection to the servers.
	line() *wire
	// die makes it forget everything; another process takes its place.
	die(w *world)
}

// wire is what an actor knows of its call in flight.
type wire struct {
	id      int
	seq     int
	waiting bool
	lost    bool // its message or the reply is gone
}

func (l *wire) line() *wire { return l }

// ask sends a message and begins to wait.
func (l *wire) ask(w *world, m message) {
	l.seq++
	l.waiting, l.lost = true, false
	m.from, m.seq = l.id, l.seq
	w.net = append(w.net, m)
	w.note("%d asks: %v %d token %d owner %d", l.id, m.call, m.res, m.mine.token, m.mine.owner)
}

// job is a request that a worker has to carry out until its answer is final.
type job struct {
	res     int
	items   []item
	answers []grant.Outcome
	tries   int
}

func (j *job) final() bool {
	for _, o := range j.answers {
		if !o.Final() {
			return false
		}
	}
	return true
}

// worker grants: the floor, the lease, the transaction, the release, as package grant does.
type worker struct {
	wire
	job      *job
	mine     lock
	attempt  int
	until    int64 // the lease may be trusted so long
	doing    call
	tries    int // of the call
	again    bool
	reseeded bool
}

const (
	ttl       = 5000 // ms
	margin    = 500
	claimFor  = 3000
	askTries  = 3 // for a lost reply of acquire, as often as the lease store asks
	sendAgain = 4
)

func (k *worker) step(w *world) {
	switch {
	case k.waiting:
		if k.lost || w.chance(4) {
			k.timeOut(w)
		}
	case k.job == nil && len(w.jobs) > 0:
		at := w.rng.below(len(w.jobs))
		k.job = w.jobs[at]
		w.jobs = slices.Delete(w.jobs, at, at+1)
		k.job.tries++
		k.again, k.reseeded = false, false
		k.begin(w)
	}
}

// begin reads the floor for a new acquisition.
func (k *worker) begin(w *world) {
	w.attempts++
	k.attempt = w.attempts
	k.mine = lock{owner: owner(k.attempt)}
	if w.defect == SharedOwner {
		k.mine.owner = owner(k.id + 1)
	}
	k.tries = 0
	k.call(w, askFloor, message{})
}

func (k *worker) call(w *world, c call, m message) {
	k.doing = c
	m.call, m.res, m.mine, m.attempt = c, k.job.res, k.mine, k.attempt
	m.items = k.job.items
	k.ask(w, m)
}

// timeOut is what a worker does when no reply comes.
func (k *worker) timeOut(w *world) {
	k.waiting = false
	k.tries++
	switch k.doing {
	case askFloor, extend, lookUp:
		k.end(w, grant.Failed)
	case askLease:
		if k.tries < askTries {
			k.call(w, askLease, message{floor: k.mine.token})
			return
		}
		k.end(w, grant.Failed)
	case send:
		switch {
		case w.defect == LostMeansFailed:
			k.end(w, grant.Failed)
		case w.defect == AbsentMeansNot:
			k.call(w, lookUp, message{})
		case k.tries > sendAgain:
			w.count("left unknown", true)
			k.end(w, grant.Unknown)
		default:
			k.again = true
			k.call(w, send, message{again: true})
		}
	default: // the release ends with its TTL; the defect's outbox rows are simply not written
		k.leave(w)
	}
}

func (k *worker) hear(w *world, m message) {
	k.waiting = false
	switch m.call {
	case askFloor:
		k.until = w.now + ttl - margin // from the start of the attempt
		k.mine.token = m.floor         // kept for asking again
		k.call(w, askLease, message{floor: m.floor})
	case askLease:
		k.heardLease(w, m)
	case extend:
		w.count("renewal refused", !m.ok)
		if !m.ok {
			k.end(w, grant.Failed)
			return
		}
		k.post(w)
	case send:
		k.heardGrant(w, m)
	case lookUp:
		if m.verdicts[0].posting < 0 {
			k.end(w, grant.Failed)
		} else {
			k.end(w, grant.Replayed)
		}
	default:
		k.leave(w)
	}
}

func (k *worker) heardLease(w *world, m message) {
	have := m.leased.holder
	own := have.owner == k.mine.owner && (m.leased.fresh || w.defect != AcquireForgetsOwner)
	if !own {
		if have.owner == k.mine.owner {
			w.violate("worker %d was told that its own lock is busy", k.id)
		}
		k.end(w, grant.LeaseHeld)
		return
	}
	k.mine = have
	if w.chance(20) {
		k.call(w, extend, message{})
		return
	}
	k.post(w)
}

// post sends the transaction, unless the lease can no longer be trusted.
func (k *worker) post(w *world) {
	k.tries = 0
	if w.now >= k.until {
		w.count("not sent: the lease ran out", true)
		k.end(w, grant.Failed)
		return
	}
	k.call(w, send, message{})
}

func (k *worker) heardGrant(w *world, m message) {
	refused := slices.ContainsFunc(m.verdicts, func(v verdict) bool {
		return v.outcome == grant.StaleToken || v.outcome == grant.TokenCollision
	})
	if refused && !k.reseeded && !k.again {
		k.reseeded = true
		w.deny(k, m.items)
		k.begin(w)
		return
	}
	w.answer(k, m)
	if w.defect == OutboxApart {
		var rows []int
		for _, v := range m.verdicts {
			if v.outcome == grant.Applied {
				rows = append(rows, v.posting)
			}
		}
		k.call(w, enqueue, message{rows: rows})
		return
	}
	k.call(w, giveBack, message{})
}

// end answers all items alike and goes on to the release.
func (k *worker) end(w *world, o grant.Outcome) {
	if o != grant.Unknown && o != grant.Replayed {
		w.deny(k, k.job.items)
	}
	for i := range k.job.answers {
		if !k.job.answers[i].Final() {
			k.job.answers[i] = o
		}
	}
	if o == grant.LeaseHeld || k.doing == askFloor {
		k.leave(w)
		return
	}
	k.call(w, giveBack, message{})
}

// leave puts a job that is not decided back for another try.
func (k *worker) leave(w *world) {
	if !k.job.final() {
		w.requeue(k.job)
	}
	k.job = nil
}

func (k *worker) die(w *world) {
	k.waiting = false
	k.seq++
	if k.job != nil {
		k.leave(w)
	}
}
