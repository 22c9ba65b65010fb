package simulator

// relay delivers: claim, publish, mark, as package outbox does.
type relay struct {
	wire
	rows  []int
	claim int
	doing call
	sent  bool
}

func (r *relay) step(w *world) {
	switch {
	case r.waiting:
		if r.lost || w.chance(4) {
			r.timeOut(w)
		}
	case len(r.rows) == 0:
		r.call(w, take, message{})
	}
}

func (r *relay) call(w *world, c call, m message) {
	r.doing = c
	m.call, m.claim = c, r.claim
	if len(r.rows) > 0 {
		m.rows = r.rows[:1:1]
	}
	r.ask(w, m)
}

func (r *relay) timeOut(w *world) {
	r.waiting = false
	if r.doing == publish && !r.sent {
		// Not known to be there: the row goes back and is sent again under the same key.
		r.call(w, mark, message{done: false})
		return
	}
	r.next(w)
}

func (r *relay) hear(w *world, m message) {
	r.waiting = false
	switch {
	case m.call == take:
		r.rows, r.claim = m.rows, m.claim
		r.begin(w)
	case m.call == publish && w.defect != MarkBeforeSend:
		r.call(w, mark, message{done: true})
	case m.call == mark && w.defect == MarkBeforeSend && !r.sent && m.done:
		r.sent = true
		r.call(w, publish, message{})
	default:
		r.next(w)
	}
}

// begin takes the first of the claimed rows.
func (r *relay) begin(w *world) {
	r.sent = false
	switch {
	case len(r.rows) == 0:
	case w.defect == MarkBeforeSend:
		r.call(w, mark, message{done: true})
	default:
		r.call(w, publish, message{})
	}
}

func (r *relay) next(w *world) {
	if len(r.rows) > 0 {
		r.rows = r.rows[1:]
	}
	r.begin(w)
}

func (r *relay) die(*world) {
	r.waiting = false
	r.seq++
	r.rows = nil
}

// operator releases a lock that it saw, burning its token first, as package repair does.
type operator struct {
	wire
	res   int
	seen  lock
	doing call
	busy  bool
	deeds int
}

func (o *operator) step(w *world) {
	switch {
	case o.waiting:
		if o.lost {
			o.waiting = false
			o.ask(w, message{call: o.doing, res: o.res, mine: o.seen})
		}
	case !o.busy && o.deeds > 0:
		o.res = w.rng.below(len(w.redis.locks))
		if o.seen = w.redis.locks[o.res]; o.seen.owner == 0 {
			return
		}
		o.busy = true
		o.deeds--
		o.doing = burn
		if w.defect == ReleaseWithoutBurn {
			o.doing = giveBack
		}
		o.ask(w, message{call: o.doing, res: o.res, mine: o.seen})
	}
}

func (o *operator) hear(w *world, m message) {
	o.waiting = false
	if m.call == burn {
		o.doing = giveBack
		o.ask(w, message{call: giveBack, res: o.res, mine: o.seen})
		return
	}
	// From here on the operator has been promised that the holder can write no more.
	w.promised[o.res] = max(w.promised[o.res], o.seen.token)
	w.count("operator released a lock", m.freed == released)
	o.busy = false
}

func (o *operator) die(*world) {
	o.waiting, o.busy = false, false
	o.seq++
}
