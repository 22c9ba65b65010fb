package itemserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
)

// bodyMax bounds a request: a message is below 4 KiB.
const bodyMax = 64 << 10

// refusal is why a request is not even looked at.
type refusal struct {
	status int
	reason string
}

// event is the message as it arrives.
type event struct {
	SpecVersion string `json:"specversion"`
	ID          string `json:"id"`
	Type        string `json:"type"`
	Data        struct {
		PlayerID string `json:"player_id"`
		EventID  string `json:"reward_event_id"`
		Kind     string `json:"kind"`
		Amount   string `json:"amount"`
		Token    string `json:"fence_token"`
		LedgerID string `json:"ledger_id"`
		Reverses string `json:"reverses_event_id"`
	} `json:"data"`
}

// read reads and checks a request. Its headers have to agree with its body.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (grant.Message, *refusal) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	if err != nil {
		return grant.Message{}, &refusal{http.StatusRequestEntityTooLarge, "the body is too large"}
	}
	key := r.Header.Get(outbox.HeaderKey)
	if !s.signed(r, key, body) {
		return grant.Message{}, &refusal{http.StatusUnauthorized, "the signature is wrong or old"}
	}
	m, err := parse(body)
	if err != nil {
		return m, &refusal{http.StatusUnprocessableEntity, err.Error()}
	}
	switch {
	case key != m.Key():
		return m, &refusal{http.StatusUnprocessableEntity, outbox.HeaderKey + " is not the event's"}
	case r.Header.Get(outbox.HeaderToken) != strconv.FormatInt(m.Token, 10):
		return m, &refusal{http.StatusUnprocessableEntity, outbox.HeaderToken + " is not the event's"}
	}
	return m, nil
}

// parse reads a message. It goes by the version in the type and leaves alone what it does not
// know, so that a newer sender can add to it.
func parse(body []byte) (grant.Message, error) {
	var e event
	var m grant.Message
	if json.Unmarshal(body, &e) != nil || e.SpecVersion != "1.0" {
		return m, errNotJSON
	}
	if e.Type != grant.MessageGranted && e.Type != grant.MessageReversed {
		return m, fmt.Errorf("events of type %q are not known here", e.Type)
	}
	m.PlayerID, m.EventID, m.Kind = e.Data.PlayerID, e.Data.EventID, e.Data.Kind
	m.Reverses = e.Data.Reverses
	for _, number := range []struct {
		name, text string
		into       *int64
	}{
		{"amount", e.Data.Amount, &m.Amount},
		{"fence_token", e.Data.Token, &m.Token},
		{"ledger_id", e.Data.LedgerID, &m.LedgerID},
	} {
		var err error
		if *number.into, err = strconv.ParseInt(number.text, 10, 64); err != nil {
			return m, fmt.Errorf("%s %q is not a whole number", number.name, number.text)
		}
	}
	switch {
	case m.PlayerID == "" || m.EventID == "" || m.Kind == "":
		return m, fmt.Errorf("player, event or kind is missing")
	case e.ID != m.Key():
		return m, fmt.Errorf("the id %q is not the key of player and event", e.ID)
	case m.Type() != e.Type || m.Amount == 0:
		return m, fmt.Errorf("an amount of %d does not fit the type %s", m.Amount, e.Type)
	}
	return m, nil
}

// signed reports whether a request may be believed.
func (s *Server) signed(r *http.Request, key string, body []byte) bool {
	if s.opts.Secret == "" {
		return true
	}
	return outbox.Verify(s.opts.Secret, r.Method, r.Header.Get(outbox.HeaderTimestamp), key, body,
		r.Header.Get(outbox.HeaderSignature), s.opts.Now())
}

// page is one page of what was applied.
type page struct {
	Items []listed `json:"items"`
	// Next is the parameter after of the next page; empty at the end.
	Next string `json:"next"`
}

type listed struct {
	Key      string `json:"key"`
	PlayerID string `json:"player_id"`
	EventID  string `json:"reward_event_id"`
	Kind     string `json:"kind"`
	Amount   string `json:"amount"`
	Token    string `json:"fence_token"`
	Copies   string `json:"copies"`
}

const pageMax = 1000

// list answers with what was applied after a key.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > pageMax {
		limit = pageMax
	}
	found, err := s.store.receipts(r.Context(), r.URL.Query().Get("after"), limit)
	if err != nil {
		reply(w, http.StatusServiceUnavailable, outbox.Answer{Status: outbox.StatusBusy})
		return
	}
	out := page{Items: []listed{}}
	for _, one := range found {
		out.Items = append(out.Items, listed{
			Key: one.Key, PlayerID: one.PlayerID, EventID: one.EventID, Kind: one.Kind,
			Amount: strconv.FormatInt(one.Amount, 10), Token: strconv.FormatInt(one.Token, 10),
			Copies: strconv.FormatInt(one.Copies, 10),
		})
	}
	if len(found) == limit {
		out.Next = found[limit-1].Key
	}
	reply(w, http.StatusOK, out)
}
