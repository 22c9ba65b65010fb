package tui

import "encoding/json"

// listState is what is remembered of a list.
type listState struct {
	Sort   string   `json:"sort"`
	Desc   bool     `json:"desc"`
	Filter string   `json:"filter,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	NoPane bool     `json:"no_pane,omitempty"`
}

// State is the sort, the filter and the columns.
func (l *list[R]) State() json.RawMessage {
	key, desc := l.table.Sort()
	raw, err := json.Marshal(listState{key, desc, l.filter, l.table.Hidden(), !l.pane})
	if err != nil {
		return nil
	}
	return raw
}

// restore brings back what was remembered. What is unknown, such as a column that is gone, is
// left out.
func (l *list[R]) restore(raw json.RawMessage) {
	var s listState
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return
	}
	for _, c := range l.spec.columns {
		if c.Key == s.Sort && c.compare != nil {
			l.table.SetSort(s.Sort, s.Desc)
		}
	}
	l.table.SetHidden(s.Hidden)
	l.filter, l.pane = s.Filter, !s.NoPane
}
