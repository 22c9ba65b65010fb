package repair

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"rewardctl/grant"
)

// byBalance is the order in which postings are taken back: those of one balance together.
func byBalance(a, b ReverseItem) int {
	return cmp.Or(
		strings.Compare(a.Posting.PlayerID, b.Posting.PlayerID),
		strings.Compare(a.Posting.Kind, b.Posting.Kind),
		cmp.Compare(a.Posting.ID, b.Posting.ID),
	)
}

// freeze decides for each item what will be asked of the engine, and predicts the answers.
func (p *ReversePreview) freeze(operator string) {
	balances := make(map[rewardKey]int64)
	for i := range p.Items {
		item := &p.Items[i]
		purse := rewardKey{item.Posting.PlayerID, item.Posting.Kind}
		if balance, seen := balances[purse]; seen {
			item.BalanceBefore = balance
		}
		item.ask(p.Request, operator)
		item.predict()
		balances[purse] = item.BalanceAfter
		item.runs = item.Outcome == grant.ReverseDone ||
			p.Request.single() && item.Outcome != grant.IsReversal
	}
	p.Set = p.digest()
	p.sum()
}

// ask fills in what the engine will be asked for.
func (item *ReverseItem) ask(req ReverseRequest, operator string) {
	part := req.Part
	switch {
	case part != 0:
	case req.Amount != 0:
		part = 1 // so that the same command again finds it done
	case item.Left == 0, item.tooMuch > 0 && item.Back >= item.tooMuch:
		part = max(item.Parts, 1)
	default:
		part = item.Parts + 1
	}
	item.Asked = item.Left
	switch {
	case req.Amount != 0:
		item.Asked = req.Amount
	case item.tooMuch > item.Back:
		item.Asked = min(item.Left, item.tooMuch-item.Back)
	}
	item.reversal = grant.Reversal{
		Posting: item.Posting.ID, PlayerID: item.Posting.PlayerID, Kind: item.Posting.Kind,
		Posted: item.Posting.Amount, Part: part, Amount: item.Asked, Policy: req.Policy,
		Actor: operator, Reason: req.Reason,
	}
}

// predict decides as the database will, in the same order.
func (item *ReverseItem) predict() {
	item.BalanceAfter = item.BalanceBefore
	r := &item.reversal
	fits := item.Reverses == 0 && item.Left > 0 && r.Part > item.Parts
	if fits {
		item.Spent = max(item.Asked-item.BalanceBefore, 0)
	} else {
		item.Asked = 0
	}
	switch {
	case item.Reverses != 0:
		item.Outcome = grant.IsReversal
	case item.Left == 0 || r.Part <= item.Parts:
		item.Outcome = grant.AlreadyReversed
	case r.Part != item.Parts+1 || r.Amount > item.Left:
		item.Outcome = grant.ReverseChanged
	case item.Spent == 0:
		item.Outcome, item.Take = grant.ReverseDone, item.Asked
	case r.Policy == grant.PolicySkip:
		item.Outcome = grant.ReverseSkipped
	case r.Policy == grant.PolicyToZero && item.BalanceBefore > 0:
		item.Outcome, item.Take = grant.ReverseDone, item.BalanceBefore
	default:
		item.Outcome = grant.AlreadySpent
	}
	r.Expect = item.Take
	item.BalanceAfter -= item.Take
	item.Note = item.sentence()
}

// sentence says in words what would happen.
func (item *ReverseItem) sentence() string {
	p, r := item.Posting, item.reversal
	switch item.Outcome {
	case grant.ReverseDone:
		text := fmt.Sprintf("Would take back %d of %d %s: the balance goes from %d to %d",
			item.Take, p.Amount, p.Kind, item.BalanceBefore, item.BalanceAfter)
		if left := item.Left - item.Take; left > 0 {
			text += fmt.Sprintf(", %d can be taken back later", left)
		}
		return text + "."
	case grant.AlreadyReversed:
		text := fmt.Sprintf("Would move nothing: %d of %d %s were taken back already", item.Back,
			p.Amount, p.Kind)
		if item.Left > 0 {
			text += fmt.Sprintf(", part %d among it; to take another part add --part %d", r.Part,
				item.Parts+1)
		}
		return text + "."
	case grant.AlreadySpent:
		return fmt.Sprintf("Would be refused: the balance is %d %s, %d less than what would be taken "+
			"back; --policy to-zero takes what is there.", item.BalanceBefore, p.Kind, item.Spent)
	case grant.ReverseSkipped:
		return fmt.Sprintf("Would be skipped: the balance is %d %s, %d less than what would be taken "+
			"back.", item.BalanceBefore, p.Kind, item.Spent)
	case grant.IsReversal:
		return fmt.Sprintf("Would be refused: it takes posting %d back itself. To undo that, grant "+
			"again under another event id.", item.Reverses)
	case grant.ReverseChanged:
		return fmt.Sprintf("Would be refused: %d of %d %s are left in %d parts taken back, asked are "+
			"%d as part %d.", item.Left, p.Amount, p.Kind, item.Parts, r.Amount, r.Part)
	case grant.ReverseFailed, grant.ReverseRejected, grant.ReverseHeld, grant.ReverseStale,
		grant.ReverseCollision, grant.ReverseNotFound, grant.ReverseUnknown:
	}
	return ""
}

// took says in words what happened.
func (item *ReverseItem) took(res grant.Reversed) string {
	p := item.Posting
	switch res.Outcome {
	case grant.ReverseDone:
		text := fmt.Sprintf("Took back %d of %d %s as posting %d: the balance went from %d to %d",
			res.Taken, p.Amount, p.Kind, res.LedgerID, res.BalanceBefore, res.BalanceAfter)
		if res.Left > 0 {
			text += fmt.Sprintf(", %d can be taken back later", res.Left)
		}
		return text + "."
	case grant.AlreadyReversed:
		text := fmt.Sprintf("Nothing moved: posting %d of %s took back %d already", res.LedgerID,
			res.At.UTC().Format(time.DateTime), res.Taken)
		if res.Left > 0 {
			text += fmt.Sprintf("; to take another part add --part %d", res.Parts+1)
		}
		return text + "."
	case grant.AlreadySpent:
		return fmt.Sprintf("Nothing moved: the balance is %d %s; --policy to-zero takes what is "+
			"there.", res.BalanceBefore, p.Kind)
	case grant.ReverseSkipped:
		return fmt.Sprintf("Skipped: the balance is %d %s.", res.BalanceBefore, p.Kind)
	case grant.ReverseChanged:
		return fmt.Sprintf("Nothing moved: it has changed since it was looked at; %d of %d %s are "+
			"left, the balance is %d.", res.Left, p.Amount, p.Kind, res.BalanceBefore)
	case grant.ReverseHeld:
		if res.Holder.Foreign {
			return "Nothing moved: other data is under the lock's key."
		}
		return fmt.Sprintf("Nothing moved: %s holds the lease under token %d.", res.Holder.Owner,
			res.Holder.Token)
	case grant.ReverseStale, grant.ReverseCollision:
		return fmt.Sprintf("Nothing moved: the fence has passed token %d.", res.Token)
	case grant.ReverseRejected:
		return "Nothing moved: " + res.Rejected.Error() + "."
	case grant.IsReversal:
		return fmt.Sprintf("Nothing moved: it takes posting %d back itself; a reversal cannot be "+
			"reversed.", item.Reverses)
	case grant.ReverseNotFound:
		return "Nothing moved: the posting is not there."
	case grant.ReverseFailed:
		return fmt.Sprintf("Nothing moved: %v.", res.Err)
	case grant.ReverseUnknown:
		return "Not known: PostgreSQL did not answer. The same command again tells."
	}
	return ""
}

// sum counts players and sums up per kind.
func (p *ReversePreview) sum() {
	at := make(map[string]int)
	players := make(map[string]bool)
	p.Totals = nil
	for _, item := range p.Items {
		players[item.Posting.PlayerID] = true
		i, known := at[item.Posting.Kind]
		if !known {
			i = len(p.Totals)
			at[item.Posting.Kind] = i
			p.Totals = append(p.Totals, ReverseTotal{Kind: item.Posting.Kind})
		}
		t := &p.Totals[i]
		t.Postings++
		t.Posted += item.Posting.Amount
		t.Asked += item.Asked
		t.Spent += item.Spent
		t.Take += item.Take
	}
	p.Players = len(players)
}
