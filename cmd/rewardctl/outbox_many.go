package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
)

// outboxManyJSON is the document of a requeue or a parking of several rows that are named.
type outboxManyJSON struct {
	Deed    string         `json:"deed"`
	DryRun  bool           `json:"dry_run"`
	Set     string         `json:"set"`
	Rows    int            `json:"rows"`
	Changed int            `json:"changed"`
	Failed  int            `json:"failed"`
	NotRun  int            `json:"not_run"`
	Results []outboxOfJSON `json:"results"`
	Command string         `json:"command"` // does exactly this
	Exit    int            `json:"exit"`
}

// outboxOfJSON is what became of one row.
type outboxOfJSON struct {
	LedgerID string  `json:"ledger_id"`
	State    string  `json:"state"` // when it was selected
	Attempts int     `json:"attempts"`
	Player   *string `json:"player_id"`
	LogID    *string `json:"log_id"`
	Code     string  `json:"code"` // ok, or the word of the error
	Error    *string `json:"error"`
}

// changeOutboxMany changes several rows that are named: exactly as they were seen.
func (a *app) changeOutboxMany(
	cmd *cobra.Command, deed repair.OutboxDeed, f outboxFlags, args []string,
) error {
	for _, name := range []string{"state", "attempts"} {
		if cmd.Flags().Changed(name) {
			return usage(name, "leave it out: --set holds each row to what was seen",
				"--%s is about one row", name)
		}
	}
	if f.set == "" && !f.dryRun {
		return usage("set", "look first with --dry-run, which shows the set", "--set is missing: "+
			"several rows are changed only as they were seen")
	}
	w, err := a.wire()
	if err != nil {
		return err
	}
	set, err := a.selectOutbox(cmd.Context(), w, deed, f, args)
	var unfit *grant.Rejection
	if errors.As(err, &unfit) && f.set != "" { // it was fit when it was seen
		err = outboxDrift(f.set, unfit.Error())
	}
	if err != nil {
		return err
	}
	n := len(set.Requests)
	if !f.dryRun {
		a.attempts(w, set, f.reason, map[string]string{"rows": strconv.Itoa(n)})
	}
	if f.set != "" && f.set != set.Digest {
		return outboxDrift(f.set, fmt.Sprintf("%d rows, set %s", n, set.Digest))
	}
	if !f.dryRun {
		err := a.mayChange(cmd.Context(), w.conf, f.confirm, fmt.Sprintf("%d-%s", n, deed),
			fmt.Sprintf("%s %d outbox rows", deed, n))
		if err != nil {
			return err
		}
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	return a.printOutboxMany(set, f, operator.ChangeOutboxMany(cmd.Context(), set, nil))
}

// outboxDrift says that the rows are no longer those of the set.
func outboxDrift(set, have string) error {
	return &repair.PreconditionError{
		Resource: "the selection", Have: have, Want: "set " + set,
		WayOut: "look at it again with --dry-run",
	}
}

// selectOutbox freezes the rows that are named as they are now.
func (a *app) selectOutbox(
	ctx context.Context, w *wiring, deed repair.OutboxDeed, f outboxFlags, args []string,
) (repair.OutboxSet, error) {
	ids := make([]int64, len(args))
	for i, arg := range args {
		var err error
		if ids[i], err = parseLedgerID(arg); err != nil {
			return repair.OutboxSet{}, err
		}
	}
	reader, err := w.newReader(ctx)
	if err != nil {
		return repair.OutboxSet{}, err
	}
	page, err := reader.Outbox(ctx, inspect.OutboxQuery{IDs: ids, Limit: len(ids)})
	if err != nil {
		return repair.OutboxSet{}, err
	}
	found := map[int64]bool{}
	requests := make([]repair.OutboxRequest, len(page.Rows))
	for i, row := range page.Rows {
		found[row.LedgerID] = true
		requests[i] = repair.OutboxRequest{
			LedgerID: row.LedgerID, State: row.State, Attempts: row.Attempts, Reason: f.reason,
			DryRun: f.dryRun,
		}
	}
	for i, id := range ids {
		if !found[id] {
			return repair.OutboxSet{}, &inspect.NotFoundError{What: "outbox row", Name: args[i]}
		}
	}
	return repair.NewOutboxSet(deed, requests)
}

func (a *app) printOutboxMany(
	set repair.OutboxSet, f outboxFlags, results []repair.OutboxOf,
) error {
	todo := set
	if f.dryRun { // what is shown is what does it
		todo.Requests = append([]repair.OutboxRequest(nil), set.Requests...)
		for i := range todo.Requests {
			todo.Requests[i].DryRun = false
		}
	}
	j := outboxManyJSON{
		Deed: string(set.Deed), DryRun: f.dryRun, Set: set.Digest, Rows: len(results),
		Results: []outboxOfJSON{}, Command: a.commandLine(todo.CLI()),
	}
	l := listing{columns: columns("ledger_id", "state", "attempts", "player_id", "log", "problem")}
	codes := map[exitCode]bool{}
	for _, r := range results {
		one, code := newOutboxOf(r)
		codes[code] = true
		tone := good
		switch {
		case r.NotRun:
			j.NotRun++
			tone = notice
		case r.Err != nil:
			j.Failed++
			tone = bad
		case !f.dryRun:
			j.Changed++
		}
		j.Results = append(j.Results, one)
		l.values = append(l.values, one)
		problem := ""
		if one.Error != nil {
			problem = *one.Error
		}
		l.rows = append(l.rows, []cell{
			number(r.Request.LedgerID), text(one.State), number(int64(one.Attempts)),
			text(r.Change.Player), numberOrBlank(r.Change.LogID), toned(problem, tone),
		})
	}
	code := oneCode(codes)
	j.Exit = int(code)
	l.document = j
	if err := a.print(l); err != nil {
		return err
	}
	if a.output == string(formatTable) {
		if f.dryRun {
			a.say("to do exactly this: %s", j.Command)
		} else {
			a.say("%d of %d rows changed, %d not, %d not run", j.Changed, j.Rows, j.Failed, j.NotRun)
		}
	}
	return ended(code)
}

// oneCode is the code of a run of several deeds: partial when they ended in different ways.
func oneCode(codes map[exitCode]bool) exitCode {
	if len(codes) > 1 {
		return exitPartial
	}
	for only := range codes {
		return only
	}
	return exitOK
}

func newOutboxOf(r repair.OutboxOf) (outboxOfJSON, exitCode) {
	j := outboxOfJSON{
		LedgerID: strconv.FormatInt(r.Request.LedgerID, 10), State: r.Request.State,
		Attempts: r.Request.Attempts, Player: jsonText(r.Change.Player),
		LogID: jsonID(r.Change.LogID), Code: exitOK.word(),
	}
	switch {
	case r.NotRun:
		j.Code = exitUnavailable.word()
		j.Error = jsonText("left out: the server did not answer for the rows before it")
		return j, exitUnavailable
	case r.Err != nil:
		p := classify(r.Err)
		j.Code, j.Error = p.exit.word(), jsonText(p.message)
		return j, p.exit
	}
	return j, exitOK
}
