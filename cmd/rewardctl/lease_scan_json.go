package main

import "rewardctl/inspect"

// foundJSON is one lock that a scan met.
type foundJSON struct {
	Key      string         `json:"key"`
	Kind     string         `json:"kind"`
	Type     string         `json:"type"`
	State    string         `json:"state"`
	Also     []string       `json:"also"`
	Likely   *string        `json:"likely"`
	LeftMS   *int64         `json:"left_ms"` // null: no expiry
	Resource *string        `json:"resource"`
	Token    *string        `json:"token"`
	Owner    *string        `json:"owner"`
	Value    string         `json:"value"`
	Server   string         `json:"server"`
	Evidence []evidenceJSON `json:"evidence"`
}

// scanReportJSON closes the document of a scan.
type scanReportJSON struct {
	Complete  bool              `json:"complete"`
	Visited   int64             `json:"visited"`
	Total     int64             `json:"total"`
	Found     int64             `json:"found"`
	Primaries int               `json:"primaries"`
	Missing   []missingJSONItem `json:"missing"`
}

func newFoundJSON(f inspect.Found) foundJSON {
	j := foundJSON{
		Key: f.Key, Kind: string(f.Kind), Type: f.Type, State: string(f.Verdict.State),
		Also: []string{}, Likely: jsonText(string(f.Verdict.Likely)),
		Resource: jsonText(f.Resource), Token: jsonID(f.Token), Owner: jsonText(f.Owner),
		Value: f.Value, Server: f.Addr, Evidence: newEvidenceJSON(f.Verdict.Evidence),
	}
	for _, s := range f.Verdict.Also {
		j.Also = append(j.Also, string(s))
	}
	if !f.NoExpiry {
		ms := f.Left.Milliseconds()
		j.LeftMS = &ms
	}
	return j
}

func newScanReportJSON(r inspect.ScanReport) scanReportJSON {
	return scanReportJSON{
		Complete: r.Complete, Visited: r.Visited, Total: r.Total, Found: r.Found,
		Primaries: r.Primaries, Missing: missingJSON(r.Missing),
	}
}
