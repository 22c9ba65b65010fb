package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/repair/batchfile"
)

// applyJSON is the report about an applied file.
type applyJSON struct {
	File      string         `json:"file"`
	DryRun    bool           `json:"dry_run"`
	Complete  bool           `json:"complete"` // every row has an answer
	Rows      int            `json:"rows"`
	Counts    map[string]int `json:"counts"` // by outcome; their sum is the number of rows
	Duplicate int            `json:"duplicates"`
	Players   int            `json:"players"`
	Kinds     []kindJSON     `json:"kinds"`
	Problems  []problemJSON  `json:"problems"`
	Warnings  []string       `json:"warnings"`
	Notable   []lineJSON     `json:"notable"` // the first rows that were not granted
	ElapsedMS int64          `json:"elapsed_ms"`
	Result    *string        `json:"result"`
	Rest      *string        `json:"rest"`
	Stopped   *string        `json:"stopped"` // why the run ended early
	GoOn      *string        `json:"go_on"`
	Exit      int            `json:"exit"`
}

type kindJSON struct {
	Kind    string `json:"kind"`
	Rows    int    `json:"rows"`
	Total   int64  `json:"total"`
	Largest int64  `json:"largest"`
}

type problemJSON struct {
	Line    int    `json:"line"`
	Field   string `json:"field"`
	Value   string `json:"value"`
	Problem string `json:"problem"`
	WayOut  string `json:"way_out"`
}

// lineJSON is the answer to one row of a file.
type lineJSON struct {
	Line        int     `json:"line"`
	PlayerID    string  `json:"player_id"`
	EventID     string  `json:"reward_event_id"`
	Kind        string  `json:"kind"`
	Amount      string  `json:"amount"` // as it stands in the file
	Outcome     string  `json:"outcome"`
	LedgerID    *string `json:"ledger_id"`
	DuplicateOf int     `json:"duplicate_of,omitempty"`
	Detail      string  `json:"detail,omitempty"`
}

func newLineJSON(l repair.ApplyLine) lineJSON {
	return lineJSON{
		Line: l.Line, PlayerID: l.Request.PlayerID, EventID: l.Request.EventID,
		Kind: l.Request.Kind, Amount: l.AmountText, Outcome: l.Word(),
		LedgerID: jsonID(l.LedgerID), DuplicateOf: l.DuplicateOf, Detail: l.Detail,
	}
}

// printApply prints the report. As JSON lines and CSV the rows themselves were the data.
func (a *app) printApply(r repair.ApplyReport, f applyFlags, err error) error {
	code := applyExit(r, err)
	var stopped *repair.StoppedError
	if errors.As(err, &stopped) {
		a.say("stopped after %d of %d rows: %s", stopped.Done, stopped.Rows,
			classify(stopped.Cause).message)
	}
	var printed error
	switch a.output {
	case string(formatJSON):
		printed = writeJSON(a.stdout, newApplyJSON(r, f, err, code), true)
	case string(formatTable):
		printed = a.printFields(applyFields(r, f))
	}
	if printed != nil {
		return printed
	}
	a.sayNotable(r)
	var refused *repair.InvalidRowsError
	if errors.As(err, &refused) {
		a.say("nothing was granted: %d of %d rows are invalid", r.Check.Refused, r.Check.Rows)
		a.say("  correct them, or grant only the good rows with --skip-invalid")
	}
	if r.GoOn != "" && refused == nil {
		a.say("to go on, %s", r.GoOn)
	}
	return ended(code)
}

// applyWords are the outcomes of a file's rows in the order in which people want to know them.
func applyWords() []grant.Outcome {
	return []grant.Outcome{
		grant.Applied, grant.Replayed, grant.Rejected, grant.Mismatch, grant.LeaseHeld,
		grant.StaleToken, grant.TokenCollision, grant.Unknown, grant.Failed,
	}
}

func applyFields(r repair.ApplyReport, f applyFlags) []field {
	done := "yes"
	if !r.Complete {
		done = fmt.Sprintf("no, %d of %d", r.Done(), r.Check.Rows)
	}
	title := "file"
	if r.DryRun {
		title = "dry_run_of"
	}
	fields := []field{
		{title, text(r.Name)},
		{"rows", text(strconv.Itoa(r.Check.Rows))},
		{"complete", text(done)},
	}
	for _, o := range applyWords() {
		n := r.Counts.Of(o)
		if n > 0 || o == grant.Applied || o == grant.Replayed {
			fields = append(fields, field{o.String(), toned(strconv.Itoa(n), outcomeTone(o.String()))})
		}
	}
	if r.Counts.NotRun > 0 {
		fields = append(fields, field{"not_run", toned(strconv.Itoa(r.Counts.NotRun), notice)})
	}
	if r.Counts.Duplicates > 0 {
		fields = append(fields, field{"of_these", text(
			fmt.Sprintf("%d repeat an earlier row", r.Counts.Duplicates))})
	}
	return append(fields, field{"took", text(took(r))}, field{"result", text(r.ResultPath)},
		field{"rest", text(f.rest)})
}

// took is how long a run took and how fast it was.
func took(r repair.ApplyReport) string {
	seconds := r.Elapsed.Seconds()
	if seconds <= 0 || r.Done() == 0 {
		return span(r.Elapsed)
	}
	return fmt.Sprintf("%s, %.0f rows/s", span(r.Elapsed), float64(r.Done())/seconds)
}

// notableMax is how many rows are named on the screen; a server that is gone fails a whole batch.
const notableMax = 10

// sayNotable names the first rows that were not granted, invalid ones aside: these were named
// when the file was checked.
func (a *app) sayNotable(r repair.ApplyReport) {
	said, invalid := 0, r.Check.Refused
	for _, l := range r.Notable {
		if len(l.Problems) > 0 || said == notableMax {
			continue
		}
		said++
		a.say("line %d: %s: %s", l.Line, l.Word(), l.Detail)
	}
	if r.Counts.Sum() == r.Counts.NotRun {
		invalid = 0 // the file was refused as a whole: no row has an answer
	}
	if more := r.Counts.Refused() + r.Counts.Of(grant.Failed) + r.Counts.Of(grant.Unknown) -
		invalid - said; more > 0 {
		a.say("and %d more; --result FILE lists all", more)
	}
}

func newApplyJSON(r repair.ApplyReport, f applyFlags, err error, code exitCode) applyJSON {
	j := applyJSON{
		File: r.Name, DryRun: r.DryRun, Complete: r.Complete, Rows: r.Check.Rows,
		Counts: map[string]int{"not_run": r.Counts.NotRun}, Duplicate: r.Counts.Duplicates,
		Players: r.Check.Players, Kinds: []kindJSON{}, Problems: []problemJSON{},
		Warnings: []string{}, Notable: []lineJSON{}, ElapsedMS: r.Elapsed.Milliseconds(),
		Result: jsonText(r.ResultPath), Rest: jsonText(f.rest), GoOn: jsonText(r.GoOn),
		Exit: int(code),
	}
	for _, o := range applyWords() {
		j.Counts[o.String()] = r.Counts.Of(o)
	}
	for _, k := range r.Check.Kinds {
		j.Kinds = append(j.Kinds, kindJSON{k.Kind, k.Rows, k.Total, k.Largest})
	}
	for _, p := range r.Check.Problems {
		j.Problems = append(j.Problems, problemJSON(p))
	}
	for _, w := range r.Check.Warnings {
		j.Warnings = append(j.Warnings, w.String())
	}
	for _, l := range r.Notable {
		j.Notable = append(j.Notable, newLineJSON(l))
	}
	if err != nil {
		why := err.Error()
		j.Stopped = &why
	}
	return j
}

// lineColumns are the columns of the rest file and of -o csv. The first four make it a file of
// grants again; the others are ignored then.
func lineColumns() []string {
	return []string{
		"player_id", "event", "kind", "amount", "line", "outcome", "ledger_id", "detail",
	}
}

// applyLines takes the answers to the rows one by one: to the rest file, and to stdout when the
// rows themselves are the data.
type applyLines struct {
	app    *app
	file   *os.File // the rest file; nil without
	rest   *csv.Writer
	rows   *csv.Writer // -o csv
	failed error
}

func (a *app) newLines(restPath string) (*applyLines, error) {
	l := &applyLines{app: a}
	if a.output == string(formatCSV) {
		l.rows = csv.NewWriter(a.stdout)
		l.keep(l.rows.Write(lineColumns()))
	}
	if restPath == "" {
		return l, nil
	}
	var err error
	if l.file, err = os.OpenFile(restPath, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	l.rest = csv.NewWriter(l.file)
	l.keep(l.rest.Write(lineColumns()))
	return l, nil
}

// hook returns the function that is told each line, or nil when nobody wants to know.
func (l *applyLines) hook() func(repair.ApplyLine) {
	if l.rest == nil && l.rows == nil && l.app.output != string(formatJSONL) {
		return nil
	}
	return l.take
}

func (l *applyLines) take(line repair.ApplyLine) {
	granted := !line.NotRun && (line.Outcome == grant.Applied || line.Outcome == grant.Replayed)
	if l.rest != nil && !granted {
		l.keep(l.rest.Write(lineRecord(line, false)))
	}
	if l.rows != nil {
		record := lineRecord(line, l.app.raw)
		if shown := l.app.shownAs(l.app.stdout); shown != nil {
			for i := range record {
				record[i] = shown(record[i])
			}
		}
		l.keep(l.rows.Write(record))
	}
	if l.app.output == string(formatJSONL) {
		l.keep(writeJSON(l.app.stdout, newLineJSON(line), false))
	}
}

func lineRecord(l repair.ApplyLine, raw bool) []string {
	guard := batchfile.Guard
	if raw {
		guard = func(s string) string { return s }
	}
	ledger := ""
	if l.LedgerID != 0 {
		ledger = strconv.FormatInt(l.LedgerID, 10)
	}
	return []string{
		guard(l.Request.PlayerID), guard(l.Request.EventID), guard(l.Request.Kind),
		guard(l.AmountText), strconv.Itoa(l.Line), l.Word(), ledger, guard(l.Detail),
	}
}

func (l *applyLines) keep(err error) {
	if l.failed == nil {
		l.failed = err
	}
}

// close ends the files and returns the first error of any write.
func (l *applyLines) close() error {
	for _, w := range []*csv.Writer{l.rows, l.rest} {
		if w != nil {
			w.Flush()
			l.keep(w.Error())
		}
	}
	if l.file != nil {
		l.keep(l.file.Close())
	}
	return l.failed
}
