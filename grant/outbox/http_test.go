package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rewardctl/grant"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

var testMessage = grant.Message{
	PlayerID: "p/1", EventID: "season 34:rank", Kind: "gems", Amount: 9007199254740993,
	Token: 9007199254740995, LedgerID: 7, At: time.Unix(1_790_000_000, 5000), Source: "/test",
}

// respond starts a receiver that answers everything in one way.
func respond(
	t *testing.T, answer func(w http.ResponseWriter, r *http.Request),
) *outbox.HTTPSink {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(server.Close)
	return sink(t, server.URL)
}

// The message is a CloudEvents 1.0 event whose numbers survive programs that keep doubles.
func TestMessageIsWhatIsDocumented(t *testing.T) {
	t.Parallel()
	body, err := testMessage.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"specversion":"1.0","id":"p%2F1/season%2034:rank","source":"/test",` +
		`"type":"rewardctl.reward.granted.v1","subject":"p/1",` +
		`"time":"2026-09-21T14:13:20.000005Z","datacontenttype":"application/json",` +
		`"data":{"player_id":"p/1","reward_event_id":"season 34:rank","kind":"gems",` +
		`"amount":"9007199254740993","fence_token":"9007199254740995","ledger_id":"7",` +
		`"reverses_event_id":null}}`
	if string(body) != want {
		t.Errorf("the message is\n%s\nwant\n%s", body, want)
	}
	var doubles map[string]any
	if err := json.Unmarshal(body, &doubles); err != nil {
		t.Fatal(err)
	}
	if got := doubles["data"].(map[string]any)["amount"]; got != "9007199254740993" {
		t.Errorf("the amount is %v", got)
	}
}

// Only the documented shape counts as delivered; every other answer has its verdict.
func TestAnswers(t *testing.T) {
	t.Parallel()
	key := testMessage.Key()
	applied := fmt.Sprintf(`{"status":"applied","key":%q}`, key)
	repeated := fmt.Sprintf(`{"status":"repeated","key":%q}`, key)
	for _, c := range []struct {
		status int
		body   string
		want   outbox.Verdict
		doubt  bool
	}{
		{200, applied, outbox.Delivered, false},
		{201, applied, outbox.Delivered, false},
		{200, repeated, outbox.Repeated, false},
		{409, repeated, outbox.Repeated, false},
		{200, `{"error":"no such item"}`, outbox.Failed, true},
		{200, `{"status":"applied","key":"another"}`, outbox.Failed, true},
		{200, "ok", outbox.Failed, true},
		{200, "", outbox.Failed, true},
		{200, applied + strings.Repeat(" ", 70_000), outbox.Failed, true},
		{202, applied, outbox.Failed, false},
		{204, "", outbox.Failed, false},
		{409, "", outbox.Failed, false},
		{409, fmt.Sprintf(`{"status":"refused","key":%q}`, key), outbox.Refused, false},
		{422, `{"reason":"no such player"}`, outbox.Refused, false},
		{422, "", outbox.Refused, false},
		{400, "bad", outbox.Failed, false},
		{413, "", outbox.Failed, false},
		{500, "", outbox.Failed, true},
		{502, "", outbox.Unknown, false},
		{504, "", outbox.Unknown, false},
		{429, "", outbox.NotNow, false},
		{503, "", outbox.NotNow, false},
		{401, "", outbox.NotNow, false},
		{404, "", outbox.NotNow, false},
		{302, "", outbox.NotNow, false},
	} {
		s := respond(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		got := s.Publish(t.Context(), testMessage)
		if got.Verdict != c.want || got.Doubt != c.doubt {
			t.Errorf("%d %.40s: %+v, want %s, doubt %t", c.status, c.body, got, c.want, c.doubt)
		}
	}
}

// An answer to the status request decides whether it is sent again; one that says nothing does not.
func TestStatusAnswers(t *testing.T) {
	t.Parallel()
	key := testMessage.Key()
	for _, c := range []struct {
		status int
		body   string
		want   outbox.Verdict
	}{
		{200, fmt.Sprintf(`{"status":"applied","key":%q,"kind":"gems","amount":"9007199254740993"}`,
			key), outbox.Repeated},
		{200, fmt.Sprintf(`{"status":"applied","key":%q,"kind":"gems","amount":"9007199254740992"}`,
			key), outbox.Refused},
		{404, fmt.Sprintf(`{"status":"absent","key":%q}`, key), outbox.Absent},
		{404, "<html>", outbox.Absent}, // it cannot be asked
		{405, "", outbox.Absent},
		{200, "<html>", outbox.NotNow},
		{500, "", outbox.NotNow},
		{503, "", outbox.NotNow},
	} {
		s := respond(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Query().Get("key") != key {
				t.Errorf("asked with %s %s", r.Method, r.URL)
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		got := s.Probe(t.Context(), testMessage)
		if got.Verdict != c.want {
			t.Errorf("%d %.40s: %+v, want %s", c.status, c.body, got, c.want)
		}
		// Whoever looks for what is missing must tell the two kinds of absent apart.
		if got.Guessed != (c.want == outbox.Absent && !strings.Contains(c.body, key)) {
			t.Errorf("%d %.40s: guessed is %t", c.status, c.body, got.Guessed)
		}
	}
}

// A list is believed only in the documented shape: a key that is not told would count as missing.
func TestListAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   string // what comes back, in short
	}{
		{
			200, `{"items":[{"key":"p/e","kind":"gems","amount":"5"}],"next":"p/e"}`,
			"p/e 5 gems, next p/e",
		},
		{200, `{"items":[],"next":""}`, ", next "},
		{200, `{"items":[],"next":"a"}`, "no list"}, // it would never end
		{200, `{"status":"applied"}`, "no list"},
		{200, "<html>", "no list"},
		{404, `{"status":"absent","key":""}`, "no list"},
		{405, "", "no list"},
		{503, "", "busy"},
		{401, "", "busy"},
	} {
		s := respond(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Query().Get("after") != "a" {
				t.Errorf("asked with %s %s", r.Method, r.URL)
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		page, next, err := s.List(t.Context(), "a")
		var busy *outbox.BusyError
		var got string
		switch {
		case errors.Is(err, outbox.ErrNoListing):
			got = "no list"
		case errors.As(err, &busy):
			got = "busy"
		default:
			for _, one := range page {
				got += fmt.Sprintf("%s %s %s", one.Key, one.Amount, one.Kind)
			}
			got += ", next " + next
		}
		if got != c.want {
			t.Errorf("%d %.40s: %q, want %q", c.status, c.body, got, c.want)
		}
	}
}

// The reference item server lists everything, page by page, to whoever knows the secret.
func TestListReadsEveryPage(t *testing.T) {
	t.Parallel()
	b := setup(t, itemserver.Options{})
	b.exec(t, `insert into itemserver_receipt
		(key, player_id, reward_event_id, kind, amount, fence_token)
		select 'p-' || n || '/e', 'p-' || n, 'e', 'gems', n, 1 from generate_series(1, 2500) n`)
	s := sink(t, b.server.URL)
	seen, after := map[string]bool{}, ""
	for pages := 0; ; pages++ {
		page, next, err := s.List(t.Context(), after)
		if err != nil || pages > 3 {
			t.Fatal(pages, err)
		}
		for _, one := range page {
			player, event, ok := grant.ParseMessageKey(one.Key)
			if !ok || event != "e" || "p-"+one.Amount != player || seen[one.Key] {
				t.Fatalf("%+v", one)
			}
			seen[one.Key] = true
		}
		if after = next; next == "" {
			break
		}
	}
	if len(seen) != 2500 {
		t.Errorf("%d keys", len(seen))
	}
	strange, err := outbox.NewHTTPSink(outbox.HTTPOptions{URL: b.server.URL, Secret: "wrong"})
	if err != nil {
		t.Fatal(err)
	}
	defer strange.Close()
	if page, _, err := strange.List(t.Context(), ""); err == nil || len(page) > 0 {
		t.Errorf("a stranger sees %d keys", len(page))
	}
}

func TestParseMessageKey(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"p", "e"}, {"p/1", "season 34:rank"}, {"00123", "é%2F"}, {"\xff", "=x"}, {"..", "a?b#c"},
	} {
		player, event, ok := grant.ParseMessageKey(grant.MessageKey(c[0], c[1]))
		if !ok || player != c[0] || event != c[1] {
			t.Errorf("%q: %q %q %t", c, player, event, ok)
		}
	}
	for _, key := range []string{"", "/", "p", "p/", "/e", "p/e/f", "p/%zz", "p/e f", "p%65/e"} {
		if player, event, ok := grant.ParseMessageKey(key); ok {
			t.Errorf("%q is %q %q", key, player, event)
		}
	}
}

func TestRequestIsSignedAndKeyed(t *testing.T) {
	t.Parallel()
	s := respond(t, func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		h := r.Header
		if h.Get("Idempotency-Key") != testMessage.Key() ||
			h.Get("Fence-Token") != "9007199254740995" ||
			h.Get("Content-Type") != "application/cloudevents+json; charset=utf-8" {
			t.Errorf("headers %v", h)
		}
		check := func(secret string, body []byte, now time.Time) bool {
			return outbox.Verify(secret, r.Method, h.Get("Rewardctl-Timestamp"),
				testMessage.Key(), body, h.Get("Rewardctl-Signature"), now)
		}
		if !check(secret, body, time.Now()) {
			t.Error("the signature does not fit")
		}
		if check("another", body, time.Now()) || check(secret, append(body, ' '), time.Now()) ||
			check(secret, body, time.Now().Add(time.Hour)) {
			t.Error("another secret, another body or another hour fits, too")
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	s.Publish(t.Context(), testMessage)
}

func TestRetryAfterIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "": 0, "soon": 0, "-4": 0, "99999999": 15 * time.Minute,
		time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): 0,
	} {
		s := respond(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", text)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if got := s.Publish(t.Context(), testMessage); got.RetryAfter != want {
			t.Errorf("%q: %v, want %v", text, got.RetryAfter, want)
		}
	}
}

// An attempt is one request: neither a redirect nor a broken connection makes it two.
func TestOneRequestPerAttempt(t *testing.T) {
	t.Parallel()
	var calls, elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		elsewhere.Add(1)
	}))
	t.Cleanup(other.Close)
	s := respond(t, func(w http.ResponseWriter, r *http.Request) {
		switch calls.Add(1) {
		case 1: // leaves a connection to use again
			w.WriteHeader(http.StatusServiceUnavailable)
		case 2:
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		default:
			panic(http.ErrAbortHandler)
		}
	})
	for i, want := range []outbox.Verdict{outbox.NotNow, outbox.NotNow, outbox.Unknown} {
		if got := s.Publish(t.Context(), testMessage); got.Verdict != want {
			t.Errorf("attempt %d: %+v, want %s", i+1, got, want)
		}
	}
	if calls.Load() != 3 || elsewhere.Load() != 0 {
		t.Errorf("%d requests, %d to somebody else; want 3, 0", calls.Load(), elsewhere.Load())
	}
}

// Silence is unknown once a connection was there, and proof of no effect before.
func TestSilence(t *testing.T) {
	t.Parallel()
	s := respond(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then does the server see that we are gone
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got := s.Publish(ctx, testMessage); got.Verdict != outbox.Unknown {
		t.Errorf("no answer in time: %+v", got)
	}
	nobody := sink(t, "http://127.0.0.1:1/rewards?token=hush")
	got := nobody.Publish(t.Context(), testMessage)
	if got.Verdict != outbox.NotNow || strings.Contains(got.Detail, "hush") {
		t.Errorf("nobody there: %+v", got)
	}
	encrypted := httptest.NewTLSServer(http.NotFoundHandler())
	encrypted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(encrypted.Close)
	if got := sink(t, encrypted.URL).Publish(t.Context(), testMessage); got.Verdict !=
		outbox.NotNow {
		t.Errorf("a certificate that nobody vouches for: %+v", got)
	}
}

func TestAddressProblems(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "items.example", "ftp://items.example", "http://a:b@c/"} {
		if _, err := outbox.NewHTTPSink(outbox.HTTPOptions{URL: url}); err == nil {
			t.Errorf("%q was taken", url)
		} else if strings.Contains(err.Error(), "a:b") {
			t.Errorf("the message shows a password: %v", err)
		}
	}
}
