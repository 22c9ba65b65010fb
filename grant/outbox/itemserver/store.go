package itemserver

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
)

// Receipt is what was applied under a key.
type Receipt struct {
	Key      string `db:"key"`
	PlayerID string `db:"player_id"`
	EventID  string `db:"reward_event_id"`
	Kind     string `db:"kind"`
	Amount   int64  `db:"amount"`
	Token    int64  `db:"fence_token"`
	Copies   int64  `db:"copies"` // how often it was sent
}

// store keeps receipts, inventories and tokens.
type store struct {
	pool *pgxpool.Pool
}

// create makes the tables that are missing.
func (s *store) create(ctx context.Context) error {
	for _, sql := range []string{receiptTableSQL, itemTableSQL, fenceTableSQL} {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return &grant.BackendError{
				Backend: grant.PostgreSQL, Op: "make the item server's tables", Err: err,
			}
		}
	}
	return nil
}

// verdict is what became of a message.
type verdict int

const (
	applied verdict = iota
	repeated
	differs // the key is there with other content
	stale   // a higher token was accepted
)

const twinTries = 5

// receive applies a message once. Have is what is there when the content differs, and the accepted
// token when the message's is older.
func (s *store) receive(
	ctx context.Context, m grant.Message, checkToken bool,
) (v verdict, have Receipt, err error) {
	for range twinTries {
		var kind *string
		var amount *int64
		var done bool
		err = s.pool.QueryRow(ctx, receiveSQL, m.Key(), m.PlayerID, m.EventID, m.Kind, m.Amount,
			m.Token, checkToken).Scan(&kind, &amount, &done)
		switch {
		case err != nil:
			return 0, have, err
		case done:
			return applied, have, nil
		case kind != nil && *kind == m.Kind && *amount == m.Amount:
			return repeated, have, nil
		case kind != nil:
			return differs, Receipt{Kind: *kind, Amount: *amount}, nil
		}
		// Nothing was there and nothing was applied: the token, or a twin that came first.
		have, token, err := s.status(ctx, m.Key(), m.PlayerID)
		if err != nil {
			return 0, Receipt{}, err
		}
		if have == nil && checkToken && token > m.Token {
			return stale, Receipt{Token: token}, nil
		}
	}
	return 0, have, errors.New("twins of the message keep coming")
}

// status returns what was applied under a key, nil for nothing, and the player's accepted token.
func (s *store) status(ctx context.Context, key, player string) (*Receipt, int64, error) {
	var kind *string
	var amount, token *int64
	err := s.pool.QueryRow(ctx, statusSQL, key, player).Scan(&kind, &amount, &token)
	if err != nil {
		return nil, 0, err
	}
	accepted := int64(0)
	if token != nil {
		accepted = *token
	}
	if kind == nil {
		return nil, accepted, nil
	}
	return &Receipt{Key: key, Kind: *kind, Amount: *amount}, accepted, nil
}

// receipts lists what was applied after a key.
func (s *store) receipts(ctx context.Context, after string, limit int) ([]Receipt, error) {
	rows, err := s.pool.Query(ctx, receiptsSQL, after, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Receipt])
}
