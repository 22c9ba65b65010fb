package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rewardctl/inspect"
)

const (
	historyLimit = 100   // entries shown unless asked for more
	historyPage  = 5_000 // entries read at once when all are asked for
)

func (a *app) playerCommand() *cobra.Command {
	return a.group("player", "See what a player received", a.playerHistoryCommand(),
		a.playerExportCommand(), a.playerFindCommand())
}

// historyFlags are the flags that select a part of a player's history.
type historyFlags struct {
	from, to, types, kind, event, campaign, outcome, after, before string

	limit int
	all   bool
}

func (a *app) playerHistoryCommand() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "history PLAYER",
		Short: "List what a player received, was refused and is due, newest first",
		Long: "Lists a player's postings, refusals, open claims and what operators did, newest first." +
			" In the\ntable each attempt to deliver a posting has a line above it; -o json and jsonl" +
			" hold the\nattempts in the posting.",
		Example: "  rewardctl player history p-1001\n" +
			"  rewardctl player history p-1001 --type refusal\n" +
			"  rewardctl player history p-1001 --type delivery --outcome unknown\n" +
			"  rewardctl player history p-1001 --from 2026-11-01 --all -o csv > p-1001.csv",
		Args: arguments("PLAYER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := f.query(args[0])
			if err != nil {
				return err
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			return a.playerHistory(cmd.Context(), reader, query, f.all)
		},
	}
	flags := cmd.Flags()
	f.filters(flags)
	flags.StringVar(&f.after, "after", "", "the next page: the older entries after this cursor")
	flags.StringVar(&f.before, "before", "", "the page before: the newer entries before this cursor")
	flags.IntVar(&f.limit, "limit", historyLimit, "entries on a page")
	flags.BoolVar(&f.all, "all", false, "all entries instead of a page")
	return cmd
}

// filters adds the flags that select entries.
func (f *historyFlags) filters(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&f.from, "from", "", "from this time, such as 2026-11-01 (UTC)")
	flags.StringVar(&f.to, "to", "", "up to but not including this time")
	flags.StringVar(&f.types, "type", "", "posting, claim, refusal, action, delivery; with commas")
	flags.StringVar(&f.kind, "kind", "", "only this kind, such as gems")
	flags.StringVar(&f.event, "event", "", "only this reward event id")
	flags.StringVar(&f.campaign, "campaign", "", "only events of this campaign")
	flags.StringVar(&f.outcome, "outcome", "", "only this outcome, such as applied or mismatch")
}

func (f historyFlags) query(player string) (inspect.PlayerQuery, error) {
	q := inspect.PlayerQuery{
		PlayerID: player, Kind: f.kind, Event: f.event, Campaign: f.campaign, Outcome: f.outcome,
		Limit: f.limit,
	}
	var err error
	if q.Cursor, err = f.cursor(); err != nil {
		return q, err
	}
	if f.limit < 1 || f.limit > 10_000 {
		return q, usage("limit", "give 1 to 10000, or --all", "--limit %d is out of range", f.limit)
	}
	if f.all {
		q.Limit = historyPage
	}
	if q.From, err = parseTime("from", f.from); err != nil {
		return q, err
	}
	if q.To, err = parseTime("to", f.to); err != nil {
		return q, err
	}
	if f.types == "" {
		return q, nil
	}
	known := []inspect.EntryType{
		inspect.EntryPosting, inspect.EntryClaim, inspect.EntryRefusal, inspect.EntryAction,
		inspect.EntryDelivery,
	}
	for word := range strings.SplitSeq(f.types, ",") {
		entry := inspect.EntryType(strings.TrimSpace(word))
		if !contains(known, entry) {
			return q, usage("type", "choose from: posting, claim, refusal, action, delivery",
				"--type %q is not a type of entry", word)
		}
		q.Types = append(q.Types, entry)
	}
	return q, nil
}

// cursor returns the cursor of the page that is asked for. One that leads the other way would show
// the wrong page without a word.
func (f historyFlags) cursor() (string, error) {
	const wayOut = "copy the flag and the cursor from below the page"
	switch {
	case f.after != "" && f.before != "":
		return "", usage("before", "give one of them", "--after and --before exclude each other")
	case f.all && f.before != "":
		return "", usage("all", "leave one of them out", "--all goes on to older entries only")
	case f.after != "" && inspect.CursorIsNewer(f.after):
		return "", usage("after", wayOut, "this cursor belongs to --before")
	case f.before != "" && !inspect.CursorIsNewer(f.before):
		return "", usage("before", wayOut, "this cursor belongs to --after, or it is damaged")
	}
	return f.after + f.before, nil
}

// parseTime reads a date or a time; both are UTC unless they say otherwise.
func parseTime(flag, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{
		time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", time.DateTime,
	} {
		if t, err := time.Parse(layout, value); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage(flag, "write 2026-11-30, 2026-11-30T14:00 or 2026-11-30T14:00:00Z",
		"--%s %q is not a time", flag, value)
}

// playerHistory prints one page, or all pages. JSON lines and CSV are written page by page, so
// that a long history needs no more memory than a short one.
func (a *app) playerHistory(
	ctx context.Context, reader *inspect.Reader, q inspect.PlayerQuery, all bool,
) error {
	shape, err := parseFormat(a.output)
	if err != nil {
		return err
	}
	streamed := shape == formatJSONL || shape == formatCSV
	var whole inspect.PlayerPage
	for first := true; ; first = false {
		page, err := reader.Player(ctx, q)
		if err != nil {
			return err
		}
		q.Cursor = page.Next
		if streamed {
			if err := a.printHistoryPart(page, first); err != nil {
				return err
			}
			page.Entries = nil
		}
		if first {
			whole = page
		} else {
			whole.Entries = append(whole.Entries, page.Entries...)
			whole.Next = page.Next
		}
		if !all || page.Next == "" {
			break
		}
	}
	if !streamed {
		err = a.printHistory(whole, contains(q.Types, inspect.EntryDelivery))
	}
	if err == nil && shape != formatJSON { // the document holds its cursors
		a.sayPages(whole)
	}
	return err
}

// sayPages tells how to turn the pages.
func (a *app) sayPages(page inspect.PlayerPage) {
	if page.Prev != "" {
		a.say("newer entries: --before %s", page.Prev)
	}
	if page.Next != "" {
		a.say("older entries: --after %s, or --all", page.Next)
	}
}

// printHistoryPart writes one page of a history that is streamed.
func (a *app) printHistoryPart(page inspect.PlayerPage, first bool) error {
	l := historyListing(page)
	if !first {
		l.columns = nil
	}
	return a.print(l)
}

func historyListing(page inspect.PlayerPage) listing {
	l := listing{
		columns: columns("at", "type", "outcome", "reward_event_id", "kind", "amount", "balance",
			"token", "actor", "reason", "delivery", "ledger_id", "detail"),
		empty: "no entry matches",
	}
	for _, e := range page.Entries {
		l.rows = append(l.rows, historyRow(e))
		l.values = append(l.values, newPlayerEntryJSON(page.PlayerID, e))
	}
	return l
}

func historyRow(e inspect.PlayerEntry) []cell {
	balance := cell{number: true}
	if e.BalanceAfter != nil {
		balance = number(*e.BalanceAfter)
	}
	delivery, ledger := "", cell{number: true}
	if e.Type == inspect.EntryPosting {
		ledger = number(e.ID)
		delivery = "missing"
		if e.Delivery != nil {
			delivery = e.Delivery.State
		}
	}
	outcome := toned(e.Outcome, outcomeTone(e.Outcome))
	if e.Type == inspect.EntryDelivery {
		ledger = number(e.ID)
		outcome = toned(strings.ReplaceAll(e.Outcome, "_", " "), attemptTone(e.Outcome))
	}
	return []cell{
		instant(e.At), text(string(e.Type)), outcome,
		text(e.EventID), text(e.Kind), numberOrBlank(e.Amount), balance, numberOrBlank(e.Token),
		text(e.Actor), text(e.Reason), text(delivery), ledger, text(e.Detail),
	}
}

// printHistory prints a history. Attempts to deliver a posting stand above it, unless they are
// entries of their own.
func (a *app) printHistory(page inspect.PlayerPage, apart bool) error {
	l := historyListing(page)
	l.document = newPlayerPageJSON(page)
	if a.output != string(formatTable) {
		return a.print(l)
	}
	paint := a.painter(a.stdout)
	for _, b := range page.Balances {
		line := safeText(b.Kind) + " " + number(b.Amount).text
		if b.Broken() {
			line += paint("  the ledger sums to "+number(*b.Ledger).text+": report this", bad)
		}
		if err := a.line("balance  " + line); err != nil {
			return err
		}
	}
	if len(page.Balances) > 0 {
		a.gap()
	}
	l.rows = nil
	for _, e := range page.Entries {
		if !apart {
			l.rows = append(l.rows, attemptRows(e)...)
		}
		l.rows = append(l.rows, historyRow(e))
	}
	return a.print(l)
}

// attemptRows are the attempts to deliver a posting, as lines above it, newest first as all lines
// are. They belong to the posting, so they count as no entries and are on its page.
func attemptRows(e inspect.PlayerEntry) [][]cell {
	var rows [][]cell
	for i := len(e.Attempts) - 1; i >= 0; i-- {
		try := e.Attempts[i]
		word := strings.ReplaceAll(try.Verdict, "_", " ")
		detail := fmt.Sprintf("attempt %d to deliver posting %d", try.Attempt, e.ID)
		if try.Sink != "" {
			detail += ", by " + try.Sink
		}
		if !try.Kept && try.Verdict != "lost" {
			detail += ", after its claim was over"
		}
		if try.Detail != "" {
			detail += ": " + try.Detail
		}
		rows = append(rows, []cell{
			instant(try.Started), text("delivery"), toned(word, attemptTone(try.Verdict)),
			text(e.EventID), text(e.Kind),
			{number: true},
			{number: true},
			{number: true},
			text(try.Relay),
			{},
			{},
			number(e.ID), text(detail),
		})
	}
	return rows
}

func attemptTone(verdict string) tone {
	switch verdict {
	case "delivered", "repeated":
		return good
	case "refused":
		return bad
	}
	return notice
}
