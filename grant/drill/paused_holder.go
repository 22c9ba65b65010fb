package drill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rewardctl/grant"
)

// PausedHolder is the race that a lease alone cannot prevent: see List.
const PausedHolder = "paused-holder"

func pausedHolder() script {
	return script{
		Description: Description{
			Name: PausedHolder,
			Plays: "Worker A takes the lease and stalls for longer than its time to live; " +
				"worker B takes it and pays; A wakes up and pays again.",
			Defences: []Defence{None, Fence, Unique, All}, Columns: workers(),
			TTL: 5 * time.Second,
		},
		play: playPausedHolder, complete: completePausedHolder,
	}
}

func completePausedHolder(o *Options) error {
	if o.Pause != 0 && o.Pause <= o.TTL {
		return &grant.Rejection{
			Field: "pause", Value: o.Pause.String(), Problem: "does not pass the lease's TTL of " +
				o.TTL.String(),
			WayOut: "give a longer pause: the drill is about a holder that stalls past its lease",
		}
	}
	return nil
}

// playPausedHolder runs the race twice: A sleeps, and then A is a process that is stopped. The two
// workers take turns, because in the race that matters they do: A sleeps while B works.
func playPausedHolder(ctx context.Context, st *stage) error {
	if st.opt.Pause == 0 {
		st.opt.Pause = st.over(st.opt.TTL)
	}
	st.report.Pause = st.opt.Pause
	if err := playSleeper(ctx, st); err != nil {
		return err
	}
	if st.opt.Spawn == nil {
		st.note("A only slept: there was no way to start a process that can be stopped")
		return nil
	}
	return playStopped(ctx, st)
}

func playSleeper(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "")
	if err != nil {
		return err
	}
	a, err := st.take(ctx, "worker-a", r)
	if err != nil {
		return err
	}
	taken := st.opt.Now()
	if err := st.row(ctx, "takes the lease, then stalls", ""); err != nil {
		return err
	}
	b, err := st.payInStead(ctx, r)
	if err != nil {
		return err
	}
	if left := st.opt.Pause - st.opt.Now().Sub(taken); left > 0 {
		if err := st.wait(ctx, left); err != nil {
			return err
		}
	}
	woken := fmt.Sprintf("wakes up, believes to hold token %d", a.Token)
	if err := st.row(ctx, woken, ""); err != nil {
		return err
	}
	if err := st.pays(ctx, "worker-a", r, a); err != nil {
		return err
	}
	if err := st.giveBack(ctx, "worker-a", a); err != nil {
		return err
	}
	if err := st.giveBack(ctx, "worker-b", b); err != nil {
		return err
	}
	if st.opt.Defence != All {
		return nil
	}
	return st.payAgain(ctx, "worker-a", r)
}

// payInStead has worker B wait until A's lease has expired, take it and pay.
func (st *stage) payInStead(ctx context.Context, r reward) (grant.Lease, error) {
	b, err := st.take(ctx, "worker-b", r)
	if err != nil {
		return b, err
	}
	if err := st.row(ctx, "", "finds the lease expired and takes it"); err != nil {
		return b, err
	}
	return b, st.pays(ctx, "worker-b", r, b)
}

// payAgain shows the second line behind the first: with a fresh lease the fence lets a worker pass,
// and the unique key still stops it.
func (st *stage) payAgain(ctx context.Context, worker string, r reward) error {
	p, err := st.payByEngine(ctx, letter(worker), r, nil)
	if err != nil {
		return err
	}
	return st.paid(ctx, worker, p, "asks again with a new lease")
}

// playStopped runs the race with a process as worker A that is stopped by a signal. It cannot know
// that time passed.
func playStopped(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "stopped")
	if err != nil {
		return err
	}
	p, err := st.spawn(ctx, roleHolder, "worker-a", r, holding(stepHolds))
	if err != nil {
		return err
	}
	holds, err := p.until(ctx, stepHolds)
	if err != nil {
		return err
	}
	a := holds.lease(r)
	if err := p.stop(); err != nil {
		return err
	}
	taken := st.opt.Now()
	if err := st.row(ctx, "(a process) takes the lease; SIGSTOP freezes it", ""); err != nil {
		return err
	}
	b, err := st.payInStead(ctx, r)
	if err != nil {
		return err
	}
	if left := st.opt.Pause - st.opt.Now().Sub(taken); left > 0 {
		if err := st.wait(ctx, left); err != nil {
			return err
		}
	}
	woken := fmt.Sprintf("SIGCONT lets it run, it believes to hold token %d", a.Token)
	if err := st.row(ctx, woken, ""); err != nil {
		return err
	}
	if err := errors.Join(p.resume(), p.goOn()); err != nil {
		return err
	}
	if err := st.paidBy(ctx, p, fmt.Sprintf("pays %d %s", expected, kind)); err != nil {
		return err
	}
	return st.giveBack(ctx, "worker-b", b)
}
