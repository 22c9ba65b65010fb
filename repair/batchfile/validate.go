package batchfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"rewardctl/grant"
)

// Check is what Validate found. Rows = Good + Duplicates + Refused.
type Check struct {
	Rows       int // data rows
	Good       int // rows that will be granted
	Duplicates int // rows that repeat an earlier one with the same content
	Refused    int // rows with a problem

	Problems     []Problem // the first ones, by line; see Options.KeepMax
	ProblemCount int       // all of them; a row may have several
	Warnings     []Warning // those about the whole file, then the first others by line
	WarningCount int

	// What follows sums up the good rows only.
	Players      int // different players
	PlayersTwice int // players that more than one good row names
	Kinds        []KindTotal
}

// KindTotal sums up the good rows of one kind.
type KindTotal struct {
	Kind        string
	Rows        int
	Total       int64 // the highest int64 when the sum is above it
	Largest     int64 // the largest single amount
	LargestLine int
}

const (
	kindsMax      = math.MaxUint16
	progressEvery = 1 << 13
	linesNamed    = 10 // other lines that one problem names
)

// Validate reads the whole file and writes nothing. Problems of rows are in the Check; the error
// is a *FileError when the file as a whole is refused, the context's error, or the system's. A
// second call answers the first one's Check.
func (f *File) Validate(ctx context.Context) (*Check, error) {
	if f.check != nil {
		return f.check, nil
	}
	v := newValidation(f)
	if err := v.run(ctx); err != nil {
		return nil, f.named(err)
	}
	f.verdict = v.finish()
	f.sums = v.sums
	check := v.check // a copy: a pointer into v would keep its tables
	f.check = &check
	return f.check, nil
}

// validation is one run of Validate.
type validation struct {
	file    *File
	judge   *judge
	check   Check
	keys    keyTable
	players playerTable
	sums    chunks[uint32]
	crc     *crc32.Table
	key     []byte // reused
	folded  []byte // reused

	kinds     []string
	kindOf    map[string]uint16
	kindAlike map[string]string // folded kind to the kind that came first

	repeated      int // rows whose key an earlier row has
	marks, random tally
	long, zeros   int // numeric ids of 17 digits and more; those that end in 00
}

// tally counts rows and remembers the first.
type tally struct{ count, line int }

func (t *tally) add(n, line int) {
	if n > 0 && t.count == 0 {
		t.line = line
	}
	t.count += n
}

func newValidation(f *File) *validation {
	return &validation{
		file: f, judge: newJudge(f.opt, f.layout), crc: crc32.MakeTable(crc32.Castagnoli),
		kindOf: make(map[string]uint16), kindAlike: make(map[string]string),
	}
}

func (v *validation) run(ctx context.Context) error {
	s, err := v.file.records(ctx)
	if err != nil {
		return err
	}
	for {
		if v.check.Rows%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			v.progress(s)
		}
		err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return v.file.ofSheet(err)
		}
		if err := v.take(s); err != nil {
			return err
		}
	}
	if v.check.Rows == 0 {
		return &FileError{
			Problem: "it has a header but no data rows", WayOut: "add rows below the header",
		}
	}
	return v.file.checkSheet(s)
}

func (v *validation) progress(s *scanner) {
	if v.file.opt.OnProgress == nil || v.check.Rows == 0 {
		return
	}
	taken, size := s.taken, v.file.size
	if s.sheet != nil {
		taken, size = s.sheet.rows.Taken(), s.sheet.rows.Size()
	}
	v.file.opt.OnProgress(Progress{
		Rows: v.check.Rows, Refused: v.check.Refused, Repeated: v.repeated,
		Bytes: min(taken, size), Total: size,
	})
}

// take judges one record and remembers it.
func (v *validation) take(s *scanner) error {
	v.check.Rows++
	if v.check.Rows > v.file.opt.RowsMax || s.start > math.MaxUint32 {
		return &FileError{
			Line: s.start, WayOut: "split the file",
			Problem: fmt.Sprintf("it has more than %d data rows", v.file.opt.RowsMax),
		}
	}
	v.sums.add(checksum(s, v.crc))
	c := v.file.layout.cut(s)
	r := v.judge.row(c)
	if len(r.Problems) > 0 {
		v.check.Refused++
		for _, p := range r.Problems {
			v.problem(p)
		}
		return nil
	}
	v.marks.add(c.marks, c.line)
	v.countLong(c.player.text)
	return v.remember(&r)
}

// remember enters a row that is good by itself into the tables.
func (v *validation) remember(r *Row) error {
	kind, err := v.kind(r)
	if err != nil {
		return err
	}
	line := uint32(r.Line)
	v.key = appendKey(v.key[:0], &r.Request)
	v.folded = appendFolded(v.folded[:0], v.key)
	player, folded := v.key[:len(r.Request.PlayerID)], v.folded
	for i, c := range v.folded {
		if c == 0 {
			folded = v.folded[:i]
			break
		}
	}
	entry, alike := v.players.find(hash64(player), hash64(folded), line)
	if alike != nil {
		v.warn(Warning{
			r.Line, int(alike.line), "player_id", r.Request.PlayerID, fmt.Sprintf(
				"differs from the id of line %d only in letter case or form: they are two players",
				alike.line),
		})
	}
	twin, again := v.keys.add(keyRow{
		key: hashKey(v.key), folded: hash64(v.folded), amount: r.Request.Amount,
		line: line, player: entry, kind: kind,
	})
	if again {
		v.repeated++
	}
	if twin != nil && twin.player == entry {
		v.warn(Warning{
			r.Line, int(twin.line), "reward_event_id", r.Request.EventID, fmt.Sprintf(
				"differs from the event of line %d only in letter case or form: both are granted",
				twin.line),
		})
	}
	if _, random := grant.LooksRandom(withoutPlayer(&r.Request)); random {
		v.random.add(1, r.Line)
	}
	return nil
}

// kind numbers the kinds.
func (v *validation) kind(r *Row) (uint16, error) {
	if n, known := v.kindOf[r.Request.Kind]; known {
		return n, nil
	}
	if len(v.kinds) >= kindsMax {
		return 0, &FileError{
			Line: r.Line, Problem: fmt.Sprintf("it has more than %d different kinds", kindsMax),
			WayOut: "check that the column kind is not another one",
		}
	}
	n, folded := uint16(len(v.kinds)), string(appendFolded(nil, []byte(r.Request.Kind)))
	if first, alike := v.kindAlike[folded]; alike {
		v.warn(Warning{
			r.Line, 0, "kind", r.Request.Kind,
			fmt.Sprintf("differs from %q only in letter case or form: they are two kinds", first),
		})
	} else {
		v.kindAlike[folded] = r.Request.Kind
	}
	v.kinds = append(v.kinds, r.Request.Kind)
	v.kindOf[r.Request.Kind] = n
	return n, nil
}

// countLong watches ids beyond the 15 digits that a spreadsheet keeps.
func (v *validation) countLong(id []byte) {
	if len(id) < 17 || digits(id) != len(id) {
		return
	}
	v.long++
	if strings.HasSuffix(string(id), "00") {
		v.zeros++
	}
}

func (v *validation) problem(p Problem) {
	v.check.ProblemCount++
	if len(v.check.Problems) < v.file.opt.KeepMax {
		v.check.Problems = append(v.check.Problems, p)
	}
	if v.file.opt.OnProblem != nil {
		v.file.opt.OnProblem(p)
	}
}

func (v *validation) warn(w Warning) {
	v.check.WarningCount++
	if len(v.check.Warnings) < v.file.opt.KeepMax {
		v.check.Warnings = append(v.check.Warnings, w)
	}
}

func sortByLine(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
}
