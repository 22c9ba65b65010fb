package inspect

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// LogCheck says how the operator log is verified.
type LogCheck struct {
	// Anchors are heads that were kept elsewhere. Without one, nobody can tell whether the newest
	// rows were cut off together with the head, or the whole log was written anew.
	Anchors []LogHead
	// Since begins after this head instead of at the first row. It counts as an anchor. Nil reads
	// everything.
	Since *LogHead
	// OnProgress is told after each piece how many rows were read, of how many. Nil does nothing.
	OnProgress func(rows, of int64)
}

const (
	// logPiece is how many rows are read at once: what verifying takes of memory.
	logPiece = 2000
	// logBreaksMax is how many breaks are kept; the rest is counted.
	logBreaksMax = 50
	// logSearches is how often the former place of a row is looked for by trying every place.
	logSearches = 3
	// logClockBack is how far the clock may go back between two rows without a remark.
	logClockBack = time.Second
)

type headRow struct {
	Chain  string `db:"chain"`
	LastID int64  `db:"last_id"`
	Hash   []byte `db:"hash"`
}

// VerifyLog reads the operator log as it stands at one moment and checks that every row is as it
// was written, in its place, and that none is missing. It takes the same memory for any length.
// The verdict is the answer; the error is the context's, or a *grant.BackendError.
func (r *Reader) VerifyLog(ctx context.Context, check LogCheck) (LogVerdict, error) {
	const op = "verify the operator log"
	if r.pool == nil {
		return LogVerdict{}, &grant.BackendError{Backend: grant.PostgreSQL, Op: op, Err: errNoPool}
	}
	var v *logVerifier
	err := pgx.BeginTxFunc(ctx, r.pool, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	}, func(tx pgx.Tx) error {
		head, err := logHead(ctx, tx)
		if err != nil {
			return err
		}
		v = newLogVerifier(check, head)
		return v.run(ctx, tx)
	})
	if err != nil {
		if ctx.Err() != nil {
			return LogVerdict{}, context.Cause(ctx)
		}
		return LogVerdict{}, backendError(ctx, grant.PostgreSQL, op, grant.Answered(r.pool, err))
	}
	v.finish()
	v.verdict.Head.At = r.opts.Now()
	return v.verdict, nil
}

// logHead reads the head; nil when it is gone.
func logHead(ctx context.Context, tx pgx.Tx) (*headRow, error) {
	rows, err := collect[headRow](ctx, tx, oplogHeadSQL, none{})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// logVerifier follows the chain row by row.
type logVerifier struct {
	check   LogCheck
	head    *headRow
	anchors []LogHead // by id
	verdict LogVerdict

	hasher   hasher
	next     int64     // the id that comes next
	prev     []byte    // the hash that the next row follows; nil when it is not known
	bad      int64     // the last row that was found bad
	anchored int64     // the last row that an anchor confirmed
	at       time.Time // of the row before
	moved    int64     // how far the last moved row was from its place
	searches int
	forked   bool
}

func newLogVerifier(check LogCheck, head *headRow) *logVerifier {
	v := &logVerifier{check: check, head: head, next: 1, anchors: slices.Clone(check.Anchors)}
	if check.OnProgress == nil {
		v.check.OnProgress = func(int64, int64) {}
	}
	if head != nil {
		v.prev = logRoot(head.Chain)
		v.verdict.Head = LogHead{Chain: head.Chain, ID: head.LastID, Hash: head.Hash}
	}
	if check.Since != nil {
		v.anchors = append(v.anchors, *check.Since)
		v.begin(check.Since.ID)
	}
	slices.SortStableFunc(v.anchors, func(a, b LogHead) int { return cmp.Compare(a.ID, b.ID) })
	v.verdict.State, v.verdict.Since = LogIntact, v.next
	for _, a := range v.anchors {
		if a.ID >= v.next-1 {
			v.verdict.Anchors++
		}
	}
	return v
}

// begin begins at a row, or after the last one when the log ends before it.
func (v *logVerifier) begin(id int64) {
	if v.head != nil {
		id = min(id, v.head.LastID+1)
	}
	if id > 1 {
		v.next, v.prev = id, nil
	}
}

func (v *logVerifier) run(ctx context.Context, tx pgx.Tx) error {
	if v.foreign() {
		return nil
	}
	type args struct {
		After int64 `db:"after"`
		Limit int   `db:"limit"`
	}
	after := v.next - 1
	if v.check.Since == nil {
		after = -1 << 62 // a row that was slipped in before the first is a row all the same
	}
	for {
		rows, err := collect[logRow](ctx, tx, oplogChainSQL, args{after, logPiece})
		if err != nil {
			return err
		}
		for i := range rows {
			v.row(&rows[i])
		}
		v.check.OnProgress(v.verdict.Rows, max(v.verdict.Rows, v.verdict.Head.ID-v.verdict.Since+1))
		if len(rows) < logPiece {
			return nil
		}
		after = rows[len(rows)-1].ID
	}
}

// foreign reports an anchor that belongs to another log: there is nothing to compare then.
func (v *logVerifier) foreign() bool {
	if v.head == nil {
		return false
	}
	for _, a := range v.anchors {
		if a.Chain == v.head.Chain {
			continue
		}
		v.found(LogBreak{
			Kind: LogForkedAt, ID: 1, To: a.ID, What: fmt.Sprintf("this log is chain %s, the anchor "+
				"at row %d is of chain %s: another log stands in its place, or it is the anchor of "+
				"another database", v.head.Chain, a.ID, a.Chain),
		})
		return true
	}
	return false
}

// row checks one row: its own hash, that it follows the row before, and the anchors at it.
func (v *logVerifier) row(row *logRow) {
	v.verdict.Rows++
	if row.ID < 1 {
		v.found(LogBreak{Kind: LogRowAdded, ID: row.ID, What: fmt.Sprintf(
			"row %d has a number that the log never gives: it was put in from outside", row.ID)})
		return
	}
	if row.ID > v.next {
		v.found(LogBreak{Kind: LogRowsGone, ID: v.next, To: row.ID - 1, What: fmt.Sprintf(
			"%s: deleted from the middle", rowsAreMissing(v.next, row.ID-1))})
		v.prev = nil
	}
	switch {
	case !v.hasher.whole(row, row.ID):
		v.spoiled(row)
	case v.prev != nil && !bytes.Equal(row.PrevHash, v.prev) && v.bad != row.ID-1:
		v.unlinked(row)
	}
	v.clock(row)
	v.compare(row.ID, row.Hash)
	v.next, v.prev = row.ID+1, row.Hash
	v.verdict.LastID, v.verdict.LastHash = row.ID, row.Hash
}

// spoiled tells a row that stood elsewhere from one whose content was changed.
func (v *logVerifier) spoiled(row *logRow) {
	v.bad = row.ID
	if place, ok := v.place(row); ok {
		v.moved = place - row.ID
		v.found(LogBreak{Kind: LogRowMoved, ID: row.ID, What: fmt.Sprintf(
			"row %d was written as row %d: the order was changed", row.ID, place)})
		return
	}
	v.found(LogBreak{Kind: LogRowChanged, ID: row.ID, What: fmt.Sprintf(
		"row %d is not as it was written: its content does not fit its hash", row.ID)})
}

// place finds where a row was written, by trying every place there is.
func (v *logVerifier) place(row *logRow) (int64, bool) {
	if v.moved != 0 && v.hasher.whole(row, row.ID+v.moved) {
		return row.ID + v.moved, true
	}
	if v.searches == logSearches {
		return 0, false
	}
	v.searches++
	last := max(v.verdict.Head.ID, row.ID) + logPiece
	for d := int64(1); d <= last; d++ {
		for _, id := range [...]int64{row.ID + d, row.ID - d} {
			if id >= 1 && id <= last && v.hasher.whole(row, id) {
				return id, true
			}
		}
	}
	return 0, false
}

// unlinked reports the row before a whole row that was chained to another one.
func (v *logVerifier) unlinked(row *logRow) {
	if row.ID == 1 {
		v.found(LogBreak{Kind: LogRowReplaced, ID: 1, What: fmt.Sprintf(
			"row 1 is not the beginning of chain %s: it was written anew", v.verdict.Head.Chain)})
		return
	}
	v.found(LogBreak{Kind: LogRowReplaced, ID: row.ID - 1, What: fmt.Sprintf(
		"row %d is not the one that row %d was chained to: it was rewritten, hash included",
		row.ID-1, row.ID)})
}

func (v *logVerifier) clock(row *logRow) {
	if back := v.at.Sub(row.CreatedAt); back > logClockBack && !v.at.IsZero() {
		v.remark("the server's clock went back %s at row %d", back.Round(time.Millisecond), row.ID)
	}
	v.at = row.CreatedAt
}

// compare compares the anchors at a row with it.
func (v *logVerifier) compare(id int64, hash []byte) {
	for _, a := range v.anchors {
		switch {
		case a.ID > id:
			return
		case a.ID < id:
			continue
		case bytes.Equal(a.Hash, hash):
			v.anchored = id
		case v.bad != id && !v.forked:
			v.forked = true
			v.found(LogBreak{Kind: LogForkedAt, ID: v.anchored + 1, To: id, What: fmt.Sprintf(
				"row %d is another one than the anchor saw: the log was written anew from a row "+
					"between %d and %d on, or an older copy was put back and went on from there", id,
				v.anchored+1, id)})
		}
	}
}
