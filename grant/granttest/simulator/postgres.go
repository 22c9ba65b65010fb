package simulator

import "rewardctl/grant"

// event is a reward that is due: the n-th of a player.
type event struct{ player, n int }

// posting is one row of the ledger, its outbox row included.
type posting struct {
	event
	amount  int64
	token   int64
	owner   owner
	queued  bool // has its outbox row
	state   delivery
	claim   int   // of the relay's claim; 0 for none
	until   int64 // of the claim
	applied int   // times the item server gave the items
}

type delivery uint8

const (
	pending delivery = iota
	claimed
	delivered
)

// fence is the highest accepted token of a resource. A tombstone has the owner -1.
type fence struct {
	token  int64
	owner  owner
	target int64 // of a tombstone: the token that was meant to be burned
}

const tombstone owner = -1

// claim is what is due according to the game, before it is granted.
type claim struct {
	amount  int64
	token   int64
	applied bool
}

// postgres is the model of the database: each call is one committed transaction, as the function
// reward_grant and the operator's statements are.
type postgres struct {
	fences   []fence
	claims   map[event]claim
	ledger   []posting
	balances []int64
	claimSeq int
}

func newPostgres(players int) postgres {
	return postgres{
		fences: make([]fence, players), balances: make([]int64, players),
		claims: map[event]claim{},
	}
}

// item is one grant of a batch.
type item struct {
	event
	amount int64
}

// verdict is the answer to one item.
type verdict struct {
	outcome grant.Outcome
	posting int // index in the ledger; -1 when nothing is posted
}

// grant advances the fence, posts what passed and classifies the rest: see reward_grant.
func (p *postgres) grant(res int, mine lock, items []item, again bool, d Defect) []verdict {
	f := &p.fences[res]
	passed := f.token < mine.token ||
		f.token == mine.token && (f.owner == mine.owner || d == FenceIgnoresOwner)
	if passed {
		*f = fence{token: mine.token, owner: mine.owner}
	}
	out := make([]verdict, len(items))
	for i, it := range items {
		out[i] = p.one(f, passed, mine, it, again, d)
	}
	return out
}

func (p *postgres) one(
	f *fence, passed bool, mine lock, it item, again bool, d Defect,
) verdict {
	have := p.find(it.event)
	due, known := p.claims[it.event]
	allowed := !known || !due.applied && due.token < mine.token && due.amount == it.amount
	if d == NoUniqueKey {
		have, allowed = -1, true
	}
	if passed && allowed && have < 0 {
		p.ledger = append(p.ledger, posting{
			event: it.event, amount: it.amount, token: mine.token, owner: mine.owner,
			queued: d != OutboxApart,
		})
		p.claims[it.event] = claim{amount: it.amount, token: mine.token, applied: true}
		p.balances[it.player] += it.amount
		return verdict{grant.Applied, len(p.ledger) - 1}
	}
	switch {
	case again && have >= 0 && p.ledger[have].token == mine.token &&
		p.ledger[have].owner == mine.owner:
		return verdict{grant.Applied, have}
	case !passed && f.token > mine.token,
		passed && have < 0 && known && due.token >= mine.token && !due.applied:
		return verdict{grant.StaleToken, have}
	case !passed:
		return verdict{grant.TokenCollision, have}
	case have >= 0 && p.ledger[have].amount == it.amount:
		return verdict{grant.Replayed, have}
	}
	return verdict{grant.Mismatch, have}
}

func (p *postgres) find(e event) int {
	for i := range p.ledger {
		if p.ledger[i].event == e {
			return i
		}
	}
	return -1
}

// burn raises the fence to exactly the token, under a tombstone; see fence_burn.sql.
func (p *postgres) burn(res int, token int64, d Defect) {
	target := token
	if d == BurnNext {
		token++
	}
	f := &p.fences[res]
	if f.token < token || f.token == token && f.owner != tombstone {
		*f = fence{token: token, owner: tombstone, target: target}
	}
}

// take claims, of each player, the oldest row that is not delivered, if nobody's claim on it
// stands.
func (p *postgres) take(now, until int64, most int, d Defect) (rows []int, id int) {
	p.claimSeq++
	blocked := make(map[int]bool, len(p.balances))
	for i := range p.ledger {
		row := &p.ledger[i]
		if !row.queued || row.state == delivered || blocked[row.player] {
			continue
		}
		blocked[row.player] = d != ClaimAnyRow
		if row.state == claimed && row.until > now || len(rows) == most {
			continue
		}
		row.state, row.claim, row.until = claimed, p.claimSeq, until
		rows = append(rows, i)
	}
	return rows, p.claimSeq
}

// mark ends a claim: delivered, or pending again. It answers false when the claim was lost.
func (p *postgres) mark(row, id int, done bool, d Defect) bool {
	r := &p.ledger[row]
	if d != MarkWithoutClaim && (r.state != claimed || r.claim != id) {
		return false
	}
	r.state, r.claim = pending, 0
	if done {
		r.state = delivered
	}
	return true
}
