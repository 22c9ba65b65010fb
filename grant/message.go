package grant

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The types of messages, as receivers see them. A change that an old receiver would misread gets
// a new version.
const (
	MessageGranted  = "rewardctl.reward.granted.v1"
	MessageReversed = "rewardctl.reward.reversed.v1"
)

// Message is what is delivered for one posting. It is rendered from the ledger row each time it
// is sent, so every copy is the same, byte for byte.
type Message struct {
	PlayerID string
	EventID  string
	Kind     string
	Amount   int64 // below zero for a reversal
	Token    int64 // the fencing token of the posting
	LedgerID int64
	At       time.Time // when it was posted
	// Reverses is the event of the same player that this posting takes back; empty for a grant.
	Reverses string
	// Source says which installation sends, such as "/rewardctl/prod".
	Source string
}

// Key returns what receivers deduplicate by: player and event, escaped so that it fits a header.
// Ledger ids would not do: after a restore from a backup they are given out again.
func (m Message) Key() string { return MessageKey(m.PlayerID, m.EventID) }

// MessageKey returns the key of a player's event.
func MessageKey(player, event string) string {
	return url.PathEscape(player) + "/" + url.PathEscape(event)
}

// ParseMessageKey is the inverse of MessageKey; ok is false for a text that is no such key.
func ParseMessageKey(key string) (player, event string, ok bool) {
	left, right, ok := strings.Cut(key, "/")
	player, bad := url.PathUnescape(left)
	event, worse := url.PathUnescape(right)
	ok = ok && bad == nil && worse == nil && player != "" && event != ""
	return player, event, ok && MessageKey(player, event) == key
}

// Type returns MessageGranted or MessageReversed.
func (m Message) Type() string {
	if m.Amount < 0 {
		return MessageReversed
	}
	return MessageGranted
}

// envelope is a CloudEvents 1.0 event in its JSON form. All 64-bit numbers are text: programs that
// keep numbers as doubles would change their last digits.
type envelope struct {
	SpecVersion string        `json:"specversion"`
	ID          string        `json:"id"`
	Source      string        `json:"source"`
	Type        string        `json:"type"`
	Subject     string        `json:"subject"`
	Time        string        `json:"time"`
	ContentType string        `json:"datacontenttype"`
	Data        messageReward `json:"data"`
}

type messageReward struct {
	PlayerID string  `json:"player_id"`
	EventID  string  `json:"reward_event_id"`
	Kind     string  `json:"kind"`
	Amount   string  `json:"amount"`
	Token    string  `json:"fence_token"`
	LedgerID string  `json:"ledger_id"`
	Reverses *string `json:"reverses_event_id"`
}

// Encode returns the message as JSON.
func (m Message) Encode() ([]byte, error) {
	e := envelope{
		SpecVersion: "1.0", ID: m.Key(), Source: m.Source, Type: m.Type(), Subject: m.PlayerID,
		Time: m.At.UTC().Format(time.RFC3339Nano), ContentType: "application/json",
		Data: messageReward{
			PlayerID: m.PlayerID, EventID: m.EventID, Kind: m.Kind,
			Amount: strconv.FormatInt(m.Amount, 10), Token: strconv.FormatInt(m.Token, 10),
			LedgerID: strconv.FormatInt(m.LedgerID, 10),
		},
	}
	if m.Reverses != "" {
		e.Data.Reverses = &m.Reverses
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}
