package inspect

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// statement returns an embedded statement of the audits without its contract.
func statement(name string) (string, error) {
	text, err := auditSQL.ReadFile("sql/audit/" + name + ".sql")
	if err != nil {
		return "", err
	}
	rest := string(text)
	for strings.HasPrefix(rest, "--") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return strings.TrimSpace(rest), nil
}

// ledgerSource is a table as the statements see it: each field is an SQL expression over the
// alias l, made of quoted identifiers only.
type ledgerSource struct {
	name  string // as people write it
	table string // quoted

	player, playerFold, event, kind, kindFold, amount, at, row string

	keyed   string // condition: the row has a player and an event id
	settled string // condition: the row still counts
	own     bool   // our own ledger
}

// whole is what a condition is filled in with when every row meets it.
const whole = "true"

// ownLedger is reward_ledger.
func ownLedger() (ledgerSource, error) {
	unreversed, err := statement("part_unreversed")
	if err != nil {
		return ledgerSource{}, err
	}
	return ledgerSource{
		name: "reward_ledger", table: "reward_ledger", player: "l.player_id",
		playerFold: "l.player_id", event: "l.reward_event_id", kind: "l.kind", kindFold: "l.kind",
		amount: "l.amount::text", at: "l.created_at", row: "l.id", keyed: whole,
		settled: unreversed, own: true,
	}, nil
}

// source returns a studio's own table. The names were checked when the configuration was read,
// and are quoted all the same.
func (t LedgerTable) source() ledgerSource {
	text := func(column, unset string) string {
		if column == "" {
			return unset
		}
		return "l." + pgx.Identifier{column}.Sanitize() + `::text collate "C"`
	}
	s := ledgerSource{
		name: t.Table, table: quotedTable(t.Table), player: text(t.Player, "''"),
		event: text(t.Event, "''"), kind: text(t.Kind, "''::text"),
		amount: text(t.Amount, "''::text"), row: "l.ctid", settled: whole,
	}
	s.player, s.event = "("+s.player+")", "("+s.event+")"
	s.playerFold, s.kindFold = "lower(btrim("+s.player+"))", "lower(btrim("+s.kind+"))"
	if t.Amount != "" {
		// 50 and 50.00 are the same amount.
		s.amount = "trim_scale(l." + pgx.Identifier{t.Amount}.Sanitize() + "::numeric)::text"
	}
	if t.At != "" {
		s.at = "l." + pgx.Identifier{t.At}.Sanitize() + "::timestamptz"
	}
	s.keyed = "(btrim(" + s.player + ") <> '' and btrim(" + s.event + ") <> '')"
	return s
}

// quotedTable quotes a name with an optional schema.
func quotedTable(name string) string {
	return pgx.Identifier(strings.Split(name, ".")).Sanitize()
}

// scope is which rows a statement looks at.
type scope struct {
	part, parts int   // part of parts; parts is a power of two
	since       int64 // mark from which on rows are new; 0: all rows count as new
	changed     string
}

// fill returns a statement with everything filled in.
func (s ledgerSource) fill(name string, sc scope) (string, error) {
	sql, err := statement(name)
	if err != nil {
		return "", err
	}
	changed, changedFold := whole, whole
	if sc.since > 0 && sc.changed != "" {
		if changed, err = statement(sc.changed); err != nil {
			return "", err
		}
		if changedFold, err = statement("part_changed_fold"); err != nil {
			return "", err
		}
	}
	sql = strings.NewReplacer("{changed}", changed, "{changed_fold}", changedFold).Replace(sql)
	fresh, err := s.fresh(sc)
	if err != nil {
		return "", err
	}
	mask, part := strconv.Itoa(sc.parts-1), strconv.Itoa(sc.part)
	inPart := func(player string) string {
		if sc.parts <= 1 {
			return whole
		}
		return "hashtextextended(" + player + ", 0) & " + mask + " = " + part
	}
	return strings.NewReplacer(
		"{table}", s.table, "{table_name}", s.name, "{player}", s.player,
		"{player_fold}", s.playerFold, "{event}", s.event, "{kind}", s.kind,
		"{kind_fold}", s.kindFold, "{amount}", s.amount, "{at}", s.at, "{row}", s.row,
		"{keyed}", s.keyed, "{settled}", s.settled, "{mask}", mask, "{part}", part,
		"{in_part}", inPart(s.player), "{in_part_fold}", inPart(s.playerFold),
		"{new l}", fresh("l"), "{new f}", fresh("f"),
	).Replace(sql), nil
}

// fresh returns the condition that a row of an alias is new.
func (s ledgerSource) fresh(sc scope) (func(alias string) string, error) {
	if sc.since <= 0 {
		return func(string) string { return whole }, nil
	}
	condition, err := statement("part_new")
	if err != nil {
		return nil, err
	}
	since := strconv.FormatInt(sc.since, 10)
	return func(alias string) string {
		return strings.NewReplacer("{alias}", alias, "{since}", since).Replace(condition)
	}, nil
}
