package inspect

import (
	"bytes"
	"crypto/sha256"
	"strconv"
	"time"
)

// logForm is the version of the canonical form below. The migration that made the chain describes
// it, and computes the same in SQL.
const logForm = "1"

const logTime = "2006-01-02T15:04:05.000000Z"

// canonical appends the form of a row that is hashed: each field as a netstring, null as "-".
func (r *logRow) canonical(to []byte) []byte {
	field := func(s string) {
		to = strconv.AppendInt(to, int64(len(s)), 10)
		to = append(to, ':')
		to = append(to, s...)
	}
	optional := func(s *string) {
		if s == nil {
			to = append(to, '-')
			return
		}
		field(*s)
	}
	number := func(n *int64) {
		if n == nil {
			to = append(to, '-')
			return
		}
		field(strconv.FormatInt(*n, 10))
	}
	field(logForm)
	number(&r.ID)
	for _, s := range []string{r.Operator, r.DBUser, r.Host, r.Client, r.Action, r.Target} {
		field(s)
	}
	field(strconv.Itoa(r.ArgsVersion))
	field(r.Arguments)
	field(r.Observed)
	optional(r.Before)
	optional(r.After)
	field(r.Reason)
	optional(r.Ticket)
	number(r.Approval)
	field(r.Phase)
	number(r.Intent)
	field(r.Outcome)
	field(r.Command)
	field(r.CreatedAt.UTC().Format(logTime))
	return to
}

// hasher computes hashes of rows without taking new memory for each.
type hasher struct{ form []byte }

// whole reports whether a row's own hash fits what it says, as the row with the given id.
func (h *hasher) whole(row *logRow, id int64) bool {
	copied := *row
	copied.ID = id
	h.form = copied.canonical(append(h.form[:0], row.PrevHash...))
	sum := sha256.Sum256(h.form)
	return bytes.Equal(sum[:], row.Hash)
}

// logRoot is the hash that the first row of a chain follows.
func logRoot(chain string) []byte {
	sum := sha256.Sum256([]byte("rewardctl operator log " + chain))
	return sum[:]
}

// LogHead is the end of a chain: proof of everything before it.
type LogHead struct {
	Chain string // the name of the chain
	ID    int64  // its last row; 0 for a log without rows
	Hash  []byte
	At    time.Time // when it was read; this machine's clock
}
