package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// columnSeen is what the catalog knows about a configured column.
type columnSeen struct {
	Relkind  string `db:"relkind"`
	Name     string `db:"name"`
	Found    bool   `db:"found"`
	Type     string `db:"type"`
	Category string `db:"category"`
}

// columns returns the configured columns in a fixed order.
func (t LedgerTable) columns() []string {
	all := []string{t.Player, t.Event}
	for _, name := range []string{t.Kind, t.Amount, t.At} {
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// cutForeign divides the audit of the studio's own tables into units. A table that cannot be read
// as configured is one unit that says so.
func (a *auditRun) cutForeign(ctx context.Context, tx pgx.Tx, since int64) ([]unit, error) {
	var units []unit
	for _, table := range a.plan.Ledgers {
		sql, err := statement("columns")
		if err != nil {
			return nil, err
		}
		rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{
			"relation": quotedTable(table.Table), "columns": table.columns(),
		})
		if err != nil {
			return nil, err
		}
		seen, err := pgx.CollectRows(rows, pgx.RowToStructByName[columnSeen])
		if err != nil {
			return nil, err
		}
		if problem := table.problem(seen); problem != "" {
			units = append(units, unit{
				name: table.Table, source: ledgerSource{name: table.Table},
				read: readUnreadable(problem, seen),
			})
			continue
		}
		some, err := a.cutTable(ctx, tx, table, since)
		if err != nil {
			return nil, err
		}
		units = append(units, some...)
	}
	return units, nil
}

// problem says why a table cannot be read as configured.
func (t LedgerTable) problem(seen []columnSeen) string {
	for _, c := range seen {
		switch {
		case c.Relkind == "":
			return "there is no table " + t.Table
		case c.Relkind != "r" && c.Relkind != "p" && c.Relkind != "m":
			return t.Table + " is not a table: name the tables behind it"
		case !c.Found:
			return fmt.Sprintf("%s has no column %s", t.Table, c.Name)
		case c.Name == t.At && (c.Category != "D" || c.Type == "time without time zone"):
			return fmt.Sprintf("column %s of %s is %s, not a date or a time", c.Name, t.Table, c.Type)
		case c.Name == t.Amount && c.Category != "N":
			return fmt.Sprintf("column %s of %s is %s, not a number", c.Name, t.Table, c.Type)
		}
	}
	return ""
}

func (a *auditRun) cutTable(
	ctx context.Context, tx pgx.Tx, table LedgerTable, since int64,
) ([]unit, error) {
	rows, err := tableRows(ctx, tx, quotedTable(table.Table))
	if err != nil {
		return nil, err
	}
	// The number of parts must be the same when a run goes on, so that of the run is used.
	source, parts := table.source(), a.plan.Parts
	if rows < rowsPerPart {
		parts = 1
	}
	units := []unit{
		a.tableUnit("keyless", source, rows, scope{parts: 1, since: since}, readBy("keyless")),
	}
	for part := range hashParts(parts) {
		sc := scope{part, hashParts(parts), since, "part_changed"}
		units = append(units, a.tableUnit("duplicates", source, rows, sc, readDuplicates))
	}
	if table.At != "" {
		for part := range parts {
			sc := scope{part, parts, since, "part_changed"}
			units = append(units, a.tableUnit("near duplicates", source, rows, sc, readNear))
		}
	}
	sc := scope{0, 1, since, "part_changed"}
	return append(units, a.tableUnit("ids", source, rows, sc, readRandom)), nil
}

func (a *auditRun) tableUnit(
	what string, source ledgerSource, rows int64, sc scope, read readUnit,
) unit {
	name := source.name + " " + what
	if sc.parts > 1 {
		name = fmt.Sprintf("%s, part %d of %d", name, sc.part+1, sc.parts)
	}
	return unit{name: name, source: source, rows: rows / int64(sc.parts), scope: sc, read: read}
}

// readUnreadable reports a table that cannot be read as configured: an audit that passes over it
// in silence would look like a clean one.
func readUnreadable(problem string, seen []columnSeen) readUnit {
	return func(_ context.Context, u *unitRun, _ pgx.Tx) error {
		f := Finding{
			Check: u.check, Word: "unreadable", Severity: Serious, Table: u.source.name, Count: 1,
			Rule: "each table of audit.ledgers can be read as the configuration says",
			What: problem,
			Remedy: "Correct audit.ledgers in the configuration; this shows what is in force:\n" +
				shellLine([]string{"config", "show"}),
			Columns: []string{"column", "found", "type"},
		}
		for _, c := range seen {
			found := yesNo(c.Found, "yes", "no")
			f.Rows = append(f.Rows, []*string{&c.Name, &found, &c.Type})
		}
		var err error
		f.Proof, err = catalogProof("proof_columns", u.source.name)
		f.Fingerprint = fingerprint(u.check, f.Word, f.Table, problem)
		if err != nil {
			return err
		}
		return u.report(f)
	}
}
