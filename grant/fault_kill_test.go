package grant_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/lease"
)

// keep takes the lease of the request's player and renews it until the process is killed.
func (o orders) keep(t *testing.T, parent *granttest.Orders) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: o.Redis, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	store, err := lease.New(client, lease.Options{Prefix: o.Prefix, TTL: o.TTL})
	if err != nil {
		t.Fatal(err)
	}
	answer := store.Acquire(t.Context(), []grant.Ask{{
		Resource: grant.ResourceFor(o.Request.PlayerID), Owner: "child@test/1#" + nonce(),
	}})[0]
	if answer.Lease == nil {
		t.Fatalf("acquire: %+v", answer)
	}
	keeper := store.Keep(t.Context(), *answer.Lease, lease.KeepOptions{})
	parent.Stop("kept")
	keeper.Stop()
}

// TestFaultKillAtRedis kills the process while a request of its lease is on its way to Redis, and
// while the answer is on its way back. Whoever comes next outwaits the lease and pays once.
func TestFaultKillAtRedis(t *testing.T) {
	t.Parallel()
	w := granttest.New(t)
	for _, c := range []struct {
		script string
		at     granttest.Point
		paid   bool
	}{
		{"acquire", granttest.BeforeSend, false},
		{"acquire", granttest.AtReply, false},
		{"renew", granttest.BeforeSend, false},
		{"renew", granttest.AtReply, false},
		{"release", granttest.BeforeSend, true},
		{"release", granttest.AtReply, true},
	} {
		way := map[granttest.Point]string{
			granttest.BeforeSend: "request", granttest.AtReply: "answer",
		}[c.at]
		t.Run(c.script+"/"+way, func(t *testing.T) {
			t.Parallel()
			f := newFaultyIn(t, w)
			held := f.redisProxy.Add(granttest.Rule{
				At: c.at, Match: script(t, c.script), Fault: granttest.Hold,
			})
			r := reward(t.Name())
			o := f.ordersFor(t, f.direct(), faultTTL)
			o.Redis, o.Request, o.Keep = f.redisProxy.Addr(), &r, c.script == "renew"
			victim := startChild(t, o)
			happens(t, held.Fired(), c.script)
			victim.Kill()
			f.redisProxy.Clear()
			f.redisProxy.SetPath(granttest.Refused)
			f.redisProxy.SetPath(granttest.Open)
			afterKill(t, f, r, c.paid)
		})
	}
}
