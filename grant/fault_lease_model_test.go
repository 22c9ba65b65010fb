package grant_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/anishathalye/porcupine"

	"rewardctl/grant"
)

// step is what a client asked of one resource.
type step struct {
	kind     string // see stepWhole
	resource string
	token    int64 // of the lease that is renewed, released, burned or granted under
	owner    string
	floor    int64 // acquire
	event    string
	amount   int64
}

// answer is what it was told.
type answer struct {
	unknown bool  // no answer, or a broken one
	granted bool  // acquired, kept
	token   int64 // acquired, or of the holder
	owner   string
	outcome grant.Outcome
}

// whole is a resource as it should be: its lease and counter in Redis, its fence and postings in
// PostgreSQL. No lease ends by time here: it lasts longer than the test, and that it ends is an
// operation like any other.
type whole struct {
	lock    int64 // the token of the lease, 0 for none
	holder  string
	counter int64
	ledger  ledgerState
}

// wholeModel is lease, fence and grant together, one resource at a time.
func wholeModel() porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byResource := map[string][]porcupine.Operation{}
			for _, op := range history {
				r := op.Input.(step).resource
				byResource[r] = append(byResource[r], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byResource {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() []any {
			return []any{whole{ledger: ledgerState{posted: map[string]int64{}}}}
		},
		Step: func(state, input, output any) []any {
			return stepWhole(state.(whole), input.(step), output.(answer))
		},
		Equal: func(a, b any) bool {
			x, y := a.(whole), b.(whole)
			return x.lock == y.lock && x.holder == y.holder && x.counter == y.counter &&
				x.ledger.token == y.ledger.token && x.ledger.owner == y.ledger.owner &&
				maps.Equal(x.ledger.posted, y.ledger.posted)
		},
		DescribeOperation: func(input, output any) string {
			in, out := input.(step), output.(answer)
			return fmt.Sprintf("%s %d:%s %s floor %d: %+v", in.kind, in.token, in.owner, in.event,
				in.floor, out)
		},
	}
	return model.ToModel()
}

// stepWhole returns the states that may follow when the operation answered as it did.
func stepWhole(s whole, in step, out answer) []any {
	mine := s.lock == in.token && s.holder == in.owner
	free := s
	free.lock, free.holder = 0, ""
	switch in.kind {
	case "acquire":
		return stepAcquire(s, in, out)
	case "abandon": // what follows an acquisition without an answer; its token is not known
		if s.lock != 0 && s.holder == in.owner {
			return []any{s, free}
		}
		return []any{s}
	case "renew":
		if out.unknown || out.granted == mine {
			return []any{s}
		}
		return nil
	case "release":
		switch {
		case out.unknown && mine:
			return []any{s, free}
		case mine:
			return []any{free}
		}
		return []any{s}
	case "expire":
		return []any{free}
	case "forget":
		free.counter = 0
		return []any{free}
	case "burn":
		s.ledger = burnt(s.ledger, in)
		return []any{s}
	case "grant":
		var next []any
		for _, ledger := range stepLedger(s.ledger, asked{in.resource, in.event, in.amount},
			told{out.outcome, in.token, in.owner}) {
			after := s
			after.ledger = ledger.(ledgerState)
			next = append(next, after)
		}
		return next
	}
	panic("unknown step " + in.kind)
}

func stepAcquire(s whole, in step, out answer) []any {
	taken := s
	taken.lock = max(s.counter, in.floor) + 1
	taken.counter, taken.holder = taken.lock, in.owner
	switch {
	case out.unknown && s.lock == 0:
		return []any{s, taken}
	case out.unknown:
		return []any{s}
	case out.granted && s.lock == 0 && out.token == taken.lock:
		return []any{taken}
	case !out.granted && s.lock != 0 && s.lock == out.token && s.holder == out.owner:
		return []any{s}
	}
	return nil
}

func burnt(s ledgerState, in step) ledgerState {
	if s.token < in.token || s.token == in.token && !grant.Burned(s.owner) {
		s.token, s.owner = in.token, in.owner
	}
	return s
}

// TestFaultWholeModelRefuses feeds the model histories that must not pass, and one that must.
func TestFaultWholeModelRefuses(t *testing.T) {
	t.Parallel()
	var at int64
	op := func(in step, out answer) porcupine.Operation {
		at += 2
		in.resource = "r"
		return porcupine.Operation{Input: in, Call: at, Output: out, Return: at + 1}
	}
	acquire := func(owner string, floor, token int64) porcupine.Operation {
		return op(step{kind: "acquire", owner: owner, floor: floor},
			answer{granted: true, token: token, owner: owner})
	}
	pay := func(owner, event string, token int64, outcome grant.Outcome) porcupine.Operation {
		return op(step{kind: "grant", owner: owner, token: token, event: event, amount: 1},
			answer{outcome: outcome})
	}
	release := func(owner string, token int64) porcupine.Operation {
		return op(step{kind: "release", owner: owner, token: token}, answer{})
	}
	burn := op(step{kind: "burn", token: 1, owner: grant.BurnOwner("x")}, answer{})
	for name, ops := range map[string][]porcupine.Operation{
		"two holders":       {acquire("a", 0, 1), acquire("b", 0, 2)},
		"one token twice":   {acquire("a", 0, 1), release("a", 1), acquire("b", 0, 1)},
		"below the floor":   {acquire("a", 5, 1)},
		"freed by another":  {acquire("a", 0, 1), release("b", 1), acquire("c", 0, 2)},
		"paid twice":        {pay("a", "e", 1, grant.Applied), pay("b", "e", 2, grant.Applied)},
		"paid after a burn": {burn, pay("a", "e", 1, grant.Applied)},
		"kept what is lost": {
			acquire("a", 0, 1), release("a", 1),
			op(step{kind: "renew", owner: "a", token: 1}, answer{granted: true}),
		},
		"busy without a holder": {
			op(step{kind: "acquire", owner: "a"}, answer{token: 3, owner: "b"}),
		},
	} {
		if porcupine.CheckOperations(wholeModel(), ops) {
			t.Errorf("%s: the model accepts it", name)
		}
	}
	lost := op(step{kind: "acquire", owner: "a"}, answer{unknown: true})
	abandoned := op(step{kind: "abandon", owner: "a"}, answer{unknown: true})
	lost.Return, abandoned.Return = never, never
	good := []porcupine.Operation{
		lost, abandoned, acquire("b", 0, 2), pay("b", "e", 2, grant.Applied),
		op(step{kind: "expire"}, answer{}), acquire("c", 2, 3), pay("b", "f", 2, grant.Applied),
		pay("c", "e", 3, grant.Replayed), pay("b", "g", 2, grant.StaleToken),
		op(step{kind: "forget"}, answer{}), acquire("d", 0, 1),
	}
	if !porcupine.CheckOperations(wholeModel(), good) {
		t.Error("the model refuses a history that is right")
	}
}
