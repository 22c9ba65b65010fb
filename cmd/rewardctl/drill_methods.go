package main

import (
	"fmt"
	"strconv"
	"time"

	"rewardctl/grant/drill"
)

// drillMethodJSON is one way of the lost-update drill.
type drillMethodJSON struct {
	Way      string  `json:"way"`
	Start    int64   `json:"start"`
	Want     int64   `json:"want"`
	Have     int64   `json:"have"`
	Lost     int64   `json:"lost"`
	Waits    int     `json:"waits"`
	WaitedMS float64 `json:"waited_ms"`
	Retries  int     `json:"retries"`
	Trips    float64 `json:"round_trips"` // of a deduction, on average
	CostMS   float64 `json:"cost_ms"`     // of a deduction when the workers ran freely
	FreeRe   int     `json:"free_retries"`
}

type drillStepJSON struct {
	AtMS   float64 `json:"at_ms"`
	Way    string  `json:"way"`
	Worker int     `json:"worker"`
	Text   string  `json:"text"`
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}

func newMethodsJSON(methods []drill.Method) []drillMethodJSON {
	var list []drillMethodJSON
	for _, m := range methods {
		list = append(list, drillMethodJSON{
			Way: string(m.Way), Start: m.Start, Want: m.Want, Have: m.Have, Lost: m.Lost,
			Waits: m.Waits, WaitedMS: milliseconds(m.Waited), Retries: m.Retries, Trips: m.Trips,
			CostMS: milliseconds(m.Cost), FreeRe: m.FreeRetries,
		})
	}
	return list
}

func newStepsJSON(steps []drill.Step) []drillStepJSON {
	var list []drillStepJSON
	for _, s := range steps {
		list = append(list, drillStepJSON{milliseconds(s.At), string(s.Way), s.Worker, s.Text})
	}
	return list
}

// printMethods prints the ways beside each other: what happened, then what came of it.
func (a *app) printMethods(r drill.Report) error {
	if a.output == string(formatTable) && len(r.Steps) > 0 {
		l := listing{columns: columns("way", "time", "worker_a", "worker_b")}
		for _, s := range r.Steps {
			cells := []cell{
				text(string(s.Way)), text(fmt.Sprintf("%.1f ms", milliseconds(s.At))), {}, {},
			}
			cells[1+s.Worker].text = s.Text
			l.rows = append(l.rows, cells)
		}
		if err := a.print(l); err != nil {
			return err
		}
		a.gap()
	}
	l := listing{columns: columns("way", "start", "want", "have", "lost", "waits", "waited_ms",
		"retries", "round_trips", "cost_ms", "free_retries")}
	for _, m := range r.Methods {
		have, lost := toned(strconv.FormatInt(m.Have, 10), good), number(m.Lost)
		if m.Lost != 0 {
			have.tone, lost.tone = bad, bad
		}
		have.number = true
		l.rows = append(l.rows, []cell{
			text(string(m.Way)), number(m.Start), number(m.Want), have, lost, number(int64(m.Waits)),
			decimal(milliseconds(m.Waited)), number(int64(m.Retries)), decimal(m.Trips),
			decimal(milliseconds(m.Cost)), number(int64(m.FreeRetries)),
		})
	}
	if err := a.print(l); err != nil || a.output != string(formatTable) || r.Workers == 0 {
		return err
	}
	a.say("%d workers, %d times each, made to collide every time; cost is per deduction when they "+
		"ran freely afterwards", r.Workers, r.Rounds)
	return nil
}

func decimal(f float64) cell {
	return cell{text: strconv.FormatFloat(f, 'f', 1, 64), number: true}
}
