package tuitest

import (
	"context"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// AuditRuns implements tui.Inspector.
func (w *World) AuditRuns(ctx context.Context, limit int) ([]inspect.AuditRun, error) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]inspect.AuditRun(nil), w.audits[:min(limit, len(w.audits))]...), nil
}

// AuditFindings implements tui.Inspector.
func (w *World) AuditFindings(ctx context.Context, run int64, take func(inspect.Finding) error,
) error {
	if err := w.enter(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	found := w.findings[run]
	w.mu.Unlock()
	for _, f := range found {
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}

// Doctor implements tui.Inspector.
func (w *World) Doctor(ctx context.Context) (inspect.Diagnosis, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.Diagnosis{}, err
	}
	return inspect.Diagnosis{At: w.now(), Checks: []inspect.Check{
		{
			Name: "ledger unique key", Level: inspect.Gate, Status: inspect.Pass,
			Value: "unique (player_id, reward_event_id)", Why: "without it an event is paid twice",
		},
		{
			Name: "outbox", Level: inspect.Warning, Status: inspect.Fail,
			Value: "3 waiting, the oldest for 12m", Why: "players wait for what they were granted",
			Fix: "start a relay: rewardctl outbox relay",
		},
		{
			Name: "replica", Level: inspect.Warning, Status: inspect.Unseen, Value: "not configured",
			Why: "histories are read from the primary",
		},
	}}, nil
}

// Pulse implements tui.Inspector.
func (w *World) Pulse(ctx context.Context) (inspect.Pulse, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.Pulse{}, err
	}
	p := inspect.Pulse{
		At: w.now(), Waiting: 3, Oldest: 12 * time.Minute, Dead: 2,
		RedisTook: 350 * time.Microsecond, PostgresTook: 1200 * time.Microsecond,
	}
	for i := range inspect.PulseMinutes {
		p.Grants = append(p.Grants, 40+(i*37)%60)
		p.Refusals = append(p.Refusals, (i*13)%7)
	}
	return p, nil
}

// FindPlayers implements tui.Inspector.
func (w *World) FindPlayers(ctx context.Context, prefix string, limit int) (
	[]inspect.PlayerName, error,
) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	if limit == 0 || len(prefix) == 0 {
		return nil, nil
	}
	return []inspect.PlayerName{{ID: "player-42", Name: "Mira Q"}}, nil
}

// SetAudits replaces the audits, newest first, and what they found.
func (w *World) SetAudits(runs []inspect.AuditRun, found map[int64][]inspect.Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.audits, w.findings = runs, found
}

// fillAudits puts two audits into the world, one of which found something.
func (w *World) fillAudits() {
	at := w.now().Add(-time.Hour)
	text := func(s string) *string { return &s }
	w.SetAudits([]inspect.AuditRun{
		{
			ID: 12, State: "done", Checks: []string{"duplicates", "fences"}, Operator: "mlee",
			DBUser: "ops", Command: "rewardctl audit run --all", Started: at,
			Ended: at.Add(41 * time.Second), ChecksDone: []string{"duplicates", "fences"},
			Findings: 2, Critical: 1,
		},
		{
			ID: 11, State: "done", Checks: []string{"duplicates"}, Operator: "cron", DBUser: "ops",
			Command: "rewardctl audit run duplicates", Started: at.Add(-24 * time.Hour),
			Ended: at.Add(-24*time.Hour + 9*time.Second), Incremental: true,
		},
	}, map[int64][]inspect.Finding{12: {
		{
			Check: "duplicates", Word: "duplicate", Severity: inspect.Critical,
			Rule: "one event is paid once", What: "paid twice under ids that differ in case only",
			Table: "reward_ledger", PlayerID: "player-42", EventID: "daily:player-42:2026-11-29:gems:v1",
			Count: 2, Columns: []string{"id", "reward_event_id", "fence_token"},
			Rows: [][]*string{
				{text("88121"), text("daily:player-42:2026-11-29:gems:v1"), text("42")},
				{text("88122"), text("Daily:player-42:2026-11-29:gems:v1"), text("41")},
			},
			Differs: []string{"id", "reward_event_id", "fence_token"}, Proof: "select id from reward_ledger",
			Remedy: "rewardctl ledger reverse 88122 --dry-run", Fingerprint: "f1",
		},
		{
			Check: "fences", Word: "late_write", Severity: inspect.Serious, Rule: "tokens never go down",
			What: "a lower token wrote after a higher one", Table: "reward_ledger", PlayerID: "player-77",
			Count: 1, Proof: "select 1", Remedy: "rewardctl token list reward:player-77",
			Fingerprint: "f2",
		},
	}})
}

// Down makes every read fail as one of the servers would.
func (w *World) Down(b grant.Backend, why error) {
	w.Fail(&grant.BackendError{Backend: b, Op: "read", Err: why})
}
