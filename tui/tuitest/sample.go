package tuitest

import (
	"fmt"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
)

// Lease returns a live lease of worker n with the given time left.
func Lease(resource string, n int, left time.Duration) inspect.Lease {
	token := int64(40 + n)
	owner := fmt.Sprintf("worker-%02d@game-%d/%d#9f2c%02d", n, n%4, 800+n, n)
	return inspect.Lease{
		Resource: resource, Value: fmt.Sprintf("%d:%s", token, owner), Token: token, Owner: owner,
		Worker: fmt.Sprintf("worker-%02d@game-%d", n, n%4), Left: left,
		Fence:  &grant.Fence{Resource: resource, Token: token - 1, Owner: "worker-90@game-1/77#aa"},
		Claims: &inspect.Claims{Pending: n % 3},
		Verdict: inspect.Verdict{State: inspect.Held, Evidence: []inspect.Evidence{
			{Name: "heartbeat", Finding: "alive: seen 0.4 s ago"},
			{Name: "time left", Finding: "within what a renewal every TTL/3 leaves"},
			{Name: "fence", Finding: fmt.Sprintf("%d, below the token: it may write", token-1)},
		}},
	}
}

// Fill puts the sample of the goldens into the world: every kind of lease, a player with a
// history.
func (w *World) Fill() {
	w.fillAudits()
	w.fillDeliveries()
	w.fillRefused()
	w.fillPlans()
	for i, resource := range []string{
		"reward:player-8841", "reward:player-1120", "reward:player-77", "reward:season:미라",
	} {
		w.SetLease(Lease(resource, i+1, time.Duration(4+6*i)*time.Second))
	}
	orphan := Lease("reward:player-42", 9, 20*time.Second)
	orphan.Verdict = inspect.Verdict{State: inspect.OrphanSuspect, Evidence: []inspect.Evidence{
		{Name: "heartbeat", Finding: "silent: the owner's heartbeat key is gone"},
		{Name: "time left", Finding: "20 s of 30 s"},
	}}
	w.SetLease(orphan)
	stuck := Lease("reward:event:5", 3, -1)
	stuck.NoExpiry = true
	stuck.Verdict = inspect.Verdict{State: inspect.NoExpiry, Evidence: []inspect.Evidence{
		{Name: "time left", Finding: "none: the lock will never end by itself"},
	}}
	w.SetLease(stuck)
	w.SetLease(inspect.Lease{
		Resource: "reward:legacy", Left: 13 * time.Second, Foreign: "hash",
		Verdict: inspect.Verdict{State: inspect.Foreign, Evidence: []inspect.Evidence{
			{Name: "data", Finding: "a hash, as Redisson writes"},
		}},
	})
	for i, p := range []grant.Request{
		{EventID: "daily:player-42:2026-11-28:gems:v1", Kind: "gems", Amount: 50},
		{EventID: "daily:player-42:2026-11-29:gems:v1", Kind: "gems", Amount: 50},
		{EventID: "season-48:player-42:rank-3:chest:v1", Kind: "chest", Amount: 1},
		{EventID: "outage:player-42:ZD-5512:gems:v1", Kind: "gems", Amount: 200},
	} {
		p.PlayerID, p.Actor, p.Reason = "player-42", "worker-12", "daily reward"
		if i == 3 {
			p.Actor, p.Reason = "mlee", "outage 2026-11-30"
		}
		w.Post(p)
	}
}
