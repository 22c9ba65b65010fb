package grant

import "strconv"

// item is one request on its way through the engine.
type item struct {
	req     Request
	res     Result
	retried bool       // the lease was re-seeded once already
	rev     *reversing // set when the item stands for a reversal
}

func newItem(r Request) *item {
	it := &item{req: r}
	it.reset()
	return it
}

// reset forgets the answer, so that the item can run again.
func (it *item) reset() {
	r := it.req
	it.res = Result{
		PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind, Amount: r.Amount, Actor: r.Actor,
		Resource: it.resource(),
	}
}

func (it *item) resource() string {
	if it.req.Resource != "" {
		return it.req.Resource
	}
	return ResourceFor(it.req.PlayerID)
}

func (it *item) key() key { return key{it.req.PlayerID, it.req.EventID} }

func (it *item) sameContent(other *item) bool {
	return it.req.Kind == other.req.Kind && it.req.Amount == other.req.Amount
}

func (it *item) fail(err error) {
	it.res.Outcome = Failed
	it.res.Err = err
}

func failAll(items []*item, err error) {
	for _, it := range items {
		it.fail(err)
	}
}

// key is the ledger's unique key.
type key struct{ player, event string }

// repeat is an item whose key and content an earlier item of the same input has already.
type repeat struct {
	first, again *item
}

// echo answers the repeat from what became of the first: posted once, so this one is a replay.
func (r repeat) echo() {
	line := r.again.res
	r.again.res = r.first.res
	r.again.res.Actor = line.Actor
	r.again.res.DuplicateOf = r.first.req.Line
	r.again.res.ActionID = 0 // the row is about the first
	if r.first.res.Outcome == Applied {
		r.again.res.Outcome = Replayed
		r.again.res.ReplayOf = r.first.res.LedgerID
		r.again.res.Existing = r.first.posting()
	}
}

// posting is the ledger row that this applied item made.
func (it *item) posting() *Posting {
	return &Posting{
		ID: it.res.LedgerID, PlayerID: it.req.PlayerID, EventID: it.req.EventID,
		Kind: it.req.Kind, Amount: it.req.Amount, Token: it.res.Token, Owner: it.res.Owner,
		Actor: it.req.Actor, Reason: it.req.Reason, At: it.res.At,
	}
}

// settle decides, before any SQL, what an input that names one key twice means: equal content
// runs once, differing content rejects all items of the key. It returns the items to run and the
// repeats to answer afterwards.
func settle(items []*item) (open []*item, repeats []repeat) {
	first := make(map[key]*item, len(items))
	clash := make(map[key]*item)
	for _, it := range items {
		if it.res.Outcome == Rejected {
			continue
		}
		k := it.key()
		switch earlier, seen := first[k]; {
		case !seen:
			first[k] = it
			open = append(open, it)
		case it.sameContent(earlier):
			repeats = append(repeats, repeat{earlier, it})
		default:
			clash[k] = it
			repeats = append(repeats, repeat{earlier, it})
		}
	}
	if len(clash) == 0 {
		return open, repeats
	}
	return rejectClashes(open, repeats, clash)
}

func rejectClashes(
	open []*item, repeats []repeat, clash map[key]*item,
) ([]*item, []repeat) {
	var keptOpen []*item
	for _, it := range open {
		if other, bad := clash[it.key()]; bad {
			it.rejectClash(other)
		} else {
			keptOpen = append(keptOpen, it)
		}
	}
	var keptRepeats []repeat
	for _, r := range repeats {
		if _, bad := clash[r.again.key()]; bad {
			r.again.rejectClash(r.first)
		} else {
			keptRepeats = append(keptRepeats, r)
		}
	}
	return keptOpen, keptRepeats
}

func (it *item) rejectClash(other *item) {
	where := "another item of this batch"
	if other.req.Line > 0 {
		where = "line " + strconv.Itoa(other.req.Line)
	}
	it.res.Outcome = Rejected
	it.res.Rejected = &Rejection{
		Field: "reward_event_id", Value: it.req.EventID,
		Problem: where + " gives the same player and event other content",
		WayOut:  "keep one of them, or give them different event ids",
	}
	it.res.Differs = Differences(other.req.Kind, other.req.Amount, it.req)
}

// Differences names the fields in which what is posted or claimed differs from what was asked.
// Where only the claim's status stands against it, it names that: a claim that counts as applied
// although nothing was posted.
func (p Posting) Differences(want Request) []Difference {
	diffs := Differences(p.Kind, p.Amount, want)
	if diffs == nil && p.ID == 0 {
		diffs = []Difference{{"claim", "applied, but never posted", "still due"}}
	}
	return diffs
}

// Differences names the fields of the content that differ from what was asked; nil for none.
func Differences(kind string, amount int64, want Request) []Difference {
	var diffs []Difference
	if kind != want.Kind {
		diffs = append(diffs, Difference{"kind", kind, want.Kind})
	}
	if amount != want.Amount {
		diffs = append(diffs, Difference{
			"amount", strconv.FormatInt(amount, 10), strconv.FormatInt(want.Amount, 10),
		})
	}
	return diffs
}
