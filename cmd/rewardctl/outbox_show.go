package main

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

// attemptJSON is one attempt to deliver a posting.
type attemptJSON struct {
	Attempt int     `json:"attempt"`
	Verdict string  `json:"verdict"`
	Detail  *string `json:"detail"`
	Probed  bool    `json:"asked_first"`
	Kept    bool    `json:"kept"` // false: the claim was over before the answer came
	Relay   string  `json:"relay"`
	Sink    *string `json:"sink"`
	Started *string `json:"started_at"`
	Ended   *string `json:"ended_at"`
}

type outboxDetailJSON struct {
	outboxRowJSON

	Key     string          `json:"key"`
	Message json.RawMessage `json:"message"` // what is sent
	History []attemptJSON   `json:"history"`
}

func (a *app) outboxShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one delivery: its message and every attempt",
		Example: "  rewardctl outbox show 4711",
		Args:    arguments("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseLedgerID(args[0])
			if err != nil {
				return err
			}
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			d, err := reader.OutboxShow(cmd.Context(), id)
			if err != nil {
				return err
			}
			return a.printDelivery(d)
		},
	}
}

// parseLedgerID reads the id of a posting.
func parseLedgerID(arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, usage("id", "the ids are in: rewardctl outbox list", "%q is not an id", arg)
	}
	return id, nil
}

func newAttemptsJSON(attempts []inspect.OutboxAttempt) []attemptJSON {
	out := make([]attemptJSON, 0, len(attempts))
	for _, one := range attempts {
		out = append(out, attemptJSON{
			Attempt: one.Attempt, Verdict: one.Verdict, Detail: jsonText(one.Detail),
			Probed: one.Probed, Kept: one.Kept, Relay: one.Relay, Sink: jsonText(one.Sink),
			Started: jsonTime(one.Started), Ended: jsonTime(one.Ended),
		})
	}
	return out
}

func (a *app) printDelivery(d inspect.OutboxDetail) error {
	j := outboxDetailJSON{
		outboxRowJSON: newOutboxRowJSON(d.OutboxRow), Key: d.Key, Message: d.Message,
		History: newAttemptsJSON(d.Attempts),
	}
	l := listing{columns: columns("attempt", "verdict", "at", "took", "relay", "detail")}
	for _, one := range d.Attempts {
		detail := one.Detail
		if one.Verdict != "lost" && !one.Kept {
			detail = "(too late: the claim was over) " + detail
		}
		l.rows = append(l.rows, []cell{
			number(int64(one.Attempt)), verdictCell(one.Verdict), instant(one.Started),
			text(span(one.Ended.Sub(one.Started))), text(one.Relay), text(detail),
		})
	}
	r := d.OutboxRow
	err := a.printOne(j, []field{
		{"ledger_id", number(r.LedgerID)},
		{"state", laneCell(r.Lane)},
		{"why", text(r.Why())},
		{"player", text(r.PlayerID)},
		{"event", text(r.EventID)},
		{"reward", text(strconv.FormatInt(r.Amount, 10) + " " + r.Kind)},
		{"posted", instant(r.PostedAt)},
		{"attempts", number(int64(r.Attempts))},
		{"next_attempt", instant(r.NextAttempt)},
		{"claimed_by", text(r.ClaimedBy)},
		{"claimed_until", instant(r.ClaimedUntil)},
		{"delivered", instant(r.Delivered)},
		{"last_error", text(r.LastError)},
		{"key", text(d.Key)},
		{"message", text(string(d.Message))},
	})
	if err != nil || a.output != string(formatTable) || len(l.rows) == 0 {
		return err
	}
	a.gap()
	return a.printTable(l)
}

// verdictCell writes a verdict for people.
func verdictCell(verdict string) cell {
	switch verdict {
	case "delivered", "repeated":
		return toned(verdict, good)
	case "refused", "failed":
		return toned(verdict, bad)
	case "not_now":
		return toned("not now", notice)
	}
	return toned(verdict, notice)
}
