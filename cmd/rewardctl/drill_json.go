package main

import (
	"strconv"

	"rewardctl/grant/drill"
)

type drillJSON struct {
	Drill    string             `json:"drill"`
	Defence  string             `json:"defence"`
	Seed     string             `json:"seed"`
	TTLMS    int64              `json:"ttl_ms"`
	PauseMS  int64              `json:"pause_ms"`
	Started  *string            `json:"started"`
	PlayerID string             `json:"player_id"`
	EventID  string             `json:"reward_event_id"`
	Expected int64              `json:"expected"`
	Columns  [3]string          `json:"columns"`
	Timeline []drillRowJSON     `json:"timeline"`
	Refusals []drillRefusalJSON `json:"refusals"`
	Checks   []drillCheckJSON   `json:"checks"`
	Notes    []string           `json:"notes"`
	OK       bool               `json:"ok"`

	Workers int               `json:"workers,omitempty"` // lost-update only
	Rounds  int               `json:"rounds,omitempty"`
	Methods []drillMethodJSON `json:"methods,omitempty"` // drills that compare ways only
	Steps   []drillStepJSON   `json:"steps,omitempty"`
}

// drillRowJSON is one moment. Its keys stay the same, whatever a drill calls its columns.
type drillRowJSON struct {
	AtMS    int64  `json:"at_ms"`
	WorkerA string `json:"worker_a"`
	Lease   string `json:"redis_lease"`
	WorkerB string `json:"worker_b"`
}

type drillRefusalJSON struct {
	Worker  string `json:"worker"`
	Line    string `json:"line"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
}

type drillCheckJSON struct {
	Name  string `json:"name"`
	Want  string `json:"want"`
	Have  string `json:"have"`
	Holds bool   `json:"holds"`
}

type drillDescriptionJSON struct {
	Name     string    `json:"name"`
	Plays    string    `json:"plays"`
	Defences []string  `json:"defences"`
	TTLMS    int64     `json:"ttl_ms"`
	Columns  [3]string `json:"columns"`
}

// drillProofJSON is a drill without its defences and with them. Control is null for a drill that
// plays its control beside the rest.
type drillProofJSON struct {
	Drill    string     `json:"drill"`
	Plays    string     `json:"plays"`
	Proved   bool       `json:"proved"`
	Control  *drillJSON `json:"control"`
	Defended drillJSON  `json:"defended"`
}

type drillsJSON struct {
	Seed   string           `json:"seed"`
	Proved bool             `json:"proved"`
	Drills []drillProofJSON `json:"drills"`
}

func newDrillJSON(r drill.Report) drillJSON {
	j := drillJSON{
		Drill: r.Name, Defence: string(r.Defence), Seed: strconv.FormatUint(r.Seed, 10),
		TTLMS: r.TTL.Milliseconds(), PauseMS: r.Pause.Milliseconds(), Started: jsonTime(r.Started),
		PlayerID: r.PlayerID, EventID: r.EventID, Expected: r.Expected, Columns: r.Columns,
		Timeline: []drillRowJSON{}, Refusals: []drillRefusalJSON{}, Checks: []drillCheckJSON{},
		Notes: emptyNotNull(r.Notes), OK: r.OK, Workers: r.Workers, Rounds: r.Rounds,
		Methods: newMethodsJSON(r.Methods), Steps: newStepsJSON(r.Steps),
	}
	for _, row := range r.Timeline {
		j.Timeline = append(j.Timeline, drillRowJSON{
			row.At.Milliseconds(), row.WorkerA, row.Lease, row.WorkerB,
		})
	}
	for _, f := range r.Refusals {
		j.Refusals = append(j.Refusals, drillRefusalJSON{
			f.Worker, string(f.Line), f.Outcome.String(), f.Detail,
		})
	}
	for _, c := range r.Checks {
		j.Checks = append(j.Checks, drillCheckJSON(c))
	}
	return j
}

func newProofJSON(p drill.Proof) drillProofJSON {
	j := drillProofJSON{
		Drill: p.Defended.Name, Plays: p.Defended.Plays, Proved: p.Proved,
		Defended: newDrillJSON(p.Defended),
	}
	if p.Control.Name != "" {
		control := newDrillJSON(p.Control)
		j.Control = &control
	}
	return j
}
