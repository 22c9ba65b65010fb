package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// takes says what a finding shows to be too many.
type takes uint8

const (
	takesNone   takes = iota // nothing that can be taken back
	takesLater               // the postings of its evidence, all but the first
	takesEvent               // the posting of its player and event
	takesExcess              // what the posting of its player and event gave over the claim
)

// findingWay is what taking back means for one kind of finding. Of those that it means nothing for,
// say tells why and do what to do instead; of the others say is a remark.
type findingWay struct {
	takes takes
	say   string
	do    func(f *findingRow) string
}

// FindingTakes says what "ledger reverse --finding" takes back of a finding of this kind, such as
// "all but the first"; empty when it refuses.
func FindingTakes(word string) string {
	switch findingWays()[word].takes {
	case takesLater:
		return "all but the first"
	case takesEvent:
		return "take the posting back"
	case takesExcess:
		return "take back what is over the claim"
	case takesNone:
	}
	return ""
}

func line(words ...string) string { return CommandLine(append([]string{"rewardctl"}, words...)) }

func (f *findingRow) explain() string { return line("explain", f.PlayerID, f.EventID) }

// findingWays are the kinds of findings by their words.
func findingWays() map[string]findingWay {
	explain := (*findingRow).explain
	show := func(f *findingRow) string {
		return "see its remedy: " + line("audit", "show", strconv.FormatInt(f.Run, 10))
	}
	fixed := func(words ...string) func(*findingRow) string {
		return func(*findingRow) string { return line(words...) }
	}
	pay := func(f *findingRow) string {
		return f.explain() + "; if it is owed, give it with: rewardctl grant create"
	}
	history := func(f *findingRow) string { return line("player", "history", f.PlayerID) }
	const requeue = "the player may not have it: rewardctl outbox requeue sends it again instead"
	return map[string]findingWay{
		"duplicate": {takes: takesLater}, "respelled": {takes: takesLater},
		"retried": {takes: takesLater},
		"random":  {say: "names ids that a retry would pay again, and no posting", do: show},
		"keyless": {say: "is about rows that name no player or event", do: show},

		"unclaimed": {
			takes: takesEvent, say: "it was posted past the engine: nobody claimed it",
		},
		"sum": {takes: takesExcess},
		"unapplied": {
			say: "is about a claim that waits although it is paid: nothing is too much", do: explain,
		},
		"unposted": {say: "is about a claim that nothing was posted for", do: pay},
		"stuck":    {say: "is about a claim that nothing was posted for", do: pay},
		"reversal": {
			say: "is about a posting that takes another back, which cannot be taken back itself",
			do:  history,
		},

		"token_down": {
			takes: takesEvent,
			say:   "its holder had lost the lease: whether it is owed all the same, explain tells",
		},
		"token_owners": {
			takes: takesEvent,
			say:   "another owner posted under its token: whether it is owed all the same, explain tells",
		},
		"above_fence": {
			say: "is about a fence that was lowered: the posting is no worse for it",
			do:  fixed("fence", "doctor"),
		},

		"dead":         {takes: takesEvent, say: requeue},
		"not_received": {takes: takesEvent, say: requeue},
		"received_other": {
			takes: takesEvent,
			say:   "the receiver has another kind or amount: correct it there, too",
		},
		"unqueued":       {say: "is about a posting that was never queued for delivery", do: show},
		"orphan":         {say: "is about a delivery that no posting belongs to", do: show},
		"queued_twice":   {say: "is about the outbox: nothing was posted twice", do: fixed("doctor")},
		"late":           {say: "is about deliveries that are late", do: fixed("outbox", "list")},
		"received_early": {say: "is about a delivery that is not settled", do: show},
		"not_answered": {
			say: "is about deliveries that the receiver said nothing of",
			do:  fixed("audit", "run", "outbox", "--receiver"),
		},
		"received_unknown": {say: "is about what the receiver has: nothing is posted for it", do: show},

		"balance":  {say: "is about a balance: no single posting is too much", do: history},
		"negative": {say: "is about a balance: no single posting is too much", do: history},
	}
}

type findingRow struct {
	ID       int64  `db:"finding_id"`
	Run      int64  `db:"run_id"`
	Check    string `db:"check_name"`
	Word     string `db:"word"`
	What     string `db:"what"`
	Relation string `db:"relation"`
	PlayerID string `db:"player_id"`
	EventID  string `db:"reward_event_id"`
	Count    int64  `db:"row_count"`
	Evidence []byte `db:"evidence"`
}

func (f *findingRow) refused(problem, wayOut string) error {
	return &grant.Rejection{
		Field: "finding", Value: strconv.FormatInt(f.ID, 10), Problem: problem, WayOut: wayOut,
	}
}

// findingPostings reads the postings that a finding shows to be too many, or too much.
func findingPostings(
	ctx context.Context, tx pgx.Tx, finding int64,
) (items []ReverseItem, warnings []string, err error) {
	f, err := first(collect[findingRow](ctx, tx, findingReadSQL, struct {
		Finding int64 `db:"finding"`
	}{finding}))
	if err != nil {
		return nil, nil, err
	}
	if f == nil {
		return nil, nil, &NotFoundError{"finding", strconv.FormatInt(finding, 10)}
	}
	way, known := findingWays()[f.Word]
	switch {
	case !known:
		return nil, nil, f.refused(fmt.Sprintf("(%s, %s) is of a kind that this program does not know",
			f.Check, f.Word), "decide by hand: rewardctl ledger reverse ID")
	case way.takes == takesNone:
		return nil, nil, f.refused(way.say, way.do(f))
	case way.takes == takesLater:
		return f.later(ctx, tx)
	}
	return f.ofEvent(ctx, tx, way)
}

// later are the postings of the evidence, all but the first of those that are still there.
func (f *findingRow) later(
	ctx context.Context, tx pgx.Tx,
) (items []ReverseItem, warnings []string, err error) {
	ids, err := f.postings()
	if err != nil {
		return nil, nil, err
	}
	rows, err := collect[reverseRow](ctx, tx, reverseByIDSQL, reverseIDs{ids})
	if err != nil {
		return nil, nil, err
	}
	if len(rows) < len(ids) {
		return nil, nil, f.refused("shows postings that are not there any more",
			"run the audit again: "+line("audit", "run", f.Check))
	}
	slices.SortFunc(rows, func(a, b reverseRow) int { return int(a.ID - b.ID) })
	kept := slices.IndexFunc(rows, func(r reverseRow) bool { return r.Back < r.Amount })
	for i, row := range rows {
		if i == kept {
			warnings = append(warnings, fmt.Sprintf("posting %d of %s, %d %s, is the first and stays",
				row.ID, row.CreatedAt.UTC().Format(time.DateTime), row.Amount, row.Kind))
			continue
		}
		if kept >= 0 && (row.Amount != rows[kept].Amount || row.Kind != rows[kept].Kind) {
			warnings = append(warnings, fmt.Sprintf("posting %d gave %d %s, the one that stays "+
				"gave %d %s", row.ID, row.Amount, row.Kind, rows[kept].Amount, rows[kept].Kind))
		}
		items = append(items, row.item())
	}
	slices.SortFunc(items, byBalance)
	return items, warnings, nil
}

// ofEvent is the one posting of the finding's player and event, or what of it is too much.
func (f *findingRow) ofEvent(
	ctx context.Context, tx pgx.Tx, way findingWay,
) (items []ReverseItem, warnings []string, err error) {
	if f.PlayerID == "" || f.EventID == "" {
		return nil, nil, f.refused("names no posting", "decide by hand: rewardctl ledger reverse ID")
	}
	rows, err := filterPostings(ctx, tx, ReverseSelection{PlayerID: f.PlayerID, EventID: f.EventID})
	switch {
	case err != nil:
		return nil, nil, err
	case len(rows) == 0:
		return nil, nil, f.refused("is about a posting that is not there any more",
			"run the audit again: "+line("audit", "run", f.Check))
	case len(rows) > 1:
		return nil, nil, f.refused(fmt.Sprintf("is about an event that was posted %d times", len(rows)),
			"settle that first: "+line("audit", "run", "duplicate-key"))
	}
	item := rows[0].item()
	if way.takes == takesExcess {
		if way.say, item.tooMuch, err = f.excess(ctx, tx, &rows[0]); err != nil {
			return nil, nil, err
		}
	}
	warnings = append(warnings, fmt.Sprintf("posting %d of %s, %d %s: %s", item.Posting.ID,
		item.Posting.At.UTC().Format(time.DateTime), item.Posting.Amount, item.Posting.Kind, way.say))
	return []ReverseItem{item}, warnings, nil
}

// excess is how much of a posting was not claimed, by what is claimed now; 0 is all of it.
func (f *findingRow) excess(
	ctx context.Context, tx pgx.Tx, posted *reverseRow,
) (say string, tooMuch int64, err error) {
	claim, err := first(collect[struct {
		Kind   string `db:"kind"`
		Amount int64  `db:"amount"`
		Status string `db:"status"`
	}](ctx, tx, claimReadSQL, struct {
		Player string `db:"player"`
		Event  string `db:"event"`
	}{f.PlayerID, f.EventID}))
	switch {
	case err != nil:
		return "", 0, err
	case claim == nil:
		return "", 0, f.refused("is about a claim that is not there any more",
			"run the audit again: "+line("audit", "run", f.Check))
	case claim.Kind != posted.Kind:
		return fmt.Sprintf("claimed were %d %s: give these under another event id", claim.Amount,
			claim.Kind), 0, nil
	case claim.Amount == posted.Amount:
		return "", 0, f.refused("is settled: what is posted is what is claimed",
			"run the audit again: "+line("audit", "run", f.Check))
	case claim.Amount > posted.Amount:
		return "", 0, f.refused(fmt.Sprintf("is about %d %s too little, not too much",
			claim.Amount-posted.Amount, claim.Kind), f.explain()+
			"; give what is missing under another event id: rewardctl grant create")
	}
	return fmt.Sprintf("claimed were %d, the other %d are too much", claim.Amount,
		posted.Amount-claim.Amount), posted.Amount - claim.Amount, nil
}

// postings reads the ledger ids out of the evidence.
func (f *findingRow) postings() ([]int64, error) {
	explain := "decide by hand: " + f.explain() + ", then: rewardctl ledger reverse ID"
	if f.Relation != "reward_ledger" {
		return nil, f.refused("is about "+f.Relation+": only postings of reward_ledger can be "+
			"taken back", "settle it in the program that owns that table")
	}
	var evidence struct {
		Columns []string    `json:"columns"`
		Rows    [][]*string `json:"rows"`
	}
	if err := json.Unmarshal(f.Evidence, &evidence); err != nil {
		return nil, fmt.Errorf("repair: the evidence of finding %d: %w", f.ID, err)
	}
	if int64(len(evidence.Rows)) < f.Count {
		return nil, f.refused(fmt.Sprintf("concerns %d postings and shows only %d of them", f.Count,
			len(evidence.Rows)), explain)
	}
	at := slices.Index(evidence.Columns, "id")
	var ids []int64
	for _, row := range evidence.Rows {
		if at < 0 || at >= len(row) || row[at] == nil {
			return nil, f.refused("does not show the ids of the postings", explain)
		}
		id, err := strconv.ParseInt(*row[at], 10, 64)
		if err != nil {
			return nil, f.refused("shows an id that is no number: "+*row[at], explain)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
