package main

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
	"rewardctl/inspect"
)

// receiverFlags say how "audit run" compares deliveries with what the receiver has.
type receiverFlags struct {
	ask         bool
	since       string
	rate        int
	concurrency int
}

// How the receiver is asked when nothing else is said: it has other work, too.
const (
	receiverRate        = 500
	receiverConcurrency = 8
)

// check refuses what makes no sense.
func (f receiverFlags) check(
	checks []string, all, sinceLast bool, changed func(string) bool,
) error {
	if !f.ask {
		for _, name := range []string{"since", "rate", "concurrency"} {
			if changed(name) {
				return usage(name, "add --receiver, or leave it out", "--%s is for --receiver", name)
			}
		}
		return nil
	}
	switch {
	case !all && !slices.Contains(checks, "outbox"):
		return usage("receiver", "write: rewardctl audit run outbox --receiver",
			"--receiver is for the check outbox")
	case sinceLast:
		return usage("since-last", "keep one of them; --since TIME says which postings to ask about",
			"--receiver excludes --since-last")
	case f.rate < 0 || f.rate > 1_000_000:
		return usage("rate", "give 1 to 1000000, or 0 for no bound", "--rate %d is out of bounds", f.rate)
	case f.concurrency < 1 || f.concurrency > 256:
		return usage("concurrency", "give 1 to 256", "--concurrency %d is out of bounds", f.concurrency)
	}
	_, err := parseTime("since", f.since)
	return err
}

// receiverPlan says how the receiver of the context is asked. The function gives its connections
// up.
func (w *wiring) receiverPlan(f receiverFlags) (inspect.ReceiverPlan, func(), error) {
	plan := inspect.ReceiverPlan{Rate: f.rate, Concurrency: f.concurrency}
	var err error
	if plan.From, err = parseTime("since", f.since); err != nil {
		return plan, nil, err
	}
	sink, err := w.openSink()
	if err != nil {
		return plan, nil, err
	}
	prober, ok := sink.(outbox.Prober)
	if !ok {
		sink.Close()
		return plan, nil, usage("receiver", "leave --receiver out; only an item server can be asked",
			"the context delivers to %s, which cannot be asked what it has", sink.Name())
	}
	plan.Receiver = askedReceiver{prober}
	return plan, sink.Close, nil
}

// options writes down how the receiver is asked, so that a run can go on as the same.
func (f receiverFlags) options(options map[string]string) {
	if f.ask {
		options["receiver"], options["receiver since"] = "asked", f.since
		options["receiver rate"] = strconv.Itoa(f.rate)
		options["receiver concurrency"] = strconv.Itoa(f.concurrency)
	}
}

// readReceiverOptions is the inverse of options.
func readReceiverOptions(options map[string]string) (f receiverFlags, err error) {
	if options["receiver"] == "" {
		return f, nil
	}
	f.ask, f.since = true, options["receiver since"]
	var problems [2]error
	f.rate, problems[0] = strconv.Atoi(options["receiver rate"])
	f.concurrency, problems[1] = strconv.Atoi(options["receiver concurrency"])
	return f, errors.Join(problems[:]...)
}

// askedReceiver is the receiver as an audit sees it.
type askedReceiver struct{ prober outbox.Prober }

// Ask asks whether the receiver has a message.
func (r askedReceiver) Ask(ctx context.Context, m grant.Message) inspect.Receipt {
	report := r.prober.Probe(ctx, m)
	receipt := inspect.Receipt{
		State: inspect.ReceiptNone, Kind: report.Kind, Amount: report.Amount,
		Detail: report.Detail, RetryAfter: report.RetryAfter,
	}
	switch report.Verdict {
	case outbox.Delivered, outbox.Repeated:
		receipt.State = inspect.ReceiptHas
	case outbox.Absent:
		receipt.State = inspect.ReceiptAbsent
		if report.Guessed {
			receipt.State = inspect.ReceiptUnasked
		}
	case outbox.Refused:
		receipt.State = inspect.ReceiptOther
	case outbox.Failed, outbox.NotNow, outbox.Unknown:
	}
	return receipt
}

// List returns one page of what the receiver has.
func (r askedReceiver) List(
	ctx context.Context, after string,
) (page []inspect.Received, next string, err error) {
	lister, ok := r.prober.(outbox.Lister)
	if !ok {
		return nil, "", inspect.ErrNoList
	}
	listed, next, err := lister.List(ctx, after)
	if errors.Is(err, outbox.ErrNoListing) {
		return nil, "", inspect.ErrNoList
	}
	for _, one := range listed {
		page = append(page, inspect.Received(one))
	}
	return page, next, err
}

// sayNotCompared says that the receiver was not asked, where it could have been.
func (r *auditRunner) sayNotCompared() {
	if r.receiver == "not asked" {
		r.app.say("outbox: what the receiver has was not compared; to ask it: " +
			"rewardctl audit run outbox --receiver")
	}
}

// receiverWord says in one word whether the receiver was asked; empty when it was not its turn.
func receiverWord(plan inspect.AuditPlan) string {
	switch {
	case len(plan.Checks) > 0 && !slices.Contains(plan.Checks, "outbox"):
		return ""
	case plan.Receiver.Receiver == nil:
		return "not asked"
	}
	return "asked"
}
