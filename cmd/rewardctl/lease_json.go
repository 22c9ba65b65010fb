package main

import (
	"rewardctl/grant"
	"rewardctl/inspect"
)

type leaseListJSON struct {
	At      *string           `json:"at"`
	Total   int               `json:"total"`
	Matched int               `json:"matched"`
	Leases  []leaseJSON       `json:"leases"`
	Missing []missingJSONItem `json:"missing"`
}

// leaseJSON is one lease: what lies in Redis, and the verdict with its evidence.
type leaseJSON struct {
	Resource string         `json:"resource"`
	State    string         `json:"state"`
	Also     []string       `json:"also"`
	Likely   *string        `json:"likely"`
	LeftMS   *int64         `json:"left_ms"` // null: no expiry
	Token    *string        `json:"token"`
	Owner    *string        `json:"owner"`
	Worker   *string        `json:"worker"`
	Value    string         `json:"value"`
	Foreign  *string        `json:"foreign"`
	Fence    *fenceJSON     `json:"fence"`
	Claims   *claimsJSON    `json:"claims"`
	Evidence []evidenceJSON `json:"evidence"`
	At       *string        `json:"at"`
}

type fenceJSON struct {
	Resource string  `json:"resource"`
	Token    *string `json:"token"`
	Owner    string  `json:"owner"`
	At       *string `json:"at,omitempty"`
	Burned   bool    `json:"burned,omitempty"`
}

type claimsJSON struct {
	Pending    int  `json:"pending"`
	Processing int  `json:"processing"`
	More       bool `json:"more"`
}

type evidenceJSON struct {
	Name    string `json:"name"`
	Finding string `json:"finding"`
}

// missingJSONItem says what an answer lacks because a server could not be asked.
type missingJSONItem struct {
	Backend string `json:"backend"`
	Lacks   string `json:"lacks"`
	Error   string `json:"error"`
}

type leaseDetailJSON struct {
	Resource string            `json:"resource"`
	Lease    *leaseJSON        `json:"lease"`
	Fence    *fenceJSON        `json:"fence"`
	Claims   *claimsJSON       `json:"claims"`
	Due      []claimJSON       `json:"due"`
	History  []tokenEntryJSON  `json:"history"`
	Missing  []missingJSONItem `json:"missing"`
}

type claimJSON struct {
	PlayerID string  `json:"player_id"`
	EventID  string  `json:"reward_event_id"`
	Kind     string  `json:"kind"`
	Amount   int64   `json:"amount"`
	Token    *string `json:"token"`
	Status   string  `json:"status"`
	At       *string `json:"at"`
}

func newLeaseJSON(l inspect.Lease) leaseJSON {
	j := leaseJSON{
		Resource: l.Resource, State: string(l.Verdict.State), Also: []string{},
		Likely: jsonText(string(l.Verdict.Likely)), Token: jsonID(l.Token),
		Owner: jsonText(l.Owner), Worker: jsonText(l.Worker), Value: l.Value,
		Foreign: jsonText(l.Foreign), Fence: newFenceJSON(l.Fence),
		Claims: newClaimsJSON(l.Claims), Evidence: newEvidenceJSON(l.Verdict.Evidence),
		At: jsonTime(l.At),
	}
	for _, s := range l.Verdict.Also {
		j.Also = append(j.Also, string(s))
	}
	if !l.NoExpiry && l.Left >= 0 {
		ms := l.Left.Milliseconds()
		j.LeftMS = &ms
	}
	return j
}

func newFenceJSON(f *grant.Fence) *fenceJSON {
	if f == nil {
		return nil
	}
	return &fenceJSON{Resource: f.Resource, Token: jsonID(f.Token), Owner: f.Owner}
}

func newFenceSeenJSON(f *inspect.FenceSeen) *fenceJSON {
	if f == nil {
		return nil
	}
	j := newFenceJSON(&f.Fence)
	j.At, j.Burned = jsonTime(f.At), f.Burned
	return j
}

func newClaimsJSON(c *inspect.Claims) *claimsJSON {
	if c == nil {
		return nil
	}
	return &claimsJSON{Pending: c.Pending, Processing: c.Processing, More: c.More}
}

func newEvidenceJSON(all []inspect.Evidence) []evidenceJSON {
	list := make([]evidenceJSON, len(all))
	for i, e := range all {
		list[i] = evidenceJSON{Name: e.Name, Finding: e.Finding}
	}
	return list
}

func missingJSON(all []inspect.Missing) []missingJSONItem {
	list := make([]missingJSONItem, len(all))
	for i, m := range all {
		list[i] = missingJSONItem{
			Backend: string(m.Backend), Lacks: m.Lacks, Error: m.Err.Error(),
		}
	}
	return list
}

func newClaimJSON(c *inspect.Claim) *claimJSON {
	if c == nil {
		return nil
	}
	return &claimJSON{
		PlayerID: c.PlayerID, EventID: c.EventID, Kind: c.Kind, Amount: c.Amount,
		Token: jsonID(c.Token), Status: c.Status, At: jsonTime(c.At),
	}
}

func newLeaseDetailJSON(d inspect.LeaseDetail) leaseDetailJSON {
	j := leaseDetailJSON{
		Resource: d.Resource, Fence: newFenceSeenJSON(d.Fence), Claims: newClaimsJSON(d.Claims),
		Due: []claimJSON{}, History: newTokenEntriesJSON(d.History),
		Missing: missingJSON(d.Missing),
	}
	if d.Lease != nil {
		lease := newLeaseJSON(*d.Lease)
		j.Lease = &lease
	}
	for _, c := range d.Due {
		j.Due = append(j.Due, *newClaimJSON(&c))
	}
	return j
}
