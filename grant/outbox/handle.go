package outbox

import "context"

// handle brings one row to the sink. Once ctx has ended, or while the receiver rests, or when too
// little is left of the claim, the row goes back unsent; what is sent runs under work.
func (r *Relay) handle(ctx, work context.Context, one row) result {
	res := result{row: one, began: r.opts.Now()}
	left := one.until.Sub(res.began)
	if ctx.Err() != nil || r.rest.left() > 0 || left < min(r.opts.Timeout, r.opts.trusted()/2) {
		res.unsent = true
		return res
	}
	bounded, cancel := context.WithTimeout(work, min(r.opts.Timeout, left))
	defer cancel()
	r.attempt(bounded, &res)
	res.ended = r.opts.Now()
	r.meters.took(res.ended.Sub(res.began))
	r.listenTo(&res)
	r.settle(&res)
	return res
}

// attempt sends the row, or finds out that there is no need to.
func (r *Relay) attempt(ctx context.Context, res *result) {
	if res.row.strikes >= r.opts.StrikesMax {
		// Relays vanished over it, again and again: it is not sent once more.
		res.report = Report{
			Verdict: Refused,
			Detail:  "given up: relays vanished while they had it; it may have been sent",
		}
		return
	}
	if prober, can := r.sink.(Prober); can && res.row.doubt {
		res.report = prober.Probe(ctx, res.row.message)
		res.probed = true
		if res.report.Verdict != Absent {
			return
		}
	}
	r.opts.OnStep(StepSend, []int64{res.row.id})
	res.report = r.sink.Publish(ctx, res.row.message)
	r.opts.OnStep(StepSent, []int64{res.row.id})
}

// listenTo learns from an answer how the receiver is.
func (r *Relay) listenTo(res *result) {
	report := res.report
	switch report.Verdict {
	case Unknown:
		// A receiver that swallows one message may well take others. When it answers to none, it
		// is down, and the messages are not to blame.
		if !r.rest.silence(res.row.id) {
			return
		}
		res.excused = true
		fallthrough
	case NotNow:
		if r.rest.refuse(report.Detail, min(report.RetryAfter, retryAfterMax)) {
			r.opts.Logger.Warn("the receiver is not ready; nothing is sent until it is",
				"sink", r.sink.Name(), "answer", report.Detail)
		}
	case Delivered, Repeated, Refused, Failed, Absent:
		if r.rest.accept() {
			r.opts.Logger.Info("the receiver is ready again", "sink", r.sink.Name())
			r.wake()
		}
	}
}
