package simulator

import "slices"

// step lets one thing happen.
func (w *world) step() {
	w.report.Steps++
	switch roll := w.rng.below(1000); {
	case roll < w.breaking/4:
		w.breakRedis()
	case roll < w.breaking/4+w.dying/2:
		a := w.actors[w.rng.below(len(w.actors))]
		w.note("%d dies", a.line().id)
		w.count("a process died", true)
		a.die(w)
	case roll < 600 && len(w.net) > 0:
		w.deliver(w.rng.below(len(w.net)))
	case roll < 930:
		w.actors[w.rng.below(len(w.actors))].step(w)
	default:
		w.advance(1 + int64(w.rng.below(ttl*6/5)))
	}
	if w.chance(10) {
		w.redis.copyTo()
	}
}

// deliver carries out one message in flight, or loses it.
func (w *world) deliver(at int) {
	m := w.net[at]
	w.net = slices.Delete(w.net, at, at+1)
	to := w.actors[m.from]
	if !w.quiet && w.rng.below(1000) < w.losing {
		w.note("  lost: %v of %d, reply: %v", m.call, m.from, m.back)
		w.count("a reply was lost", m.back)
		if to.line().seq == m.seq {
			to.line().lost = true
		}
		return
	}
	switch {
	case !m.back:
		w.serve(m)
	case to.line().waiting && to.line().seq == m.seq:
		to.hear(w, m)
	default:
		w.count("a reply came too late", true)
	}
}

// advance moves the clock, for everybody: a stall is an actor that is not drawn meanwhile.
func (w *world) advance(ms int64) {
	w.now += ms
	for _, res := range w.redis.expire(w.now) {
		w.count("a lease expired", true)
		w.record(Call{Do: "expire", Resource: res})
	}
}

// breakRedis makes it fail over to a replica that lags, or forget everything.
func (w *world) breakRedis() {
	if w.chance(70) {
		w.note("Redis fails over")
		w.count("Redis failed over", true)
		w.redis.failover()
		w.redis.expire(w.now)
	} else {
		w.note("Redis forgets")
		w.count("Redis forgot", true)
		w.redis.forget()
	}
	w.record(Call{
		Do: "reset", Locks: slices.Clone(w.redis.locks), Counters: slices.Clone(w.redis.counters),
	})
}

// drainMost bounds how long a schedule may take to come to rest once faults have stopped.
const drainMost = 2000

// drain stops the faults and lets everybody finish.
func (w *world) drain() {
	w.quiet = true
	for range drainMost {
		if w.report.Violation != "" {
			return
		}
		for len(w.net) > 0 {
			w.deliver(0)
		}
		if w.settled() {
			w.checkEnd()
			return
		}
		for _, a := range w.actors {
			a.step(w)
		}
		if w.chance(30) {
			w.advance(1 + int64(w.rng.below(ttl)))
		}
	}
	w.violate("the schedule did not come to rest")
}

// settled reports whether there is nothing left to do.
func (w *world) settled() bool {
	if len(w.jobs) > 0 {
		return false
	}
	for _, a := range w.actors {
		switch a := a.(type) {
		case *worker:
			if a.job != nil {
				return false
			}
		case *relay:
			if len(a.rows) > 0 {
				return false
			}
		case *operator:
			if a.busy {
				return false
			}
		}
	}
	return !slices.ContainsFunc(w.pg.ledger, func(p posting) bool {
		return p.queued && p.state != delivered
	})
}
