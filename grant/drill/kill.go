package drill

import (
	"context"
	"fmt"

	"rewardctl/grant"
)

const (
	killBeforeCommit = "kill-before-commit"
	killAfterCommit  = "kill-after-commit"
)

func killBeforeScript() script {
	return script{
		Description: Description{
			Name: killBeforeCommit,
			Plays: "Worker A dies by SIGKILL just before its payment is committed; its message is " +
				"delivered again, to worker B.",
			Defences: []Defence{None, All}, Columns: workers(), TTL: ttlShort, Processes: true,
		},
		play: playKillBefore,
	}
}

func killAfterScript() script {
	return script{
		Description: Description{
			Name: killAfterCommit,
			Plays: "Worker A dies by SIGKILL after its payment is committed and before anybody hears of " +
				"it; its message is delivered again, to worker B.",
			Defences: []Defence{None, Fence, Unique, All}, Columns: workers(), TTL: ttlShort,
			Processes: true,
		},
		play: playKillAfter,
	}
}

const (
	roleMarker = "marker"
	stepMarked = "marked" // the message is confirmed, nothing is paid
)

// playMarker confirms its message first and pays then, each in a transaction of its own: between
// the two a payment can get lost.
func playMarker(ctx context.Context, a *actor) error {
	held, err := a.take(ctx)
	if err != nil {
		return err
	}
	if err := a.payer.mark(ctx, a.reward()); err != nil {
		return err
	}
	if err := a.tell(event{Step: stepMarked, Token: held.Token, Owner: held.Owner}); err != nil {
		return err
	}
	p, err := a.pay(ctx, letter(a.Worker), a.reward(), held)
	if err != nil {
		return err
	}
	return a.tell(told(p))
}

func (p *payer) mark(ctx context.Context, r reward) error {
	if _, err := p.pool.Exec(ctx, claimMarkSQL, r.player, r.event); err != nil {
		return postgresError("mark the reward as paid", err)
	}
	return nil
}

func playKillBefore(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "")
	if err != nil {
		return err
	}
	role, step, at := roleHolder, string(grant.StepSend), "holds the lease and is about to commit"
	if st.opt.Defence == None {
		role, step, at = roleMarker, stepMarked, "confirms its message, is about to pay"
	}
	if err := st.killAt(ctx, role, step, at, r); err != nil {
		return err
	}
	b, err := st.take(ctx, "worker-b", r)
	if err != nil {
		return err
	}
	if err := st.row(ctx, "", "gets the message again, and the lease"); err != nil {
		return err
	}
	var open bool
	if err := st.pool.QueryRow(ctx, claimOpenSQL, r.player, r.event).Scan(&open); err != nil {
		return postgresError("read the claim", err)
	}
	if !open {
		return st.row(ctx, "", "looks: marked as paid; does nothing")
	}
	return st.pays(ctx, "worker-b", r, b)
}

func playKillAfter(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "")
	if err != nil {
		return err
	}
	if err := st.killAt(ctx, roleHolder, stepPaid, "has paid, nobody knows", r); err != nil {
		return err
	}
	b, err := st.take(ctx, "worker-b", r)
	if err != nil {
		return err
	}
	if err := st.row(ctx, "", "gets the message again, and the lease"); err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-b", r, b); err != nil {
		return err
	}
	return st.giveBack(ctx, "worker-b", b)
}

// killAt has a process play worker A up to a step, and kills it there.
func (st *stage) killAt(ctx context.Context, role, step, at string, r reward) error {
	p, err := st.spawn(ctx, role, "worker-a", r, holding(step))
	if err != nil {
		return err
	}
	if _, err := p.until(ctx, step); err != nil {
		return err
	}
	if err := st.row(ctx, fmt.Sprintf("(process %d) %s", p.cmd.Process.Pid, at), ""); err != nil {
		return err
	}
	if err := p.kill(); err != nil {
		return err
	}
	return st.row(ctx, "dies by SIGKILL", "")
}
