package drill

import (
	"context"
	"fmt"

	"rewardctl/grant/outbox"
)

const relayCrash = "relay-crash"

func relayCrashScript() script {
	return script{
		Description: Description{
			Name: relayCrash,
			Plays: "The relay dies by SIGKILL between sending a message and marking it as delivered; the " +
				"next relay sends it again, to a receiver without idempotency, and to one with.",
			Defences: []Defence{None, All},
			Columns:  [3]string{"relay A", "item server", "relay B"}, TTL: ttlShort, Processes: true,
		},
		play: playRelayCrash, key: true,
	}
}

const roleRelay = "relay"

// playRelay relays, and tells the steps of the relay.
func playRelay(ctx context.Context, a *actor) error {
	relay, end, err := a.relayTo(a.Receiver, a.Worker+"@drill/1", a.TTL, a.now,
		func(step outbox.Step, _ []int64) {
			_ = a.tell(event{Step: string(step)}) // without its drill it stays where it is
		})
	if err != nil {
		return err
	}
	defer end()
	_, err = relay.Drain(ctx)
	return err
}

func playRelayCrash(ctx context.Context, st *stage) error {
	r, err := st.due(ctx, "")
	if err != nil {
		return err
	}
	receiver, err := st.newReceiver(ctx, noFault)
	if err != nil {
		return err
	}
	p, err := st.payByEngine(ctx, "A", r, nil)
	if err != nil {
		return err
	}
	receiver.shows(st)
	text := fmt.Sprintf("finds %d %s of ledger %d queued", expected, kind, p.ledgerID)
	if err := st.row(ctx, text, ""); err != nil {
		return err
	}
	child, err := st.spawn(ctx, roleRelay, "relay-a", r, func(told *part) {
		told.Receiver, told.Hold = receiver.url, []string{string(outbox.StepSent)}
	})
	if err != nil {
		return err
	}
	if _, err := child.until(ctx, string(outbox.StepSent)); err != nil {
		return err
	}
	text = fmt.Sprintf("(process %d) sends it, hears that it is applied", child.cmd.Process.Pid)
	if err := st.row(ctx, text, ""); err != nil {
		return err
	}
	if err := child.kill(); err != nil {
		return err
	}
	if err := st.row(ctx, "dies by SIGKILL before it marks it", ""); err != nil {
		return err
	}
	if err := st.wait(ctx, st.over(claimFor(st.opt.TTL))); err != nil {
		return err
	}
	if err := st.drained(ctx, receiver.url, "relay-b@drill/2"); err != nil {
		return err
	}
	given, err := receiver.items(ctx, st)
	if err != nil {
		return err
	}
	said := "applied, once more"
	if given == expected {
		said = "it had been applied before"
		st.refused(Refusal{Worker: "B", Line: Idempotency, Detail: said})
	}
	if err := st.row(ctx, "", "takes the claim over, sends it again: "+said); err != nil {
		return err
	}
	st.expect("delivered(event) = ledger_sum(event)", expected, given)
	return nil
}
