package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

type tokenHistoryJSON struct {
	Resource string            `json:"resource"`
	Lease    *leaseJSON        `json:"lease"`
	Fence    *fenceJSON        `json:"fence"`
	Tokens   []tokenUseJSON    `json:"tokens"`
	Entries  []tokenEntryJSON  `json:"entries"`
	Marks    []tokenMarkJSON   `json:"marks"`
	Lost     *string           `json:"lost"`
	Cut      bool              `json:"cut"`
	Missing  []missingJSONItem `json:"missing"`
}

type tokenUseJSON struct {
	Token    *string  `json:"token"`
	Owner    string   `json:"owner"`
	Issued   *string  `json:"issued"`
	Ended    *string  `json:"ended"`
	End      *string  `json:"end"`
	Accepted int      `json:"accepted"`
	Refused  int      `json:"refused"`
	Marks    []string `json:"marks"`
}

type tokenEntryJSON struct {
	At       *string `json:"at"`
	Source   string  `json:"source"`
	Event    string  `json:"event"`
	Token    *string `json:"token"`
	Owner    string  `json:"owner"`
	PlayerID *string `json:"player_id"`
	EventID  *string `json:"reward_event_id"`
	LedgerID *string `json:"ledger_id"`
	ActionID *string `json:"action_id"`
	Detail   string  `json:"detail"`
}

type tokenMarkJSON struct {
	Kind  string  `json:"kind"`
	Token *string `json:"token"`
	Why   string  `json:"why"`
}

func (a *app) tokenCommand() *cobra.Command {
	return a.group("token", "See which fencing tokens a resource has had, and what they stopped",
		a.tokenListCommand(), a.tokenRefusedCommand())
}

func (a *app) tokenListCommand() *cobra.Command {
	var events bool
	cmd := &cobra.Command{
		Use:   "list RESOURCE",
		Short: "List the tokens of a resource: who had which, what was accepted and refused",
		Example: "  rewardctl token list reward:p-1001\n" +
			"  rewardctl token list reward:p-1001 --events",
		Args: arguments("RESOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			history, err := reader.Tokens(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.printTokens(history, events)
		},
	}
	cmd.Flags().BoolVar(&events, "events", false, "every event, one a line, instead of a sum")
	return cmd
}

func (a *app) printTokens(h inspect.TokenHistory, events bool) error {
	doc := newTokenHistoryJSON(h)
	l := listing{document: doc, empty: "no token was ever issued for " + h.Resource}
	if events {
		l.columns, l.rows = tokenColumns(), tokenRows(h.Entries)
		for _, e := range doc.Entries {
			l.values = append(l.values, e)
		}
	} else {
		l.columns, l.rows = tokenUses(h.Tokens)
		for _, t := range doc.Tokens {
			l.values = append(l.values, t)
		}
	}
	if err := a.print(l); err != nil {
		return err
	}
	if a.output == string(formatTable) {
		a.sayTokenNotes(h)
	}
	return a.incomplete(h.Missing)
}

// sayTokenNotes says below the table what the table alone does not show.
func (a *app) sayTokenNotes(h inspect.TokenHistory) {
	if l := h.Lease; l != nil && l.Foreign != "" {
		a.say("other data (%s) is under its key: no lease of ours", l.Foreign)
	}
	if h.Fence != nil {
		a.say("fence: %d of %s", h.Fence.Token, h.Fence.Owner)
	}
	for _, m := range h.Marks {
		a.say("%s at %d: %s", strings.ReplaceAll(string(m.Kind), "_", " "), m.Token, m.Why)
	}
	if h.Lost != "" {
		a.say("%s", h.Lost)
	}
	if h.Cut {
		a.say("more postings or refusals exist than are shown; these are the newest")
	}
}

func tokenUses(uses []inspect.TokenUse) ([]column, [][]cell) {
	rows := make([][]cell, len(uses))
	for i, u := range uses {
		marks := make([]string, len(u.Marks))
		for m, k := range u.Marks {
			marks[m] = strings.ReplaceAll(string(k), "_", " ")
		}
		refused := number(int64(u.Refused))
		if u.Refused > 0 {
			refused.tone = notice
		}
		rows[i] = []cell{
			number(u.Token), text(u.Owner), instant(u.Issued), instant(u.Ended),
			text(strings.ReplaceAll(string(u.End), "_", " ")), number(int64(u.Accepted)), refused,
			toned(strings.Join(marks, ", "), notice),
		}
	}
	return columns("token", "owner", "issued", "ended", "end", "accepted", "refused", "marks"), rows
}

func tokenColumns() []column {
	return columns("at", "source", "token", "event", "owner", "detail")
}

func tokenRows(entries []inspect.TokenEntry) [][]cell {
	rows := make([][]cell, len(entries))
	for i, e := range entries {
		detail := e.Detail
		if detail == "" && e.EventID != "" {
			detail = fmt.Sprintf("%s for %s", e.EventID, e.PlayerID)
		}
		rows[i] = []cell{
			instant(e.At), text(string(e.Source)), numberOrBlank(e.Token),
			toned(strings.ReplaceAll(string(e.Event), "_", " "), eventTone(e.Event)),
			text(e.Owner), text(detail),
		}
	}
	return rows
}

func eventTone(e inspect.TokenEvent) tone {
	switch e {
	case inspect.TokenUsed:
		return good
	case inspect.TokenRefused, inspect.TokenBurned, inspect.TokenFreed:
		return bad
	case inspect.TokenExpired, inspect.TokenAbandoned:
		return notice
	case inspect.TokenIssued, inspect.TokenRenewed, inspect.TokenReleased, inspect.TokenOther:
		return plain
	}
	return plain
}

func newTokenHistoryJSON(h inspect.TokenHistory) tokenHistoryJSON {
	j := tokenHistoryJSON{
		Resource: h.Resource, Fence: newFenceSeenJSON(h.Fence), Tokens: []tokenUseJSON{},
		Entries: newTokenEntriesJSON(h.Entries), Marks: []tokenMarkJSON{},
		Lost: jsonText(h.Lost), Cut: h.Cut, Missing: missingJSON(h.Missing),
	}
	if h.Lease != nil {
		lease := newLeaseJSON(*h.Lease)
		j.Lease = &lease
	}
	for _, u := range h.Tokens {
		use := tokenUseJSON{
			Token: jsonID(u.Token), Owner: u.Owner, Issued: jsonTime(u.Issued),
			Ended: jsonTime(u.Ended), End: jsonText(string(u.End)), Accepted: u.Accepted,
			Refused: u.Refused, Marks: []string{},
		}
		for _, k := range u.Marks {
			use.Marks = append(use.Marks, string(k))
		}
		j.Tokens = append(j.Tokens, use)
	}
	for _, m := range h.Marks {
		j.Marks = append(j.Marks, tokenMarkJSON{string(m.Kind), jsonID(m.Token), m.Why})
	}
	return j
}

func newTokenEntriesJSON(entries []inspect.TokenEntry) []tokenEntryJSON {
	list := make([]tokenEntryJSON, len(entries))
	for i, e := range entries {
		list[i] = tokenEntryJSON{
			At: jsonTime(e.At), Source: string(e.Source), Event: string(e.Event),
			Token: jsonID(e.Token), Owner: e.Owner, PlayerID: jsonText(e.PlayerID),
			EventID: jsonText(e.EventID), LedgerID: jsonID(e.LedgerID),
			ActionID: jsonID(e.ActionID), Detail: e.Detail,
		}
	}
	return list
}
