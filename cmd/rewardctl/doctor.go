package main

import (
	"github.com/spf13/cobra"

	"rewardctl/inspect"
)

type diagnosisJSON struct {
	At      *string           `json:"at"`
	Healthy bool              `json:"healthy"`
	Refuses bool              `json:"granting_refused"`
	Checks  []checkJSON       `json:"checks"`
	Missing []missingJSONItem `json:"missing"`
}

type checkJSON struct {
	Name   string `json:"name"`
	Level  string `json:"level"`
	Status string `json:"status"`
	Value  string `json:"value"`
	Why    string `json:"why"`
	Fix    string `json:"fix,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that granting depends on, and say what to do",
		Long: "Checks servers, schema, keys and clocks. It ends with 0 when granting is safe, with 6" +
			" when it\nis not or, with --strict, when there is any warning, and with 8 when a server" +
			" does not answer.",
		Example: "  rewardctl doctor\n  rewardctl doctor --strict -o json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			reader, err := a.reader(cmd.Context())
			if err != nil {
				return err
			}
			d, err := reader.Doctor(cmd.Context())
			if err != nil {
				return err
			}
			return a.printDiagnosis(d, strict)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "end with 6 on warnings, too")
	return cmd
}

func (a *app) printDiagnosis(d inspect.Diagnosis, strict bool) error {
	doc := diagnosisJSON{
		At: jsonTime(d.At), Healthy: d.Healthy(), Refuses: d.Refuses(), Checks: []checkJSON{},
		Missing: missingJSON(d.Missing),
	}
	l := listing{columns: columns("status", "check", "found")}
	if a.output == string(formatCSV) {
		l.columns = columns("status", "check", "found", "level", "why", "fix")
	}
	failed := d.Refuses()
	for _, c := range d.Checks {
		failed = failed || c.Status == inspect.Fail && strict
		value := checkJSON{
			Name: c.Name, Level: string(c.Level), Status: string(c.Status), Value: c.Value,
			Why: c.Why, Fix: c.Fix,
		}
		doc.Checks = append(doc.Checks, value)
		l.values = append(l.values, value)
		row := []cell{statusCell(c), text(c.Name), text(c.Value)}
		if a.output == string(formatCSV) {
			row = append(row, text(string(c.Level)), text(c.Why), text(c.Fix))
		}
		l.rows = append(l.rows, row)
	}
	l.document = doc
	if err := a.print(l); err != nil {
		return err
	}
	if a.output == string(formatTable) {
		a.sayFixes(d)
	}
	if err := a.incomplete(d.Missing); err != nil {
		return err
	}
	if failed {
		return ended(exitFindings)
	}
	return nil
}

func statusCell(c inspect.Check) cell {
	switch {
	case c.Status == inspect.Pass:
		return toned("ok", good)
	case c.Status == inspect.Unseen:
		return toned("not seen", notice)
	case c.Level == inspect.Gate:
		return toned("FAILED", bad)
	}
	return toned("warning", notice)
}

// sayFixes says below the table why each failed check matters and what to do about it.
func (a *app) sayFixes(d inspect.Diagnosis) {
	for _, c := range d.Checks {
		if c.Status == inspect.Pass {
			continue
		}
		a.say("%s: %s", c.Name, c.Why)
		if c.Fix != "" {
			a.say("  do: %s", c.Fix)
		}
	}
	if d.Refuses() {
		a.say("Granting is refused until this is fixed. Reading stays possible.")
	}
}
