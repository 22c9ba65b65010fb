package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
	"rewardctl/repair"
)

type releaseManyJSON struct {
	DryRun   bool             `json:"dry_run"`
	Set      string           `json:"set"`
	Leases   int              `json:"leases"`
	Released int              `json:"released"` // or gone already
	Failed   int              `json:"failed"`
	NotRun   int              `json:"not_run"`
	Results  []releasedOfJSON `json:"results"`
	Confirm  *string          `json:"confirm"` // dry run: what --confirm has to say
	Command  string           `json:"command"`
	Exit     int              `json:"exit"`
}

// releasedOfJSON is what became of one lease.
type releasedOfJSON struct {
	Resource string  `json:"resource"`
	Token    *string `json:"token"`
	Owner    string  `json:"owner"`
	State    string  `json:"state"` // the verdict when it was selected
	Lock     string  `json:"lock"`
	Burned   string  `json:"burned"`
	IntentID *string `json:"intent_id"`
	ResultID *string `json:"result_id"`
	Code     string  `json:"code"` // ok, or the word of the error
	Error    *string `json:"error"`
	Note     string  `json:"note"`
}

// selected is a frozen selection of leases, with the verdicts that were seen.
type selected struct {
	set    repair.ReleaseSet
	states map[string]string // by resource
	held   int               // how many show signs of life
	left   int               // foreign locks that are left out
}

// releaseSelected releases several leases: exactly those that it shows.
func (a *app) releaseSelected(cmd *cobra.Command, f releaseFlags) error {
	if err := f.checkSelection(cmd); err != nil {
		return err
	}
	w, err := a.wire()
	if err != nil {
		return err
	}
	found, err := a.selectLeases(cmd.Context(), w, f)
	if err != nil {
		return err
	}
	n := len(found.set.Requests)
	if !f.dryRun {
		a.attempts(w, found.set.WithReason(f.reason), f.reason, map[string]string{
			"leases": strconv.Itoa(n), "signs_of_life": strconv.Itoa(found.held),
		})
	}
	if f.set != "" && f.set != found.set.Digest {
		return &repair.PreconditionError{
			Resource: "the selection", Have: fmt.Sprintf("%d leases, set %s",
				len(found.set.Requests), found.set.Digest),
			Want: "set " + f.set, WayOut: "look at it again with --dry-run",
		}
	}
	operator, err := w.operator(cmd.Context(), 0)
	if err != nil {
		return err
	}
	if !f.dryRun && n > 0 {
		deed := fmt.Sprintf("release %d leases, %d of them with signs of life", n, found.held)
		want := strconv.Itoa(n) + "-release"
		err := a.mustConfirm(cmd.Context(), w.conf, f.confirm, want, deed)
		if err != nil {
			return err
		}
	}
	bar := a.newProgress()
	done := 0
	results := operator.ReleaseMany(cmd.Context(), found.set, func(repair.ReleaseOf) {
		done++
		bar.draw(fmt.Sprintf("releasing  %d/%d", done, n), done == n)
	})
	bar.clear()
	return a.printReleased(f, found, results)
}

// checkSelection refuses flags that do not select several leases.
func (f releaseFlags) checkSelection(cmd *cobra.Command) error {
	for _, flag := range []string{"token", "value", "wait"} {
		if cmd.Flags().Changed(flag) {
			return usage(flag, "name the RESOURCE, or leave the flag out",
				"--%s is about one lease", flag)
		}
	}
	chosen := f.state != "" || f.owner != "" || f.match != ""
	switch {
	case chosen && len(f.names) > 0:
		return usage("resource", "name the resources, or select them by flags",
			"RESOURCE stands beside --state, --owner or --match")
	case !chosen && len(f.names) == 0:
		return usage("resource", "name one resource, or select several with --state, --owner or "+
			"--match", "RESOURCE is missing")
	case len(f.names) > 0 && f.set == "" && !f.dryRun:
		return usage("set", "look first with --dry-run, which shows the set", "--set is missing: "+
			"several leases are released only as they were seen")
	}
	return demand(cmd, "reason")
}

// selectLeases freezes what the flags select now.
func (a *app) selectLeases(ctx context.Context, w *wiring, f releaseFlags) (selected, error) {
	filter, err := (&leaseFlags{
		resource: f.match, glob: f.match != "", state: f.state,
	}).filter()
	filter.Resources = f.names
	if err != nil {
		return selected{}, err
	}
	reader, err := w.newReader(ctx)
	if err != nil {
		return selected{}, err
	}
	list, err := reader.Leases(ctx, filter)
	if err != nil {
		return selected{}, err
	}
	if len(list.Missing) > 0 {
		return selected{}, list.Missing[0].Err // a verdict without all its evidence is none
	}
	out := selected{states: map[string]string{}}
	var requests []repair.ReleaseRequest
	for _, l := range list.Leases {
		if f.owner != "" {
			fits, err := inspect.MatchGlob(f.owner, l.Owner)
			if err != nil {
				return selected{}, usage("owner", "close the set or leave the \\ out", "--owner %q: %v",
					f.owner, err)
			}
			if !fits {
				continue
			}
		}
		if l.Foreign != "" {
			out.left++
			continue
		}
		if slices.Contains([]inspect.State{
			inspect.Held, inspect.Expiring, inspect.OverdueRenewal,
		}, l.Verdict.State) {
			out.held++
		}
		out.states[l.Resource] = string(l.Verdict.State)
		requests = append(requests, repair.ReleaseRequest{
			Resource: l.Resource, Owner: l.Owner, Token: l.Token, Reason: f.reason, DryRun: f.dryRun,
		})
	}
	for _, name := range f.names {
		if out.states[name] == "" && f.set == "" {
			return out, &inspect.NotFoundError{What: "lease of ours", Name: name}
		}
	}
	out.set, err = repair.NewReleaseSet(requests)
	return out, err
}

func (a *app) printReleased(
	f releaseFlags, found selected, results []repair.ReleaseOf,
) error {
	j := releaseManyJSON{
		DryRun: f.dryRun, Set: found.set.Digest, Leases: len(results),
		Results: []releasedOfJSON{}, Command: a.commandLine(releaseManyCommand(f, found)),
	}
	l := listing{
		columns: columns("resource", "token", "owner", "state", "lock", "burned", "problem"),
		empty:   "no lease matches",
	}
	codes := map[exitCode]bool{}
	for _, r := range results {
		one, code := newReleasedOf(r, found.states[r.Request.Resource])
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
			j.Released++
		}
		j.Results = append(j.Results, one)
		l.values = append(l.values, one)
		problem := ""
		if one.Error != nil {
			problem = *one.Error
		}
		l.rows = append(l.rows, []cell{
			text(one.Resource), number(r.Request.Token), text(one.Owner),
			text(plainWords(one.State)), toned(plainWords(one.Lock), tone),
			text(plainWords(one.Burned)), toned(problem, tone),
		})
	}
	code := exitOK
	switch {
	case len(codes) > 1:
		code = exitPartial
	case !codes[exitOK]:
		for only := range codes {
			code = only
		}
	}
	j.Exit = int(code)
	if f.dryRun && len(results) > 0 {
		j.Confirm = jsonText(strconv.Itoa(len(results)) + "-release")
	}
	l.document = j
	if err := a.print(l); err != nil {
		return err
	}
	a.sayReleased(f, found, j)
	return ended(code)
}

func newReleasedOf(r repair.ReleaseOf, state string) (releasedOfJSON, exitCode) {
	j := releasedOfJSON{
		Resource: r.Request.Resource, Token: jsonID(r.Request.Token), Owner: r.Request.Owner,
		State: state, Lock: string(r.Release.Freeing), Burned: string(r.Release.Burning),
		IntentID: jsonID(r.Release.IntentID), ResultID: jsonID(r.Release.ResultID),
		Code: exitOK.word(), Note: r.Release.Note,
	}
	switch {
	case r.Err != nil:
		p := classify(r.Err)
		j.Code, j.Error = p.exit.word(), jsonText(p.message)
		return j, p.exit
	case r.NotRun:
		j.Lock, j.Code = "not_run", exitUnavailable.word()
		j.Error = jsonText("left out: the servers did not answer for the leases before it")
		return j, exitUnavailable
	}
	return j, exitOK
}

// releaseManyCommand is the command that releases exactly what a dry run showed.
func releaseManyCommand(f releaseFlags, found selected) []string {
	confirm := strconv.Itoa(len(found.set.Requests)) + "-release"
	if len(f.names) > 0 {
		for i := range found.set.Requests {
			found.set.Requests[i].DryRun = false
		}
		argv := found.set.CLI()
		return slices.Insert(argv, 3, "--confirm", confirm)
	}
	argv := []string{"rewardctl", "lease", "release"}
	for _, one := range []struct{ flag, value string }{
		{"--state", f.state}, {"--owner", f.owner}, {"--match", f.match}, {"--reason", f.reason},
	} {
		if one.value != "" {
			argv = append(argv, one.flag, one.value)
		}
	}
	return append(argv, "--set", found.set.Digest, "--confirm", confirm)
}

func (a *app) sayReleased(f releaseFlags, found selected, j releaseManyJSON) {
	if found.left > 0 {
		a.say("note: %d foreign locks are left out; release each by itself, with --value", found.left)
	}
	if a.output != string(formatTable) || j.Leases == 0 {
		return
	}
	if f.dryRun {
		a.say("%d leases would be released, %d of them with signs of life", j.Leases, found.held)
		a.say("to do exactly this: %s", j.Command)
		return
	}
	a.say("%d of %d leases released or gone, %d not, %d not run", j.Released, j.Leases, j.Failed,
		j.NotRun)
}
