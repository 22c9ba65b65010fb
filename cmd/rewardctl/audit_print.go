package main

import (
	"fmt"
	"slices"
	"strings"

	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/safetext"
)

type auditRunJSON struct {
	Run           *string          `json:"run"`
	State         string           `json:"state"`
	Checks        []auditCheckJSON `json:"checks"`
	Findings      []findingJSON    `json:"findings"`
	FindingsTotal int64            `json:"findings_total"`
	// Acknowledged are the findings that somebody has looked at; 0 when the run is not kept.
	Acknowledged int64 `json:"acknowledged"`
	ElapsedMS    int64 `json:"elapsed_ms"`
}

type auditCheckJSON struct {
	Name      string `json:"name"`
	Findings  int64  `json:"findings"`
	Dropped   int64  `json:"only_counted"`
	SinceLast bool   `json:"since_last"`
	// Receiver is "asked" or "not asked"; null for checks that do not concern it.
	Receiver *string `json:"receiver"`
}

type findingJSON struct {
	ID          *string              `json:"id"` // null while it is not kept yet
	Run         *string              `json:"run"`
	Check       string               `json:"check"`
	Finding     string               `json:"finding"`
	Severity    string               `json:"severity"`
	Rule        string               `json:"rule"`
	What        string               `json:"what"`
	Table       string               `json:"table"`
	PlayerID    *string              `json:"player_id"`
	EventID     *string              `json:"reward_event_id"`
	Rows        int64                `json:"rows"`
	Evidence    []map[string]*string `json:"evidence"`
	Differs     []string             `json:"differs"`
	Proof       string               `json:"proof"`
	Remedy      string               `json:"remedy"`
	Fingerprint string               `json:"fingerprint"`
	Ack         *findingAckJSON      `json:"ack"` // null: nobody has decided about it
}

// findingAckJSON is what was decided about a finding.
type findingAckJSON struct {
	State    string  `json:"state"`
	Version  int64   `json:"version"`
	Operator string  `json:"operator"`
	Reason   string  `json:"reason"`
	At       *string `json:"at"`
}

func newFindingJSON(run int64, f inspect.Finding) findingJSON {
	j := findingJSON{
		ID: jsonID(f.ID), Run: jsonID(run), Check: f.Check, Finding: f.Word, Severity: string(f.Severity),
		Rule: f.Rule, What: f.What, Table: f.Table, PlayerID: jsonText(f.PlayerID),
		EventID: jsonText(f.EventID), Rows: f.Count, Evidence: []map[string]*string{},
		Differs: emptyNotNull(f.Differs), Proof: f.Proof, Remedy: f.Remedy,
		Fingerprint: f.Fingerprint,
	}
	if ack := f.Ack; ack != nil {
		j.Ack = &findingAckJSON{
			State: ack.State, Version: ack.Version, Operator: ack.Operator, Reason: ack.Reason,
			At: jsonTime(ack.At),
		}
	}
	for _, row := range f.Rows {
		one := map[string]*string{}
		for i, name := range f.Columns {
			one[name] = row[i]
		}
		j.Evidence = append(j.Evidence, one)
	}
	return j
}

// findingRemedy is what to do about a finding. What one that is kept shows to be too many can be
// taken back as a whole.
func findingRemedy(f inspect.Finding) []string {
	lines := strings.Split(f.Remedy, "\n")
	takes := repair.FindingTakes(f.Word)
	foreign := contains([]string{"duplicate", "respelled", "retried"}, f.Word) &&
		f.Table != "reward_ledger"
	if f.ID == 0 || takes == "" || foreign {
		return lines
	}
	return append(lines, fmt.Sprintf("%s: rewardctl ledger reverse --finding %d --reason WHY "+
		"--dry-run", takes, f.ID))
}

// print prints a finding as it is found.
func (r *auditRunner) print(f inspect.Finding) error {
	r.findings++
	r.counts[f.Severity]++
	if r.shape == formatJSON {
		r.found = append(r.found, newFindingJSON(r.keeper.id(), f))
		return nil
	}
	r.bar.clear()
	first := !r.headed
	r.headed = true
	return r.app.printFinding(r.keeper.id(), f, first)
}

// printFinding prints one finding of a stream: as a block for people, as a line for programs.
func (a *app) printFinding(run int64, f inspect.Finding, first bool) error {
	switch format(a.output) {
	case formatJSONL, formatJSON:
		return writeJSON(a.stdout, newFindingJSON(run, f), false)
	case formatCSV:
		l := listing{rows: [][]cell{{
			text(string(f.Severity)), text(f.Check), text(f.Word), text(f.Table), text(f.PlayerID),
			text(f.EventID), number(f.Count), text(f.What), text(strings.Join(f.Differs, ", ")),
			text(f.Rule), text(f.Proof), text(f.Remedy),
		}}}
		if first {
			l.columns = columns("severity", "check", "finding", "table", "player_id",
				"reward_event_id", "rows", "what", "differs", "rule", "proof", "remedy")
		}
		return a.printCSV(l)
	case formatTable:
	}
	if !first {
		a.gap()
	}
	paint := a.painter(a.stdout)
	mark := notice
	if f.Severity == inspect.Critical {
		mark = bad
	}
	lines := []string{fmt.Sprintf("%s  %s  %s",
		paint(strings.ToUpper(string(f.Severity)), mark), f.Check, safeText(f.What))}
	lines = append(lines, block("rule", []string{f.Rule})...)
	lines = append(lines, block("who", whose(f))...)
	lines = append(lines, block("where", []string{fmt.Sprintf("%s, %s", f.Table, rowWords(f))})...)
	for _, line := range lines {
		if err := a.line(line); err != nil {
			return err
		}
	}
	if err := a.printEvidence(f); err != nil {
		return err
	}
	if ack := f.Ack; ack != nil {
		words := fmt.Sprintf("%s by %s, %s: %s", ack.State, ack.Operator, when(ack.At), ack.Reason)
		if err := a.line(block("state", []string{words})[0]); err != nil {
			return err
		}
	}
	for _, line := range append(block("proof", strings.Split(f.Proof, "\n")),
		block("do", findingRemedy(f))...) {
		if err := a.line(line); err != nil {
			return err
		}
	}
	return nil
}

// block writes lines of harmless text below each other, named once.
func block(name string, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		lead := ""
		if i == 0 {
			lead = name
		}
		depth := len(line) - len(strings.TrimLeft(line, " "))
		out[i] = fmt.Sprintf("  %-6s %s%s", lead, strings.Repeat(" ", depth),
			safeText(line[depth:]))
	}
	return out
}

// whose names the player and the event, where it is about one.
func whose(f inspect.Finding) []string {
	if f.PlayerID == "" {
		return nil
	}
	words := "player " + f.PlayerID
	if f.EventID != "" {
		words += ", event " + f.EventID
	}
	return []string{words}
}

func rowWords(f inspect.Finding) string {
	words := fmt.Sprintf("%d rows", f.Count)
	if f.Count == 1 {
		words = "1 row"
	}
	if len(f.Differs) > 0 {
		words += "; they differ in " + strings.Join(f.Differs, ", ")
	}
	return words
}

const (
	sideBySide   = 4  // rows that fit beside each other
	evidenceCell = 34 // cells of a value in such a table
)

// printEvidence lays the rows of a finding beside each other, a line for each column; many rows
// stand below each other instead.
func (a *app) printEvidence(f inspect.Finding) error {
	if len(f.Rows) == 0 {
		return nil
	}
	word := func(v *string) string {
		if v == nil {
			return "(null)"
		}
		return safetext.Cut(safeText(*v), evidenceCell, "…")
	}
	var l listing
	if len(f.Rows) > sideBySide {
		l.columns = append(columns(""), columns(f.Columns...)...)
		for _, row := range f.Rows {
			cells := []cell{text("        ")}
			for _, v := range row {
				cells = append(cells, text(word(v)))
			}
			l.rows = append(l.rows, cells)
		}
		return a.printTable(l)
	}
	l.columns = columns("", "column")
	for i := range f.Rows {
		l.columns = append(l.columns, columns(fmt.Sprintf("row_%d", i+1))...)
	}
	for i, name := range f.Columns {
		sign := cell{text: "        "}
		different := slices.Contains(f.Differs, name)
		if different {
			sign = toned("      ≠ ", notice)
		}
		cells := []cell{sign, toned(name, faint)}
		for _, row := range f.Rows {
			one := text(word(row[i]))
			if different {
				one.tone = notice
			}
			cells = append(cells, one)
		}
		l.rows = append(l.rows, cells)
	}
	return a.printTable(l)
}
