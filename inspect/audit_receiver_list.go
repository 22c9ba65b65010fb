package inspect

import (
	"context"
	"errors"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// listing is a part that lists what the receiver has and looks for what was never posted.
type listing struct {
	strange []strangeKey
	more    int64 // beyond the bound of findings: only counted
}

// strangeKey is a key under which nothing is posted, as far as an index tells.
type strangeKey struct {
	Received
	player, event string // empty when the key is none of ours
}

// fetch lists all keys, page by page. A posting is there before it is sent, so a key that is not
// posted now was not sent from here.
func (l *listing) fetch(ctx context.Context, u *unitRun) error {
	l.strange, l.more = nil, 0
	after := ""
	for {
		page, next, err := l.page(ctx, u, after)
		if errors.Is(err, ErrNoList) {
			return tellNote(u.sink, u.check, "the receiver does not list what it has: whether it "+
				"has rewards that were never posted is not known")
		}
		if err != nil {
			return err
		}
		if err := l.sift(ctx, u, page); err != nil {
			return err
		}
		u.rows += int64(len(page))
		u.progress(u)
		if next == "" {
			return nil
		}
		after = next
	}
}

func (l *listing) page(ctx context.Context, u *unitRun, after string) (
	page []Received, next string, err error,
) {
	pause := askPauseMin
	for try := range askTries {
		if try > 0 {
			if err := rest(ctx, pause); err != nil {
				return nil, "", err
			}
			pause *= 2
		}
		if err := u.asks.turn(ctx); err != nil {
			return nil, "", err
		}
		one, cancel := context.WithTimeout(ctx, u.reader.opts.Timeout)
		page, next, err = u.asks.Receiver.List(one, after)
		cancel()
		if err == nil || errors.Is(err, ErrNoList) {
			return page, next, err
		}
	}
	return nil, "", &ReceiverError{Detail: err.Error()}
}

// sift keeps the keys of a page that are not posted.
func (l *listing) sift(ctx context.Context, u *unitRun, page []Received) error {
	var ours []strangeKey
	for _, one := range page {
		player, event, ok := grant.ParseMessageKey(one.Key)
		if !ok || !storable(player) || !storable(event) {
			l.keep(u, strangeKey{Received: one})
			continue
		}
		ours = append(ours, strangeKey{one, player, event})
	}
	return u.reader.read(ctx, "look for the receiver's keys", func(
		ctx context.Context, tx pgx.Tx,
	) error {
		unknown, err := unposted(ctx, tx, ours)
		for _, key := range unknown {
			l.keep(u, key)
		}
		return err
	})
}

func (l *listing) keep(u *unitRun, key strangeKey) {
	if u.state.found+int64(len(l.strange)) < int64(u.plan.FindingsMax) {
		l.strange = append(l.strange, key)
		return
	}
	l.more++
}

// unposted returns those of the keys under which nothing is posted.
func unposted(ctx context.Context, tx pgx.Tx, keys []strangeKey) ([]strangeKey, error) {
	sql, err := statement("receiver_known")
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	players, events := make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		players[i], events[i] = key.player, key.event
	}
	rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"players": players, "events": events})
	if err != nil {
		return nil, err
	}
	known := make([]bool, len(keys)+1)
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&n}, func() error {
		known[n] = true
		return nil
	}); err != nil {
		return nil, err
	}
	var out []strangeKey
	for i, key := range keys {
		if key.player == "" || !known[i+1] {
			out = append(out, key)
		}
	}
	return out, nil
}

// judge looks again, in the table instead of an index that may be damaged, and reports.
func (l *listing) judge(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	u.state.dropped += l.more
	u.extra += l.more
	unknown, err := unposted(ctx, tx, l.strange)
	if err != nil {
		return err
	}
	receiver := "receiver"
	var found []draft
	for _, key := range unknown {
		u.collect(&found, draft{
			evidenceRow: evidenceRow{
				Word: "received_unknown", Key: key.Key, PlayerID: key.player, EventID: key.event,
				IsNew: true,
			},
			count: 1, given: [][]jsonCol{{
				{"source", &receiver},
				{"key", &key.Key},
				{"kind", &key.Kind},
				{"amount", &key.Amount},
			}},
		})
	}
	return u.finish(ctx, tx, found)
}
