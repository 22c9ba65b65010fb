package main

import (
	"strconv"

	"rewardctl/repair"
)

// planJSON is a plan. Sums and amounts are texts: they may be beyond what a double holds.
type planJSON struct {
	Plan          *string `json:"plan"` // null in a dry run
	DryRun        bool    `json:"dry_run"`
	State         string  `json:"state"`
	Version       int64   `json:"version"`
	Hash          string  `json:"hash"`
	Campaign      *string `json:"campaign"`
	Source        string  `json:"source"`
	Reason        string  `json:"reason"`
	RequestedBy   string  `json:"requested_by"`
	DBUser        string  `json:"db_user"`
	Rows          int64   `json:"rows"`
	Due           int64   `json:"due"`
	Duplicates    int64   `json:"duplicates"`
	Invalid       int64   `json:"invalid"`
	Decided       int64   `json:"decided"`
	Refused       int64   `json:"refused"`
	Working       int     `json:"working"` // parts that a process holds right now
	NeedsApproval bool    `json:"needs_approval"`
	// AwaitsReview is when a run began under broken glass that nobody else has looked at.
	AwaitsReview *string        `json:"awaits_review_since"`
	Over         []overJSON     `json:"over"`
	Decisions    []decisionJSON `json:"decisions"`
	Created      *string        `json:"created"`
	Started      *string        `json:"started"`
	Active       *string        `json:"active"`
	Ended        *string        `json:"ended"`
	Existing     bool           `json:"existing,omitempty"`
	DoneBefore   *string        `json:"done_before,omitempty"`

	Preview *previewJSON   `json:"preview,omitempty"`
	Drift   []string       `json:"drift,omitempty"`
	Counts  map[string]int `json:"counts,omitempty"`
}

type overJSON struct {
	Limit string `json:"limit"`
	Kind  string `json:"kind,omitempty"`
	Value string `json:"value"`
	Max   string `json:"max"`
	Count int64  `json:"count,omitempty"`
}

type decisionJSON struct {
	Decision   string  `json:"decision"`
	ID         *string `json:"id"`
	Operator   string  `json:"operator"`
	DBUser     string  `json:"db_user"`
	BreakGlass bool    `json:"break_glass"`
	Reason     string  `json:"reason"`
	At         *string `json:"at"`
	Expires    *string `json:"expires"`
	Used       *string `json:"used"`
	InForce    bool    `json:"in_force"`
	Awaits     bool    `json:"awaits_review"`
}

type previewJSON struct {
	At           *string           `json:"at"`
	Fresh        int64             `json:"fresh"`
	Granted      int64             `json:"already_granted"`
	Mismatches   int64             `json:"mismatches"`
	Players      int64             `json:"players"`
	PlayersTwice int64             `json:"players_twice"`
	Kinds        []previewKindJSON `json:"kinds"`
	Top          []purseJSON       `json:"top"`
	Odd          []oddJSON         `json:"odd"`
}

type previewKindJSON struct {
	Kind          string `json:"kind"`
	Rows          int64  `json:"rows"`
	Total         string `json:"total"`
	Largest       string `json:"largest"`
	LargestLine   int64  `json:"largest_line"`
	Players       int64  `json:"players"`
	BalanceBefore string `json:"balance_before"`
	BalanceAfter  string `json:"balance_after"`
	HighestAfter  string `json:"highest_after"`
	Overflows     int64  `json:"overflows"`
	OverAmount    int64  `json:"over_amount"`
	OverDay       int64  `json:"over_player_day"`
}

type purseJSON struct {
	PlayerID string `json:"player_id"`
	Kind     string `json:"kind"`
	Plus     string `json:"plus"`
	Before   string `json:"before"`
	After    string `json:"after"`
}

type oddJSON struct {
	Line       int64   `json:"line"`
	PlayerID   string  `json:"player_id"`
	EventID    string  `json:"reward_event_id"`
	Kind       string  `json:"kind"`
	Amount     string  `json:"amount"`
	HaveKind   string  `json:"have_kind"`
	HaveAmount string  `json:"have_amount"`
	LedgerID   *string `json:"ledger_id"`
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }

func newPlanJSON(p *repair.Plan, preview *repair.PlanPreview) planJSON {
	j := planJSON{
		Plan: jsonID(p.ID), State: string(p.State), Version: p.Version, Hash: p.Hash,
		Campaign: jsonText(p.Campaign), Source: p.Source, Reason: p.Reason,
		RequestedBy: p.RequestedBy, DBUser: p.DBUser, Rows: p.Rows, Due: p.Due,
		Duplicates: p.Duplicates, Invalid: p.Invalid, Decided: p.Decided, Refused: p.Errors,
		Working: p.Working, NeedsApproval: p.NeedsApproval, Over: []overJSON{},
		Decisions: []decisionJSON{}, Created: jsonTime(p.CreatedAt), Started: jsonTime(p.StartedAt),
		Active: jsonTime(p.ActiveAt), Ended: jsonTime(p.EndedAt), Existing: p.Existing,
		DoneBefore: jsonID(p.DoneBefore),
	}
	for _, o := range p.Over {
		j.Over = append(j.Over, overJSON{o.Limit, o.Kind, digits(o.Value), digits(o.Max), o.Count})
	}
	for _, d := range p.Decisions {
		word := "reject"
		switch {
		case d.Approve:
			word = "approve"
		case d.Review:
			word = "review"
		}
		j.Decisions = append(j.Decisions, decisionJSON{
			word, jsonID(d.ID), d.Operator, d.DBUser, d.BreakGlass, d.Reason, jsonTime(d.At),
			jsonTime(d.Expires), jsonTime(d.Used), d.InForce(p.ReadAt), d.AwaitsReview,
		})
	}
	if glass := p.BrokenGlass(); glass != nil {
		j.AwaitsReview = jsonTime(glass.Used)
	}
	if preview != nil {
		j.Preview = newPreviewJSON(preview)
	}
	return j
}

func newPreviewJSON(p *repair.PlanPreview) *previewJSON {
	j := &previewJSON{
		At: jsonTime(p.At), Fresh: p.Fresh, Granted: p.Granted, Mismatches: p.Mismatches,
		Players: p.Players, PlayersTwice: p.PlayersTwice, Kinds: []previewKindJSON{},
		Top: []purseJSON{}, Odd: []oddJSON{},
	}
	for _, k := range p.Kinds {
		j.Kinds = append(j.Kinds, previewKindJSON{
			Kind: k.Kind, Rows: k.Rows, Total: digits(k.Total), Largest: digits(k.Largest),
			LargestLine: k.LargestLine, Players: k.Players, BalanceBefore: digits(k.BalanceBefore),
			BalanceAfter: digits(k.BalanceAfter), HighestAfter: digits(k.HighestAfter),
			Overflows: k.Overflows, OverAmount: k.OverAmount, OverDay: k.OverDay,
		})
	}
	for _, t := range p.Top {
		j.Top = append(j.Top, purseJSON{
			t.PlayerID, t.Kind, digits(t.Plus), digits(t.Before), digits(t.After),
		})
	}
	for _, o := range p.Odd {
		j.Odd = append(j.Odd, oddJSON{
			o.Line, o.PlayerID, o.EventID, o.Kind, digits(o.Amount), o.HaveKind,
			digits(o.HaveAmount), jsonID(o.LedgerID),
		})
	}
	return j
}
