package repair

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/repair/batchfile"
)

// ApplyLine is the answer to one data row: one line of the result file.
type ApplyLine struct {
	Line       int // the physical line in the file
	Request    grant.Request
	AmountText string // the amount as it stands in the file
	Outcome    grant.Outcome
	NotRun     bool // the run stopped before this row; Outcome then says nothing
	// DuplicateOf is the line of the earlier row with the same key and content; 0 otherwise.
	DuplicateOf int
	LedgerID    int64               // the posting made now or found; 0 when none
	Problems    []batchfile.Problem // why an invalid row is rejected
	Result      *grant.Result       // the engine's full answer; nil when it was not asked
	// Detail is one sentence with raw text in it; empty when there is nothing to say.
	Detail string
}

// Word is the outcome's word, or "not_run".
func (l ApplyLine) Word() string {
	if l.NotRun {
		return "not_run"
	}
	return l.Outcome.String()
}

// echo gives a duplicate the answer of the row that it repeats.
func (l *ApplyLine) echo(head headAnswer) {
	l.Outcome, l.LedgerID, l.Detail = head.outcome, head.ledgerID, head.detail
	if head.outcome == grant.Applied {
		l.Outcome, l.Detail = grant.Replayed, ""
	}
}

func (l ApplyLine) detail(dry bool) string {
	var text string
	switch {
	case len(l.Problems) > 0:
		texts := make([]string, len(l.Problems))
		for i, p := range l.Problems {
			texts[i] = fmt.Sprintf("%s %q: %s; %s", p.Field, p.Value, p.Problem, p.WayOut)
		}
		text = strings.Join(texts, ". ")
	case l.NotRun:
		text = "the run stopped before this row"
	case l.Result != nil:
		text = resultDetail(*l.Result)
		if dry && text == "" && l.Outcome == grant.Applied {
			text = "would be granted"
		}
	default:
		text = l.Detail
	}
	if l.DuplicateOf > 0 {
		duplicate := fmt.Sprintf("duplicate of line %d", l.DuplicateOf)
		if text != "" {
			duplicate += ": " + text
		}
		return duplicate
	}
	return text
}

// resultDetail is one sentence about what is not plain from the outcome's word.
func resultDetail(res grant.Result) string {
	switch res.Outcome {
	case grant.Replayed:
		if res.DuplicateOf > 0 {
			return fmt.Sprintf("duplicate of line %d", res.DuplicateOf)
		}
		if !res.At.IsZero() {
			return "granted before, at " + res.At.UTC().Format(time.RFC3339)
		}
		return "granted before"
	case grant.Mismatch:
		return mismatchDetail(res)
	case grant.LeaseHeld:
		return heldDetail(res.Holder)
	case grant.StaleToken, grant.TokenCollision:
		if res.Fence != nil {
			return fmt.Sprintf("token %d is refused: token %d of %s was accepted", res.Token,
				res.Fence.Token, res.Fence.Owner)
		}
		return fmt.Sprintf("token %d is refused", res.Token)
	case grant.Rejected:
		if res.Rejected != nil {
			return res.Rejected.Error()
		}
	case grant.Unknown:
		return "it may or may not be granted; apply the file again to learn it"
	case grant.Failed:
		return "not granted: " + errorOf(res).Error()
	case grant.Applied:
	}
	return ""
}

func mismatchDetail(res grant.Result) string {
	texts := make([]string, len(res.Differs))
	for i, d := range res.Differs {
		texts[i] = fmt.Sprintf("%s is %s there, %s here", d.Field, d.Have, d.Want)
	}
	text := "the same event stands with other content: " + strings.Join(texts, ", ")
	if e := res.Existing; e != nil && e.ID > 0 {
		text += fmt.Sprintf(" (posting %d of %s)", e.ID, e.At.UTC().Format(time.RFC3339))
	}
	return text
}

func heldDetail(h *grant.Holder) string {
	switch {
	case h == nil:
		return "another owner holds the lease"
	case h.Foreign:
		return fmt.Sprintf("the lock of %s is occupied by other data", h.Resource)
	case h.Left < 0:
		return fmt.Sprintf("%s holds %s under token %d without expiry", h.Owner, h.Resource,
			h.Token)
	}
	return fmt.Sprintf("%s holds %s under token %d for another %s", h.Owner, h.Resource, h.Token,
		h.Left.Round(time.Millisecond))
}

// ApplyCounts counts the rows of a file by their answer. The sum of all is the number of data
// rows: nothing disappears.
type ApplyCounts struct {
	by [int(grant.Unknown) + 1]int
	// NotRun counts rows that were not reached.
	NotRun int
	// Duplicates counts rows that repeat an earlier one. They are counted under its outcome as
	// well, replayed instead of applied, so they do not add to the sum.
	Duplicates int
}

// Of returns how many rows have the outcome.
func (c ApplyCounts) Of(o grant.Outcome) int { return c.by[o] }

// Refused returns how many rows were decided and not granted: rejected, lease_held, stale_token,
// token_collision and mismatch.
func (c ApplyCounts) Refused() int {
	return c.by[grant.Rejected] + c.by[grant.LeaseHeld] + c.by[grant.StaleToken] +
		c.by[grant.TokenCollision] + c.by[grant.Mismatch]
}

// Sum returns the number of rows, whatever their answer.
func (c ApplyCounts) Sum() int {
	sum := c.NotRun
	for _, n := range c.by {
		sum += n
	}
	return sum
}

// ApplyProgress says how far a run is.
type ApplyProgress struct {
	Done    int // rows that have an answer
	Total   int // data rows
	Counts  ApplyCounts
	Elapsed time.Duration
	Rate    float64       // rows per second since the start; 0 while unknown
	Left    time.Duration // time left at that rate; 0 while unknown
	Waiting *ApplyWait    // what it waits for now; nil while it works
}

// ApplyReport says what a run did.
type ApplyReport struct {
	Name     string
	DryRun   bool
	Check    *batchfile.Check // nil when the file could not be validated
	Counts   ApplyCounts
	Complete bool // every row has an answer
	Elapsed  time.Duration
	// ResultPath is where the result file is now; empty when there is none.
	ResultPath string
	// Unknown are all rows of which it is not known whether they are granted.
	Unknown []ApplyLine
	// Notable are the first rows that were neither granted now nor before.
	Notable []ApplyLine
	// GoOn says how to go on; empty when nothing is left to do.
	GoOn string
}

// Done returns how many rows have an answer.
func (r *ApplyReport) Done() int { return r.Counts.Sum() - r.Counts.NotRun }

func (r *ApplyReport) take(line ApplyLine, keep int) {
	if !line.NotRun {
		r.Counts.NotRun--
		r.Counts.by[line.Outcome]++
		if line.DuplicateOf > 0 {
			r.Counts.Duplicates++
		}
	}
	fine := line.Outcome == grant.Applied || line.Outcome == grant.Replayed
	if line.NotRun || fine {
		return
	}
	if line.Result != nil {
		own := *line.Result // the pointer would keep the results of the whole batch
		line.Result = &own
	}
	if line.Outcome == grant.Unknown {
		r.Unknown = append(r.Unknown, line)
	}
	if len(r.Notable) < keep {
		r.Notable = append(r.Notable, line)
	}
}

func (r *ApplyReport) goOn() string {
	c := r.Counts
	open := c.NotRun + c.by[grant.Unknown] + c.by[grant.Failed] + c.by[grant.LeaseHeld] +
		c.by[grant.StaleToken] + c.by[grant.TokenCollision]
	if open == 0 {
		return ""
	}
	if r.DryRun {
		return "look again"
	}
	return fmt.Sprintf("apply the same file again for the %s left: what is granted answers "+
		"replayed and is not granted twice", plural(open, "row"))
}

// plural reads "1 row" and "2 rows".
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
