package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// placesPerRead is how many rows are fetched at once when evidence is read.
const placesPerRead = 2000

// place is where a row stands: seen by the transaction that found it, gone afterwards.
type place struct{ table, tid string }

func placeOf(text string) place {
	table, tid, _ := strings.Cut(text, " ")
	return place{table, tid}
}

// finish reads the evidence of drafts, in the transaction that found them, and reports them.
func (u *unitRun) finish(ctx context.Context, tx pgx.Tx, found []draft) error {
	for len(found) > 0 {
		n, places := 0, 0
		for n < len(found) && (n == 0 || places+len(found[n].Places) <= placesPerRead) {
			places += len(found[n].Places)
			n++
		}
		rows, err := u.readPlaces(ctx, tx, found[:n])
		if err != nil {
			return err
		}
		for _, d := range found[:n] {
			f, err := u.finding(d, rows)
			if err != nil {
				return err
			}
			if err := u.report(f); err != nil {
				return err
			}
		}
		found = found[n:]
	}
	return nil
}

// readPlaces reads whole rows, table by table.
func (u *unitRun) readPlaces(
	ctx context.Context, tx pgx.Tx, found []draft,
) (map[place][]jsonCol, error) {
	byTable := map[string][]string{}
	for _, d := range found {
		for _, text := range d.Places {
			p := placeOf(text)
			tid, _, _ := strings.Cut(p.tid, " ")
			byTable[p.table] = append(byTable[p.table], tid)
		}
	}
	out := map[place][]jsonCol{}
	for table, tids := range byTable {
		sql, err := ledgerSource{table: quotedTable(table)}.fill("place", scope{})
		if err != nil {
			return nil, err
		}
		rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"places": tids})
		if err != nil {
			return nil, err
		}
		var tid, raw string
		_, err = pgx.ForEachRow(rows, []any{&tid, &raw}, func() error {
			columns, err := jsonColumns([]byte(raw))
			out[place{table, tid}] = columns
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// finding puts a draft and its evidence together.
func (u *unitRun) finding(d draft, rows map[place][]jsonCol) (Finding, error) {
	rule, ok := auditRules()[d.Word]
	if !ok {
		return Finding{}, fmt.Errorf("audit: no rule %q", d.Word)
	}
	f := Finding{
		Check: u.check, Word: d.Word, Severity: rule.severity, Rule: rule.sentence,
		Table: u.source.name, PlayerID: d.PlayerID, EventID: d.EventID, Count: d.count,
	}
	evidence := slices.Clone(d.given)
	tables := map[string]bool{}
	for _, text := range d.Places {
		tables[placeOf(text).table] = true
	}
	for _, text := range d.Places {
		p := placeOf(text)
		columns := rows[p]
		if columns == nil {
			continue
		}
		if len(tables) > 1 {
			name := p.table
			columns = append([]jsonCol{{"source", &name}}, columns...)
		}
		evidence = append(evidence, columns)
	}
	if len(evidence) > 0 {
		d.claim = evidence[0]
	}
	f.Columns, f.Rows, f.Differs = sideBySide(evidence)
	if rule.table != "" {
		f.Table = rule.table
	}
	f.What = rule.what(d, f)
	f.Remedy = rule.remedy(u.source, d)
	var err error
	if f.Proof, err = u.filled(rule.proof, d); err != nil {
		return Finding{}, err
	}
	if rule.fix != "" {
		fix, err := u.filled(rule.fix, d)
		if err != nil {
			return Finding{}, err
		}
		f.Remedy += "\n" + fix
	}
	f.Fingerprint = fingerprint(u.check, d.Word, f.Table, d.PlayerID, d.EventID, d.Key)
	return f, nil
}

func fingerprint(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// sideBySide lays rows of possibly different tables beside each other. The columns that differ
// are those that at least two rows have, with different values.
func sideBySide(evidence [][]jsonCol) (columns []string, rows [][]*string, differs []string) {
	at := map[string]int{}
	for _, row := range evidence {
		for _, c := range row {
			if _, known := at[c.name]; !known {
				at[c.name] = len(columns)
				columns = append(columns, c.name)
			}
		}
	}
	holders, different := make([]int, len(columns)), make([]bool, len(columns))
	firsts := make([]*string, len(columns))
	for _, row := range evidence {
		cells := make([]*string, len(columns))
		for _, c := range row {
			i := at[c.name]
			cells[i] = c.value
			if holders[i] == 0 {
				firsts[i] = c.value
			} else if !sameText(firsts[i], c.value) {
				different[i] = true
			}
			holders[i]++
		}
		rows = append(rows, cells)
	}
	for i, name := range columns {
		if different[i] && name != "source" {
			differs = append(differs, name)
		}
	}
	return columns, rows, differs
}

func sameText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
