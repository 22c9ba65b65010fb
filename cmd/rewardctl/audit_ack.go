package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/repair"
)

type auditAckJSON struct {
	Finding *string `json:"finding"`
	DryRun  bool    `json:"dry_run"`
	What    string  `json:"what"`
	Before  string  `json:"before"`
	State   string  `json:"state"`
	Version int64   `json:"version"`
	Changed bool    `json:"changed"`
	LogID   *string `json:"log_id"`
	Command string  `json:"command"`
}

// ackFlags are the flags of "audit ack".
type ackFlags struct {
	version         int64
	reopen, dryRun  bool
	reason, confirm string
}

func (a *app) auditAckCommand() *cobra.Command {
	var f ackFlags
	cmd := &cobra.Command{
		Use:   "ack FINDING --reason WHY",
		Short: "Say that a finding was looked at, in this run and every one that finds it again",
		Long: "Acknowledges a finding, or takes that back. It changes nothing of what was found: audit" +
			" run\nand audit show still end with 6, unless they are asked with --open. With --version" +
			" it is done\nonly if nobody else has decided since; audit show -o json tells the version," +
			" and 0 stands for no\ndecision.",
		Example: "  rewardctl audit show 12 -o jsonl\n" +
			"  rewardctl audit ack 113 --reason \"compensated, ZD-5519\" --version 0\n" +
			"  rewardctl audit ack 113 --reopen --reason \"it came back\"",
		Args: arguments("FINDING"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.request(cmd, args[0])
			if err != nil {
				return err
			}
			return a.acknowledge(cmd, f.confirm, r)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.Int64Var(&f.version, "version", repair.AckAny, "the version of the decision that you saw")
	flags.BoolVar(&f.reopen, "reopen", false, "take the acknowledgement back")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen, change nothing")
	flags.StringVar(&f.confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

func (f ackFlags) request(cmd *cobra.Command, finding string) (repair.AckRequest, error) {
	r := repair.AckRequest{
		Version: f.version, Reopen: f.reopen, Reason: f.reason, DryRun: f.dryRun,
	}
	var err error
	if r.Finding, err = strconv.ParseInt(finding, 10, 64); err != nil || r.Finding < 1 {
		return r, usage("finding", "see: rewardctl audit show RUN", "%q is no number of a finding",
			finding)
	}
	if r.Version < repair.AckAny {
		return r, usage("version", "give the version that audit show tells, or leave it out",
			"--version %d is no version", r.Version)
	}
	return r, demand(cmd, "reason")
}

func (a *app) acknowledge(cmd *cobra.Command, confirm string, r repair.AckRequest) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if !r.DryRun {
		a.attempts(w, r, r.Reason, nil)
		want, deed := fmt.Sprintf("%d-ack", r.Finding), "decide about a finding"
		if err := a.mayChange(cmd.Context(), w.conf, confirm, want, deed); err != nil {
			return err
		}
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	done, err := operator.Acknowledge(cmd.Context(), r)
	if err != nil {
		return err
	}
	j := auditAckJSON{
		Finding: jsonID(done.Finding), DryRun: r.DryRun, What: done.What, Before: string(done.Before),
		State: string(done.State), Version: done.Version, Changed: done.Changed,
		LogID: jsonID(done.LogID), Command: a.commandLine(r.CLI()),
	}
	state := toned(string(done.State), good)
	switch {
	case r.DryRun:
		state = toned("is "+string(done.State)+", version "+fmt.Sprint(done.Version), notice)
	case !done.Changed:
		state.text += ", as before"
	}
	return a.printOne(j, []field{
		{"finding", number(done.Finding)},
		{"what", text(done.What)},
		{"state", state},
		{"version", number(done.Version)},
		{"log", text(numberOrBlank(done.LogID).text)},
	})
}
