package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

// logEntryJSON is a row of the operator log. Its objects are as they were written.
type logEntryJSON struct {
	ID          string          `json:"id"`
	At          *string         `json:"at"`
	Operator    string          `json:"operator"`
	DBUser      string          `json:"db_user"`
	Host        string          `json:"host"`
	Client      string          `json:"client"`
	Action      string          `json:"action"`
	Target      string          `json:"target"`
	Phase       string          `json:"phase"`
	IntentID    *string         `json:"intent_id"`
	Outcome     string          `json:"outcome"`
	Reason      string          `json:"reason"`
	Ticket      *string         `json:"ticket"`
	ApprovalID  *string         `json:"approval_id"`
	Command     string          `json:"command"`
	ArgsVersion int             `json:"args_version"`
	Arguments   json.RawMessage `json:"arguments"`
	Observed    json.RawMessage `json:"observed"`
	Before      json.RawMessage `json:"before"`
	After       json.RawMessage `json:"after"`
	PrevHash    string          `json:"prev_hash"`
	Hash        string          `json:"hash"`
}

type logPageJSON struct {
	Entries []logEntryJSON `json:"entries"`
	After   *string        `json:"after"`  // --after for the older page; null for none
	Before  *string        `json:"before"` // --before for the newer page; null for none
}

func (a *app) oplogCommand() *cobra.Command {
	return a.group("oplog", "See what operators did, and prove that the log of it is whole",
		a.oplogListCommand(), a.oplogVerifyCommand(), a.oplogAnchorCommand(),
		a.oplogHandoverCommand())
}

// logFlags are the flags of "oplog list".
type logFlags struct {
	actor, action, target, outcome, from, to string

	after, before int64
	limit         int
	all           bool
	unfinished    bool
}

func (a *app) oplogListCommand() *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the deeds of operators, newest first, refusals included",
		Example: "  rewardctl oplog list --actor mara --from 2026-11-30\n" +
			"  rewardctl oplog list --target reward:p-1001 --outcome denied\n" +
			"  rewardctl oplog list --unfinished\n" +
			"  rewardctl oplog list --all -o jsonl > oplog.jsonl",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			query, err := f.query()
			if err != nil {
				return err
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			return a.listLog(cmd.Context(), reader, query, f.all)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.actor, "actor", "", "an operator, or a database user")
	flags.StringVar(&f.action, "action", "", "a command such as \"lease release\", or its first word")
	flags.StringVar(&f.target, "target", "", "what it was done to: a resource, a player, a plan")
	flags.StringVar(&f.outcome, "outcome", "",
		"an outcome such as applied, or intent, result, denied, failed")
	flags.StringVar(&f.from, "from", "", "from this time, such as 2026-11-01 (UTC)")
	flags.StringVar(&f.to, "to", "", "up to but not including this time")
	flags.BoolVar(&f.unfinished, "unfinished", false, "only intents without a result: cut off deeds")
	flags.Int64Var(&f.after, "after", 0, "the next page: the rows older than this one")
	flags.Int64Var(&f.before, "before", 0, "the page before: the rows newer than this one")
	flags.IntVar(&f.limit, "limit", historyLimit, "rows on a page")
	flags.BoolVar(&f.all, "all", false, "all rows instead of a page")
	return cmd
}

func (f logFlags) query() (inspect.LogQuery, error) {
	q := inspect.LogQuery{
		Actor: f.actor, Action: f.action, Target: f.target, Outcome: f.outcome,
		Unfinished: f.unfinished, Older: f.after, Newer: f.before, Limit: f.limit,
	}
	var err error
	switch {
	case f.after < 0 || f.before < 0:
		return q, usage("after", "copy it from below the page", "rows are counted from 1")
	case f.after > 0 && f.before > 0:
		return q, usage("before", "give one of them", "--after and --before exclude each other")
	case f.all && f.before > 0:
		return q, usage("all", "leave one of them out", "--all goes on to older rows only")
	case f.limit < 1 || f.limit > 10_000:
		return q, usage("limit", "give 1 to 10000, or --all", "--limit %d is out of range", f.limit)
	}
	if f.all {
		q.Limit = historyPage
	}
	if q.From, err = parseTime("from", f.from); err != nil {
		return q, err
	}
	q.To, err = parseTime("to", f.to)
	return q, err
}

// listLog prints one page, or all of them; JSON lines and CSV are written page by page.
func (a *app) listLog(
	ctx context.Context, reader *inspect.Reader, q inspect.LogQuery, all bool,
) error {
	shape, err := parseFormat(a.output)
	if err != nil {
		return err
	}
	streamed := shape == formatJSONL || shape == formatCSV
	var whole inspect.LogPage
	for first := true; ; first = false {
		page, err := reader.Log(ctx, q)
		if err != nil {
			return err
		}
		if streamed {
			if err := a.print(logListing(page, shape, first)); err != nil {
				return err
			}
		} else {
			whole.Entries = append(whole.Entries, page.Entries...)
		}
		if first {
			whole.Prev = page.Prev
		}
		whole.Next, q.Older, q.Newer = page.Next, page.Next, 0
		if !all || page.Next == 0 {
			break
		}
	}
	if !streamed {
		if err := a.print(logListing(whole, shape, true)); err != nil {
			return err
		}
	}
	if shape != formatJSON {
		if whole.Prev != 0 {
			a.say("newer rows: --before %d", whole.Prev)
		}
		if whole.Next != 0 {
			a.say("older rows: --after %d, or --all", whole.Next)
		}
	}
	return nil
}

// logListing lists a page: what people look for in a table, everything in the other formats.
func logListing(page inspect.LogPage, shape format, first bool) listing {
	l := listing{empty: "no row matches"}
	doc := logPageJSON{
		Entries: []logEntryJSON{}, After: jsonID(page.Next), Before: jsonID(page.Prev),
	}
	names := []string{"id", "at", "operator", "action", "target", "phase", "outcome", "reason"}
	if shape == formatCSV {
		names = append(names, "ticket", "db_user", "host", "client", "intent_id", "approval_id",
			"command", "args_version", "arguments", "observed", "before", "after", "prev_hash",
			"hash")
	}
	if first {
		l.columns = columns(names...)
	}
	for _, e := range page.Entries {
		row := []cell{
			number(e.ID), instant(e.At), text(e.Operator), text(e.Action), text(e.Target),
			toned(string(e.Phase), phaseTone(e.Phase)), toned(e.Outcome, phaseTone(e.Phase)),
			text(e.Reason),
		}
		if shape == formatCSV {
			row = append(row, text(e.Ticket), text(e.DBUser), text(e.Host), text(e.Client),
				numberOrBlank(e.Intent), numberOrBlank(e.Approval), text(e.Command),
				number(int64(e.ArgsVersion)), text(e.Arguments), text(e.Observed), text(e.Before),
				text(e.After), text(hex.EncodeToString(e.PrevHash)),
				text(hex.EncodeToString(e.Hash)))
		}
		l.rows = append(l.rows, row)
		value := newLogEntryJSON(e)
		l.values = append(l.values, value)
		doc.Entries = append(doc.Entries, value)
	}
	l.document = doc
	return l
}

func phaseTone(p inspect.LogPhase) tone {
	switch p {
	case inspect.LogDenied, inspect.LogFailed:
		return bad
	case inspect.LogIntent:
		return notice
	case inspect.LogResult:
	}
	return plain
}

func newLogEntryJSON(e inspect.LogEntry) logEntryJSON {
	return logEntryJSON{
		ID: strconv.FormatInt(e.ID, 10), At: jsonTime(e.At), Operator: e.Operator,
		DBUser: e.DBUser, Host: e.Host, Client: e.Client, Action: e.Action, Target: e.Target,
		Phase: string(e.Phase), IntentID: jsonID(e.Intent), Outcome: e.Outcome,
		Reason: e.Reason, Ticket: jsonText(e.Ticket), ApprovalID: jsonID(e.Approval),
		Command: e.Command, ArgsVersion: e.ArgsVersion, Arguments: jsonObject(e.Arguments),
		Observed: jsonObject(e.Observed), Before: jsonObject(e.Before), After: jsonObject(e.After),
		PrevHash: hex.EncodeToString(e.PrevHash), Hash: hex.EncodeToString(e.Hash),
	}
}

// jsonObject hands JSON from the database on; null for none.
func jsonObject(s string) json.RawMessage {
	if strings.TrimSpace(s) == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(s)
}
