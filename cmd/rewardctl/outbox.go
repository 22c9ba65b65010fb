package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

func (a *app) outboxCommand() *cobra.Command {
	return a.group("outbox", "Deliver postings, and see and repair how delivery stands",
		a.outboxListCommand(), a.outboxShowCommand(), a.outboxRequeueCommand(),
		a.outboxParkCommand(), a.outboxRelayCommand())
}

// outboxRowJSON is one outbox row.
type outboxRowJSON struct {
	LedgerID     string  `json:"ledger_id"`
	PlayerID     string  `json:"player_id"`
	EventID      string  `json:"reward_event_id"`
	Kind         string  `json:"kind"`
	Amount       string  `json:"amount"`
	Token        string  `json:"fence_token"`
	PostedAt     *string `json:"posted_at"`
	State        string  `json:"state"` // fresh, retrying, in_flight, waiting, delivered, dead, parked
	Attempts     int     `json:"attempts"`
	Strikes      int     `json:"strikes"`
	Doubt        bool    `json:"may_have_arrived"`
	NextAttempt  *string `json:"next_attempt_at"`
	ClaimedBy    *string `json:"claimed_by"`
	ClaimedUntil *string `json:"claimed_until"`
	Delivered    *string `json:"delivered_at"`
	LastError    *string `json:"last_error"`
	WaitsFor     *string `json:"waits_for"` // the earlier row of the player
	Why          *string `json:"why"`
}

func newOutboxRowJSON(r inspect.OutboxRow) outboxRowJSON {
	return outboxRowJSON{
		LedgerID: strconv.FormatInt(r.LedgerID, 10), PlayerID: r.PlayerID, EventID: r.EventID,
		Kind: r.Kind, Amount: strconv.FormatInt(r.Amount, 10),
		Token: strconv.FormatInt(r.Token, 10), PostedAt: jsonTime(r.PostedAt),
		State: string(r.Lane), Attempts: r.Attempts, Strikes: r.Strikes, Doubt: r.Doubt,
		NextAttempt: jsonTime(r.NextAttempt), ClaimedBy: jsonText(r.ClaimedBy),
		ClaimedUntil: jsonTime(r.ClaimedUntil), Delivered: jsonTime(r.Delivered),
		LastError: jsonText(r.LastError), WaitsFor: jsonID(r.BehindID), Why: jsonText(r.Why()),
	}
}

// backlogJSON is what is not delivered. Counts stop at a million.
type backlogJSON struct {
	Fresh       int64   `json:"fresh"`
	Retrying    int64   `json:"retrying"`
	InFlight    int64   `json:"in_flight"`
	Dead        int64   `json:"dead"`
	Parked      int64   `json:"parked"`
	OldestID    *string `json:"oldest_ledger_id"`
	OldestAgeMS int64   `json:"oldest_age_ms"`
	NextDue     *string `json:"next_due_at"`
}

// outboxJSON is the document of "outbox list".
type outboxJSON struct {
	Backlog    backlogJSON `json:"backlog"`
	Deliveries []any       `json:"deliveries"`
	Next       *string     `json:"next_cursor"`
}

func newBacklogJSON(b inspect.OutboxBacklog) backlogJSON {
	j := backlogJSON{
		Fresh: b.Fresh, Retrying: b.Retrying, InFlight: b.InFlight, Dead: b.Dead, Parked: b.Parked,
		OldestAgeMS: b.Oldest().Milliseconds(),
	}
	if b.OldestID != nil {
		j.OldestID = jsonID(*b.OldestID)
	}
	if b.NextDue != nil {
		j.NextDue = jsonTime(*b.NextDue)
	}
	return j
}

// outboxListFlags are the flags of "outbox list".
type outboxListFlags struct {
	state, since, until string

	query inspect.OutboxQuery
}

func (a *app) outboxListCommand() *cobra.Command {
	var f outboxListFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List deliveries: what waits, what was given up, and why",
		Long: "Lists what is not delivered, oldest first. A row waits when an earlier one of the" +
			" same\nplayer comes first; with the policy wait that holds for dead and parked ones," +
			" too.",
		Example: "  rewardctl outbox list\n  rewardctl outbox list --state dead --error 422\n" +
			"  rewardctl outbox list --player p-1001 --everything -o json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listOutbox(cmd, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.state, "state", "",
		"fresh, retrying, in_flight, waiting, delivered, dead or parked")
	flags.BoolVar(&f.query.All, "everything", false, "delivered rows, too")
	flags.StringVar(&f.query.Player, "player", "", "of this player")
	flags.StringVar(&f.query.Kind, "kind", "", "of this kind of reward")
	flags.StringVar(&f.query.Error, "error", "", "whose last error holds this text")
	flags.StringVar(&f.since, "from", "", "posted from this time, such as 2026-11-01 (UTC)")
	flags.StringVar(&f.until, "to", "", "posted before this time")
	flags.BoolVar(&f.query.Newest, "newest", false, "newest first")
	flags.IntVar(&f.query.Limit, "limit", 100, "rows at most, up to 1000")
	flags.StringVar(&f.query.Cursor, "cursor", "", "go on from there (next_cursor of -o json)")
	return cmd
}

func (a *app) listOutbox(cmd *cobra.Command, f outboxListFlags) error {
	q := f.query
	q.Lane = inspect.OutboxLane(f.state)
	if q.All && q.Lane != "" {
		return usage("everything", "keep one of them", "--everything excludes --state")
	}
	if q.Limit < 1 {
		return usage("limit", "give 1 to 1000", "--limit %d is out of range", q.Limit)
	}
	var err error
	if q.Since, err = parseTime("from", f.since); err != nil {
		return err
	}
	if q.Until, err = parseTime("to", f.until); err != nil {
		return err
	}
	reader, err := a.reader(cmd.Context())
	if err != nil {
		return err
	}
	page, err := reader.Outbox(cmd.Context(), q)
	if err != nil {
		return err
	}
	backlog, err := reader.OutboxBacklog(cmd.Context())
	if err != nil {
		return err
	}
	return a.printOutbox(page, backlog)
}

func (a *app) printOutbox(page inspect.OutboxPage, b inspect.OutboxBacklog) error {
	l := listing{
		columns: columns("ledger_id", "state", "player_id", "reward_event_id", "kind", "amount",
			"attempts", "posted_at", "next_attempt_at", "last_error"),
		empty: "no delivery matches",
	}
	for _, r := range page.Rows {
		why := r.Why()
		if why == "" {
			why = r.LastError
		}
		l.rows = append(l.rows, []cell{
			number(r.LedgerID), laneCell(r.Lane), text(r.PlayerID), text(r.EventID), text(r.Kind),
			number(r.Amount), number(int64(r.Attempts)), instant(r.PostedAt),
			instant(r.NextAttempt), text(why),
		})
		l.values = append(l.values, newOutboxRowJSON(r))
	}
	l.document = outboxJSON{newBacklogJSON(b), emptyNotNull(l.values), jsonText(page.Next)}
	if err := a.print(l); err != nil || a.output != string(formatTable) {
		return err
	}
	a.say("to be sent: %d fresh, %d retrying, %d in flight, the oldest %s old; %d dead, %d parked",
		b.Fresh, b.Retrying, b.InFlight, span(b.Oldest().Round(time.Millisecond)), b.Dead, b.Parked)
	if page.Next != "" {
		a.say("there are more: add --cursor %s", page.Next)
	}
	return nil
}

// laneCell writes a lane for people.
func laneCell(lane inspect.OutboxLane) cell {
	word := strings.ReplaceAll(string(lane), "_", " ")
	switch lane {
	case inspect.OutboxDead:
		return toned(word, bad)
	case inspect.OutboxRetrying, inspect.OutboxWaiting, inspect.OutboxParked:
		return toned(word, notice)
	case inspect.OutboxDelivered:
		return toned(word, good)
	case inspect.OutboxFresh, inspect.OutboxClaimed:
	}
	return text(word)
}
