package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"rewardctl/grant/drill"
)

// drillReport is the file of --report; nil when none is wanted.
type drillReport struct{ file *os.File }

// openDrillReport opens the file before anything is played, so that minutes of drills are not lost
// to a folder that does not exist. What is in it stays until there is something new to write.
func openDrillReport(path string) (*drillReport, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, usage("report", "name a file that can be written", "%v", err)
	}
	return &drillReport{file}, nil
}

// write writes what the drills showed, in Markdown. It is called once.
func (r *drillReport) write(proofs []drill.Proof, seed uint64) error {
	if r == nil {
		return nil
	}
	var b bytes.Buffer
	b.WriteString("# Drills\n\n")
	fmt.Fprintf(&b, "rewardctl %s, seed %d. Times count from the start of each run.\n",
		reportText(readVersion().Version), seed)
	if len(proofs) > 1 {
		b.WriteString("\n| drill | proved |\n|---|---|\n")
		for _, p := range proofs {
			words, _ := drillVerdict(p)
			fmt.Fprintf(&b, "| %s | %s |\n", reportText(p.Defended.Name), reportText(words))
		}
	}
	for _, p := range proofs {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", reportText(p.Defended.Name), reportText(p.Defended.Plays))
		if p.Control.Name != "" {
			reportRun(&b, "Control", p.Control)
			reportRun(&b, "Defended", p.Defended)
		} else {
			reportRun(&b, "Run", p.Defended)
		}
		if len(proofs) == 1 && p.Control.Name != "" {
			words, _ := drillVerdict(p)
			fmt.Fprintf(&b, "\n**%s**\n", reportText(words))
		}
	}
	err := r.file.Truncate(0)
	if err == nil {
		_, err = r.file.Write(b.Bytes())
	}
	return errors.Join(err, r.file.Close())
}

// reportRun writes one run of a drill.
func reportRun(b *bytes.Buffer, what string, r drill.Report) {
	fmt.Fprintf(b, "\n### %s: defence %s\n", what, reportText(string(r.Defence)))
	if len(r.Timeline) > 0 {
		head := []string{"time", r.Columns[0], r.Columns[1], r.Columns[2]}
		var rows [][]string
		for _, row := range r.Timeline {
			rows = append(rows, []string{
				fmt.Sprintf("%.3fs", row.At.Seconds()), row.WorkerA, row.Lease, row.WorkerB,
			})
		}
		reportTable(b, head, rows)
	}
	if len(r.Methods) > 0 {
		head := []string{"way", "start", "want", "have", "waits", "waited ms", "retries", "cost ms"}
		var rows [][]string
		for _, m := range r.Methods {
			rows = append(rows, []string{
				string(m.Way), strconv.FormatInt(m.Start, 10), strconv.FormatInt(m.Want, 10),
				strconv.FormatInt(m.Have, 10), strconv.Itoa(m.Waits), decimal(milliseconds(m.Waited)).text,
				strconv.Itoa(m.Retries), decimal(milliseconds(m.Cost)).text,
			})
		}
		reportTable(b, head, rows)
	}
	lines := make([]string, 0, len(r.Refusals)+len(r.Notes))
	for _, f := range r.Refusals {
		lines = append(lines, refusalLine(f))
	}
	for i, line := range append(lines, r.Notes...) {
		if i == 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "* %s\n", reportText(line))
	}
	var rows [][]string
	for _, c := range r.Checks {
		holds := "yes"
		if !c.Holds {
			holds = "BROKEN"
		}
		rows = append(rows, []string{c.Name, c.Want, c.Have, holds})
	}
	reportTable(b, []string{"invariant", "want", "have", "holds"}, rows)
}

func reportTable(b *bytes.Buffer, head []string, rows [][]string) {
	b.WriteByte('\n')
	for i, line := range append([][]string{head}, rows...) {
		for _, one := range line {
			b.WriteString("| " + reportText(one) + " ")
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
		}
	}
}

// reportText makes text harmless in a cell of a table or a line: it stays one line and means
// nothing to a renderer.
func reportText(s string) string {
	return reportEscapes().Replace(strings.Join(strings.Fields(safeText(s)), " "))
}

func reportEscapes() *strings.Replacer {
	pairs := []string{"<", "&lt;", ">", "&gt;", "&", "&amp;"}
	for _, c := range "\\|`*_[]#!~$@" {
		pairs = append(pairs, string(c), "\\"+string(c))
	}
	// An address would become a link.
	return strings.NewReplacer(append(pairs, "://", ":&#47;&#47;", "www.", "www&#46;")...)
}
