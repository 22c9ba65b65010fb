package inspect

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// LogState is what became of the operator log, in one word.
type LogState string

// The states of the log.
const (
	LogIntact    LogState = "intact"
	LogAltered   LogState = "altered"   // rows were changed, moved, put in, or taken from the middle
	LogTruncated LogState = "truncated" // the newest rows are gone
	LogForked    LogState = "forked"    // another history stands where an anchor saw this one
)

// LogBreakKind is one way in which the log is not what was written.
type LogBreakKind string

// The kinds of breaks.
const (
	LogRowChanged  LogBreakKind = "changed_row"
	LogRowMoved    LogBreakKind = "moved_row"
	LogRowReplaced LogBreakKind = "replaced_row" // rewritten and hashed again
	LogRowAdded    LogBreakKind = "added_row"
	LogRowsGone    LogBreakKind = "missing_rows"
	LogHeadChanged LogBreakKind = "changed_head"
	LogEndCut      LogBreakKind = "newest_rows_deleted"
	LogEndOlder    LogBreakKind = "older_copy"
	LogForkedAt    LogBreakKind = "other_history"
)

// State is what a kind of break makes of the log.
func (k LogBreakKind) State() LogState {
	switch k {
	case LogEndCut, LogEndOlder:
		return LogTruncated
	case LogForkedAt:
		return LogForked
	case LogRowChanged, LogRowMoved, LogRowReplaced, LogRowAdded, LogRowsGone, LogHeadChanged:
	}
	return LogAltered
}

// LogBreak is one place at which the log is not what was written.
type LogBreak struct {
	Kind LogBreakKind
	ID   int64  // the first bad row; of a fork: the first row that can be meant
	To   int64  // the last row, when there are several; else 0
	What string // one sentence
}

// LogVerdict is the answer of VerifyLog.
type LogVerdict struct {
	State    LogState
	Head     LogHead // as the database tells it
	Since    int64   // the first row that was checked
	Rows     int64   // how many rows were read
	LastID   int64   // the last row that is there; 0 for none
	LastHash []byte
	Breaks   []LogBreak // by row; the first 50, and those of the end
	More     int        // breaks beyond those
	Anchors  int        // how many were compared
	// AnchoredTo is the last row that an anchor confirms: up to it nothing was cut off or written
	// anew. 0 without an anchor.
	AnchoredTo int64
	Notes      []string // remarks that break nothing
}

func (v *logVerifier) found(b LogBreak) {
	if len(v.verdict.Breaks) >= logBreaksMax {
		v.verdict.More++
		return
	}
	v.verdict.Breaks = append(v.verdict.Breaks, b)
}

// ended records what is wrong at the end of the log, however much is wrong before it.
func (v *logVerifier) ended(b LogBreak) { v.verdict.Breaks = append(v.verdict.Breaks, b) }

func (v *logVerifier) remark(format string, args ...any) {
	if len(v.verdict.Notes) < logBreaksMax {
		v.verdict.Notes = append(v.verdict.Notes, fmt.Sprintf(format, args...))
	}
}

// finish compares the end of the log with its head and with the anchors beyond it.
func (v *logVerifier) finish() {
	if len(v.verdict.Breaks) == 0 || v.verdict.Breaks[0].Kind != LogForkedAt || v.verdict.Rows > 0 {
		v.checkHead()
		v.checkEnd()
	}
	v.verdict.AnchoredTo = v.anchored
	slices.SortStableFunc(v.verdict.Breaks, func(a, b LogBreak) int {
		return cmp.Compare(a.ID, b.ID)
	})
	if len(v.verdict.Breaks) > 0 {
		v.verdict.State = v.verdict.Breaks[0].Kind.State()
	}
	if v.verdict.Anchors == 0 {
		v.remark("no anchor was given: rows cut off together with the head, or a log that was " +
			"written anew as a whole, cannot be noticed; keep heads with: rewardctl oplog anchor")
	}
}

// checkHead compares the last row with the head.
func (v *logVerifier) checkHead() {
	last := v.next - 1
	switch {
	case v.head == nil:
		v.ended(LogBreak{Kind: LogHeadChanged, ID: last + 1, What: "the head of the log is gone: " +
			"no deed can be written down"})
	case v.head.LastID > last:
		v.ended(LogBreak{Kind: LogEndCut, ID: last + 1, To: v.head.LastID, What: fmt.Sprintf(
			"%s: the newest rows were deleted", rowsAreMissing(last+1, v.head.LastID))})
	case v.head.LastID < last:
		v.ended(LogBreak{Kind: LogHeadChanged, ID: v.head.LastID + 1, To: last, What: fmt.Sprintf(
			"the head knows rows up to %d, but there are rows up to %d: they were put in from "+
				"outside, or the head was set back", v.head.LastID, last)})
	case v.prev != nil && !bytes.Equal(v.head.Hash, v.prev) && v.bad != last:
		v.ended(LogBreak{Kind: LogRowReplaced, ID: max(last, 1), What: fmt.Sprintf(
			"row %d is not the one that the head was written for: it was rewritten, hash included",
			last)})
	}
}

// checkEnd looks for anchors of rows that are not there.
func (v *logVerifier) checkEnd() {
	last := v.next - 1
	head := last
	if v.head != nil {
		head = max(last, v.head.LastID)
	}
	if len(v.anchors) == 0 {
		return
	}
	if beyond := v.anchors[len(v.anchors)-1].ID; beyond > head {
		v.ended(LogBreak{Kind: LogEndOlder, ID: last + 1, To: beyond, What: fmt.Sprintf(
			"%s, which an anchor saw: the newest rows were deleted together with the head, or an "+
				"older copy of the log was put back", rowsAreMissing(last+1, beyond))})
	}
}

func rowsAreMissing(from, to int64) string {
	if from == to {
		return fmt.Sprintf("row %d is missing", from)
	}
	return fmt.Sprintf("rows %d to %d are missing", from, to)
}
