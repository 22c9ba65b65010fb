package main

import (
	"github.com/spf13/cobra"

	"rewardctl/repair"
)

type burnJSON struct {
	Resource    string     `json:"resource"`
	DryRun      bool       `json:"dry_run"`
	Token       *string    `json:"token"`
	Answer      string     `json:"answer"` // burned, already_burned, fence_above or would_burn
	FenceBefore *fenceJSON `json:"fence_before"`
	FenceAfter  *fenceJSON `json:"fence_after"`
	ActionID    *string    `json:"action_id"`
	At          *string    `json:"at"`
	Note        string     `json:"note"`
	Command     string     `json:"command"`
}

func (a *app) leaseBurnCommand() *cobra.Command {
	var token, owner, reason, confirm string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "burn RESOURCE --token T --reason WHY",
		Short: "End the right of a token's holder to write, and leave the lock alone",
		Long: "Raises the fence to exactly the token, under a tombstone: whoever had it can never" +
			" write again.\nUse it for a worker that may still wake up after its lock is gone. A token" +
			" that nothing shows\nwas issued is refused, since burning it would lock out live holders.",
		Example: "  rewardctl token list reward:p-1001\n" +
			"  rewardctl lease burn reward:p-1001 --token 42 --reason \"worker hangs, INC-77\" --dry-run",
		Args: arguments("RESOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := demand(cmd, "token", "reason"); err != nil {
				return err
			}
			r := repair.BurnRequest{
				Resource: args[0], Owner: owner, Reason: reason, DryRun: dryRun,
			}
			var err error
			if r.Token, err = parseToken(token); err != nil {
				return err
			}
			return a.burnToken(cmd, confirm, r)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&token, "token", "", "the token to burn")
	flags.StringVar(&owner, "owner", "", "burn it only if this owner had it, as far as is known")
	flags.StringVar(&reason, "reason", "", "why, for the records")
	flags.BoolVar(&dryRun, "dry-run", false, "say what would happen, change nothing")
	flags.StringVar(&confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

func (a *app) burnToken(cmd *cobra.Command, confirm string, r repair.BurnRequest) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if !r.DryRun {
		a.attempts(w, r, r.Reason, nil)
		want := lastFour(r.Resource) + "-burn"
		err := a.mayChange(cmd.Context(), w.conf, confirm, want, "burn a token of "+r.Resource)
		if err != nil {
			return err
		}
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	b, err := operator.Burn(cmd.Context(), r)
	if err != nil {
		return err
	}
	j := burnJSON{
		Resource: b.Resource, DryRun: r.DryRun, Token: jsonID(b.Token), Answer: string(b.Burning),
		FenceBefore: newFenceJSON(b.FenceBefore), FenceAfter: newFenceJSON(b.FenceAfter),
		ActionID: jsonID(b.ActionID), At: jsonTime(b.At), Note: b.Note,
		Command: a.commandLine(r.CLI()),
	}
	return a.printOne(j, []field{
		{"resource", text(b.Resource)},
		{"token", toned(number(b.Token).text+" "+plainWords(string(b.Burning)), good)},
		{"fence_before", text(fenceWords(j.FenceBefore))},
		{"fence_after", text(fenceWords(j.FenceAfter))},
		{"log", text(numberOrBlank(b.ActionID).text)},
		{"at", instant(b.At)},
		{"note", text(b.Note)},
	})
}
