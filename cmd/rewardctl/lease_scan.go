package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"rewardctl/grant/lease"
	"rewardctl/inspect"
	"rewardctl/tui/safetext"
)

const (
	scanRate    = 100_000 // keys a second: about a tenth of what one server can do
	scanRowsMax = 10_000  // rows that a table keeps; its column widths are known at the end only

	scanValueWidth = 60 // columns of a value in a table
)

func (a *app) leaseScanCommand() *cobra.Command {
	var (
		o    lease.ScanOptions
		rate int
	)
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Search all keys for locks: leases outside the index, other libraries' locks",
		Long: "Walks all keys of all primaries with SCAN, at a bounded rate, and changes nothing.\n\n" +
			"Listed are: leases of ours, with what the index does not know; keys of ours with data\n" +
			"that does not belong there; hashes as Redisson keeps a lock; texts whose name holds a\n" +
			"word such as lock, mutex, lease or semaphore. With --pattern also every text with an\n" +
			"expiry that fits it. \"lease list\" is much faster, but knows only its own leases.",
		Example: "  rewardctl lease scan --unusual\n" +
			"  rewardctl lease scan --pattern 'game:*' --rate 20000 -o jsonl",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rate < 0 {
				return usage("rate", "give keys per second, or 0 for no limit",
					"--rate %d is below zero", rate)
			}
			o.Rate = rate
			return a.scanLeases(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Pattern, "pattern", "", "only keys that fit this pattern of Redis (* ? [...])")
	flags.IntVar(&rate, "rate", scanRate, "keys visited per second on each primary; 0: no limit")
	flags.BoolVar(&o.Unusual, "unusual", false, "leave out leases in the index with an expiry")
	return cmd
}

// leaseScanner prints locks as they are found. Only a table waits for the end.
type leaseScanner struct {
	app   *app
	shape format
	bar   *progress
	began time.Time
	table listing
	found int64
}

func (a *app) scanLeases(ctx context.Context, o lease.ScanOptions) error {
	shape, err := parseFormat(a.output)
	if err != nil {
		return err
	}
	reader, err := a.reader(ctx)
	if err != nil {
		return err
	}
	s := &leaseScanner{app: a, shape: shape, bar: a.newProgress(), began: a.now()}
	s.table.columns = columns("key", "kind", "state", "left", "token", "owner", "server")
	o.Progress = s.progress
	report, err := reader.Scan(ctx, o, s.add)
	s.bar.clear()
	return s.end(ctx, report, err)
}

func (s *leaseScanner) progress(p lease.ScanProgress) {
	share := 1.0
	if p.Total > 0 {
		share = float64(p.Visited) / float64(p.Total)
	}
	line := fmt.Sprintf("scanning  %s  %d/%d keys", bar(share), p.Visited, p.Total)
	if took := s.app.now().Sub(s.began); took > time.Second {
		line += fmt.Sprintf("  %.0f/s", float64(p.Visited)/took.Seconds())
	}
	s.bar.draw(fmt.Sprintf("%s  %d found", line, p.Found), false)
}

// add prints or keeps one lock.
func (s *leaseScanner) add(f inspect.Found) error {
	s.found++
	switch s.shape {
	case formatTable:
		if len(s.table.rows) < scanRowsMax {
			f.Value = safetext.Cut(safeText(f.Value), scanValueWidth, "…")
			s.table.rows = append(s.table.rows, scanRow(f))
		}
		return nil
	case formatCSV:
		s.bar.clear()
		one := listing{rows: [][]cell{scanRow(f)}}
		if s.found == 1 {
			one.columns = s.table.columns
		}
		return s.app.printCSV(one)
	case formatJSONL:
		s.bar.clear()
		return writeJSON(s.app.stdout, newFoundJSON(f), false)
	case formatJSON:
		s.bar.clear()
		before := ",\n"
		if s.found == 1 {
			before = scanOpening
		}
		if _, err := fmt.Fprint(s.app.stdout, before); err != nil {
			return err
		}
		return writeJSON(s.app.stdout, newFoundJSON(f), false)
	}
	return nil
}

// end prints what waits for the end, and says how the scan went.
func (s *leaseScanner) end(ctx context.Context, report inspect.ScanReport, err error) error {
	stopped := err != nil && interrupted(ctx)
	if err != nil && !stopped && s.found == 0 {
		return err // nothing is printed yet, so the error has the output for itself
	}
	if werr := s.close(report); werr != nil {
		return werr
	}
	a := s.app
	if n := s.found - scanRowsMax; s.shape == formatTable && n > 0 {
		a.say("%d more; -o jsonl prints all", n)
	}
	took := span(a.now().Sub(s.began))
	switch {
	case err != nil:
		a.say("incomplete: stopped after %d of about %d keys, %s", report.Visited, report.Total, took)
	case s.found == 0:
		a.say("no locks: all of about %d keys on %s were visited, %s", report.Visited,
			primaries(report.Primaries), took)
	default:
		a.say("%d found; all of about %d keys on %s were visited, %s", s.found, report.Visited,
			primaries(report.Primaries), took)
	}
	if stopped {
		return ended(exitInterrupted)
	}
	if err != nil {
		p := classify(err)
		p.shown = true
		return &p
	}
	return a.incomplete(report.Missing)
}

func primaries(n int) string {
	if n == 1 {
		return "1 primary"
	}
	return fmt.Sprintf("%d primaries", n)
}

// close ends the output: the table, the heading of a CSV without rows, the rest of a document.
func (s *leaseScanner) close(report inspect.ScanReport) error {
	switch s.shape {
	case formatTable:
		return s.app.printTable(s.table)
	case formatCSV:
		if s.found == 0 {
			return s.app.printCSV(s.table)
		}
		return nil
	case formatJSONL:
		return nil
	case formatJSON:
		opening := ""
		if s.found == 0 {
			opening = scanOpening
		}
		if _, err := fmt.Fprint(s.app.stdout, opening, "],\n\"report\": "); err != nil {
			return err
		}
		if err := writeJSON(s.app.stdout, newScanReportJSON(report), false); err != nil {
			return err
		}
		return s.app.line("}")
	}
	return nil
}

// scanOpening begins the document, which is written piece by piece: it may be larger than memory.
const scanOpening = "{\"found\": [\n"

func scanRow(f inspect.Found) []cell {
	left := cell{text: "no expiry", number: true}
	if !f.NoExpiry {
		left.text = span(f.Left)
	}
	owner := f.Owner
	if f.Token == 0 {
		owner = f.Value
	}
	kind := toned(scanKindWords(f.Kind), plain)
	if f.Kind != lease.FoundLease {
		kind.tone = notice
	}
	return []cell{
		text(f.Key), kind, toned(verdictWords(f.Verdict), stateTone(f.Verdict.State)), left,
		numberOrBlank(f.Token), text(owner), text(f.Addr),
	}
}

func scanKindWords(k lease.FoundKind) string {
	switch k {
	case lease.FoundLease:
		return "lease"
	case lease.FoundUnindexed:
		return "lease, not in the index"
	case lease.FoundForeign:
		return "foreign text"
	case lease.FoundWrongType:
		return "wrong type"
	case lease.FoundString:
		return "text lock"
	case lease.FoundHash:
		return "hash lock"
	}
	return string(k)
}
