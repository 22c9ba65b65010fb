package inspect

import (
	"context"
	"fmt"
	"time"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

type serverRow struct {
	Version       string    `db:"version"`
	InRecovery    bool      `db:"in_recovery"`
	Fsync         string    `db:"fsync"`
	FullPages     string    `db:"full_page_writes"`
	SyncCommit    string    `db:"synchronous_commit"`
	Isolation     string    `db:"isolation"`
	Checksums     string    `db:"data_checksums"`
	StatementTime string    `db:"statement_timeout"`
	LockTime      string    `db:"lock_timeout"`
	IdleTime      string    `db:"idle_timeout"`
	ServerTime    time.Time `db:"server_time"`
	SessionUser   string    `db:"session_user"`
	Superuser     bool      `db:"superuser"`
	PID           uint32    `db:"pid"`
	Schema        string    `db:"schema"`
	OwnsLedger    bool      `db:"owns_ledger"`
	HasLedger     bool      `db:"has_ledger"`
	HasMigrations bool      `db:"has_migrations"`
}

// serverSeen is what one look at the server gave, with what the connection itself knows.
type serverSeen struct {
	serverRow
	before, after time.Time // this machine's clock around the question
	keyPID        uint32    // the process that the server named when the connection began
	mode          pgx.QueryExecMode
}

func (r *Reader) examinePostgres(ctx context.Context, d *Diagnosis) {
	reach := Check{
		Name: "postgresql", Level: Gate, Why: "every grant is one transaction in PostgreSQL",
		Fix: "start the server, or correct the address; nothing can be granted without it",
	}
	var seen serverSeen
	err := r.read(ctx, "examine", func(ctx context.Context, tx pgx.Tx) error {
		seen.before = r.opts.Now()
		rows, err := collect[serverRow](ctx, tx, doctorServerSQL, none{})
		seen.after = r.opts.Now()
		if err != nil {
			return err
		}
		seen.serverRow = rows[0]
		seen.keyPID = tx.Conn().PgConn().PID()
		seen.mode = tx.Conn().Config().DefaultQueryExecMode
		return nil
	})
	if err != nil {
		reach.Value = refusalText(err)
		d.add(reach, false)
		d.Missing = append(d.Missing, Missing{grant.PostgreSQL, "checks of the database", err})
		return
	}
	reach.Value = fmt.Sprintf("PostgreSQL %s, account %s, schema %s", seen.Version,
		seen.SessionUser, seen.Schema)
	d.add(reach, true)
	d.server(seen)
	d.session(seen)
	r.examineIdentity(ctx, d)
	d.add(r.clockCheck(grant.PostgreSQL, seen.ServerTime, seen.before, seen.after))
	r.examineSchema(ctx, d, seen)
	r.examineCollation(ctx, d)
	r.examineSessions(ctx, d)
	if seen.HasLedger {
		r.examineTimeline(ctx, d)
		r.examineOutbox(ctx, d)
	}
}

// server checks the settings that keep a committed grant.
func (d *Diagnosis) server(s serverSeen) {
	d.add(Check{
		Name: "primary", Level: Gate, Value: yesNo(s.InRecovery, "a standby", "the primary"),
		Why: "a standby accepts no grant",
		Fix: "connect to the primary: add target_session_attrs=read-write to the address",
	}, !s.InRecovery)
	for _, setting := range []struct {
		name, value, why string
		level            Level
	}{
		{"fsync", s.Fsync, "with it off a crash loses or damages committed grants", Gate},
		{
			"full_page_writes", s.FullPages, "with it off a crash leaves torn pages, in indexes too",
			Gate,
		},
		{
			"data_checksums", s.Checksums,
			"with them off a disk that damages a page is not noticed", Warning,
		},
	} {
		fix := "ALTER SYSTEM SET " + setting.name + " = on; then SELECT pg_reload_conf()"
		if setting.name == "data_checksums" {
			fix = "stop the server and run pg_checksums --enable"
		}
		d.add(Check{
			Name: setting.name, Level: setting.level, Value: setting.value, Why: setting.why,
			Fix: fix,
		}, setting.value == "on")
	}
	d.add(Check{
		Name: "synchronous_commit", Level: Gate, Value: s.SyncCommit,
		Why: "with it off a crash loses commits that were answered; the grant function switches " +
			"it on for itself, the log of operators does not",
		Fix: fmt.Sprintf("ALTER ROLE %s SET synchronous_commit = on; also look at the database "+
			"and at postgresql.conf", pgx.Identifier{s.SessionUser}.Sanitize()),
	}, s.SyncCommit != "off")
	d.add(Check{
		Name: "default isolation", Level: Warning, Value: s.Isolation,
		Why: "above READ COMMITTED a conflict raises an error instead of an answer; the engine " +
			"asks for READ COMMITTED itself, other programs may not",
		Fix: fmt.Sprintf("ALTER ROLE %s SET default_transaction_isolation = 'read committed'",
			pgx.Identifier{s.SessionUser}.Sanitize()),
	}, s.Isolation == "read committed")
}

// session checks the account and the way to the server.
func (d *Diagnosis) session(s serverSeen) {
	account := s.SessionUser
	if s.Superuser {
		account += ", a superuser"
	}
	if s.OwnsLedger {
		account += ", owner of the ledger"
	}
	d.add(Check{
		Name: "account", Level: Warning, Value: account,
		Why: "an owner or superuser can switch the append-only triggers off",
		Fix: "connect as a role that neither owns the tables nor is a superuser",
	}, !s.Superuser && !s.OwnsLedger)
	pooled := s.keyPID != s.PID
	safe := s.mode == pgx.QueryExecModeExec || s.mode == pgx.QueryExecModeCacheDescribe ||
		s.mode == pgx.QueryExecModeDescribeExec
	d.add(Check{
		Name: "pooler", Level: Warning,
		Value: yesNo(pooled, "a connection pooler stands before the server", "none"),
		Why:   "behind a pooler in transaction mode prepared statements of others turn up",
		Fix: "add default_query_exec_mode=exec to the address, or use PgBouncer 1.21 or newer " +
			"with max_prepared_statements",
	}, !pooled || safe)
	unset := ""
	for _, t := range []struct{ name, value string }{
		{"statement_timeout", s.StatementTime},
		{"lock_timeout", s.LockTime},
		{"idle_in_transaction_session_timeout", s.IdleTime},
	} {
		if t.value == "0" {
			unset += yesNo(unset == "", "", ", ") + t.name
		}
	}
	d.add(Check{
		Name: "timeouts", Level: Warning, Value: yesNo(unset == "", "set", "not set: "+unset),
		Why: "without them a forgotten session holds row locks for ever",
		Fix: fmt.Sprintf("ALTER ROLE %s SET lock_timeout = '2s'; likewise statement_timeout = "+
			"'30s' and idle_in_transaction_session_timeout = '10s'",
			pgx.Identifier{s.SessionUser}.Sanitize()),
	}, unset == "")
}

func yesNo(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// examineSessions looks for a forgotten transaction.
func (r *Reader) examineSessions(ctx context.Context, d *Diagnosis) {
	type row struct {
		Hidden  int64    `db:"hidden"`
		Seconds *float64 `db:"seconds"`
		PID     *int32   `db:"pid"`
		Session *string  `db:"session"`
	}
	check := Check{
		Name: "long transactions", Level: Warning,
		Why: "a forgotten transaction keeps row locks and holds back clean-up",
	}
	rows, err := examine[row](ctx, r, doctorSessionSQL, none{})
	if err != nil {
		d.unseen(check, err)
		return
	}
	s := rows[0]
	age := time.Duration(value(s.Seconds) * float64(time.Second)).Round(time.Millisecond)
	check.Value = "none"
	if s.PID != nil {
		check.Value = fmt.Sprintf("the longest is open for %s: session %d (%s)", age, *s.PID,
			value(s.Session))
		check.Fix = fmt.Sprintf("look at it in pg_stat_activity; if it is forgotten: "+
			"SELECT pg_terminate_backend(%d)", *s.PID)
	}
	if s.Hidden > 0 {
		check.Value += fmt.Sprintf("; %d sessions of others could not be seen "+
			"(GRANT pg_read_all_stats shows them)", s.Hidden)
	}
	d.add(check, age <= r.opts.OutboxAgeMax)
}

func (r *Reader) examineOutbox(ctx context.Context, d *Diagnosis) {
	const bound = 100_000
	type row struct {
		Waiting    int64      `db:"waiting"`
		Dead       int64      `db:"dead"`
		Oldest     *time.Time `db:"oldest"`
		ServerTime time.Time  `db:"server_time"`
	}
	check := Check{
		Name: "outbox", Level: Warning,
		Why: "postings that wait are granted but not delivered to the player",
		Fix: "start or repair the relay that delivers them; requeue what was given up",
	}
	rows, err := examine[row](ctx, r, doctorOutboxSQL, struct {
		Bound int64 `db:"bound"`
	}{bound})
	if err != nil {
		d.unseen(check, err)
		return
	}
	o := rows[0]
	var age time.Duration
	if o.Oldest != nil {
		age = o.ServerTime.Sub(*o.Oldest).Round(time.Second)
	}
	check.Value = fmt.Sprintf("%s waiting, the oldest for %s; %s given up",
		atMost(o.Waiting, bound), age, atMost(o.Dead, bound))
	d.add(check, age <= r.opts.OutboxAgeMax && o.Dead == 0)
}

func atMost(n, bound int64) string {
	if n >= bound {
		return fmt.Sprintf("%d or more", bound)
	}
	return fmt.Sprint(n)
}

// examineReplica looks at the read replica, if one is configured.
func (r *Reader) examineReplica(ctx context.Context, d *Diagnosis) {
	if r.opts.Replica == nil {
		return
	}
	type row struct {
		InRecovery bool     `db:"in_recovery"`
		Seconds    *float64 `db:"seconds"`
	}
	check := Check{
		Name: "read replica", Level: Warning,
		Why: "histories are read from it and lack what it has not replayed yet",
		Fix: "repair replication, or leave out the address of the replica",
	}
	rows, err := examineIn[row](ctx, r, r.opts.Replica, doctorReplicaSQL, none{})
	if err != nil {
		d.unseen(check, err)
		d.Missing = append(d.Missing, Missing{grant.PostgreSQL, "histories: the replica", err})
		return
	}
	age := time.Duration(value(rows[0].Seconds) * float64(time.Second)).Round(time.Millisecond)
	check.Value = yesNo(rows[0].InRecovery, fmt.Sprintf("its last change is %s old", age),
		"not a replica: it accepts writes")
	d.add(check, rows[0].InRecovery && age <= r.opts.OutboxAgeMax)
}
