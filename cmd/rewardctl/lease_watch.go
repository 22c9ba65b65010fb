package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/inspect"
	"rewardctl/tui/safetext"
)

// changeJSON is one line of "lease watch -o jsonl".
type changeJSON struct {
	At     *string    `json:"at"`
	Change string     `json:"change"`
	What   string     `json:"what"`
	Lease  *leaseJSON `json:"lease"`
	Before *leaseJSON `json:"before,omitempty"`
}

func (a *app) leaseWatchCommand() *cobra.Command {
	var (
		f           leaseFlags
		every, stay time.Duration
		onlyChanges bool
	)
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Print each change of the leases as a line, until Ctrl-C",
		Example: "  rewardctl lease watch\n" +
			"  rewardctl lease watch --state orphan_suspect --every 5s -o jsonl",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			if every < 100*time.Millisecond {
				return usage("every", "give 100ms or more", "--every %s is too short", every)
			}
			return a.watchLeases(cmd.Context(), filter, every, stay, onlyChanges)
		},
	}
	f.add(cmd)
	cmd.Flags().DurationVar(&every, "every", time.Second, "how often to look")
	cmd.Flags().DurationVar(&stay, "for", 0, "stop after this time; 0 watches until Ctrl-C")
	cmd.Flags().BoolVar(&onlyChanges, "only-changes", false, "leave out what is there at the start")
	return cmd
}

// watchLeases ends well when its time is over, and as interrupted by Ctrl-C.
func (a *app) watchLeases(
	ctx context.Context, filter inspect.LeaseFilter, every, stay time.Duration, onlyChanges bool,
) error {
	shape, err := parseFormat(a.output)
	if err != nil {
		return err
	}
	if shape == formatJSON || shape == formatCSV {
		return usage("output", "use -o jsonl: one object a line",
			"a watch has no end, so it cannot be one document")
	}
	reader, err := a.reader(ctx)
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	if stay > 0 {
		watching, cancel = context.WithTimeout(ctx, stay)
		defer cancel()
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	look := inspect.WatchOptions{Filter: filter, Look: ticker.C, OnlyChanges: onlyChanges}
	err = reader.Watch(watching, look, func(c inspect.Change) error {
		if shape == formatJSONL {
			return writeJSON(a.stdout, newChangeJSON(c), false)
		}
		return a.printChange(c)
	})
	if errors.Is(watching.Err(), context.DeadlineExceeded) {
		return nil
	}
	if interrupted(ctx) {
		return ended(exitInterrupted)
	}
	return err
}

func newChangeJSON(c inspect.Change) changeJSON {
	j := changeJSON{At: jsonTime(c.At), Change: string(c.Kind), What: c.What}
	if c.Kind != inspect.Blind && c.Kind != inspect.Seeing {
		lease := newLeaseJSON(c.Lease)
		j.Lease = &lease
	}
	if c.Before != nil {
		before := newLeaseJSON(*c.Before)
		j.Before = &before
	}
	return j
}

// printChange writes one change as a line of fixed columns: lines come one by one, so no column
// can wait for its widest cell.
func (a *app) printChange(c inspect.Change) error {
	paint := a.painter(a.stdout)
	at := c.At.UTC().Format("15:04:05.000")
	kind := safetext.Fit(string(c.Kind), 8, "…")
	if c.Kind == inspect.Blind || c.Kind == inspect.Seeing {
		_, err := fmt.Fprintf(a.stdout, "%s  %s  %s\n", at, paint(kind, bad), safeText(c.What))
		return err
	}
	tone := stateTone(c.Lease.Verdict.State)
	if c.Kind == inspect.Gone {
		tone = faint
	}
	_, err := fmt.Fprintf(a.stdout, "%s  %s  %s  %s  %s  %s\n", at, paint(kind, tone),
		safetext.Fit(safeText(c.Lease.Resource), 28, "…"),
		safetext.FitRight(leftCell(c.Lease).text, 9, "…"),
		paint(safetext.Fit(verdictWords(c.Lease.Verdict), 16, "…"), tone), safeText(c.What))
	return err
}
