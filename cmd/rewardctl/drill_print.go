package main

import (
	"fmt"
	"strings"

	"rewardctl/grant/drill"
	"rewardctl/tui/safetext"
)

// The widths of the timeline. Rows appear as they happen, so no column can wait for its widest.
const (
	drillColumnA     = 44
	drillColumnLease = 34
)

func (a *app) drillHead(about drill.Description, opt drill.Options) error {
	if err := a.line(safeText(fmt.Sprintf("drill %s, lease TTL %s, defence %s, seed %d", about.Name,
		opt.TTL, opt.Defence, opt.Seed))); err != nil {
		return err
	}
	if len(about.Defences) == 1 {
		return nil // no timeline: its methods are printed beside each other
	}
	a.gap()
	up := strings.ToUpper
	return a.drillLine("TIME", up(about.Columns[0]), up(about.Columns[1]), up(about.Columns[2]), faint)
}

func (a *app) drillRow(r drill.Row) error {
	at := fmt.Sprintf("%.3fs", r.At.Seconds())
	return a.drillLine(at, r.WorkerA, r.Lease, r.WorkerB, plain)
}

func (a *app) drillLine(at, workerA, lease, workerB string, t tone) error {
	paint := a.painter(a.stdout)
	one := safetext.Wrap(safeText(workerA), drillColumnA)
	two := safetext.Wrap(safeText(lease), drillColumnLease)
	three := safetext.Wrap(safeText(workerB), drillColumnA)
	for i := range max(len(one), len(two), len(three)) {
		line := safetext.FitRight(pick(at, i), 8, "") + "  " +
			safetext.Fit(at0(one, i), drillColumnA, "…") + "  " +
			safetext.Fit(at0(two, i), drillColumnLease, "…") + "  " + at0(three, i)
		if err := a.line(paint(strings.TrimRight(line, " "), t)); err != nil {
			return err
		}
	}
	return nil
}

// pick gives the text on the first line only.
func pick(s string, line int) string {
	if line == 0 {
		return s
	}
	return ""
}

// at0 is the line at i, or nothing when the text has fewer.
func at0(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// printDrill prints what follows the timeline of one run.
func (a *app) printDrill(r drill.Report) error {
	if len(r.Methods) > 0 {
		a.gap()
		if err := a.printMethods(r); err != nil {
			return err
		}
	}
	if len(r.Timeline) > 0 {
		if err := a.printDrillRefusals(r); err != nil {
			return err
		}
	}
	for _, note := range r.Notes {
		if err := a.line("note: " + safeText(note)); err != nil {
			return err
		}
	}
	return a.printChecks(r.Checks)
}

func (a *app) printDrillRefusals(r drill.Report) error {
	a.gap()
	if len(r.Refusals) == 0 {
		return a.line("nothing was refused")
	}
	for _, f := range r.Refusals {
		if err := a.line(safeText(refusalLine(f))); err != nil {
			return err
		}
	}
	return nil
}

func refusalLine(f drill.Refusal) string {
	return fmt.Sprintf("worker %s was refused by the %s: %s", f.Worker, drill.LineWords(f.Line),
		f.Detail)
}

func (a *app) printChecks(checks []drill.Check) error {
	a.gap()
	l := listing{columns: columns("invariant", "want", "have", "holds")}
	for _, c := range checks {
		holds := toned("yes", good)
		if !c.Holds {
			holds = toned("BROKEN", bad)
		}
		l.rows = append(l.rows, []cell{text(c.Name), text(c.Want), text(c.Have), holds})
	}
	return a.print(l)
}

// verdict is one sentence about what a drill proved, or failed to.
func drillVerdict(p drill.Proof) (string, tone) {
	alone := p.Control.Name == ""
	switch {
	case p.Proved && alone:
		return "proved: every way did what it must", good
	case p.Proved:
		return fmt.Sprintf("proved: without defences there was damage (%s), with them there was none",
			strings.Join(broken(p.Control), "; ")), good
	case !p.Defended.OK:
		return "NOT PROVED: there was damage in spite of all defences: " +
			strings.Join(broken(p.Defended), "; "), bad
	}
	return "NOT PROVED: the control did no damage, so nothing was shown", bad
}

// broken names the checks that do not hold.
func broken(r drill.Report) []string {
	var names []string
	for _, c := range r.Checks {
		if !c.Holds {
			names = append(names, fmt.Sprintf("%s: %s, not %s", c.Name, c.Have, c.Want))
		}
	}
	return names
}

// printProofs prints the verdicts to people, who saw the runs already, and everything to scripts.
func (a *app) printProofs(name string, proofs []drill.Proof, all drillsJSON) error {
	switch a.output {
	case string(formatTable):
		return a.printVerdicts(proofs)
	case string(formatCSV):
		var reports []drill.Report
		for _, p := range proofs {
			if p.Control.Name != "" {
				reports = append(reports, p.Control)
			}
			reports = append(reports, p.Defended)
		}
		return a.printTimelines(reports)
	}
	l := listing{document: all}
	for _, p := range all.Drills {
		l.values = append(l.values, p)
	}
	if name != drillAll {
		l.document = all.Drills[0]
	}
	return a.print(l)
}

func (a *app) printVerdicts(proofs []drill.Proof) error {
	a.gap()
	paint := a.painter(a.stdout)
	if len(proofs) == 1 {
		words, tone := drillVerdict(proofs[0])
		return a.line(paint(safeText(words), tone))
	}
	l := listing{columns: columns("drill", "control", "defended", "proved")}
	for _, p := range proofs {
		control, defended, proved := "damage", "stopped", toned("yes", good)
		if p.Control.Name == "" {
			control = "beside"
		} else if p.Control.OK {
			control = "NO DAMAGE"
		}
		if !p.Defended.OK {
			defended = "DAMAGE"
		}
		if !p.Proved {
			proved = toned("NO", bad)
		}
		l.rows = append(l.rows, []cell{text(p.Defended.Name), text(control), text(defended), proved})
	}
	return a.print(l)
}

// printDrillData prints one run for scripts; as CSV it is the timeline, or the methods.
func (a *app) printDrillData(r drill.Report) error {
	switch {
	case a.output != string(formatCSV):
		return a.printOne(newDrillJSON(r), nil)
	case len(r.Timeline) == 0:
		return a.printMethods(r)
	}
	return a.printTimelines([]drill.Report{r})
}

// printTimelines prints timelines as CSV.
func (a *app) printTimelines(reports []drill.Report) error {
	l := listing{
		columns: columns("at_ms", "worker_a", "redis_lease", "worker_b", "drill", "defence"),
	}
	for _, r := range reports {
		for _, row := range r.Timeline {
			l.rows = append(l.rows, []cell{
				number(row.At.Milliseconds()), text(row.WorkerA), text(row.Lease), text(row.WorkerB),
				text(r.Name), text(string(r.Defence)),
			})
		}
	}
	return a.print(l)
}
