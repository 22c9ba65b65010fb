package simulator

import (
	"fmt"

	"rewardctl/grant"
)

// denied is an item that was answered without effect under an acquisition.
type denied struct {
	event
	attempt int
}

// violate notes the first thing that must not happen.
func (w *world) violate(format string, args ...any) {
	if w.report.Violation == "" {
		w.report.Violation = fmt.Sprintf(format, args...)
		w.note("VIOLATION: %s", w.report.Violation)
	}
}

// count counts a situation that a run must have seen.
func (w *world) count(what string, happened bool) {
	if happened {
		w.report.Seen[what]++
	}
}

// checkFence: fences never go down, and a burn locks out nobody but its target.
func (w *world) checkFence(before fence, m *message) {
	after := w.pg.fences[m.res]
	if after.token < before.token {
		w.violate("fence %d went down from %d to %d", m.res, before.token, after.token)
	}
	for _, v := range m.verdicts {
		w.count(v.outcome.String(), true)
		refused := v.outcome == grant.StaleToken || v.outcome == grant.TokenCollision
		if refused && before.owner == tombstone && m.mine.token > before.target {
			w.violate("token %d was refused by the burn of token %d", m.mine.token, before.target)
		}
	}
}

// checkPosting: no event twice, no denied item posted later, no two writers under one token, no
// token below an earlier one, nothing from a holder who was burned.
func (w *world) checkPosting(row int, m *message) {
	p := w.pg.ledger[row]
	w.writers = append(w.writers, m.attempt)
	for i := range row {
		e := w.pg.ledger[i]
		if e.player != p.player {
			continue
		}
		if e.n%freshFrom == p.n%freshFrom {
			w.violate("event %d of player %d was paid twice", p.n%freshFrom, p.player)
		}
		if e.token > p.token {
			w.violate("token %d wrote after token %d", p.token, e.token)
		}
		if e.token == p.token && w.writers[i] != m.attempt {
			w.violate("two acquisitions wrote under token %d", p.token)
		}
	}
	if p.token <= w.promised[m.res] {
		w.violate("token %d wrote after it was burned", p.token)
	}
	if w.denied[denied{p.event, m.attempt}] {
		w.violate("event %d of player %d was answered as not granted, then posted", p.n, p.player)
	}
}

// deny notes that a worker's items were answered without effect.
func (w *world) deny(k *worker, items []item) {
	for i, it := range items {
		if k.job.answers[i].Final() {
			continue
		}
		w.denied[denied{it.event, k.attempt}] = true
		if at := w.pg.find(it.event); at >= 0 && w.writers[at] == k.attempt {
			w.violate("event %d of player %d was posted, and answered as not granted", it.n,
				it.player)
		}
	}
}

// answer notes what a worker was told by the database, and checks that it is true.
func (w *world) answer(k *worker, m message) {
	for i, v := range m.verdicts {
		if k.job.answers[i].Final() {
			continue
		}
		k.job.answers[i] = v.outcome
		it := k.job.items[i]
		have := w.pg.find(it.event)
		switch v.outcome {
		case grant.Applied:
			if have < 0 || w.defect != NoUniqueKey && w.writers[have] != k.attempt {
				w.violate("event %d was answered applied, and is not this worker's", it.n)
			}
			w.told[it.event]++
			if w.told[it.event] > 1 {
				w.violate("event %d was answered applied twice", it.n)
			}
		case grant.Replayed:
			if have < 0 || w.pg.ledger[have].amount != it.amount {
				w.violate("event %d was answered replayed, and is not there", it.n)
			}
		case grant.StaleToken, grant.TokenCollision:
			w.denied[denied{it.event, k.attempt}] = true
		}
	}
}

// checkEnd: after the faults have stopped everything due is paid once, counted and delivered.
func (w *world) checkEnd() {
	sums := make([]int64, len(w.pg.balances))
	posted := map[event]bool{}
	for i, p := range w.pg.ledger {
		sums[p.player] += p.amount
		posted[event{p.player, p.n % freshFrom}] = true
		if !p.queued {
			w.violate("posting %d has no outbox row", i)
		}
		if p.state != delivered || p.applied == 0 {
			w.violate("posting %d was never delivered", i)
		}
	}
	for player, sum := range sums {
		if sum != w.pg.balances[player] {
			w.violate("balance of player %d is %d, its ledger says %d", player,
				w.pg.balances[player], sum)
		}
	}
	for e := range w.due {
		if !posted[e] {
			w.violate("event %d of player %d was never paid", e.n, e.player)
		}
	}
}
