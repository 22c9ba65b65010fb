package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant"
	"rewardctl/repair"
)

func (a *app) grantCommand() *cobra.Command {
	commands := []*cobra.Command{
		a.grantCreateCommand(), a.grantPlanCommand(), a.grantApplyCommand(), a.grantStatusCommand(),
		a.grantListCommand(),
	}
	return a.group("grant", "Grant rewards: one, a file of them, or a plan that others approve",
		append(commands, a.decideCommands()...)...)
}

// createFlags are the flags of "grant create".
type createFlags struct {
	player, event, campaign, subject, kind, amount, reason, token, owner, confirm string

	version int
	wait    time.Duration
	dryRun  bool
}

func (a *app) grantCreateCommand() *cobra.Command {
	var f createFlags
	cmd := &cobra.Command{
		Use: "create --player P (--event ID | --campaign C --subject S) --kind K --amount N " +
			"--reason WHY",
		Short: "Grant one reward, exactly once",
		Long: "Grants one reward. The same command again answers replayed and moves nothing; the" +
			" same\nevent with another amount or kind answers mismatch. The event id says what the" +
			" reward\nis for; build it from meaning with --campaign and --subject, never from a" +
			" random value.",
		Example: "  rewardctl grant create --player p-1001 --campaign outage-2026-11-30 " +
			"--subject ticket-5519 \\\n      --kind gems --amount 200 --reason \"outage on 30 " +
			"November\" --dry-run",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			request, err := f.request(cmd)
			if err != nil {
				return a.reportRejection(request, err)
			}
			return a.createGrant(cmd.Context(), f, request)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *createFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.player, "player", "", "who receives it")
	flags.StringVar(&f.event, "event", "", "reward event id, when it exists already")
	flags.StringVar(&f.campaign, "campaign", "", "build the event id: what it is part of")
	flags.StringVar(&f.subject, "subject", "", "build the event id: what within the campaign")
	flags.IntVar(&f.version, "version", 1,
		"build the event id: 2 or more repeats the same reward on purpose")
	flags.StringVar(&f.kind, "kind", "", "what is given, such as gems")
	flags.StringVar(&f.amount, "amount", "", "how many, in plain digits")
	flags.StringVar(&f.reason, "reason", "", "why, for the records")
	flags.BoolVar(&f.dryRun, "dry-run", false, "say what would happen, change nothing")
	flags.DurationVar(&f.wait, "wait", 0, "how long to wait for a lease that another one holds")
	flags.StringVar(&f.token, "token", "", "token of a lease that you hold already (with --owner)")
	flags.StringVar(&f.owner, "owner", "", "owner of that lease (with --token)")
	flags.StringVar(&f.confirm, "confirm", "", "the words that a protected context asks for")
}

// request builds the request from the flags. An error that is a *grant.Rejection is an answer
// about the content; any other is about the command line. The request is filled as far as it
// could be read either way.
func (f *createFlags) request(cmd *cobra.Command) (grant.Request, error) {
	r := grant.Request{
		PlayerID: f.player, EventID: f.event, Kind: f.kind, Reason: f.reason,
	}
	if err := demand(cmd, "player", "kind", "amount", "reason"); err != nil {
		return r, err
	}
	if err := f.checkEventFlags(cmd); err != nil {
		return r, err
	}
	if f.wait < 0 {
		return r, usage("wait", "give 0 or more, such as 2s", "--wait %s is below zero", f.wait)
	}
	var rejected *grant.Rejection
	if r.Amount, rejected = parseAmount(f.amount); rejected != nil {
		return r, rejected
	}
	if f.campaign != "" {
		id, err := grant.EventID(grant.EventParts{
			Campaign: f.campaign, PlayerID: f.player, Subject: f.subject, Kind: f.kind,
			Version: f.version,
		})
		if err != nil {
			return r, err
		}
		r.EventID = id
	}
	return r, f.hold(cmd, &r)
}

// checkEventFlags wants the event id either whole or in parts.
func (f *createFlags) checkEventFlags(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	const wayOut = "give --event ID, or --campaign C --subject S"
	switch {
	case given("event") && (given("campaign") || given("subject") || given("version")):
		return usage("event", wayOut, "--event and --campaign exclude each other")
	case given("event"):
		return nil
	case !given("campaign") || f.campaign == "":
		return usage("event", wayOut, "what the reward is for is missing")
	case !given("subject"):
		return usage("subject", "name what within the campaign the reward is for",
			"--subject is missing")
	case f.version < 1:
		return usage("version", "count from 1", "--version %d is below 1", f.version)
	}
	return nil
}

// hold fills in a lease that the caller holds already.
func (f *createFlags) hold(cmd *cobra.Command, r *grant.Request) error {
	given := cmd.Flags().Changed
	if !given("token") && !given("owner") {
		return nil
	}
	if !given("token") || !given("owner") {
		return usage("token", "give both, as the lease was issued",
			"--token and --owner belong together")
	}
	token, err := parseToken(f.token)
	if err != nil {
		return err
	}
	r.Held = &grant.Lease{
		Resource: grant.ResourceFor(f.player), Owner: f.owner, Token: token,
	}
	return nil
}

// parseAmount takes plain ASCII digits only: a separator, an exponent or a sign can mean another
// number than the one that was meant.
func parseAmount(s string) (int64, *grant.Rejection) {
	const wayOut = "write plain digits, such as 1000"
	switch {
	case s == "":
		return 0, &grant.Rejection{Field: "amount", Problem: "is empty", WayOut: wayOut}
	case strings.Trim(s, "0123456789") != "":
		return 0, &grant.Rejection{
			Field: "amount", Value: s, Problem: "is not a plain whole number", WayOut: wayOut,
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, &grant.Rejection{
			Field: "amount", Value: s, Problem: "is too large", WayOut: "grant less",
		}
	}
	return n, nil
}

func parseToken(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strings.Trim(s, "0123456789") != "" {
		return 0, usage("token", "copy it from: rewardctl lease list",
			"--token %q is not a token", s)
	}
	return n, nil
}

// reportRejection prints a rejection of the content as an outcome, like the engine's own.
func (a *app) reportRejection(r grant.Request, err error) error {
	rejected, ok := err.(*grant.Rejection)
	if !ok {
		return err
	}
	return a.printGrant(grant.Result{
		Outcome: grant.Rejected, PlayerID: r.PlayerID, EventID: r.EventID, Kind: r.Kind,
		Amount: r.Amount, Actor: r.Actor, Resource: grant.ResourceFor(r.PlayerID),
		Rejected: rejected,
	})
}

func (a *app) createGrant(ctx context.Context, f createFlags, r grant.Request) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	r.Actor = w.conf.Operator
	if !f.dryRun {
		a.attempts(w, repair.GrantRequest{Request: r}, r.Reason, nil)
	}
	if rejected := grant.Validate(r, w.limits()); rejected != nil {
		if most := orElse(w.limits().AmountMax, grant.AmountMaxDefault); r.Amount > most && !f.dryRun {
			a.denyLimit(ctx, "over the limit of "+digits(most)+" per grant")
		}
		return a.reportRejection(r, rejected)
	}
	a.warnRandom(r)
	if !f.dryRun {
		want := lastFour(r.PlayerID) + "-grant"
		if err := a.mayChange(ctx, w.conf, f.confirm, want, "grant to "+r.PlayerID); err != nil {
			return err
		}
	}
	operator, err := w.operator(ctx, f.wait)
	if err != nil {
		return err
	}
	if f.dryRun {
		preview, err := operator.PreviewGrant(ctx, r)
		if err != nil {
			return err
		}
		return a.printPreview(preview)
	}
	deed, err := operator.Grant(ctx, r)
	var over *repair.OverLimitError
	if errors.As(err, &over) {
		return a.planOne(ctx, operator, r)
	}
	if err != nil {
		return err
	}
	if deed.LogProblem != "" {
		a.say("warning: this attempt could not be written to the operator log: %s", deed.LogProblem)
	}
	return a.printGrant(deed.Result)
}

// warnRandom warns about an event id that looks as if it were made anew on every try: such a
// retry would pay again.
func (a *app) warnRandom(r grant.Request) {
	form, random := grant.LooksRandom(strings.ReplaceAll(r.EventID, r.PlayerID, ""))
	if !random {
		return
	}
	a.say("warning: the event id %q holds what looks like a %s. An id that changes on every try "+
		"pays on every try; build it with --campaign and --subject.", r.EventID, form)
}

// printPreview says what a grant would do.
func (a *app) printPreview(p repair.GrantPreview) error {
	for _, w := range p.Warnings {
		a.say("warning: %s", w)
	}
	j := newGrantJSON(p.Result, a.now())
	j.DryRun = true
	j.BalanceBefore, j.BalanceAfter = &p.BalanceBefore, &p.BalanceAfter
	if p.Holder != nil {
		j.Holder = newHolderJSON(p.Holder, a.now())
	}
	j.Note = p.Note
	fields := grantFields(p.Result, a.now())
	fields[0] = field{"dry_run", toned("would be "+outcomeWords(p.Result.Outcome),
		outcomeTone(p.Result.Outcome.String()))}
	fields = append(fields,
		field{"balance", text(fmt.Sprintf("%d -> %d", p.BalanceBefore, p.BalanceAfter))},
		field{"claim", text(p.ClaimStatus)}, field{"note", text(p.Note)})
	if err := a.printOne(j, fields); err != nil {
		return err
	}
	a.sayOutcome(p.Result)
	return ended(outcomeExit(p.Result.Outcome))
}

// printGrant prints the answer to one grant and gives the command its exit code.
func (a *app) printGrant(r grant.Result) error {
	if r.Outcome == grant.Failed {
		return r.Err
	}
	if err := a.printOne(newGrantJSON(r, a.now()), grantFields(r, a.now())); err != nil {
		return err
	}
	a.sayOutcome(r)
	return ended(outcomeExit(r.Outcome))
}
