package batchfile

import (
	"context"
	"errors"
	"io"
	"slices"

	"rewardctl/repair/batchfile/workbook"
)

// Look is what the first lines of a file say, before it is known what its columns mean.
type Look struct {
	Format string // "CSV", "JSON lines" or "XLSX"
	Bytes  int64
	// Sheets are the sheets of a workbook that can be read, when it has several.
	Sheets []string
	// Sheet is the one that was looked at; empty when the file is no workbook, or when somebody
	// has to choose: then there are no Columns.
	Sheet   string
	Columns []FoundColumn
}

// FoundColumn is one column of a file.
type FoundColumn struct {
	Name   string // as it is written
	Sample string // what stands in it in the first data row
	// Target is the column of grants that the name means, or was named to mean; empty for none.
	Target string
	// Guess is what the name could mean, where no other column means it; empty for nothing.
	Guess string
}

// LookAt reads the first lines of a file: what it is and which columns it has. Nothing is refused
// that naming columns could mend. The error is a *FileError, a *grant.Rejection about the columns
// that were named, the context's error, or the system's.
func LookAt(ctx context.Context, path string, opt Options) (look Look, err error) {
	f := &File{name: path, opt: opt}
	if f.naming, err = newNaming(opt.Columns); err != nil {
		return look, err
	}
	if err := f.openSource(ctx, path); err != nil {
		return look, err
	}
	defer f.Close()
	head := make([]byte, headLen)
	n, err := f.src.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return look, err
	}
	if workbook.Is(head[:n]) {
		look, err = f.lookSheet(ctx)
	} else {
		look, err = f.lookText()
	}
	look.Bytes = f.size
	if err != nil {
		return look, f.named(err)
	}
	f.naming.guess(look.Columns)
	return look, nil
}

func (f *File) lookSheet(ctx context.Context) (Look, error) {
	look := Look{Format: "XLSX"}
	book, err := workbook.Open(ctx, f.src, f.size)
	if err != nil {
		return look, asFileError(err)
	}
	if names := book.Names(); len(names) > 1 {
		look.Sheets = names
	}
	if f.sheet, err = book.Choose(ctx, f.opt.Sheet); err != nil {
		if f.opt.Sheet == "" && len(look.Sheets) > 1 {
			return look, nil // somebody has to choose
		}
		return look, asFileError(err)
	}
	look.Sheet = f.sheet.Name
	if err := book.Shared(ctx); err != nil {
		return look, asFileError(err)
	}
	s, err := f.sheetScanner(ctx)
	if err != nil {
		return look, err
	}
	defer s.sheet.rows.Close()
	look.Columns, err = f.naming.found(s, 1)
	return look, err
}

func (f *File) lookText() (Look, error) {
	look := Look{Format: "CSV"}
	text, err := decode(f.section())
	if err != nil {
		return look, err
	}
	switch is, err := isJSON(text); {
	case err != nil:
		return look, err
	case is:
		look.Format = "JSON lines"
		look.Columns, err = f.lookObject()
		return look, err
	}
	declared, err := readDeclared(f.section)
	if err != nil {
		return look, err
	}
	skip, best := 1, -1
	if declared != 0 {
		skip = 2
	}
	var failed error
	for _, separator := range separators {
		if declared != 0 && separator != declared {
			continue
		}
		if text, err = decode(f.section()); err != nil {
			return look, err
		}
		columns, err := f.naming.found(newScanner(text, separator), skip)
		if err != nil {
			failed = err
			continue
		}
		if worth := f.naming.worth(columns); worth > best {
			best, look.Columns = worth, columns
		}
	}
	if best < 0 {
		return look, failed
	}
	return look, nil
}

// worth tells by which separator the header was cut best: by what its columns mean, then by how
// many there are. Somebody looks at them before anything is done with the file.
func (n *naming) worth(columns []FoundColumn) int {
	const known = 1 << 20
	n.guess(columns)
	worth := len(columns)
	for _, c := range columns {
		if c.Target != "" || c.Guess != "" {
			worth += known
		}
	}
	return worth
}

// found reads the header, which is the last of some records, and the row behind it.
func (n *naming) found(s *scanner, records int) ([]FoundColumn, error) {
	for range records {
		switch err := s.next(); {
		case errors.Is(err, io.EOF):
			return nil, &FileError{
				Problem: "it has no header line",
				WayOut:  "give a first line that names the columns, and data rows",
			}
		case err != nil:
			return nil, err
		}
	}
	columns := make([]FoundColumn, s.cells())
	for i := range columns {
		columns[i].Name = string(trim(s.cell(i)))
		columns[i].Target = n.means(columns[i].Name)
	}
	switch err := s.next(); {
	case errors.Is(err, io.EOF):
		return columns, nil
	case err != nil:
		return nil, err
	}
	for i := range min(len(columns), s.cells()) {
		columns[i].Sample = shorten(string(trim(s.cell(i))), sampleMax)
	}
	return columns, nil
}

const sampleMax = 80

func (f *File) lookObject() ([]FoundColumn, error) {
	text, err := decode(f.section())
	if err != nil {
		return nil, err
	}
	s := newScanner(text, 0)
	s.json = &jsonLine{naming: &f.naming}
	if err := s.next(); err != nil {
		return nil, err
	}
	columns := make([]FoundColumn, len(s.json.names))
	for i, name := range s.json.names {
		value, _ := jsonText([]byte(s.json.values[i]), true)
		columns[i] = FoundColumn{
			Name: name, Sample: shorten(string(value), sampleMax), Target: f.naming.means(name),
		}
	}
	return columns, nil
}

// means is the column of grants that a column is read as; empty for none.
func (n *naming) means(name string) string {
	if at := n.place(columnName(name)); at >= 0 {
		return jsonCells[at]
	}
	return ""
}

// guess fills in what the names of columns could mean that mean nothing, and clears what it
// filled in before. A target is guessed once, and never one that a column has.
func (n *naming) guess(columns []FoundColumn) {
	taken := map[string]bool{}
	for i := range columns {
		columns[i].Guess = ""
		taken[columns[i].Target] = true
	}
	if taken["event"] {
		taken["subject"] = true // which is not used beside it
	}
	for _, target := range jsonCells {
		if taken[target] {
			continue
		}
		for _, word := range likely(target) {
			at := slices.IndexFunc(columns, func(c FoundColumn) bool {
				return c.Target == "" && c.Guess == "" && columnName(c.Name) == word
			})
			if at >= 0 {
				columns[at].Guess = target
				break
			}
		}
	}
}

// likely are names that columns have elsewhere, the likeliest first.
func likely(target string) []string {
	switch target {
	case "player_id":
		return []string{
			"player", "playerid", "user_id", "userid", "user", "account_id", "accountid", "account",
			"uid", "member_id", "customer_id", "character_id", "recipient", "spieler", "spieler_id",
			"플레이어", "유저", "계정", "id",
		}
	case "kind":
		return []string{
			"currency", "reward", "reward_kind", "reward_type", "item", "item_id", "sku", "type",
			"art", "währung", "재화", "보상", "아이템", "종류",
		}
	case "amount":
		return []string{
			"qty", "quantity", "count", "value", "number", "sum", "amt", "menge", "anzahl", "betrag",
			"수량", "금액", "개수",
		}
	case "subject":
		return []string{"rank", "ticket", "case", "rang", "순위"}
	}
	return nil // an event id decides what is granted twice: nobody guesses it
}
