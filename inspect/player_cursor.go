package inspect

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"
)

// timelinePlace is a position in a timeline: entries of one moment are ordered by rank, then id.
type timelinePlace struct {
	At    time.Time `json:"at"`
	Rank  int       `json:"rank"`
	ID    int64     `json:"id,string"`
	Newer bool      `json:"newer,omitempty"` // go on towards the present
	// Balances are the player's balances at the place, by kind: above its entry when the pages go
	// towards the present, else below it. Nil when they are not known.
	Balances map[string]int64 `json:"balances,omitempty"`
}

var errCursor = errors.New("the cursor is damaged; begin again without one")

func (p timelinePlace) cursor() string {
	text, err := json.Marshal(p)
	if err != nil { // a year beyond 9999
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// CursorIsNewer reports whether a cursor goes on towards the present, as PlayerPage.Prev does. A
// damaged cursor goes nowhere: that is false.
func CursorIsNewer(cursor string) bool {
	place, err := parseCursor(cursor)
	return err == nil && place != nil && place.Newer
}

func parseCursor(cursor string) (*timelinePlace, error) {
	if cursor == "" {
		return nil, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, errCursor
	}
	var p timelinePlace
	if err := json.Unmarshal(text, &p); err != nil || p.Rank < 1 || p.Rank > 5 || p.At.IsZero() {
		return nil, errCursor
	}
	return &p, nil
}
