package repair

import (
	"crypto/sha256"
	"hash"
	"strconv"
)

// planChunkRows is how many rows a chunk has: what a process claims at once, and what one hash
// covers. It is part of the hash, so it never changes.
const planChunkRows = 1000

// planRow is one row of a plan in the form that is hashed.
type planRow struct {
	Line        int64   `db:"line"`
	PlayerID    string  `db:"player_id"`
	EventID     string  `db:"reward_event_id"`
	Kind        string  `db:"kind"`
	Amount      int64   `db:"amount"`
	DuplicateOf *int64  `db:"duplicate_of"`
	Problem     *string `db:"problem"`
}

// runs reports whether the row goes to the engine.
func (r *planRow) runs() bool { return r.Problem == nil && r.DuplicateOf == nil }

// appendForm appends the canonical form, which is that of the database function
// grant_plan_row_form: a test compares the two.
func (r *planRow) appendForm(dst []byte) []byte {
	dst = strconv.AppendInt(dst, r.Line, 10)
	for _, text := range [...]string{r.PlayerID, r.EventID, r.Kind} {
		dst = append(dst, ' ')
		dst = appendSized(dst, text)
	}
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, r.Amount, 10)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, value(r.DuplicateOf), 10)
	dst = append(dst, ' ')
	if r.Problem == nil {
		dst = append(dst, '-')
	} else {
		dst = appendSized(dst, *r.Problem)
	}
	return append(dst, '\n')
}

func appendSized(dst []byte, text string) []byte {
	dst = strconv.AppendInt(dst, int64(len(text)), 10)
	dst = append(dst, ':')
	return append(dst, text...)
}

// planHasher hashes rows in order: each chunk, and all chunks together.
type planHasher struct {
	rows    int
	form    []byte
	chunk   hash.Hash
	content hash.Hash
}

func newPlanHasher() *planHasher {
	return &planHasher{chunk: sha256.New(), content: sha256.New()}
}

// add hashes a row and returns the number of its chunk.
func (h *planHasher) add(r *planRow) int {
	if h.rows > 0 && h.rows%planChunkRows == 0 {
		h.endChunk()
	}
	h.form = r.appendForm(h.form[:0])
	h.chunk.Write(h.form)
	h.rows++
	return (h.rows - 1) / planChunkRows
}

func (h *planHasher) endChunk() {
	h.content.Write(h.chunk.Sum(nil))
	h.chunk.Reset()
}

// sum returns the hash over all rows. Nothing may be added after it.
func (h *planHasher) sum() []byte {
	h.endChunk()
	return h.content.Sum(nil)
}

// planHash covers the content and what is said about it, as the function grant_plan_hash does.
func planHash(campaign, reason, requestedBy string, content []byte) []byte {
	form := []byte("plan 1 ")
	for _, text := range [...]string{campaign, reason, requestedBy} {
		form = append(appendSized(form, text), ' ')
	}
	sum := sha256.Sum256(append(form, content...))
	return sum[:]
}

// hashRows hashes the rows of one chunk.
func hashRows(rows []planRow) [sha256.Size]byte {
	var form []byte
	for i := range rows {
		form = rows[i].appendForm(form)
	}
	return sha256.Sum256(form)
}
