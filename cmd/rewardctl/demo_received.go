package main

import (
	"context"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
)

// demoLostPlayer is whose first delivery the item server has lost: what "audit run outbox
// --receiver" finds in the demo.
const demoLostPlayer = "p-1021"

// loadReceived gives the item server what the history of the demo says was delivered.
func loadReceived(ctx context.Context, w *wiring) error {
	pool, err := w.openPool(ctx)
	if err != nil {
		return err
	}
	rows, err := pool.Query(ctx, demoDeliveredSQL)
	if err != nil {
		return err
	}
	var (
		keys, players, events, kinds []string
		amounts, tokens              []int64

		player, event, kind string
		amount, token       int64
	)
	lost := false
	_, err = pgx.ForEachRow(rows, []any{&player, &event, &kind, &amount, &token}, func() error {
		if !lost && player == demoLostPlayer {
			lost = true
			return nil
		}
		keys = append(keys, grant.MessageKey(player, event))
		players, events, kinds = append(players, player), append(events, event), append(kinds, kind)
		amounts, tokens = append(amounts, amount), append(tokens, token)
		return nil
	})
	if err != nil {
		return err
	}
	_, err = pool.Exec(ctx, demoReceivedSQL, keys, players, events, kinds, amounts, tokens)
	return err
}
