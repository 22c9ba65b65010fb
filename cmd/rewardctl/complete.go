package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant/drill"
	"rewardctl/inspect"
	"rewardctl/repair"
)

const (
	// completeFor bounds a completion: a shell waits for it.
	completeFor = 2 * time.Second
	// completeMax is how many names a completion offers.
	completeMax = 200
)

// naming offers what may stand for an argument, from live data. Each answer is NAME, or NAME and
// a description behind a tab.
type naming func(ctx context.Context, w *wiring, begun string) ([]string, error)

// completeNames has commands complete their arguments from live data. args are by position; a
// command that takes one name only completes the first.
func (a *app) completeNames(root *cobra.Command) {
	for path, args := range map[string][]naming{
		"lease show": {resources}, "lease release": {resources}, "lease burn": {resources},
		"token list": {resources}, "player history": {players}, "player export": {players},
		"explain": {players, events(nil)}, "audit show": {audits},
		"audit diff": {audits, audits}, "outbox show": {deliveries},
		"outbox requeue": {deliveries}, "outbox park": {deliveries}, "grant approve": {plans},
		"grant reject": {plans}, "grant pause": {plans}, "grant cancel": {plans},
		"grant status": {plans}, "grant apply": {plans}, "drill run": {drills},
		"audit run": {checks},
	} {
		if cmd, _, err := root.Find(strings.Fields(path)); err == nil && cmd != root {
			cmd.ValidArgs, cmd.ValidArgsFunction = nil, a.completer(args)
		}
	}
	for path, flags := range map[string]map[string]naming{
		"grant create": {"player": players}, "ledger reverse": {"player": players, "plan": plans},
		"lease list": {"state": states},
	} {
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil || cmd == root {
			continue
		}
		for flag, offer := range flags {
			if cmd.Flags().Lookup(flag) != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, a.completer([]naming{offer}))
			}
		}
	}
}

// manyNames are the commands that take any number of checks, leases or deliveries.
func manyNames() []string { return []string{"run", "release", "requeue", "park"} }

// completer asks the servers of the active context. Whatever goes wrong, a shell gets no names:
// there is nobody to read an error.
func (a *app) completer(args []naming) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, begun string) (
		[]cobra.Completion, cobra.ShellCompDirective,
	) {
		const files = cobra.ShellCompDirectiveDefault
		at := len(given)
		if len(args) == 1 && slices.Contains(manyNames(), cmd.Name()) {
			at = 0
		}
		if at >= len(args) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		offer := args[at]
		if at == 1 && cmd.Name() == "explain" {
			offer = events(given)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeFor)
		defer cancel()
		w, err := a.wire()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names, err := offer(ctx, w, begun)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names = fitting(names, begun)
		if cmd.Name() == "apply" { // a plan, or a file
			return names, files
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// fitting keeps the names that begin as asked and that no shell could take for something else.
func fitting(names []string, begun string) []string {
	names = slices.DeleteFunc(names, func(name string) bool {
		word, _, _ := strings.Cut(name, "\t")
		return !strings.HasPrefix(word, begun) || safeText(word) != word
	})
	return names[:min(len(names), completeMax)]
}

func resources(ctx context.Context, w *wiring, begun string) ([]string, error) {
	reader, err := w.newReader(ctx)
	if err != nil {
		return nil, err
	}
	list, err := reader.Leases(ctx, inspect.LeaseFilter{Sort: inspect.SortState})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range list.Leases {
		if strings.HasPrefix(l.Resource, begun) {
			names = append(names, l.Resource+"\t"+strings.ReplaceAll(string(l.Verdict.State), "_", " "))
		}
	}
	for _, f := range list.Fences {
		names = append(names, f.Resource)
	}
	return names, nil
}

// players offers the players of the studio's list whose names begin so, and those that have leases.
func players(ctx context.Context, w *wiring, begun string) ([]string, error) {
	reader, err := w.newReader(ctx)
	if err != nil {
		return nil, err
	}
	names, err := playersHeld(ctx, w, begun)
	if err != nil {
		return nil, err
	}
	if begun == "" || w.conf.Players.Table == "" {
		return names, nil
	}
	found, err := reader.FindPlayers(ctx, begun, completeMax)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		names = append(names, p.ID+"\t"+safeText(p.Name))
	}
	return names, nil
}

// playersHeld offers the players whose own resources have a lease.
func playersHeld(ctx context.Context, w *wiring, begun string) ([]string, error) {
	held, err := resources(ctx, w, "reward:"+begun)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, one := range held {
		name, _, _ := strings.Cut(one, "\t")
		if player, is := strings.CutPrefix(name, "reward:"); is {
			names = append(names, player)
		}
	}
	return names, nil
}

// events offers the events of the player that was given before.
func events(given []string) naming {
	return func(ctx context.Context, w *wiring, _ string) ([]string, error) {
		if len(given) == 0 {
			return nil, nil
		}
		reader, err := w.newReader(ctx)
		if err != nil {
			return nil, err
		}
		page, err := reader.Player(ctx, inspect.PlayerQuery{PlayerID: given[0], Limit: completeMax})
		if err != nil {
			return nil, err
		}
		var names []string
		for _, e := range page.Entries {
			if e.EventID != "" && !slices.Contains(names, e.EventID) {
				names = append(names, e.EventID)
			}
		}
		return names, nil
	}
}

func audits(ctx context.Context, w *wiring, _ string) ([]string, error) {
	reader, err := w.newReader(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := reader.AuditRuns(ctx, completeMax)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range runs {
		names = append(names, strconv.FormatInt(r.ID, 10)+"\t"+r.State+", "+findingWords(r.Findings))
	}
	return names, nil
}

func checks(context.Context, *wiring, string) ([]string, error) {
	var names []string
	for _, c := range inspect.AuditChecks() {
		names = append(names, c.Name+"\t"+c.Rule)
	}
	return names, nil
}

func drills(context.Context, *wiring, string) ([]string, error) {
	var names []string
	for _, d := range drill.List() {
		names = append(names, d.Name+"\t"+d.Plays)
	}
	return names, nil
}

func states(context.Context, *wiring, string) ([]string, error) {
	var names []string
	for _, s := range inspect.States() {
		names = append(names, string(s))
	}
	return names, nil
}

func deliveries(ctx context.Context, w *wiring, _ string) ([]string, error) {
	reader, err := w.newReader(ctx)
	if err != nil {
		return nil, err
	}
	page, err := reader.Outbox(ctx, inspect.OutboxQuery{Limit: completeMax})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range page.Rows {
		names = append(names, strconv.FormatInt(r.LedgerID, 10)+"\t"+string(r.Lane)+", "+
			safeText(r.PlayerID))
	}
	return names, nil
}

func plans(ctx context.Context, w *wiring, _ string) ([]string, error) {
	operator, err := w.operator(ctx, 0)
	if err != nil {
		return nil, err
	}
	list, err := operator.Plans(ctx, repair.PlanFilter{Limit: completeMax})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range list {
		names = append(names, strconv.FormatInt(p.ID, 10)+"\t"+string(p.State)+", "+
			safeText(orElse(p.Campaign, p.Source)))
	}
	return names, nil
}
