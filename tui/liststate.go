package tui

import "encoding/json"

// listState is what is remembered of a list.
type listState struct {
	Sort   string   `json:"sort"`
	Desc   bool     `json:"desc"`
	Filter string   `json:"filter,omitempty"`
	Hidden []string `json:"hidden,omitempty"`
	NoPane bool     `json:"no_pane,omitempty"`
	Pins   []string `json:"watched,omitempty"` // rows that are watched
}

// state is the sort, the filter, the columns and the rows that are watched.
func (l *list[R]) state() listState {
	key, desc := l.table.Sort()
	return listState{key, desc, l.filter, l.table.Hidden(), !l.pane, l.pins}
}

// State writes the state down.
func (l *list[R]) State() json.RawMessage {
	raw, err := json.Marshal(l.state())
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
	if l.spec.absent != nil {
		l.pins = s.Pins
	}
}
