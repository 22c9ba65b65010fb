package simulator

// owner names one acquisition; 0 is nobody.
type owner int

// lock is the lock of a resource as Redis holds it; the zero value is no lock.
type lock struct {
	token int64
	owner owner
	until int64 // ms of the virtual clock
}

// redis is the model of one Redis: locks and counters by resource, as the scripts acquire.lua,
// renew.lua and release.lua treat them, and a replica that lags behind.
type redis struct {
	locks    []lock
	counters []int64 // 0: missing
	replica  struct {
		locks    []lock
		counters []int64
	}
}

func newRedis(resources int) redis {
	r := redis{locks: make([]lock, resources), counters: make([]int64, resources)}
	r.copyTo()
	return r
}

// leased is the answer to acquire.
type leased struct {
	holder lock // who holds the lock now; its token is ours when owner is
	fresh  bool // issued by this very call
}

// acquire issues max(counter, floor) + 1, or gives the owner's own token back.
func (r *redis) acquire(now int64, res int, who owner, floor, ttl int64, d Defect) leased {
	if have := r.locks[res]; have.owner != 0 {
		return leased{holder: have}
	}
	highest := r.counters[res]
	switch {
	case d == NoFloor:
	case d == FloorIfMissing && highest != 0:
	default:
		highest = max(highest, floor)
	}
	r.counters[res] = highest + 1
	r.locks[res] = lock{token: highest + 1, owner: who, until: now + ttl}
	return leased{holder: r.locks[res], fresh: true}
}

// renew extends the lock if its exact value is still there.
func (r *redis) renew(now int64, res int, mine lock, ttl int64) bool {
	have := &r.locks[res]
	if have.owner != mine.owner || have.token != mine.token {
		return false
	}
	have.until = now + ttl
	return true
}

// freed is the answer to release.
type freed uint8

const (
	gone freed = iota
	released
	changed
)

// release deletes the lock if its exact value is still there.
func (r *redis) release(res int, mine lock, d Defect) freed {
	have := r.locks[res]
	switch {
	case have.owner == 0:
		return gone
	case have.owner == mine.owner && have.token == mine.token, d == ReleaseUnchecked:
		r.locks[res] = lock{}
		return released
	}
	return changed
}

// expire ends the locks whose time has passed and returns their resources.
func (r *redis) expire(now int64) []int {
	var ended []int
	for res, have := range r.locks {
		if have.owner != 0 && have.until <= now {
			r.locks[res] = lock{}
			ended = append(ended, res)
		}
	}
	return ended
}

// copyTo brings the replica up to date.
func (r *redis) copyTo() {
	r.replica.locks = append(r.replica.locks[:0], r.locks...)
	r.replica.counters = append(r.replica.counters[:0], r.counters...)
}

// failover makes the replica the primary: what it had not received is lost.
func (r *redis) failover() {
	copy(r.locks, r.replica.locks)
	copy(r.counters, r.replica.counters)
}

// forget empties the server, as a restart without persistence does.
func (r *redis) forget() {
	clear(r.locks)
	clear(r.counters)
}
