package inspect

import (
	"context"
	"fmt"
	"strings"
)

type keyRow struct {
	Relation    string  `db:"relation"`
	Columns     string  `db:"columns"`
	HasTable    bool    `db:"has_table"`
	Nullable    string  `db:"nullable"`
	Name        *string `db:"name"`
	IsUnique    bool    `db:"is_unique"`
	IsValid     bool    `db:"is_valid"`
	IsReady     bool    `db:"is_ready"`
	IsLive      bool    `db:"is_live"`
	IsImmediate bool    `db:"is_immediate"`
	IsWhole     bool    `db:"is_whole"`
	NotC        string  `db:"not_c"`
}

// keys are the unique keys that the engine relies on: table, what people call it, its columns
// sorted by name.
var keys = [...]struct{ relation, name, columns string }{
	{"reward_ledger", "ledger unique key", "player_id,reward_event_id"},
	{"reward_claim", "claim unique key", "player_id,reward_event_id"},
	{"reward_fence", "fence key", "resource"},
	{"reward_balance", "balance key", "kind,player_id"},
	{"reward_outbox", "outbox key", "ledger_id"},
}

func (r *Reader) examineSchema(ctx context.Context, d *Diagnosis, s serverSeen) {
	d.add(Check{
		Name: "tables", Level: Gate,
		Value: yesNo(s.HasLedger, "present in schema "+s.Schema,
			"reward_ledger is not in the search path"),
		Why: "without its tables nothing can be granted", Fix: "run: rewardctl migrate up",
	}, s.HasLedger)
	r.examineMigrations(ctx, d, s)
	if !s.HasLedger {
		return
	}
	r.examineKeys(ctx, d)
	r.examineTwins(ctx, d)
	r.examineTriggers(ctx, d)
	r.examineLog(ctx, d)
}

func (r *Reader) examineMigrations(ctx context.Context, d *Diagnosis, s serverSeen) {
	check := Check{
		Name: "migrations", Level: Gate, Why: "this program needs the tables as it knows them",
		Fix: "run: rewardctl migrate up",
	}
	if r.opts.SchemaVersion == 0 {
		return
	}
	if !s.HasMigrations {
		check.Value = "none was applied"
		d.add(check, false)
		return
	}
	type row struct {
		Version int64 `db:"version"`
	}
	rows, err := examine[row](ctx, r, doctorMigrationSQL, none{})
	if err != nil {
		d.unseen(check, err)
		return
	}
	have, want := rows[0].Version, r.opts.SchemaVersion
	check.Value = fmt.Sprintf("at %d, this program knows %d", have, want)
	if have > want {
		check.Level = Warning
		check.Fix = "use a newer rewardctl: another one has migrated this database further"
	}
	d.add(check, have == want)
}

func (r *Reader) examineKeys(ctx context.Context, d *Diagnosis) {
	args := struct {
		Relations []string `db:"relations"`
		Columns   []string `db:"columns"`
	}{}
	for _, k := range keys {
		args.Relations = append(args.Relations, k.relation)
		args.Columns = append(args.Columns, k.columns)
	}
	rows, err := examine[keyRow](ctx, r, doctorKeySQL, args)
	if err != nil {
		d.unseen(Check{Name: keys[0].name, Level: Gate, Why: keyWhy}, err)
		return
	}
	for i, row := range rows {
		problem, fix := row.problem()
		check := Check{Name: keys[i].name, Level: Gate, Why: keyWhy, Fix: fix, Value: problem}
		if problem == "" {
			check.Value = fmt.Sprintf("%s on (%s): unique, valid, ready, immediate, whole",
				value(row.Name), row.Columns)
		}
		d.add(check, problem == "")
		if row.NotC != "" {
			d.add(Check{
				Name: keys[i].name + " collation", Level: Warning,
				Value: fmt.Sprintf("%s of %s is not in the C collation", row.NotC, row.Relation),
				Why:   "an upgrade of the operating system can reorder it and let duplicates in",
				Fix: fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE text COLLATE \"C\"",
					row.Relation, row.NotC),
			}, false)
		}
	}
}

const keyWhy = "the key is what stops the same event from being paid twice, under any token"

func (k keyRow) problem() (problem, fix string) {
	name := value(k.Name)
	rebuild := fmt.Sprintf("first list duplicates: SELECT %[1]s, count(*) FROM %[2]s GROUP BY "+
		"%[1]s HAVING count(*) > 1 with index scans off; settle them; then REINDEX INDEX "+
		"CONCURRENTLY %[3]s, which fails while duplicates exist", k.Columns, k.Relation, name)
	create := fmt.Sprintf("list and settle duplicates, then CREATE UNIQUE INDEX CONCURRENTLY ON "+
		"%s (%s)", k.Relation, strings.ReplaceAll(k.Columns, ",", ", "))
	switch {
	case !k.HasTable:
		return "the table " + k.Relation + " is missing", "run: rewardctl migrate up"
	case name == "":
		return fmt.Sprintf("%s has no index on exactly (%s)", k.Relation, k.Columns), create
	case !k.IsUnique:
		return name + " is not unique", create
	case !k.IsWhole:
		return name + " is partial or on expressions: rows outside it can be doubled", create
	case !k.IsImmediate:
		return name + " is deferrable: a duplicate is noticed only at commit", create
	case !k.IsValid:
		return name + " is not valid: a build failed or was switched off", rebuild
	case !k.IsReady:
		return name + " is not ready: new rows are not entered into it", rebuild
	case !k.IsLive:
		return name + " is being dropped", create
	case k.Nullable != "":
		return fmt.Sprintf("%s of %s can be null, and nulls are never equal", k.Nullable,
				k.Relation), fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL", k.Relation,
				k.Nullable)
	}
	return "", ""
}

func (r *Reader) examineTriggers(ctx context.Context, d *Diagnosis) {
	type row struct {
		Relation   string `db:"relation"`
		OnUpdate   bool   `db:"on_update"`
		OnDelete   bool   `db:"on_delete"`
		OnTruncate bool   `db:"on_truncate"`
	}
	relations := []string{"reward_ledger", "operator_action"}
	rows, err := examine[row](ctx, r, doctorTriggerSQL, struct {
		Relations []string `db:"relations"`
	}{relations})
	check := Check{
		Name: "append-only triggers", Level: Gate,
		Why: "the ledger and the log of operators must not be changed, replication included",
	}
	if err != nil {
		d.unseen(check, err)
		return
	}
	for _, t := range rows {
		var open []string
		for _, deed := range []struct {
			name    string
			stopped bool
		}{{"update", t.OnUpdate}, {"delete", t.OnDelete}, {"truncate", t.OnTruncate}} {
			if !deed.stopped {
				open = append(open, deed.name)
			}
		}
		check.Name = "append-only " + t.Relation
		check.Value = "update, delete and truncate are refused, ALWAYS"
		if len(open) > 0 {
			check.Value = strings.Join(open, ", ") + " is not refused by a trigger enabled ALWAYS"
		}
		check.Fix = fmt.Sprintf("as the owner: ALTER TABLE %[1]s ENABLE ALWAYS TRIGGER for each of "+
			"its triggers that call reward_append_only(); \\d %[1]s lists them", t.Relation)
		d.add(check, len(open) == 0)
	}
}

// examineCollation compares the sort rules of text indexes with those of the machine.
func (r *Reader) examineCollation(ctx context.Context, d *Diagnosis) {
	type index struct {
		Name     string `db:"name"`
		IsUnique bool   `db:"is_unique"`
	}
	type change struct {
		Name       string  `db:"name"`
		OfDatabase bool    `db:"of_database"`
		Recorded   string  `db:"recorded"`
		Actual     *string `db:"actual"`
	}
	check := Check{
		Name: "collation", Level: Warning,
		Why: "when the sort rules of the operating system change, an index by them loses rows and " +
			"a unique one lets duplicates in",
	}
	changes, err := examine[change](ctx, r, doctorCollationSQL, none{})
	if err != nil {
		d.unseen(check, err)
		return
	}
	indexes, err := examine[index](ctx, r, doctorTextIndexSQL, none{})
	if err != nil {
		d.unseen(check, err)
		return
	}
	var names []string
	for _, i := range indexes {
		names = append(names, i.Name+yesNo(i.IsUnique, " (unique)", ""))
		if i.IsUnique && len(changes) > 0 {
			check.Level = Gate
		}
	}
	affected := yesNo(len(names) == 0, "none of our indexes", strings.Join(names, ", "))
	if len(changes) == 0 {
		check.Value = "unchanged; not in the C collation: " + affected
		d.add(check, true)
		return
	}
	var found, refresh []string
	for _, c := range changes {
		what, command := "collation", "ALTER COLLATION %q REFRESH VERSION"
		if c.OfDatabase {
			what, command = "database", "ALTER DATABASE %q REFRESH COLLATION VERSION"
		}
		found = append(found, fmt.Sprintf("%s %s: recorded %s, actual %s", what, c.Name, c.Recorded,
			value(c.Actual)))
		refresh = append(refresh, fmt.Sprintf(command, c.Name))
	}
	check.Value = strings.Join(found, "; ") + "; affected: " + affected +
		"; the keys of the ledger are in the C collation unless named here"
	check.Fix = "in this order: 1. list duplicates with index scans off " +
		"(SET enable_indexscan = off, enable_indexonlyscan = off, enable_bitmapscan = off) and " +
		"settle them; 2. REINDEX each affected index, which fails while duplicates exist; 3. " +
		strings.Join(refresh, "; ")
	d.add(check, false)
}
