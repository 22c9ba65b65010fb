package batchfile

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
)

// Rows gives every data row once, in file order, with its verdict. It ends early with one error:
// ErrNotValidated, ErrChanged (wrapped, with the line), the context's, or the system's. Each call
// begins anew.
func (f *File) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if f.check == nil {
			yield(Row{}, ErrNotValidated)
			return
		}
		s, err := f.records(ctx)
		if err != nil {
			yield(Row{}, f.changed(0, err))
			return
		}
		pass := secondPass{
			file: f, judge: newJudge(f.opt, f.layout), scan: s,
			crc: crc32.MakeTable(crc32.Castagnoli),
		}
		for {
			row, err := pass.next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// secondPass reads a validated file.
type secondPass struct {
	file  *File
	judge *judge
	scan  *scanner
	crc   *crc32.Table
	rows  int // given so far

	duplicate, repeated, clash int // cursors into the verdicts
}

func (p *secondPass) next(ctx context.Context) (Row, error) {
	if p.rows%progressEvery == 0 {
		if err := ctx.Err(); err != nil {
			return Row{}, err
		}
	}
	err := p.scan.next()
	sums := &p.file.sums
	switch {
	case errors.Is(err, io.EOF) && p.rows == sums.n:
		return Row{}, io.EOF
	case err != nil:
		return Row{}, p.file.changed(p.scan.line, err)
	case p.rows >= sums.n || checksum(p.scan, p.crc) != *sums.at(uint32(p.rows)):
		return Row{}, p.file.changed(p.scan.start, nil)
	}
	p.rows++
	row := p.judge.row(p.file.layout.cut(p.scan))
	p.fromOthers(&row)
	return row, nil
}

// fromOthers adds what the row has because of other rows.
func (p *secondPass) fromOthers(row *Row) {
	v, line := &p.file.verdict, uint32(row.Line)
	if p.duplicate < len(v.duplicates) && v.duplicates[p.duplicate].line == line {
		row.DuplicateOf = int(v.duplicates[p.duplicate].of)
		p.duplicate++
	}
	if p.repeated < len(v.repeated) && v.repeated[p.repeated] == line {
		row.Repeated = true
		p.repeated++
	}
	if p.clash < len(v.clashes) && v.clashes[p.clash].line == line {
		group := v.groups[v.clashes[p.clash].group]
		row.Problems = append(row.Problems, group.problemOn(line))
		p.clash++
	}
}

// changed turns what a second reading met, and the first did not, into ErrChanged.
func (f *File) changed(line int, err error) error {
	var fe *FileError
	if err != nil && !errors.As(err, &fe) && !errors.Is(err, io.EOF) {
		return err
	}
	return fmt.Errorf("%s, line %d: %w", f.name, line, ErrChanged)
}
