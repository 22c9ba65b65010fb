package inspect

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
)

// playerFindingsMax bounds the findings about one player.
const playerFindingsMax = 200

// PlayerFinding is what an audit found about a player.
type PlayerFinding struct {
	Run int64 // the newest run that has it
	Finding
}

// PlayerFindings returns what audits found about a player and is not known to be gone, worst
// first, at most 200. It is empty where no audit was kept. A name that no row can have is none of
// a player's.
func (r *Reader) PlayerFindings(ctx context.Context, player string) ([]PlayerFinding, error) {
	if player == "" || !storable(player) {
		return nil, nil
	}
	sql, err := statement("player_findings")
	if err != nil {
		return nil, err
	}
	var found []PlayerFinding
	err = r.stored(ctx, "read the findings about a player", func(
		ctx context.Context, tx pgx.Tx,
	) error {
		rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{
			"player": player, "limit": playerFindingsMax,
		})
		if err != nil {
			return err
		}
		var s scannedFinding
		_, err = pgx.ForEachRow(rows, append([]any{&s.run}, s.targets()...), func() error {
			f, err := s.finding()
			found = append(found, PlayerFinding{s.run, f})
			return err
		})
		return err
	})
	return found, err
}

// scannedFinding is a row of a statement that reads findings.
type scannedFinding struct {
	run                     int64
	f                       Finding
	evidence                []byte
	state, operator, reason *string
	version                 *int64
	at                      *time.Time
}

// targets are where the columns go, in their order.
func (s *scannedFinding) targets() []any {
	f := &s.f
	return []any{
		&f.ID, &f.Check, &f.Word, &f.Severity, &f.Rule, &f.What, &f.Table, &f.PlayerID, &f.EventID,
		&f.Count, &s.evidence, &f.Proof, &f.Remedy, &f.Fingerprint, &s.state, &s.version,
		&s.operator, &s.reason, &s.at,
	}
}

// finding makes a finding of the row.
func (s *scannedFinding) finding() (Finding, error) {
	var e struct {
		Columns []string    `json:"columns"`
		Rows    [][]*string `json:"rows"`
		Differs []string    `json:"differs"`
	}
	if err := json.Unmarshal(s.evidence, &e); err != nil {
		return Finding{}, err
	}
	one := s.f
	one.Columns, one.Rows, one.Differs = e.Columns, e.Rows, e.Differs
	if s.version != nil {
		one.Ack = &FindingAck{
			State: *s.state, Version: *s.version, Operator: *s.operator, Reason: *s.reason, At: *s.at,
		}
	}
	return one, nil
}
