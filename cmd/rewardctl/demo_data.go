package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
)

const (
	demoPlayers    = 40   // p-1001 and those after it
	demoDays       = 30   // of history
	demoBacklog    = 60   // newest postings that wait for delivery
	demoLegacyRows = 2000 // clean rows of the legacy ledger; the doubles come on top
)

// demoPlayer names one of the invented players.
func demoPlayer(n int) string { return fmt.Sprintf("p-%d", 1001+n%demoPlayers) }

// demoOddPlayers have ids of other kinds: a leading zero, a 64-bit platform id, other alphabets.
func demoOddPlayers() []string {
	return []string{"00123", "123", "76561198308210211", "Straße-7", "プレイヤー-88"}
}

// demoPostings gathers past postings column by column, as demo_postings.sql takes them.
type demoPostings struct {
	player, event, kind, actor, reason []string

	amount []int64
	age    []time.Duration
}

func (p *demoPostings) add(
	parts grant.EventParts, amount int64, age time.Duration, actor, reason string,
) error {
	id, err := grant.EventID(parts)
	if err != nil {
		return err
	}
	p.player = append(p.player, parts.PlayerID)
	p.event = append(p.event, id)
	p.kind = append(p.kind, parts.Kind)
	p.amount = append(p.amount, amount)
	p.age = append(p.age, age)
	p.actor = append(p.actor, actor)
	p.reason = append(p.reason, reason)
	return nil
}

// loadDemoData fills an empty, migrated database with invented players. Loading twice adds
// nothing.
func loadDemoData(ctx context.Context, pool *pgxpool.Pool, now time.Time) error {
	postings, err := inventPostings(now)
	if err != nil {
		return err
	}
	var loaded int64
	err = pool.QueryRow(ctx, demoPostingsSQL, postings.player, postings.event, postings.kind,
		postings.amount, postings.age, postings.actor, postings.reason, int64(demoBacklog),
	).Scan(&loaded)
	if err != nil {
		return fmt.Errorf("load the demo's postings: %w", err)
	}
	if err := loadDemoClaims(ctx, pool); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, demoLegacyTableSQL); err != nil {
		return fmt.Errorf("create the demo's legacy ledger: %w", err)
	}
	if _, err := pool.Exec(ctx, demoLegacyRowsSQL, int64(demoLegacyRows)); err != nil {
		return fmt.Errorf("fill the demo's legacy ledger: %w", err)
	}
	return nil
}

// inventPostings writes a plausible month: daily chests, weekly ranks, purchases, and a
// compensation by hand.
func inventPostings(now time.Time) (*demoPostings, error) {
	p := &demoPostings{}
	everybody := demoOddPlayers()
	for n := range demoPlayers {
		everybody = append(everybody, demoPlayer(n))
	}
	for n, player := range everybody {
		for day := 1; day <= demoDays; day++ {
			if (n+day)%5 == 0 { // nobody plays every day
				continue
			}
			age := time.Duration(day)*24*time.Hour - time.Duration((37*n+11*day)%720)*time.Minute
			date := now.AddDate(0, 0, -day).UTC().Format(time.DateOnly) // each day only once
			parts := grant.EventParts{
				Campaign: "daily-chest", PlayerID: player, Subject: date, Kind: "gems",
			}
			if err := p.add(parts, 50, age, workerName(n), "daily chest"); err != nil {
				return nil, err
			}
			if day%7 != 0 {
				continue
			}
			parts = grant.EventParts{
				Campaign: "season-rank", PlayerID: player, Subject: "week-of-" + date, Kind: "gold",
			}
			amount := int64(1000 - 20*(n%demoPlayers))
			if err := p.add(parts, amount, age-time.Hour, workerName(n), "rank of the week"); err != nil {
				return nil, err
			}
		}
		if n%4 != 0 {
			continue
		}
		parts := grant.EventParts{
			Campaign: "outage-compensation", PlayerID: player, Subject: fmt.Sprint("ticket-", 5500+n),
			Kind: "gems",
		}
		if err := p.add(parts, 200, 26*time.Hour+time.Duration(n)*time.Minute, "mara",
			"outage on the evening before"); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// workerName is the identity of one of the demo's past workers.
func workerName(n int) string { return fmt.Sprintf("payout-%d@demo-host/%d", 1+n%4, 4001+n%4) }

// loadDemoClaims adds rewards that are due and not paid: a queue that nobody has worked off.
func loadDemoClaims(ctx context.Context, pool *pgxpool.Pool) error {
	var players, events, kinds []string
	var amounts []int64
	for n := range 12 {
		id, err := grant.EventID(grant.EventParts{
			Campaign: "autumn-festival", PlayerID: demoPlayer(3 * n), Subject: "finale", Kind: "gems",
		})
		if err != nil {
			return err
		}
		players = append(players, demoPlayer(3*n))
		events = append(events, id)
		kinds = append(kinds, "gems")
		amounts = append(amounts, int64(100+10*n))
	}
	if _, err := pool.Exec(ctx, demoClaimsSQL, players, events, kinds, amounts); err != nil {
		return fmt.Errorf("load the demo's claims: %w", err)
	}
	return nil
}

// demoFloor reads the fence of a resource: the floor of the token that a worker asks for.
func demoFloor(ctx context.Context, pool *pgxpool.Pool, resource string) (int64, error) {
	var floor int64
	err := pool.QueryRow(ctx, demoFloorSQL, resource).Scan(&floor)
	return floor, err
}
