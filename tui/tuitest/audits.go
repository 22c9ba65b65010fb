package tuitest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
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

// AuditFinding implements tui.Inspector.
func (w *World) AuditFinding(ctx context.Context, run, id int64) (inspect.Finding, error) {
	if err := w.enter(ctx); err != nil {
		return inspect.Finding{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.findings[run] {
		if f.ID == id {
			return f, nil
		}
	}
	return inspect.Finding{}, &inspect.NotFoundError{What: "finding", Name: fmt.Sprint(id)}
}

// AuditPrevious implements tui.Inspector: the run below in the list.
func (w *World) AuditPrevious(ctx context.Context, run int64) (int64, error) {
	if err := w.enter(ctx); err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, one := range w.audits {
		if one.ID == run && i+1 < len(w.audits) {
			return w.audits[i+1].ID, nil
		}
	}
	return 0, nil
}

// AuditCompare implements tui.Inspector, by the fingerprints.
func (w *World) AuditCompare(ctx context.Context, older, newer int64) (
	inspect.AuditChanges, error,
) {
	if err := w.enter(ctx); err != nil {
		return inspect.AuditChanges{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := inspect.AuditChanges{
		Older: inspect.AuditRun{ID: older}, Newer: inspect.AuditRun{ID: newer},
		Counts: map[inspect.AuditChange]int{}, Changes: map[int64]inspect.AuditChange{},
	}
	has := func(run int64, fingerprint string) bool {
		return slices.ContainsFunc(w.findings[run], func(f inspect.Finding) bool {
			return f.Fingerprint == fingerprint
		})
	}
	tell := func(id int64, change inspect.AuditChange) {
		out.Changes[id] = change
		out.Counts[change]++
	}
	for _, f := range w.findings[newer] {
		if has(older, f.Fingerprint) {
			tell(f.ID, inspect.FindingStill)
		} else {
			tell(f.ID, inspect.FindingNew)
		}
	}
	for _, f := range w.findings[older] {
		if !has(newer, f.Fingerprint) {
			tell(f.ID, inspect.FindingGone)
		}
	}
	return out, nil
}

// Acknowledge implements tui.Operator.
func (w *World) Acknowledge(ctx context.Context, q repair.AckRequest) (repair.Ack, error) {
	if err := w.enter(ctx); err != nil {
		return repair.Ack{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out := repair.Ack{Finding: q.Finding, State: repair.AckAcknowledged, Changed: true, LogID: 30}
	if q.Reopen {
		out.State = repair.AckOpen
	}
	for run, found := range w.findings {
		found = slices.Clone(found) // readers have the other one
		w.findings[run] = found
		for i := range found {
			if f := &found[i]; f.ID == q.Finding {
				out.Version = q.Version + 1
				f.Ack = &inspect.FindingAck{
					State: string(out.State), Version: out.Version, Operator: "mlee", Reason: q.Reason,
					At: w.now(),
				}
			}
		}
	}
	w.acks = append(w.acks, q)
	return out, nil
}

// DecideFinding has somebody else decide about a finding.
func (w *World) DecideFinding(run, id int64, ack inspect.FindingAck) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := slices.Clone(w.findings[run])
	for i := range found {
		if found[i].ID == id {
			found[i].Ack = &ack
		}
	}
	w.findings[run] = found
}

// Acknowledged returns the decisions about findings that were carried out.
func (w *World) Acknowledged() []repair.AckRequest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]repair.AckRequest(nil), w.acks...)
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
	w.mu.Lock()
	defer w.mu.Unlock()
	p := inspect.Pulse{
		At: w.now(), Waiting: 3, Oldest: 12 * time.Minute, Dead: 2,
		RedisTook: 350 * time.Microsecond, PostgresTook: 1200 * time.Microsecond,
	}
	for i := range inspect.PulseMinutes {
		p.Grants = append(p.Grants, 40+(i*37)%60)
		p.Refusals = append(p.Refusals, (i*13)%7)
	}
	p.Fenced = make([]int, inspect.PulseFenced)
	for _, one := range w.refused {
		ago := int(p.At.Sub(one.At) / time.Minute)
		if ago >= inspect.PulseFenced {
			continue
		}
		p.Fenced[inspect.PulseFenced-1-ago]++
		if one.Outcome == grant.TokenCollision {
			p.Collisions++
		} else {
			p.LateWrites++
		}
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
	var out []inspect.PlayerName
	for _, one := range []inspect.PlayerName{
		{ID: "player-42", Name: "Mira Q"}, {ID: "player-77", Name: "Miro"},
	} {
		if strings.HasPrefix(one.ID, prefix) || strings.HasPrefix(one.Name, prefix) {
			out = append(out, one)
		}
	}
	return out[:min(len(out), limit)], nil
}

// PlayerFindings implements tui.Inspector.
func (w *World) PlayerFindings(ctx context.Context, player string) (
	[]inspect.PlayerFinding, error,
) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []inspect.PlayerFinding
	if len(w.audits) > 0 {
		for _, f := range w.findings[w.audits[0].ID] {
			if f.PlayerID == player {
				out = append(out, inspect.PlayerFinding{Run: w.audits[0].ID, Finding: f})
			}
		}
	}
	return out, nil
}

// HeldSince implements tui.Inspector: as many seconds before the world was made as the token says.
func (w *World) HeldSince(ctx context.Context, leases []inspect.Lease) (
	map[string]time.Time, error,
) {
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for _, l := range leases {
		out[l.Resource] = w.begun.Add(-time.Duration(l.Token) * time.Second)
	}
	return out, nil
}

// ProveLease implements tui.Inspector.
func (w *World) ProveLease(l inspect.Lease) []inspect.Proof {
	return []inspect.Proof{
		{Tool: inspect.ProofRedis, Text: "redis-cli GET 'lock:{" + l.Resource + "}'"},
		{Tool: inspect.ProofSQL, Text: "select last_token from reward_fence;"},
	}
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
	}, map[int64][]inspect.Finding{11: {
		{
			ID: 3, Check: "fences", Word: "late_write", Severity: inspect.Serious,
			Rule: "tokens never go down", What: "a lower token wrote after a higher one",
			Table: "reward_ledger", PlayerID: "player-77", Count: 1, Proof: "select 1",
			Remedy: "rewardctl token list reward:player-77", Fingerprint: "f2",
		},
		{
			ID: 4, Check: "duplicates", Word: "retried", Severity: inspect.Notice,
			Rule: "one event is paid once", What: "paid again under the id of a retry",
			Table: "reward_ledger", PlayerID: "player-8", Count: 2, Proof: "select 2",
			Remedy: "rewardctl explain player-8 retry", Fingerprint: "f0",
		},
	}, 12: {
		{
			ID: 7, Check: "duplicates", Word: "duplicate", Severity: inspect.Critical,
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
			ID: 8, Check: "fences", Word: "late_write", Severity: inspect.Serious,
			Rule: "tokens never go down",
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
