package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"rewardctl/repair"
)

// outboxFlags are the flags of "outbox requeue" and "outbox park".
type outboxFlags struct {
	all, dryRun                             bool
	state, player, kind, text, since, until string
	reason, confirm, set                    string
	attempts                                int
	expect                                  int64
}

type outboxChangeJSON struct {
	Deed    string  `json:"deed"`
	DryRun  bool    `json:"dry_run"`
	Rows    string  `json:"rows"`
	Before  *string `json:"before"` // of a single row
	Player  *string `json:"player_id"`
	LogID   *string `json:"log_id"`
	At      *string `json:"at"`
	Command string  `json:"command"`
}

func (a *app) outboxRequeueCommand() *cobra.Command {
	return a.outboxChangeCommand(repair.OutboxRequeue, &cobra.Command{
		Use:   "requeue ID... | --all --state STATE --expect N",
		Short: "Have dead or parked deliveries sent again, at once",
		Long: "Sends again, counting failures anew, what was given up or parked; a row that waits for" +
			" a\nretry is tried at once. With --all: every row that matches, and exactly as many as" +
			"\n--dry-run counted, or none. --state delivered sends what was delivered once more, with" +
			" the\nsame key: for a receiver that lost it. Several IDs: each only as" +
			" --dry-run showed it\n(--set).",
		Example: "  rewardctl outbox requeue 4711 --reason \"item exists now, T-9\"\n" +
			"  rewardctl outbox requeue --all --state dead --error 'no item' --reason T-9 --dry-run\n" +
			"  rewardctl outbox requeue --all --state dead --error 'no item' --reason T-9 --expect 17",
	})
}

func (a *app) outboxParkCommand() *cobra.Command {
	return a.outboxChangeCommand(repair.OutboxPark, &cobra.Command{
		Use:   "park ID... | --all --state STATE --expect N",
		Short: "Take deliveries out until they are requeued",
		Long: "No relay sends a parked row. Later rows of the same player wait behind it under the" +
			" policy\nwait, and pass it under the policy pass.",
		Example: "  rewardctl outbox park 4711 --reason \"wrong item, T-9\"\n" +
			"  rewardctl outbox park --all --state pending --kind sword --reason T-9 --dry-run",
	})
}

func (a *app) outboxChangeCommand(deed repair.OutboxDeed, cmd *cobra.Command) *cobra.Command {
	var f outboxFlags
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 && !f.all {
			if err := f.named(cmd); err != nil {
				return err
			}
			return a.changeOutboxMany(cmd, deed, f, args)
		}
		if f.set != "" {
			return usage("set", "leave it out", "--set is for several IDs")
		}
		r, err := a.outboxRequest(cmd, deed, f, args)
		if err != nil {
			return err
		}
		return a.changeOutbox(cmd, f.confirm, r)
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.state, "state", "", "the state you saw: dead, parked, pending or delivered")
	flags.IntVar(&f.attempts, "attempts", -1, "with ID: the attempts you saw")
	flags.BoolVar(&f.all, "all", false, "every row that matches, instead of one")
	flags.StringVar(&f.player, "player", "", "with --all: of this player")
	flags.StringVar(&f.kind, "kind", "", "with --all: of this kind of reward")
	flags.StringVar(&f.text, "error", "", "with --all: whose last error holds this text")
	flags.StringVar(&f.since, "from", "",
		"with --all: posted (of delivered rows: delivered) from this time")
	flags.StringVar(&f.until, "to", "", "with --all: and before this time")
	flags.Int64Var(&f.expect, "expect", 0, "with --all: how many rows --dry-run counted")
	flags.StringVar(&f.set, "set", "", "with several IDs: the set that --dry-run showed")
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.BoolVar(&f.dryRun, "dry-run", false, "count, change nothing")
	flags.StringVar(&f.confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

// named checks the flags of a deed on rows that are named.
func (f outboxFlags) named(cmd *cobra.Command) error {
	if err := demand(cmd, "reason"); err != nil {
		return err
	}
	for _, name := range []string{"player", "kind", "error", "from", "to", "expect"} {
		if cmd.Flags().Changed(name) {
			return usage(name, "add --all, or leave it out", "--%s is for --all", name)
		}
	}
	return nil
}

func (a *app) outboxRequest(
	cmd *cobra.Command, deed repair.OutboxDeed, f outboxFlags, args []string,
) (repair.OutboxRequest, error) {
	r := repair.OutboxRequest{
		Deed: deed, Attempts: f.attempts, Expect: f.expect, Reason: f.reason, DryRun: f.dryRun,
	}
	if !f.all {
		if err := f.named(cmd); err != nil {
			return r, err
		}
		if err := arguments("ID")(cmd, args); err != nil {
			return r, err
		}
		var err error
		r.LedgerID, err = parseLedgerID(args[0])
		r.State = f.state
		return r, err
	}
	if err := demand(cmd, "reason"); err != nil {
		return r, err
	}
	if len(args) > 0 || cmd.Flags().Changed("attempts") {
		return r, usage("all", "keep one of them", "--all excludes an ID and --attempts")
	}
	names := []string{"state", "expect"}
	if f.dryRun {
		names = names[:1]
	}
	if err := demand(cmd, names...); err != nil {
		return r, err
	}
	r.Filter = repair.OutboxFilter{State: f.state, Player: f.player, Kind: f.kind, Error: f.text}
	var err error
	if r.Filter.Since, err = parseTime("from", f.since); err != nil {
		return r, err
	}
	r.Filter.Until, err = parseTime("to", f.until)
	return r, err
}

func (a *app) changeOutbox(cmd *cobra.Command, confirm string, r repair.OutboxRequest) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if !r.DryRun {
		a.attempts(w, r, r.Reason, nil)
		want := fmt.Sprintf("%d-%s", r.LedgerID, r.Deed)
		deed := fmt.Sprintf("%s outbox row %d", r.Deed, r.LedgerID)
		if r.LedgerID == 0 {
			want = fmt.Sprintf("%d-%s", r.Expect, r.Deed)
			deed = fmt.Sprintf("%s %d outbox rows", r.Deed, r.Expect)
		}
		if err := a.mayChange(cmd.Context(), w.conf, confirm, want, deed); err != nil {
			return err
		}
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	done, err := operator.ChangeOutbox(cmd.Context(), r)
	if err != nil {
		return err
	}
	j := outboxChangeJSON{
		Deed: string(r.Deed), DryRun: r.DryRun, Rows: fmt.Sprint(done.Rows),
		Before: jsonText(done.Before), Player: jsonText(done.Player), LogID: jsonID(done.LogID),
		At: jsonTime(done.At), Command: a.commandLine(r.CLI()),
	}
	verb := string(r.Deed) + "ed"
	if r.Deed == repair.OutboxRequeue {
		verb = "requeued"
	}
	if r.DryRun {
		verb = "would be " + verb
	}
	fields := []field{
		{"rows", text(fmt.Sprintf("%d %s", done.Rows, verb))},
		{"before", text(done.Before)},
		{"player", text(done.Player)},
		{"log", text(numberOrBlank(done.LogID).text)},
		{"at", instant(done.At)},
	}
	if r.DryRun && r.LedgerID == 0 {
		r.DryRun, r.Expect = false, done.Rows
		fields = append(fields, field{"to_do_it", text(a.commandLine(r.CLI()))})
	}
	return a.printOne(j, fields)
}
