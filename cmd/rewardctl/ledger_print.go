package main

import (
	"fmt"
	"strconv"
	"strings"

	"rewardctl/grant"
	"rewardctl/repair"
)

// reversalJSON is the answer to "ledger reverse".
type reversalJSON struct {
	Selection string             `json:"selection"`
	DryRun    bool               `json:"dry_run"`
	Policy    string             `json:"policy"`
	Set       string             `json:"set"`
	Postings  int                `json:"postings"`
	Changes   int                `json:"changes"` // postings taken back, or that would be
	Players   int                `json:"players"`
	Counts    map[string]int     `json:"counts"` // by outcome
	NotRun    int                `json:"not_run"`
	Totals    []reverseTotalJSON `json:"totals"`
	Items     []reversedItemJSON `json:"items"`
	Warnings  []string           `json:"warnings"`
	Stopped   *string            `json:"stopped"` // why the run ended early
	Confirm   *string            `json:"confirm"` // dry run: what --confirm has to say
	Command   string             `json:"command"` // dry run: the command that does it
	Exit      int                `json:"exit"`
}

type reverseTotalJSON struct {
	Kind     string `json:"kind"`
	Postings int    `json:"postings"`
	Posted   int64  `json:"posted"`
	Asked    int64  `json:"asked"`
	Spent    int64  `json:"already_spent"`
	Taken    int64  `json:"taken"`
}

type reversedItemJSON struct {
	LedgerID      *string     `json:"ledger_id"`
	PlayerID      string      `json:"player_id"`
	EventID       string      `json:"reward_event_id"`
	Kind          string      `json:"kind"`
	Amount        int64       `json:"amount"`
	Outcome       string      `json:"outcome"`
	Asked         int64       `json:"asked"`
	Spent         int64       `json:"already_spent"`
	Taken         int64       `json:"taken"`
	Left          int64       `json:"left"`
	BalanceBefore int64       `json:"balance_before"`
	BalanceAfter  int64       `json:"balance_after"`
	ReversalID    *string     `json:"reversal_id"` // posted now or found
	ReversalEvent *string     `json:"reversal_event_id"`
	Token         *string     `json:"token"`
	At            *string     `json:"at"`
	Holder        *holderJSON `json:"holder,omitempty"`
	Fence         *fenceJSON  `json:"fence,omitempty"`
	Note          string      `json:"note"`
}

func (a *app) newReversedItemJSON(i repair.ReverseItem) reversedItemJSON {
	j := reversedItemJSON{
		LedgerID: jsonID(i.Posting.ID), PlayerID: i.Posting.PlayerID, EventID: i.Posting.EventID,
		Kind: i.Posting.Kind, Amount: i.Posting.Amount, Outcome: reverseOutcomeWord(i),
		Asked: i.Asked, Spent: i.Spent, Taken: i.Take, Left: i.Left,
		BalanceBefore: i.BalanceBefore, BalanceAfter: i.BalanceAfter, Note: i.Note,
	}
	if r := i.Result; r != nil {
		j.ReversalID, j.Token, j.At = jsonID(r.LedgerID), jsonID(r.Token), jsonTime(r.At)
		j.Holder, j.Fence = newHolderJSON(r.Holder, a.now()), newFenceJSON(r.Fence)
		if r.LedgerID != 0 {
			j.ReversalEvent = jsonText(r.EventID)
		}
	} else {
		j.Left -= i.Take // as it would be
	}
	return j
}

func reverseOutcomeWord(i repair.ReverseItem) string {
	if i.NotRun {
		return "not_run"
	}
	return i.Outcome.String()
}

// reverseExit is the exit code of one reversal.
func reverseExit(o grant.ReverseOutcome) exitCode {
	switch o {
	case grant.ReverseDone, grant.AlreadyReversed, grant.ReverseSkipped:
		return exitOK
	case grant.ReverseRejected, grant.IsReversal:
		return exitUsage
	case grant.ReverseNotFound:
		return exitNotFound
	case grant.ReverseStale, grant.ReverseCollision, grant.ReverseChanged, grant.AlreadySpent:
		return exitPrecondition
	case grant.ReverseHeld:
		return exitHeld
	case grant.ReverseUnknown:
		return exitUnknown
	case grant.ReverseFailed:
		return exitFailure
	}
	return exitFailure
}

// reversalExit is the exit code of a selection: that of its outcomes when they agree, else partial.
func reversalExit(p repair.ReversePreview, stopped error) exitCode {
	codes := map[exitCode]bool{}
	for outcome := range p.Counts() {
		codes[reverseExit(outcome)] = true
	}
	switch {
	case codes[exitUnknown]:
		return exitUnknown
	case p.NotRun() > 0 && stopped != nil:
		return classify(stopped).exit
	case len(codes) > 1:
		return exitPartial
	}
	for code := range codes {
		return code
	}
	return exitOK
}

// printReversal prints what came of a selection, or what would.
func (a *app) printReversal(p repair.ReversePreview, stopped error) error {
	for _, w := range p.Warnings {
		a.say("note: %s", w)
	}
	code := reversalExit(p, stopped)
	var err error
	switch {
	case a.output == string(formatJSON):
		err = writeJSON(a.stdout, a.newReversalJSON(p, stopped, code), true)
	case a.output == string(formatTable) && len(p.Items) == 1:
		err = a.printFields(reverseFields(p.Items[0], p.Request.DryRun))
	default:
		err = a.printReversed(p)
	}
	if err != nil {
		return err
	}
	a.sayReversal(p, stopped)
	return ended(code)
}

func reverseFields(i repair.ReverseItem, dry bool) []field {
	outcome := toned(plainWords(i.Outcome.String()), reverseTone(i.Outcome))
	if dry {
		outcome.text = "would be " + outcome.text
	}
	fields := []field{
		{"outcome", outcome},
		{"posting", text(strconv.FormatInt(i.Posting.ID, 10))},
		{"player", text(i.Posting.PlayerID)},
		{"event", text(i.Posting.EventID)},
		{"posted", text(fmt.Sprintf("%d %s, %s by %s", i.Posting.Amount, i.Posting.Kind,
			when(i.Posting.At), i.Posting.Actor))},
		{"taken", text(fmt.Sprintf("%d of %d asked", i.Take, i.Asked))},
		{"already_spent", text(strconv.FormatInt(i.Spent, 10))},
		{"balance", text(fmt.Sprintf("%d -> %d", i.BalanceBefore, i.BalanceAfter))},
	}
	if i.Result != nil && i.Result.LedgerID != 0 {
		fields = append(fields, field{"reversal", text(fmt.Sprintf("%d, %s", i.Result.LedgerID,
			when(i.Result.At)))})
	}
	return append(fields, field{"note", text(i.Note)})
}

func plainWords(s string) string { return strings.ReplaceAll(s, "_", " ") }

func reverseTone(o grant.ReverseOutcome) tone {
	switch reverseExit(o) {
	case exitOK:
		if o == grant.ReverseDone {
			return good
		}
		return notice
	default:
		return bad
	}
}

// reversedShown is how many postings a table shows; the other formats have all of them.
const reversedShown = 20

func (a *app) printReversed(p repair.ReversePreview) error {
	l := listing{
		columns: columns("ledger_id", "player", "event", "kind", "amount", "outcome", "taken",
			"already_spent", "left", "balance", "reversal_id"),
		empty: "no posting matches",
	}
	items := p.Items
	if a.output == string(formatTable) {
		items = items[:min(len(items), reversedShown)]
	}
	for _, i := range items {
		j := a.newReversedItemJSON(i)
		tone := reverseTone(i.Outcome)
		reversal := cell{number: true}
		if j.ReversalID != nil {
			reversal.text = *j.ReversalID
		}
		l.rows = append(l.rows, []cell{
			number(i.Posting.ID), text(j.PlayerID), text(j.EventID), text(j.Kind),
			number(j.Amount), toned(plainWords(j.Outcome), tone), number(j.Taken), number(j.Spent),
			number(j.Left), text(fmt.Sprintf("%d -> %d", j.BalanceBefore, j.BalanceAfter)), reversal,
		})
		l.values = append(l.values, j)
	}
	return a.print(l)
}

// sayReversal sums up below the rows, and says how to go on.
func (a *app) sayReversal(p repair.ReversePreview, stopped error) {
	if more := len(p.Items) - reversedShown; more > 0 && a.output == string(formatTable) {
		a.say("and %d more; -o csv lists all", more)
	}
	if a.output != string(formatTable) || p.Request.LedgerID != 0 {
		a.sayStopped(p, stopped)
		return
	}
	counts := p.Counts()
	var parts []string
	for _, o := range append(grant.ReverseOutcomes(), grant.ReverseFailed) {
		if counts[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[o], plainWords(o.String())))
		}
	}
	if n := p.NotRun(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d not run", n))
	}
	a.say("%d postings of %d players: %s", len(p.Items), p.Players, strings.Join(parts, ", "))
	for _, t := range p.Totals {
		taken := "taken back"
		if p.Request.DryRun {
			taken = "would be taken back"
		}
		a.say("%s: %d posted, %d asked back, %d already spent, %d %s", t.Kind, t.Posted, t.Asked,
			t.Spent, t.Take, taken)
	}
	if p.Request.DryRun && p.Changes() > 0 {
		a.say("to do exactly this: %s", a.commandLine(reverseCommand(p)))
	}
	a.sayStopped(p, stopped)
}

func (a *app) sayStopped(p repair.ReversePreview, stopped error) {
	if stopped != nil && p.NotRun() > 0 {
		a.say("stopped: %s; the same command again goes on with the rest", classify(stopped).message)
	}
}

// reverseCommand is the command that does what a dry run showed, and nothing else.
func reverseCommand(p repair.ReversePreview) []string {
	r := p.Request
	r.DryRun = false
	if r.LedgerID != 0 {
		return r.CLI()
	}
	r.Set = p.Set
	return append(r.CLI(), "--confirm", reverseWord(p))
}

func (a *app) newReversalJSON(
	p repair.ReversePreview, stopped error, code exitCode,
) reversalJSON {
	r := p.Request
	j := reversalJSON{
		Selection: r.Target(), DryRun: r.DryRun, Policy: string(r.Policy), Set: p.Set,
		Postings: len(p.Items), Changes: p.Changes(), Players: p.Players,
		Counts: map[string]int{}, NotRun: p.NotRun(), Totals: []reverseTotalJSON{},
		Items: []reversedItemJSON{}, Warnings: emptyNotNull(p.Warnings),
		Command: a.commandLine(reverseCommand(p)), Exit: int(code),
	}
	for outcome, n := range p.Counts() {
		j.Counts[outcome.String()] = n
	}
	for _, t := range p.Totals {
		j.Totals = append(j.Totals, reverseTotalJSON{
			t.Kind, t.Postings, t.Posted, t.Asked, t.Spent, t.Take,
		})
	}
	for _, i := range p.Items {
		j.Items = append(j.Items, a.newReversedItemJSON(i))
	}
	if r.DryRun {
		j.Confirm = jsonText(reverseWord(p))
	}
	if stopped != nil {
		j.Stopped = jsonText(classify(stopped).message)
	}
	return j
}
