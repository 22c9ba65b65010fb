package grant_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
)

// reverseModel is what must come of a sequence of grants, deductions and reversals of one player.
type reverseModel struct {
	balance  int64
	spent    int64
	postings []*modelPosting
}

type modelPosting struct {
	result grant.Result
	left   int64
	parts  int
}

// expect says what must come of a reversal, and does it to the model.
func (m *reverseModel) expect(p *modelPosting, r grant.Reversal) (grant.ReverseOutcome, int64) {
	want := r.Amount
	if want == 0 {
		want = p.left
	}
	take := want
	if m.balance < want {
		take = 0
		if r.Policy == grant.PolicyToZero {
			take = m.balance
		}
	}
	switch {
	case p.left == 0 || r.Part <= p.parts:
		return grant.AlreadyReversed, 0
	case r.Part != p.parts+1 || want > p.left:
		return grant.ReverseChanged, 0
	case take == 0 && r.Policy == grant.PolicySkip:
		return grant.ReverseSkipped, 0
	case take == 0:
		return grant.AlreadySpent, 0
	}
	m.balance -= take
	p.left -= take
	p.parts++
	return grant.ReverseDone, take
}

// TestReverseConservesAmounts runs random sequences against PostgreSQL and a model: every answer
// and every balance is as the model says, nothing is taken back beyond what was posted, and what
// was posted is what is left, was spent, or was taken back.
func TestReverseConservesAmounts(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	e := engineOn(t, w, grant.Options{})
	players := 0
	rapid.Check(t, func(rt *rapid.T) {
		players++
		player := fmt.Sprintf("p%d", players)
		m := &reverseModel{}
		for step := range rapid.IntRange(2, 12).Draw(rt, "steps") {
			deed := rapid.SampledFrom([]string{
				"grant", "spend", "reverse", "reverse", "reverse",
			}).Draw(rt, "deed")
			switch {
			case deed == "grant" || len(m.postings) == 0:
				m.grant(rt, e, player, step)
			case deed == "spend":
				m.spend(rt, w, t, player)
			default:
				m.reverse(rt, e)
			}
		}
		m.settle(rt, t, w, player)
	})
}

func (m *reverseModel) grant(rt *rapid.T, e *grant.Engine, player string, step int) {
	amount := rapid.Int64Range(1, 100).Draw(rt, "amount")
	res, err := e.Grant(rt.Context(), gems(player, fmt.Sprintf("e%d", step), amount))
	if err != nil || res.Outcome != grant.Applied {
		rt.Fatalf("grant: %s %v", res.Outcome, err)
	}
	m.balance += amount
	m.postings = append(m.postings, &modelPosting{result: res, left: amount})
}

func (m *reverseModel) spend(rt *rapid.T, w *granttest.World, t *testing.T, player string) {
	if m.balance == 0 {
		return
	}
	amount := rapid.Int64Range(1, m.balance).Draw(rt, "spent")
	spend(t, w, player, amount)
	m.balance -= amount
	m.spent += amount
}

func (m *reverseModel) reverse(rt *rapid.T, e *grant.Engine) {
	p := rapid.SampledFrom(m.postings).Draw(rt, "posting")
	r := takeBack(p.result)
	r.Part = max(p.parts+rapid.IntRange(0, 2).Draw(rt, "part"), 1)
	r.Amount = rapid.Int64Range(0, p.result.Amount).Draw(rt, "back")
	r.Policy = rapid.SampledFrom([]grant.Policy{
		grant.PolicyRefuse, grant.PolicyToZero, grant.PolicySkip,
	}).Draw(rt, "policy")
	before := m.balance
	want, take := m.expect(p, r)
	done, err := e.Reverse(rt.Context(), r, nil)
	if err != nil {
		rt.Fatal(err)
	}
	if done.Outcome != want || done.Left != p.left || done.BalanceBefore != before ||
		done.BalanceAfter != m.balance || want == grant.ReverseDone && done.Taken != take {
		rt.Fatalf("%+v\nanswered %s, took %d, left %d, balance %d to %d\nwant %s, %d, %d, %d to %d",
			r, done.Outcome, done.Taken, done.Left, done.BalanceBefore, done.BalanceAfter, want, take,
			p.left, before, m.balance)
	}
}

// settle compares the tables with the model.
func (m *reverseModel) settle(rt *rapid.T, t *testing.T, w *granttest.World, player string) {
	var balance, posted, beyond int64
	err := w.Pool.QueryRow(t.Context(), `select
		(select amount from reward_balance where player_id = $1),
		(select sum(amount)::bigint from reward_ledger where player_id = $1),
		(select count(*) from reward_ledger p where p.player_id = $1 and p.reverses is null
			and p.amount + (select coalesce(sum(r.amount), 0) from reward_ledger r
				where r.reverses = p.id) < 0)`, player).Scan(&balance, &posted, &beyond)
	if err != nil {
		rt.Fatal(err)
	}
	if balance != m.balance || posted != balance+m.spent || beyond != 0 {
		rt.Fatalf("balance %d, want %d; the ledger adds up to %d, want %d; %d taken back beyond",
			balance, m.balance, posted, m.balance+m.spent, beyond)
	}
}
