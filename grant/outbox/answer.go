package outbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"rewardctl/grant"
)

// The statuses of an Answer.
const (
	StatusApplied  = "applied"  // applied now, or, in the answer to GET, at some time
	StatusRepeated = "repeated" // applied before, with the same content
	StatusRefused  = "refused"  // never going to be applied
	StatusAbsent   = "absent"   // GET only: the key is not known
	StatusBusy     = "busy"     // not now
)

// Answer is the body of a receiver's answer: the documented shape.
type Answer struct {
	Status string `json:"status"`
	Key    string `json:"key"` // the request's Idempotency-Key
	// Kind and Amount are what was applied under the key; Amount in decimal.
	Kind   string `json:"kind,omitempty"`
	Amount string `json:"amount,omitempty"`
	// Reason says why it was refused.
	Reason string `json:"reason,omitempty"`
}

// parse reads the documented shape; ok is false for anything else.
func (a answer) parse(key string) (Answer, bool) {
	var out Answer
	if !a.whole || json.Unmarshal(a.body, &out) != nil || out.Key != key {
		return Answer{}, false
	}
	return out, true
}

// said is what the receiver said, for people.
func (a answer) said() string {
	var out Answer
	if json.Unmarshal(a.body, &out) == nil && out.Reason != "" {
		return fmt.Sprintf("answered %d: %s", a.status, plainLine(out.Reason))
	}
	if text := plainLine(string(a.body)); text != "" {
		return fmt.Sprintf("answered %d: %s", a.status, text)
	}
	return fmt.Sprintf("answered %d %s", a.status, http.StatusText(a.status))
}

// judgeAnswer judges the answer to a POST. Only the documented shape counts as delivered.
func judgeAnswer(a answer, key string, now time.Time) Report {
	said, after := a.said(), retryAfter(a.header, now)
	got, documented := a.parse(key)
	switch {
	case a.status == http.StatusOK || a.status == http.StatusCreated:
		switch {
		case documented && got.Status == StatusApplied:
			return Report{Verdict: Delivered}
		case documented && got.Status == StatusRepeated:
			return Report{Verdict: Repeated}
		}
		return Report{
			Verdict: Failed, Doubt: true,
			Detail: said + " (not the documented answer, so not taken for delivered)",
		}
	case a.status == http.StatusConflict && documented && got.Status == StatusRepeated:
		return Report{Verdict: Repeated}
	case a.status == http.StatusConflict && documented && got.Status == StatusRefused,
		a.status == http.StatusUnprocessableEntity:
		return Report{Verdict: Refused, Detail: said}
	case notNow(a.status):
		return Report{Verdict: NotNow, Detail: said, RetryAfter: after}
	case a.status == http.StatusBadGateway || a.status == http.StatusGatewayTimeout:
		// Whoever stands in between does not know what the receiver did.
		return Report{Verdict: Unknown, Detail: said, RetryAfter: after}
	}
	return Report{Verdict: Failed, Detail: said, Doubt: a.status >= 500, RetryAfter: after}
}

// notNow knows the answers that say nothing about the message: the receiver is down or busy, or
// is not there or not set up as we believe.
func notNow(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusRequestTimeout,
		http.StatusTooEarly, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusProxyAuthRequired:
		return true
	}
	return status < 200 || status >= 300 && status < 400
}

// judgeStatus judges the answer to a GET. A receiver that cannot be asked is sent the message
// again; what it must honour in any case is the key.
func judgeStatus(a answer, m grant.Message, now time.Time) Report {
	got, documented := a.parse(m.Key())
	switch {
	case documented && a.status == http.StatusNotFound && got.Status == StatusAbsent:
		return Report{Verdict: Absent}
	case !documented && (a.status == http.StatusNotFound || a.status == http.StatusNotImplemented ||
		a.status == http.StatusMethodNotAllowed):
		return Report{Verdict: Absent, Guessed: true}
	case documented && a.status == http.StatusOK && got.Status == StatusRefused:
		return Report{Verdict: Refused, Detail: "status: " + a.said()}
	case documented && a.status == http.StatusOK && got.Status == StatusApplied:
		if got.Kind == m.Kind && got.Amount == strconv.FormatInt(m.Amount, 10) {
			return Report{
				Verdict: Repeated, Detail: "found by asking for its status", Kind: got.Kind,
				Amount: got.Amount,
			}
		}
		return Report{
			Verdict: Refused, Kind: got.Kind, Amount: got.Amount,
			Detail: plainLine(fmt.Sprintf("the receiver has %s %s under this key, not %d %s",
				got.Amount, got.Kind, m.Amount, m.Kind)),
		}
	}
	return Report{
		Verdict: NotNow, Detail: "its status could not be asked for: " + a.said(),
		RetryAfter: retryAfter(a.header, now),
	}
}

// retryAfter reads how long the receiver asks to wait: seconds, or a time.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if text == "" {
		return 0
	}
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), retryAfterMax)
}
