package drill

import (
	"context"
	"fmt"

	"rewardctl/grant"
)

const dailyReward = "daily-reward"

func dailyRewardScript() script {
	return script{
		Description: Description{
			Name: dailyReward,
			Plays: "A player claims today's reward on two devices at once: with a look before paying, " +
				"with a lease, with the unique key, and with both.",
			Defences: []Defence{None, Lease, Unique, All},
			Columns:  [3]string{"device A", "redis lease", "device B"}, TTL: ttlShort,
		},
		play: playDailyReward,
	}
}

func playDailyReward(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "")
	if err != nil {
		return err
	}
	switch st.opt.Defence {
	case Lease:
		return playLeaseAlone(ctx, st, r)
	case All:
		return playKeyAndLease(ctx, st, r)
	}
	// The lease that nobody took, so that the ledger says who paid.
	a := grant.Lease{Resource: r.resource, Token: 1, Owner: st.owner("device-a")}
	b := grant.Lease{Resource: r.resource, Token: 1, Owner: st.owner("device-b")}
	for _, device := range []string{"device-a", "device-b"} {
		if _, err := st.looks(ctx, device, r); err != nil {
			return err
		}
	}
	if err := st.pays(ctx, "device-b", r, b); err != nil {
		return err
	}
	return st.pays(ctx, "device-a", r, a)
}

// playLeaseAlone shows that the lease makes the double payment rare, not impossible.
func playLeaseAlone(ctx context.Context, st *stage, r reward) error {
	a, err := st.take(ctx, "device-a", r)
	if err != nil {
		return err
	}
	if _, err := st.looks(ctx, "device-a", r); err != nil {
		return err
	}
	b, err := st.takeOver(ctx, "device-b", r)
	if err != nil {
		return err
	}
	if _, err := st.looks(ctx, "device-b", r); err != nil {
		return err
	}
	if err := st.pays(ctx, "device-b", r, b); err != nil {
		return err
	}
	return st.pays(ctx, "device-a", r, a)
}

// playKeyAndLease: while A pays, B is told at once that somebody is at it; when it asks again, the
// key answers.
func playKeyAndLease(ctx context.Context, st *stage, r reward) error {
	var asked error
	engine, err := st.engineOn(st.pool, "device-a", func(step grant.Step) {
		if step == grant.StepSend {
			asked = st.asksMeanwhile(ctx, r)
		}
	})
	if err != nil {
		return err
	}
	a := payer{pool: st.pool, engine: engine, defence: All, name: st.name}
	p, err := a.payByEngine(ctx, "A", r, nil)
	if err == nil {
		err = asked
	}
	if err == nil {
		err = st.paid(ctx, "device-a", p, "pays under its lease")
	}
	if err != nil {
		return err
	}
	again, err := st.payByEngine(ctx, "B", r, nil)
	if err != nil {
		return err
	}
	return st.paid(ctx, "device-b", again, "asks again")
}

func (st *stage) asksMeanwhile(ctx context.Context, r reward) error {
	if err := st.row(ctx, "takes the lease, is about to pay", ""); err != nil {
		return err
	}
	p, err := st.payByEngine(ctx, "B", r, nil)
	if err != nil {
		return err
	}
	if p.refused == nil || p.refused.Line != Lease {
		return notPlayed("device B was not told that the lease is held")
	}
	return st.paid(ctx, "device-b", p, fmt.Sprintf("claims %d %s", expected, kind))
}
