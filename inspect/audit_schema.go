package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// readDoctor looks at keys, triggers and sort rules as the doctor does, before the transaction of
// the unit begins: each of the doctor's questions has one of its own.
func readDoctor(ctx context.Context, u *unitRun) error {
	u.source.name = catalogName
	server, err := examine[serverRow](ctx, u.reader, doctorServerSQL, none{})
	if err != nil {
		return err
	}
	var d Diagnosis
	seen := serverSeen{serverRow: server[0]}
	u.reader.examineSchema(ctx, &d, seen)
	if seen.HasLedger {
		u.reader.examineCollation(ctx, &d)
	}
	for _, c := range d.Checks {
		if err := u.reportCheck(c); err != nil {
			return err
		}
	}
	return nil
}

const catalogName = "the catalog"

// readCatalog looks at privileges and sequences.
func readCatalog(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	if err := u.readPrivileges(ctx, tx); err != nil {
		return err
	}
	return u.readSequences(ctx, tx)
}

// reportCheck turns a check of the doctor that failed, or could not be made, into a finding.
func (u *unitRun) reportCheck(c Check) error {
	switch {
	case c.Status == Pass, c.slow && slices.Contains(u.plan.Checks, checkDuplicate):
		return nil // what takes long is read row by row by another check of this run
	case c.slow:
		return tellNote(u.sink, u.check, c.Name+": "+c.Value+"; "+c.Fix)
	}
	f := Finding{
		Check: u.check, Word: "schema", Severity: Serious, Rule: c.Why, Count: 1,
		What: c.Name + ": " + c.Value, Table: catalogName, Remedy: c.Fix,
	}
	if c.Level == Gate && c.Status == Fail {
		f.Severity = Critical
	}
	if c.Status == Unseen {
		f.What = c.Name + " could not be seen: " + c.Value
		f.Remedy = "Give this account the right to look, then run the audit again."
	}
	f.Remedy = strings.TrimSpace(f.Remedy + "\n" + shellLine([]string{"doctor"}))
	proof, table := "proof_indexes", tableOfCheck(c.Name)
	if strings.Contains(c.Name, "collation") {
		proof = "proof_collations"
	}
	return u.reportCatalog(f, proof, table, []jsonCol{{"check", &c.Name}, {"found", &c.Value}})
}

// tableOfCheck names the table that a check of the doctor is about.
func tableOfCheck(name string) string {
	for _, k := range keys {
		if strings.HasPrefix(name, k.name) {
			return k.relation
		}
	}
	if table, is := strings.CutPrefix(name, "append-only "); is {
		return table
	}
	return "reward_ledger"
}

func (u *unitRun) reportCatalog(f Finding, proof, name string, rows ...[]jsonCol) error {
	var err error
	if f.Proof, err = catalogProof(proof, name); err != nil {
		return err
	}
	f.Columns, f.Rows, f.Differs = sideBySide(rows)
	f.Fingerprint = fingerprint(f.Check, f.Word, f.What)
	return u.report(f)
}

// catalogProof fills a name into a statement about the catalog.
func catalogProof(statementName, name string) (string, error) {
	sql, err := statement(statementName)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(sql, "{name}", sqlLiteral(name)), nil
}

func (u *unitRun) readPrivileges(ctx context.Context, tx pgx.Tx) error {
	type row struct {
		Relation   string `db:"relation"`
		Owner      string `db:"owner"`
		Grantee    string `db:"grantee"`
		Privileges string `db:"privileges"`
	}
	rows, err := auditRows[row](ctx, tx, "privilege")
	if err != nil {
		return err
	}
	for _, r := range rows {
		grantee := r.Grantee
		if grantee != "PUBLIC" {
			grantee = pgx.Identifier{grantee}.Sanitize()
		}
		f := Finding{
			Check: u.check, Word: "privilege", Severity: Serious, Table: r.Relation, Count: 1,
			Rule: "nobody but the owner may change or empty an append-only table",
			What: fmt.Sprintf("%s may %s %s", r.Grantee, r.Privileges, r.Relation),
			Remedy: fmt.Sprintf("As the owner (%s): REVOKE %s ON %s FROM %s", r.Owner, r.Privileges,
				r.Relation, grantee),
		}
		err := u.reportCatalog(f, "proof_privileges", r.Relation, []jsonCol{
			{"table", &r.Relation},
			{"owner", &r.Owner},
			{"grantee", &r.Grantee},
			{"privileges", &r.Privileges},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unitRun) readSequences(ctx context.Context, tx pgx.Tx) error {
	type row struct {
		Name     string `db:"name"`
		Relation string `db:"relation"`
		Last     int64  `db:"last_value"`
		Most     int64  `db:"most"`
		Percent  int32  `db:"percent"`
	}
	rows, err := auditRows[row](ctx, tx, "sequence")
	if err != nil {
		return err
	}
	for _, r := range rows {
		last, most := fmt.Sprint(r.Last), fmt.Sprint(r.Most)
		f := Finding{
			Check: u.check, Word: "sequence", Severity: Serious, Table: r.Relation, Count: 1,
			Rule: "less than 80 % of the numbers of a table are used up",
			What: fmt.Sprintf("%d %% of the numbers of %s are used up", r.Percent, r.Relation),
			Remedy: fmt.Sprintf("Make the column and the sequence wider before they end: ALTER "+
				"SEQUENCE %s AS bigint, and the column likewise", r.Name),
		}
		err := u.reportCatalog(f, "proof_sequences", r.Name, []jsonCol{
			{"sequence", &r.Name}, {"last", &last}, {"most", &most},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// auditRows runs a statement of the audits that has no arguments.
func auditRows[T any](ctx context.Context, tx pgx.Tx, name string) ([]T, error) {
	sql, err := statement(name)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}
