package simulator

// call is what a message asks of a server.
type call uint8

const (
	askFloor call = iota // PostgreSQL: the fence of a resource
	askLease             // Redis: acquire
	extend               // Redis: renew
	giveBack             // Redis: release
	send                 // PostgreSQL: the grant transaction
	lookUp               // PostgreSQL: read the ledger; only a defect does
	enqueue              // PostgreSQL: write the outbox rows; only a defect does
	burn                 // PostgreSQL: burn a token
	take                 // PostgreSQL: claim outbox rows
	publish              // item server: give the items
	mark                 // PostgreSQL: end a claim
)

var callNames = [...]string{
	askFloor: "read the fence", askLease: "acquire", extend: "renew", giveBack: "release",
	send: "grant", lookUp: "read the ledger", enqueue: "enqueue", burn: "burn",
	take: "claim rows", publish: "publish", mark: "mark",
}

func (c call) String() string { return callNames[c] }

// message is a call on its way to a server, or its reply on the way back.
type message struct {
	call call
	from int // the actor
	seq  int // the actor's number of the call: a reply to an older call is ignored
	back bool

	res     int
	mine    lock
	attempt int // the acquisition, told apart also where owners are shared
	floor   int64
	items   []item
	again   bool // a grant that was sent before
	rows    []int
	claim   int
	done    bool

	// The reply.
	leased   leased
	ok       bool
	freed    freed
	verdicts []verdict
}

// serve lets a server carry out a call and sends the reply.
func (w *world) serve(m message) {
	m.back = true
	switch m.call {
	case askFloor:
		m.floor = w.pg.fences[m.res].token
	case askLease:
		w.serveAcquire(&m)
	case extend:
		m.ok = w.redis.renew(w.now, m.res, m.mine, ttl)
		w.record(Call{
			Do: "renew", Resource: m.res, Owner: int(m.mine.owner),
			Token: m.mine.token, OK: m.ok,
		})
	case giveBack:
		w.serveRelease(&m)
	case send:
		w.serveGrant(&m)
	case lookUp:
		m.verdicts = make([]verdict, len(m.items))
		for i, it := range m.items {
			m.verdicts[i].posting = w.pg.find(it.event)
		}
	case enqueue:
		for _, row := range m.rows {
			w.pg.ledger[row].queued = true
		}
	case burn:
		w.pg.burn(m.res, m.mine.token, w.defect)
		w.record(Call{Do: "burn", Resource: m.res, Token: m.mine.token})
	case take:
		m.rows, m.claim = w.pg.take(w.now, w.now+claimFor, 2, w.defect)
	case publish:
		w.serveItems(m.rows[0])
		m.ok = true
	case mark:
		before := w.pg.ledger[m.rows[0]].state
		m.ok = w.pg.mark(m.rows[0], m.claim, m.done, w.defect)
		if before == delivered && w.pg.ledger[m.rows[0]].state != delivered {
			w.violate("a delivered row was taken back")
		}
		w.count("claim lost before its mark", !m.ok)
	}
	w.note("  %v of %d served", m.call, m.from)
	w.net = append(w.net, m)
}

func (w *world) serveAcquire(m *message) {
	stale := w.redis.counters[m.res] < m.floor
	m.leased = w.redis.acquire(w.now, m.res, m.mine.owner, m.floor, ttl, w.defect)
	have := m.leased
	w.record(Call{
		Do: "acquire", Resource: m.res, Owner: int(m.mine.owner), Floor: m.floor,
		Token: have.holder.token, Holder: int(have.holder.owner), OK: have.fresh,
	})
	if have.fresh && have.holder.token <= m.floor {
		w.violate("token %d was issued below fence %d", have.holder.token, m.floor)
	}
	w.count("floor raised a counter", have.fresh && stale)
	w.count("acquire asked again by its owner", !have.fresh && have.holder.owner == m.mine.owner)
}

func (w *world) serveRelease(m *message) {
	have := w.redis.locks[m.res]
	m.freed = w.redis.release(m.res, m.mine, w.defect)
	w.record(Call{
		Do: "release", Resource: m.res, Owner: int(m.mine.owner), Token: m.mine.token,
		OK: m.freed == released,
	})
	if m.freed == released && (have.owner != m.mine.owner || have.token != m.mine.token) {
		w.violate("the lock of somebody else was deleted")
	}
	w.count("release refused: the lock changed", m.freed == changed)
}

func (w *world) serveGrant(m *message) {
	f := w.pg.fences[m.res]
	before := len(w.pg.ledger)
	m.verdicts = w.pg.grant(m.res, m.mine, m.items, m.again, w.defect)
	w.record(Call{
		Do: "grant", Resource: m.res, Owner: int(m.mine.owner), Token: m.mine.token,
		Items: m.items, Again: m.again, Verdicts: m.verdicts,
	})
	w.checkFence(f, m)
	for row := before; row < len(w.pg.ledger); row++ {
		w.checkPosting(row, m)
	}
	lock := w.redis.locks[m.res]
	w.count("posted after the lease was lost", len(w.pg.ledger) > before &&
		(lock.owner != m.mine.owner || lock.token != m.mine.token))
	w.count("sent again before the first arrived", m.again && len(w.pg.ledger) > before)
	w.count("sent again after the first committed", m.again && len(w.pg.ledger) == before)
}

// serveItems is the item server: the key of the event makes a repeat harmless.
func (w *world) serveItems(row int) {
	r := &w.pg.ledger[row]
	w.count("delivered again", r.applied > 0)
	if r.applied > 0 && w.defect != ReceiverForgets {
		return
	}
	if r.applied++; r.applied > 1 {
		w.violate("items of posting %d were given twice", row)
	}
	for i := range row {
		if e := &w.pg.ledger[i]; e.player == r.player && e.queued && e.applied == 0 {
			w.violate("posting %d was delivered before posting %d of the same player", row, i)
		}
	}
}
