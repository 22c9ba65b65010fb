package outbox

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// List asks for one page of what the receiver has.
func (s *HTTPSink) List(ctx context.Context, after string) ([]Listed, string, error) {
	at := s.at.String()
	if after != "" {
		at = s.with("after", after)
	}
	a, report := s.ask(ctx, http.MethodGet, at, about{}, nil)
	if report != nil {
		return nil, "", &BusyError{Detail: report.Detail}
	}
	return judgeList(a, after, s.opts.Now())
}

// judgeList reads a page. Anything but the documented shape is no list: a key that is not told
// would be taken for one that is not there.
func judgeList(a answer, after string, now time.Time) ([]Listed, string, error) {
	var page struct {
		Items *[]Listed `json:"items"`
		Next  string    `json:"next"`
	}
	switch {
	case a.status == http.StatusOK:
		if !a.whole || json.Unmarshal(a.body, &page) != nil || page.Items == nil ||
			page.Next != "" && page.Next == after {
			return nil, "", ErrNoListing
		}
		return *page.Items, page.Next, nil
	case a.status == http.StatusNotFound || a.status == http.StatusNotImplemented ||
		a.status == http.StatusMethodNotAllowed || a.status == http.StatusBadRequest:
		return nil, "", ErrNoListing
	}
	return nil, "", &BusyError{
		Detail: "its list could not be asked for: " + a.said(), RetryAfter: retryAfter(a.header, now),
	}
}
