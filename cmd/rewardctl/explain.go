package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/tui/safetext"
)

// explainWidth is where the paragraph of an explanation is broken into lines.
const explainWidth = 96

type explanationJSON struct {
	PlayerID  string            `json:"player_id"`
	EventID   string            `json:"reward_event_id"`
	Granted   bool              `json:"granted"`
	Summary   string            `json:"summary"`
	Evidence  []evidenceJSON    `json:"evidence"`
	Posting   *postingJSON      `json:"posting"`
	Reversal  *postingJSON      `json:"reversal"`
	Reversals []postingJSON     `json:"reversals"`
	Claim     *claimJSON        `json:"claim"`
	Delivery  *deliveryJSON     `json:"delivery"`
	Attempts  []attemptJSON     `json:"attempts"`
	Refusals  []playerEntryJSON `json:"refusals"`
	Actions   []playerEntryJSON `json:"actions"`
	Fence     *fenceJSON        `json:"fence"`
	Lease     *leaseJSON        `json:"lease"`
	IfGranted predictionJSON    `json:"if_granted"`
	Missing   []missingJSONItem `json:"missing"`
}

// predictionJSON is what the engine would answer now.
type predictionJSON struct {
	Outcome string `json:"outcome"`
	Why     string `json:"why"`
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain PLAYER EVENT",
		Short:   "Explain whether a player got a reward, and why or why not",
		Example: "  rewardctl explain p-1001 season-2026-week-34:p-1001:rank-3:gems:v1",
		Args:    arguments("PLAYER", "EVENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			e, err := reader.Explain(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return a.printExplanation(e)
		},
	}
}

// printExplanation prints an explanation. That nothing at all is known about the reward is an
// answer, too, but scripts see it in the exit code.
func (a *app) printExplanation(e inspect.Explanation) error {
	if a.output == string(formatTable) {
		for _, line := range safetext.Wrap(safeText(e.Summary), explainWidth) {
			if err := a.line(line); err != nil {
				return err
			}
		}
		a.gap()
	}
	if err := a.printOne(newExplanationJSON(e), explanationFields(e)); err != nil {
		return err
	}
	if a.output == string(formatTable) {
		if err := a.printRefusedTries(e); err != nil {
			return err
		}
	}
	if err := a.incomplete(e.Missing); err != nil {
		return err
	}
	if e.Posting == nil && e.Claim == nil && len(e.Refusals) == 0 && len(e.Actions) == 0 {
		return ended(exitNotFound)
	}
	return nil
}

func explanationFields(e inspect.Explanation) []field {
	granted := toned("no", notice)
	if e.Granted {
		granted = toned("yes", good)
	}
	fields := []field{
		{"player_id", text(e.PlayerID)}, {"reward_event_id", text(e.EventID)}, {"granted", granted},
	}
	for _, v := range e.Evidence {
		fields = append(fields, field{v.Name, text(v.Finding)})
	}
	if e.IfGranted.Why != "" || e.IfGranted.Outcome != grant.Failed {
		fields = append(fields, field{"granting_it_now", toned(
			fmt.Sprintf("%s: %s", e.IfGranted.Outcome, e.IfGranted.Why),
			outcomeTone(e.IfGranted.Outcome.String()))})
	}
	return fields
}

func (a *app) printRefusedTries(e inspect.Explanation) error {
	if len(e.Refusals) == 0 {
		return nil
	}
	l := listing{columns: columns("refused_at", "outcome", "kind", "amount", "token", "fence",
		"actor", "detail")}
	for _, r := range e.Refusals {
		l.rows = append(l.rows, []cell{
			instant(r.At), toned(r.Outcome, outcomeTone(r.Outcome)), text(r.Kind),
			number(r.Amount), numberOrBlank(r.Token), numberOrBlank(r.FenceToken), text(r.Actor),
			text(r.Detail),
		})
	}
	a.gap()
	return a.print(l)
}

func newExplanationJSON(e inspect.Explanation) explanationJSON {
	j := explanationJSON{
		PlayerID: e.PlayerID, EventID: e.EventID, Granted: e.Granted, Summary: e.Summary,
		Evidence: newEvidenceJSON(e.Evidence), Posting: newPostingJSON(e.Posting),
		Reversal: newPostingJSON(e.Reversal), Claim: newClaimJSON(e.Claim),
		Delivery: newDeliveryJSON(e.Delivery), Refusals: []playerEntryJSON{},
		Actions: []playerEntryJSON{}, Fence: newFenceSeenJSON(e.Fence),
		Reversals: []postingJSON{}, Attempts: newAttemptsJSON(e.Attempts),
		IfGranted: predictionJSON{e.IfGranted.Outcome.String(), e.IfGranted.Why},
		Missing:   missingJSON(e.Missing),
	}
	if e.Lease != nil {
		lease := newLeaseJSON(*e.Lease)
		j.Lease = &lease
	}
	for _, r := range e.Reversals {
		j.Reversals = append(j.Reversals, *newPostingJSON(&r))
	}
	for _, r := range e.Refusals {
		j.Refusals = append(j.Refusals, newPlayerEntryJSON(e.PlayerID, r))
	}
	for _, r := range e.Actions {
		j.Actions = append(j.Actions, newPlayerEntryJSON(e.PlayerID, r))
	}
	return j
}
