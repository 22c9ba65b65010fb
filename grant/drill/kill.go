package drill

import (
	"context"
	"fmt"
	"time"

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
	if err := st.pays(ctx, "worker-b", r, b); err != nil || st.opt.Defence == None {
		return err
	}
	return playKillInFlight(ctx, st)
}

// playKillInFlight kills A while PostgreSQL is at its transaction. The statement outlives the
// worker: that no posting is to be seen when A has died proves nothing.
func playKillInFlight(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "flight")
	if err != nil {
		return err
	}
	tx, err := st.pool.Begin(ctx)
	if err != nil {
		return postgresError("hold a row", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, claimLockSQL, r.player, r.event); err != nil {
		return postgresError("hold a row", err)
	}
	p, err := st.spawn(ctx, roleHolder, "worker-a", r, holding())
	if err != nil {
		return err
	}
	if _, err := p.until(ctx, stepHolds); err != nil {
		return err
	}
	pid, err := st.waiting(ctx, tx.Conn().PgConn().PID())
	if err != nil {
		return err
	}
	if err := st.row(ctx, "(a process) is in its transaction, waits for a row", ""); err != nil {
		return err
	}
	if err := p.kill(); err != nil {
		return err
	}
	if err := st.row(ctx, "dies by SIGKILL; its transaction lives", ""); err != nil {
		return err
	}
	if err := tx.Rollback(ctx); err != nil {
		return postgresError("let go of a row", err)
	}
	if err := st.gone(ctx, pid); err != nil {
		return err
	}
	there, err := st.posted(ctx, r)
	if err != nil {
		return err
	}
	ended := "(PostgreSQL rolled it back)"
	if there.ID != 0 {
		ended = fmt.Sprintf("(PostgreSQL committed it all the same: ledger %d)", there.ID)
	}
	if err := st.row(ctx, ended, ""); err != nil {
		return err
	}
	_, err = st.payInStead(ctx, r)
	return err
}

// waiting waits until a session waits for a lock of another, and returns it.
func (st *stage) waiting(ctx context.Context, holder uint32) (uint32, error) {
	const tries, pause = 2000, 5 * time.Millisecond
	for range tries {
		var pid int64
		err := st.db.pool.QueryRow(ctx, sessionWaitingSQL, int64(holder)).Scan(&pid)
		if err != nil {
			return 0, postgresError("look for a session that waits", err)
		}
		if pid != 0 {
			return uint32(pid), nil
		}
		if err := st.wait(ctx, pause); err != nil {
			return 0, err
		}
	}
	return 0, notPlayed("worker A does not get to the row that is held")
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
