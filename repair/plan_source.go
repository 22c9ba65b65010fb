package repair

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"rewardctl/repair/batchfile"
)

// StrangersError says that a file names players who are not in the studio's own list. Nothing was
// planned.
type StrangersError struct {
	Name  string
	Table string
	Count int   // rows
	Lines []int // the first of them
}

// Error names the first lines.
func (e *StrangersError) Error() string {
	lines := make([]string, len(e.Lines))
	for i, line := range e.Lines {
		lines[i] = strconv.Itoa(line)
	}
	return fmt.Sprintf("%s: %s of players who are not in %s, the first on line %s; correct them, "+
		"or plan only the good ones with --skip-invalid", e.Name, plural(e.Count, "row"), e.Table,
		strings.Join(lines, ", "))
}

// planSource hands the rows of a file to COPY, one at a time, and hashes them on the way.
type planSource struct {
	ctx  context.Context
	m    *planMaking
	next func() (batchfile.Row, error, bool)
	end  func()
	hash *planHasher
	err  error

	batch    []batchfile.Row // rows read ahead, so that their players are looked up together
	at       int
	unknown  map[string]bool // of the rows in the batch
	strangep map[int]bool    // lines of strangers that later rows repeat

	rows, due, duplicates, invalid int64

	strangers     int
	strangerLines []int
	values        []any
}

const (
	strangersNamed = 10
	planBatchRows  = 1000
	problemMax     = 1000 // bytes of a problem as it is kept
)

func newPlanSource(ctx context.Context, m *planMaking) *planSource {
	s := &planSource{ctx: ctx, m: m, hash: newPlanHasher(), strangep: make(map[int]bool)}
	s.next, s.end = iter.Pull2(m.file.Rows(ctx))
	return s
}

func (s *planSource) close() { s.end() }

// Next implements pgx.CopyFromSource.
func (s *planSource) Next() bool {
	if s.err != nil {
		return false
	}
	if s.at++; s.at >= len(s.batch) {
		if s.err = s.fill(); s.err != nil || len(s.batch) == 0 {
			return false
		}
	}
	s.take(&s.batch[s.at])
	return true
}

// fill reads the next rows ahead and looks their players up.
func (s *planSource) fill() error {
	s.batch, s.at = s.batch[:0], 0
	if s.m.req.OnRows != nil && s.rows > 0 {
		s.m.req.OnRows(s.rows, int64(s.m.check.Rows))
	}
	var ids []string
	for len(s.batch) < planBatchRows {
		row, err, more := s.next()
		if !more {
			break
		}
		if err != nil {
			return err
		}
		if len(row.Problems) == 0 {
			ids = append(ids, row.Request.PlayerID)
		}
		s.batch = append(s.batch, row)
	}
	var err error
	s.unknown, err = s.m.o.unknownPlayers(s.ctx, ids)
	return err
}

// take lays one row out for the database.
func (s *planSource) take(row *batchfile.Row) {
	r := planRow{
		Line: int64(row.Line), PlayerID: row.Request.PlayerID, EventID: row.Request.EventID,
		Kind: row.Request.Kind, Amount: row.Request.Amount,
	}
	problem := problemWords(row.Problems)
	if problem == "" && (s.unknown[r.PlayerID] || s.strangep[row.DuplicateOf]) {
		problem = s.m.o.stranger(r.PlayerID).Error()
		s.strangers++
		s.strangep[row.Line] = row.Repeated
		if len(s.strangerLines) < strangersNamed {
			s.strangerLines = append(s.strangerLines, row.Line)
		}
	}
	var outcome, detail, amountText *string
	switch {
	case problem != "":
		s.invalid++
		r.PlayerID, r.EventID, r.Kind = storable(r.PlayerID), storable(r.EventID), storable(r.Kind)
		rejected := "rejected"
		r.Problem, outcome, detail = &problem, &rejected, &problem
		if r.Amount == 0 {
			text := storable(row.AmountText)
			amountText = &text
		}
	case row.DuplicateOf > 0:
		s.duplicates++
		of := int64(row.DuplicateOf)
		r.DuplicateOf = &of
	default:
		s.due++
	}
	s.rows++
	s.hash.add(&r)
	s.values = append(s.values[:0], s.m.id, r.Line, r.PlayerID, r.EventID, r.Kind, r.Amount,
		r.DuplicateOf, r.Problem, amountText, outcome, detail)
}

// Values implements pgx.CopyFromSource.
func (s *planSource) Values() ([]any, error) { return s.values, nil }

// Err implements pgx.CopyFromSource.
func (s *planSource) Err() error { return s.err }

// problemWords joins the problems of a row; empty when there are none.
func problemWords(problems []batchfile.Problem) string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = fmt.Sprintf("%s %q: %s; %s", p.Field, p.Value, p.Problem, p.WayOut)
	}
	return storable(cutText(strings.Join(texts, ". "), problemMax))
}

// storable makes a refused text such that PostgreSQL takes it.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}

// cutText cuts a text at a character.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}
