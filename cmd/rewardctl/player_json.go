package main

import "rewardctl/inspect"

type playerPageJSON struct {
	PlayerID string            `json:"player_id"`
	Balances []balanceJSON     `json:"balances"`
	Entries  []playerEntryJSON `json:"entries"`
	Next     *string           `json:"next"` // cursor of the next older page
	Prev     *string           `json:"prev"`
}

type balanceJSON struct {
	Kind   string `json:"kind"`
	Amount int64  `json:"amount"`
	Ledger *int64 `json:"ledger"` // the sum of the ledger, on the newest page; equal if all is well
}

// playerEntryJSON is one line of a history. Which fields are null depends on the type.
type playerEntryJSON struct {
	PlayerID      string        `json:"player_id"`
	At            *string       `json:"at"`
	Type          string        `json:"type"`
	Outcome       string        `json:"outcome"`
	ID            *string       `json:"id"`
	EventID       *string       `json:"reward_event_id"`
	Kind          *string       `json:"kind"`
	Amount        *int64        `json:"amount"`
	BalanceBefore *int64        `json:"balance_before"`
	BalanceAfter  *int64        `json:"balance_after"`
	Resource      *string       `json:"resource"`
	Token         *string       `json:"token"`
	Owner         *string       `json:"owner"`
	Actor         *string       `json:"actor"`
	Reason        *string       `json:"reason"`
	Reverses      *string       `json:"reverses"`
	Delivery      *deliveryJSON `json:"delivery"`
	Attempts      []attemptJSON `json:"attempts,omitempty"`
	FenceToken    *string       `json:"fence_token"`
	FenceOwner    *string       `json:"fence_owner"`
	HaveKind      *string       `json:"have_kind"`
	HaveAmount    *int64        `json:"have_amount"`
	Detail        *string       `json:"detail"`
	Command       *string       `json:"command"`
}

type deliveryJSON struct {
	State       string  `json:"state"`
	Attempts    int     `json:"attempts"`
	NextAttempt *string `json:"next_attempt"`
	Delivered   *string `json:"delivered"`
	LastError   *string `json:"last_error"`
}

func newPlayerPageJSON(p inspect.PlayerPage) playerPageJSON {
	j := playerPageJSON{
		PlayerID: p.PlayerID, Balances: []balanceJSON{}, Entries: []playerEntryJSON{},
		Next: jsonText(p.Next), Prev: jsonText(p.Prev),
	}
	for _, b := range p.Balances {
		j.Balances = append(j.Balances, balanceJSON(b))
	}
	for _, e := range p.Entries {
		j.Entries = append(j.Entries, newPlayerEntryJSON(p.PlayerID, e))
	}
	return j
}

func newPlayerEntryJSON(player string, e inspect.PlayerEntry) playerEntryJSON {
	return playerEntryJSON{
		PlayerID: player, At: jsonTime(e.At), Type: string(e.Type), Outcome: e.Outcome,
		ID: jsonID(e.ID), EventID: jsonText(e.EventID), Kind: jsonText(e.Kind),
		Amount: jsonAmount(e.Amount), BalanceBefore: e.BalanceBefore,
		BalanceAfter: e.BalanceAfter, Resource: jsonText(e.Resource), Token: jsonID(e.Token),
		Owner: jsonText(e.Owner), Actor: jsonText(e.Actor), Reason: jsonText(e.Reason),
		Reverses: jsonID(e.Reverses), Delivery: newDeliveryJSON(e.Delivery),
		Attempts:   newAttemptsJSON(e.Attempts),
		FenceToken: jsonID(e.FenceToken), FenceOwner: jsonText(e.FenceOwner),
		HaveKind: jsonText(e.HaveKind), HaveAmount: jsonAmount(e.HaveAmount),
		Detail: jsonText(e.Detail), Command: jsonText(e.Command),
	}
}

func newDeliveryJSON(d *inspect.Delivery) *deliveryJSON {
	if d == nil {
		return nil
	}
	return &deliveryJSON{
		State: d.State, Attempts: d.Attempts, NextAttempt: jsonTime(d.NextAttempt),
		Delivered: jsonTime(d.Delivered), LastError: jsonText(d.LastError),
	}
}

// jsonAmount is an amount, or null where there is none: no posting has the amount 0.
func jsonAmount(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}
