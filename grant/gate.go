package grant

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// CheckSchema asks PostgreSQL whether granting is safe: the ledger's key can stop a double payment
// (a unique index on exactly (player_id, reward_event_id), valid, ready, not partial, not
// deferrable, over columns that cannot be null), and the database is the one that answered the
// grants before, not a replica that was promoted or a backup that was restored. It returns a
// *GateError when not, a *BackendError when PostgreSQL could not be asked, and nil when granting
// is safe.
func (e *Engine) CheckSchema(ctx context.Context) error {
	state, err := ask[gateState](ctx, e, ledgerGateSQL)
	if err != nil {
		return err
	}
	if problem := state.problem(); problem != nil {
		return problem
	}
	place, err := ask[timelineState](ctx, e, timelineGateSQL)
	if err != nil {
		return err
	}
	if problem := place.problem(); problem != nil {
		return problem
	}
	return nil
}

func ask[T any](ctx context.Context, e *Engine, statement string) (T, error) {
	rows, err := e.pool.Query(ctx, statement)
	if err == nil {
		var state T
		if state, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T]); err == nil {
			return state, nil
		}
	}
	var none T
	return none, &BackendError{Backend: PostgreSQL, Op: "check the schema", Err: err}
}

// timelineState is the row of timeline_gate.sql.
type timelineState struct {
	Server   string  `db:"server"`
	Timeline string  `db:"timeline"`
	Known    *string `db:"known_server"`
	Accepted *string `db:"accepted"`
}

func (s timelineState) problem() *GateError {
	const wayOut = "grants that were answered may be missing here: run rewardctl doctor, compare " +
		"with the item server, then rewardctl fence reseed"
	switch {
	case s.Accepted == nil:
		return &GateError{"no timeline of this database has been accepted", wayOut}
	case value(s.Known) != s.Server:
		return &GateError{
			"the database moved to another server (" + s.Server + ", accepted was " +
				value(s.Known) + "), as a restored backup does", wayOut,
		}
	case *s.Accepted != s.Timeline:
		return &GateError{
			"the database changed its timeline from " + *s.Accepted + " to " + s.Timeline +
				": a replica was promoted or a backup restored", wayOut,
		}
	}
	return nil
}

// gateState is the row of ledger_gate.sql.
type gateState struct {
	HasLedger   bool    `db:"has_ledger"`
	HasFunction bool    `db:"has_function"`
	NotNull     bool    `db:"not_null"`
	Name        *string `db:"name"`
	IsUnique    *bool   `db:"is_unique"`
	IsValid     *bool   `db:"is_valid"`
	IsReady     *bool   `db:"is_ready"`
	IsImmediate *bool   `db:"is_immediate"`
	IsWhole     *bool   `db:"is_whole"`
}

func (g gateState) problem() *GateError {
	const rebuild = "list duplicates with rewardctl audit, then rebuild the index: " +
		"REINDEX INDEX CONCURRENTLY "
	name := value(g.Name)
	switch {
	case !g.HasLedger:
		return &GateError{"the table reward_ledger does not exist", "run rewardctl migrate up"}
	case !g.HasFunction:
		return &GateError{
			"a function of the grant transaction does not exist", "run rewardctl migrate up",
		}
	case !g.NotNull:
		return &GateError{
			"player_id or reward_event_id of reward_ledger can be null, and nulls are never equal",
			"set both columns NOT NULL",
		}
	case g.Name == nil || !value(g.IsUnique):
		return &GateError{
			"reward_ledger has no unique index on exactly (player_id, reward_event_id)",
			"list duplicates, then create the unique key again",
		}
	case !value(g.IsWhole):
		return &GateError{"index " + name + " is partial", "replace it by one over all rows"}
	case !value(g.IsImmediate):
		return &GateError{"key " + name + " is deferrable", "make it NOT DEFERRABLE"}
	case !value(g.IsValid):
		return &GateError{"index " + name + " is not valid", rebuild + name}
	case !value(g.IsReady):
		return &GateError{"index " + name + " is not ready", rebuild + name}
	}
	return nil
}

// checkGate lets a batch pass if the schema was found good a short while ago.
func (e *Engine) checkGate(ctx context.Context) error {
	now := e.opt.Now()
	if passed := e.gate.Load(); passed != nil && now.Sub(*passed) < gateEvery {
		return nil
	}
	ctx, cancel := e.bound(ctx)
	defer cancel()
	if err := e.CheckSchema(ctx); err != nil {
		return err
	}
	e.gate.Store(&now)
	return nil
}
