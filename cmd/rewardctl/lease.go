package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

func (a *app) leaseCommand() *cobra.Command {
	return a.group("lease", "See who holds which lease; release an orphaned one",
		a.leaseListCommand(), a.leaseShowCommand(), a.leaseWatchCommand(), a.leaseScanCommand(),
		a.leaseReleaseCommand(), a.leaseBurnCommand())
}

// leaseFlags are the flags that select leases.
type leaseFlags struct {
	owner    string
	resource string
	glob     bool
	state    string
	expiring time.Duration
	sort     string
	reverse  bool
	limit    int
}

func (f *leaseFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.owner, "owner", "", "only of this owner, worker@host/pid or worker")
	flags.StringVar(&f.resource, "resource", "", "only this resource, taken literally")
	flags.BoolVar(&f.glob, "glob", false,
		"--resource is a pattern: * any text, ? one character, [a-z] one of a set")
	flags.StringVar(&f.state, "state", "", "only in these states, separated by commas")
	flags.DurationVar(&f.expiring, "expiring-within", 0,
		"only with at most this time left, such as 5s")
}

func (f *leaseFlags) addOrder(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.sort, "sort", string(inspect.SortState),
		"state, resource, left, owner or token")
	flags.BoolVar(&f.reverse, "reverse", false, "the other way round")
	flags.IntVar(&f.limit, "limit", 0, "at most so many; 0 means all")
}

func (f *leaseFlags) filter() (inspect.LeaseFilter, error) {
	filter := inspect.LeaseFilter{
		Owner: f.owner, Resource: f.resource, Glob: f.glob,
		ExpiringWithin: f.expiring, Sort: inspect.LeaseSort(f.sort), Reverse: f.reverse,
		Limit: f.limit,
	}
	if f.glob && f.resource == "" {
		return filter, usage("glob", "add --resource PATTERN", "--glob without --resource")
	}
	if f.expiring < 0 {
		return filter, usage("expiring-within", "give a time such as 5s",
			"--expiring-within %s is below zero", f.expiring)
	}
	if f.limit < 0 {
		return filter, usage("limit", "give 0 for all", "--limit %d is below zero", f.limit)
	}
	switch filter.Sort {
	case "", inspect.SortResource, inspect.SortLeft, inspect.SortOwner, inspect.SortToken,
		inspect.SortState:
	default:
		return filter, usage("sort", "choose state, resource, left, owner or token",
			"--sort %q is not an order", f.sort)
	}
	if f.state == "" {
		return filter, nil
	}
	known := inspect.States()
	names := make([]string, len(known))
	for i, s := range known {
		names[i] = string(s)
	}
	for word := range strings.SplitSeq(f.state, ",") {
		state := inspect.State(strings.TrimSpace(word))
		if !contains(known, state) {
			return filter, usage("state", "choose from: "+strings.Join(names, ", "),
				"--state %q is not a state", word)
		}
		filter.States = append(filter.States, state)
	}
	return filter, nil
}

func contains[T comparable](all []T, one T) bool {
	for _, v := range all {
		if v == one {
			return true
		}
	}
	return false
}

func (a *app) leaseListCommand() *cobra.Command {
	var f leaseFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the leases, with a verdict on each; what needs attention comes first",
		Example: "  rewardctl lease list\n" +
			"  rewardctl lease list --state orphan_suspect,no_expiry\n" +
			"  rewardctl lease list --expiring-within 5s -o jsonl",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			list, err := reader.Leases(cmd.Context(), filter)
			if err != nil {
				return err
			}
			return a.printLeases(list)
		},
	}
	f.add(cmd)
	f.addOrder(cmd)
	return cmd
}

func (a *app) printLeases(list inspect.LeaseList) error {
	l := listing{
		columns: columns("resource", "state", "left", "token", "owner", "fence", "why"),
		empty:   "no leases",
	}
	if list.Total > 0 {
		l.empty = "no lease matches; there are " + number(int64(list.Total)).text
	}
	doc := leaseListJSON{
		At: jsonTime(list.At), Total: list.Total, Matched: list.Matched, Leases: []leaseJSON{},
		Missing: missingJSON(list.Missing),
	}
	for _, lease := range list.Leases {
		l.rows = append(l.rows, leaseRow(lease))
		value := newLeaseJSON(lease)
		l.values = append(l.values, value)
		doc.Leases = append(doc.Leases, value)
	}
	l.document = doc
	if len(list.Missing) > 0 && len(list.Leases) == 0 {
		l.empty = ""
	}
	if err := a.print(l); err != nil {
		return err
	}
	if a.output == string(formatTable) && list.Matched > len(list.Leases) {
		a.say("%d of %d shown; --limit 0 shows all", len(list.Leases), list.Matched)
	}
	if err := a.printFencesInstead(list.Fences); err != nil {
		return err
	}
	return a.incomplete(list.Missing)
}

// printFencesInstead shows what PostgreSQL accepted last, when Redis could not be asked.
func (a *app) printFencesInstead(fences []inspect.FenceSeen) error {
	if len(fences) == 0 || a.output != string(formatTable) {
		return nil
	}
	a.say("Redis could not be asked who holds a lease now. PostgreSQL accepted last:")
	l := listing{columns: columns("resource", "fence", "owner", "at", "burned")}
	for _, f := range fences {
		burned := ""
		if f.Burned {
			burned = "burned"
		}
		l.rows = append(l.rows, []cell{
			text(f.Resource), number(f.Token), text(f.Owner), instant(f.At), text(burned),
		})
	}
	return a.print(l)
}

func leaseRow(l inspect.Lease) []cell {
	fence := cell{number: true}
	if l.Fence != nil {
		fence = number(l.Fence.Token)
	}
	owner := l.Owner
	if l.Foreign != "" {
		owner = l.Value
	}
	return []cell{
		text(l.Resource), toned(verdictWords(l.Verdict), stateTone(l.Verdict.State)),
		leftCell(l), numberOrBlank(l.Token), text(owner), fence, text(why(l.Verdict)),
	}
}

func leftCell(l inspect.Lease) cell {
	if l.NoExpiry || l.Left < 0 {
		return cell{text: "no expiry", number: true}
	}
	return cell{text: span(l.Left), number: true}
}

// verdictWords writes a verdict as words, such as "superseded, no expiry".
func verdictWords(v inspect.Verdict) string {
	words := []string{string(v.State)}
	for _, also := range v.Also {
		words = append(words, string(also))
	}
	if v.Likely != "" {
		words[0] += " (likely " + string(v.Likely) + ")"
	}
	return strings.ReplaceAll(strings.Join(words, ", "), "_", " ")
}

// why picks the piece of evidence that a verdict rests on; the quiet normal case needs none.
func why(v inspect.Verdict) string {
	name := ""
	switch v.State {
	case inspect.Held:
		return ""
	case inspect.Superseded:
		name = "fence"
	case inspect.NoExpiry, inspect.LongerThanTTL, inspect.Expiring, inspect.OverdueRenewal:
		name = "time left"
	case inspect.OrphanSuspect, inspect.CannotTell:
		name = "heartbeat"
	case inspect.Foreign:
	}
	for _, e := range v.Evidence {
		if e.Name == name || name == "" {
			return e.Finding
		}
	}
	return ""
}

func stateTone(s inspect.State) tone {
	switch s {
	case inspect.Held:
		return good
	case inspect.Expiring, inspect.OverdueRenewal, inspect.CannotTell, inspect.LongerThanTTL:
		return notice
	case inspect.Foreign, inspect.Superseded, inspect.NoExpiry, inspect.OrphanSuspect:
		return bad
	}
	return plain
}

// incomplete says what an answer lacks because a server could not be asked, and makes the
// command end with the code for that.
func (a *app) incomplete(missing []inspect.Missing) error {
	if len(missing) == 0 {
		return nil
	}
	for _, m := range missing {
		a.say("incomplete: %s", m)
	}
	return ended(exitUnavailable)
}

func (a *app) leaseShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show RESOURCE",
		Short: "Show everything known about one resource: lease, verdict, evidence, fence, history",
		Example: "  rewardctl lease show reward:p-1001\n" +
			"  rewardctl lease show reward:p-1001 -o json",
		Args: arguments("RESOURCE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			detail, err := reader.Lease(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.printLease(cmd.Context(), detail)
		},
	}
}

func (a *app) printLease(_ context.Context, d inspect.LeaseDetail) error {
	fields := []field{{"resource", text(d.Resource)}}
	if d.Lease != nil {
		fields = append(fields, leaseFields(*d.Lease)...)
	} else {
		fields = append(fields, field{"lease", text("nobody holds it")})
	}
	if d.Fence != nil {
		burned := ""
		if d.Fence.Burned {
			burned = ", burned by an operator"
		}
		fields = append(fields, field{"fence", text(number(d.Fence.Token).text + " of " +
			d.Fence.Owner + ", " + when(d.Fence.At) + burned)})
	}
	if d.Claims != nil {
		fields = append(fields, field{"claims_due", text(claimsWords(*d.Claims))})
	}
	if err := a.printOne(newLeaseDetailJSON(d), fields); err != nil {
		return err
	}
	if a.output == string(formatTable) {
		if err := a.printLeaseTables(d); err != nil {
			return err
		}
	}
	return a.incomplete(d.Missing)
}

func leaseFields(l inspect.Lease) []field {
	fields := []field{
		{"state", toned(verdictWords(l.Verdict), stateTone(l.Verdict.State))},
		{"left", text(leftCell(l).text)},
		{"token", text(numberOrBlank(l.Token).text)},
		{"owner", text(l.Owner)},
		{"value", text(l.Value)},
		{"foreign", text(l.Foreign)},
	}
	for _, e := range l.Verdict.Evidence {
		fields = append(fields, field{e.Name, text(e.Finding)})
	}
	return fields
}

func claimsWords(c inspect.Claims) string {
	words := number(int64(c.Pending)).text + " pending, " +
		number(int64(c.Processing)).text + " processing"
	if c.More {
		words = "at least " + words
	}
	return words
}

func (a *app) printLeaseTables(d inspect.LeaseDetail) error {
	if len(d.Due) > 0 {
		l := listing{columns: columns("claim", "player", "kind", "amount", "status", "since")}
		for _, c := range d.Due {
			l.rows = append(l.rows, []cell{
				text(c.EventID), text(c.PlayerID), text(c.Kind), number(c.Amount), text(c.Status),
				instant(c.At),
			})
		}
		a.gap()
		if err := a.print(l); err != nil {
			return err
		}
	}
	if len(d.History) == 0 {
		return nil
	}
	a.gap()
	return a.print(listing{columns: tokenColumns(), rows: tokenRows(d.History)})
}
