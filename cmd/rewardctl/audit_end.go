package main

import (
	"context"
	"fmt"

	"rewardctl/inspect"
)

// end prints the closing words and gives the exit code.
func (r *auditRunner) end(ctx context.Context, err error) error {
	stopped := err != nil && interrupted(ctx)
	if kept := r.keeper.end(ctx, err, stopped); kept != nil {
		r.app.say("the end of the run could not be written down: %v", kept)
	}
	if err != nil && !stopped {
		return err
	}
	all := r.findings + r.dropped + r.kept.Findings
	if err := r.seeAcknowledged(ctx, stopped, all); err != nil {
		return err
	}
	if r.shape == formatJSON {
		doc := auditRunJSON{
			Run: jsonID(r.keeper.id()), State: "done", Checks: emptyNotNull(r.checks),
			Findings: emptyNotNull(r.found), FindingsTotal: all, Acknowledged: r.looked,
			ElapsedMS: r.app.now().Sub(r.began).Milliseconds(),
		}
		if stopped {
			doc.State = "stopped"
		}
		if err := writeJSON(r.app.stdout, doc, true); err != nil {
			return err
		}
	}
	r.sayEnd(stopped, all)
	switch {
	case stopped:
		return ended(exitInterrupted)
	case all > r.looked, all > 0 && !r.open:
		return ended(exitFindings)
	}
	return nil
}

// seeAcknowledged counts the findings that were acknowledged before this run found them again.
func (r *auditRunner) seeAcknowledged(ctx context.Context, stopped bool, all int64) error {
	if stopped || all == 0 || r.keeper.id() == 0 {
		return nil
	}
	run, err := r.reader.AuditRun(ctx, r.keeper.id())
	r.looked = run.Acknowledged
	return err
}

// findingWords counts findings in words.
func findingWords(n int64) string {
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}

func (r *auditRunner) sayEnd(stopped bool, all int64) {
	words := "no findings"
	if stopped {
		words = "no findings so far"
	}
	if all > 0 {
		words = findingWords(all)
		if n := r.counts[inspect.Critical]; n > 0 {
			words += fmt.Sprintf(", %d critical", n)
		}
	}
	words += acknowledgedWords(all, r.looked)
	if r.dropped > 0 {
		words += fmt.Sprintf(", %d of them only counted (--max-findings)", r.dropped)
	}
	if r.kept.Findings > 0 {
		words += fmt.Sprintf(", %d of them from before it was cut off", r.kept.Findings)
	}
	r.sayNotCompared()
	r.app.say("%s after %s", words, span(r.app.now().Sub(r.began)))
	id := r.keeper.id()
	switch {
	case id != 0 && stopped:
		r.app.say("stopped; go on with: rewardctl audit run --resume %d", id)
	case id != 0 && all > 0:
		r.app.say("kept; see it again with: rewardctl audit show %d", id)
	}
}
