package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant"
	"rewardctl/repair"
)

func (a *app) ledgerCommand() *cobra.Command {
	return a.group("ledger", "Take postings back", a.ledgerReverseCommand())
}

// reverseFlags are the flags of "ledger reverse".
type reverseFlags struct {
	plan, finding                              string
	player, event, campaign, actor, kind       string
	from, to, amount, policy, set, reason, yes string

	part   int
	wait   time.Duration
	dryRun bool
}

func (a *app) ledgerReverseCommand() *cobra.Command {
	var f reverseFlags
	cmd := &cobra.Command{
		Use:   "reverse (ID | --plan N | --finding N | FILTER) --reason WHY",
		Short: "Take postings back, each at most once",
		Long: "Takes back one posting, those that a plan made, those that a finding of an audit shows" +
			" to\nbe too many, or those that a filter selects. A reversal is a negative posting that" +
			" names the\none it takes back; the same command again answers already reversed and moves" +
			" nothing. What a\nplayer has spent is refused, unless --policy says to take what is" +
			" there (to-zero) or to\nleave it (skip). What is left can be taken back later.\n\n" +
			"For more than one posting the number has to be confirmed: the postings counted are the" +
			"\nones changed. --dry-run shows them, and the command that does it.",
		Example: "  rewardctl ledger reverse 4711 --reason \"granted by mistake, INC-77\" --dry-run\n" +
			"  rewardctl ledger reverse 4711 --amount 30 --reason \"30 too many, INC-77\"\n" +
			"  rewardctl ledger reverse --plan 12 --policy to-zero --reason \"wrong file, INC-77\" " +
			"--dry-run\n" +
			"  rewardctl ledger reverse --campaign easter --from 2026-11-30 --reason INC-77 " +
			"--confirm 812-reverse",
		Args: optionalArgument("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			request, err := f.request(cmd, args)
			if err != nil {
				return err
			}
			return a.reverse(cmd.Context(), f, request)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *reverseFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.plan, "plan", "", "the postings that this plan made")
	flags.StringVar(&f.finding, "finding", "", "what this finding of an audit shows to be too many")
	flags.StringVar(&f.player, "player", "", "filter: of this player")
	flags.StringVar(&f.event, "event", "", "filter: with this reward event id")
	flags.StringVar(&f.campaign, "campaign", "", "filter: with event ids built from this campaign")
	flags.StringVar(&f.actor, "actor", "", "filter: granted by this actor")
	flags.StringVar(&f.kind, "kind", "", "filter: of this kind")
	flags.StringVar(&f.from, "from", "", "filter: posted from this time, such as 2026-11-01 (UTC)")
	flags.StringVar(&f.to, "to", "", "filter: posted before this time")
	flags.StringVar(&f.amount, "amount", "", "of one posting: how much; without it all that is left")
	flags.IntVar(&f.part, "part", 0, "of one posting: which part this is; with --amount 1 by default")
	flags.StringVar(&f.policy, "policy", string(grant.PolicyRefuse),
		"when it is spent: refuse, to-zero or skip")
	flags.StringVar(&f.set, "set", "",
		"do it only if these are exactly the postings that --dry-run showed")
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen, change nothing")
	flags.DurationVar(&f.wait, "wait", 2*time.Second,
		"how long to wait for a lease that another one holds")
	flags.StringVar(&f.yes, "confirm", "",
		"N-reverse for more than one posting; the words that a protected context asks for")
}

// optionalArgument allows one argument that is not empty.
func optionalArgument(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return arguments(name)(cmd, args)
	}
}

// request builds the request from the command line.
func (f *reverseFlags) request(
	cmd *cobra.Command, args []string,
) (repair.ReverseRequest, error) {
	r := repair.ReverseRequest{
		ReverseSelection: repair.ReverseSelection{
			PlayerID: f.player, EventID: f.event, Campaign: f.campaign, Actor: f.actor, Kind: f.kind,
		},
		Part: f.part, Reason: f.reason, Set: f.set, DryRun: f.dryRun,
	}
	for _, flag := range []string{
		"plan", "finding", "player", "event", "campaign", "actor", "kind", "amount",
	} {
		if cmd.Flags().Changed(flag) && cmd.Flags().Lookup(flag).Value.String() == "" {
			return r, usage(flag, "give a value, or leave the flag out", "--%s is empty", flag)
		}
	}
	if err := demand(cmd, "reason"); err != nil {
		return r, err
	}
	if f.wait < 0 {
		return r, usage("wait", "give 0 or more, such as 2s", "--wait %s is below zero", f.wait)
	}
	var err error
	if len(args) == 1 {
		if r.LedgerID, err = parseID("ID", args[0]); err != nil {
			return r, err
		}
	}
	if f.plan != "" {
		if r.Plan, err = parseID("plan", f.plan); err != nil {
			return r, err
		}
	}
	if f.finding != "" {
		if r.Finding, err = parseID("finding", f.finding); err != nil {
			return r, err
		}
	}
	if f.amount != "" {
		amount, rejected := parseAmount(f.amount)
		if rejected != nil {
			return r, rejected
		}
		if r.Amount = amount; amount == 0 {
			return r, usage("amount", "give a whole number from 1", "--amount is 0")
		}
	}
	if r.Policy, err = grant.ParsePolicy(f.policy); err != nil {
		return r, err
	}
	if r.From, err = parseTime("from", f.from); err != nil {
		return r, err
	}
	r.Until, err = parseTime("to", f.to)
	return r, err
}

// parseID reads the number of a posting, plan or finding.
func parseID(what, s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strings.Trim(s, "0123456789") != "" {
		return 0, usage(what, "give a whole number from 1", "%s %q is not a number", what, s)
	}
	return n, nil
}

func (a *app) reverse(ctx context.Context, f reverseFlags, r repair.ReverseRequest) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	if !r.DryRun {
		a.attempts(w, r, r.Reason, nil)
	}
	if w.conf.ReadOnly && !r.DryRun {
		return a.mayChange(ctx, w.conf, "", "", "reverse postings")
	}
	operator, err := w.operator(ctx, f.wait)
	if err != nil {
		return err
	}
	p, err := operator.PreviewReverse(ctx, r)
	if err != nil {
		return err
	}
	if r.DryRun {
		return a.printReversal(p, nil)
	}
	a.attempts(w, r, r.Reason, map[string]string{
		"postings": strconv.Itoa(p.Changes()), "players": strconv.Itoa(p.Players),
	})
	if err := a.confirmReversal(ctx, w, p, f.yes); err != nil {
		return err
	}
	w.beat(ctx)
	bar := a.newProgress()
	done, err := operator.Reverse(ctx, p, repair.ReverseRun{OnProgress: bar.reversing})
	bar.clear()
	if err != nil && done.Changes() == 0 && !interrupted(ctx) {
		return err
	}
	return a.printReversal(done, err)
}

// reverseWord is what has to be typed to take these postings back: it names the player of a single
// posting, and the number of several.
func reverseWord(p repair.ReversePreview) string {
	if p.Request.LedgerID != 0 {
		return lastFour(p.Items[0].Posting.PlayerID) + "-reverse"
	}
	return strconv.Itoa(p.Changes()) + "-reverse"
}

// confirmReversal asks before postings are taken back. Several are dangerous in any context: their
// number has to be said, so that what was counted is what is changed.
func (a *app) confirmReversal(
	ctx context.Context, w *wiring, p repair.ReversePreview, confirm string,
) error {
	want := reverseWord(p)
	n := p.Changes()
	if p.Request.LedgerID != 0 || n == 0 {
		return a.mayChange(ctx, w.conf, confirm, want, "reverse "+p.Request.Target())
	}
	if a.interactive() && confirm == "" {
		for _, t := range p.Totals {
			a.say("%s: %d of %d posted would be taken back, %d are spent already", t.Kind, t.Take,
				t.Posted, t.Spent)
		}
	}
	deed := fmt.Sprintf("reverse %d postings of %d players", n, p.Players)
	return a.mustConfirm(ctx, w.conf, confirm, want, deed)
}

// reversing is told how far a reversal has come.
func (p *progress) reversing(done, total int) {
	if total == 0 {
		return
	}
	p.draw(fmt.Sprintf("reversing  %s  %d/%d", bar(float64(done)/float64(total)), done, total),
		done == total)
}
