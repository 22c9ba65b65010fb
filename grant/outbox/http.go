package outbox

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"rewardctl/grant"
)

// HTTPOptions configure an HTTP sink. URL is required.
type HTTPOptions struct {
	// URL is where messages are posted, and where the status of one is asked for with GET and
	// the parameter key.
	URL string
	// Secret signs the requests; empty means that they are not signed.
	Secret string
	// Token is sent as a bearer token; empty means none.
	Token string
	// TLS says whom to trust; nil means the system's certificates.
	TLS *tls.Config
	// Connections is how many are kept open at most; default 16.
	Connections int
	// Now tells this machine's time; default time.Now.
	Now func() time.Time
}

// HTTPSink posts messages to an item server.
type HTTPSink struct {
	opts   HTTPOptions
	at     *url.URL
	client *http.Client
}

const (
	answerMax  = 64 << 10 // bytes of an answer that are read
	listMax    = 16 << 20 // the same of a page of a list: a thousand of the longest keys
	detailMax  = 300      // bytes of an answer that are shown
	connectFor = 3 * time.Second
)

// NewHTTPSink returns a sink. Nothing is sent yet. It returns a *grant.Rejection when the URL is
// none, or holds a password.
func NewHTTPSink(opts HTTPOptions) (*HTTPSink, error) {
	at, err := url.Parse(opts.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, &grant.Rejection{
			Field: "url", Problem: "is not an HTTP address", WayOut: "write https://HOST/PATH",
		}
	}
	if at.User != nil {
		return nil, &grant.Rejection{
			Field: "url", Value: at.Redacted(), Problem: "holds a name or password",
			WayOut: "use the secret or the token",
		}
	}
	if opts.Connections <= 0 {
		opts.Connections = 16
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	dialer := &net.Dialer{Timeout: connectFor, KeepAlive: 15 * time.Second}
	encryption := opts.TLS.Clone()
	if encryption == nil {
		encryption = &tls.Config{}
	}
	encryption.MinVersion = max(encryption.MinVersion, tls.VersionTLS12)
	return &HTTPSink{
		opts: opts, at: at,
		client: &http.Client{
			// A redirect would carry the token to somebody else.
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
			Transport: &http.Transport{
				DialContext: dialer.DialContext, TLSClientConfig: encryption,
				TLSHandshakeTimeout: connectFor, ForceAttemptHTTP2: true,
				MaxIdleConns: opts.Connections, MaxIdleConnsPerHost: opts.Connections,
				IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: answerMax,
				DisableCompression: true,
			},
		},
	}, nil
}

// Name returns "http".
func (s *HTTPSink) Name() string { return "http" }

// Close gives up idle connections.
func (s *HTTPSink) Close() { s.client.CloseIdleConnections() }

// Publish posts the message and judges the answer.
func (s *HTTPSink) Publish(ctx context.Context, m grant.Message) Report {
	body, err := m.Encode()
	if err != nil {
		return Report{Verdict: Refused, Detail: "cannot be rendered: " + err.Error()}
	}
	a, report := s.ask(ctx, http.MethodPost, s.at.String(), about{m.Key(), m.Token}, body)
	if report != nil {
		return *report
	}
	return judgeAnswer(a, m.Key(), s.opts.Now())
}

// Probe asks whether the receiver has the message.
func (s *HTTPSink) Probe(ctx context.Context, m grant.Message) Report {
	a, report := s.ask(ctx, http.MethodGet, s.with("key", m.Key()), about{m.Key(), m.Token}, nil)
	if report != nil {
		if report.Verdict == Unknown { // a question has no effect
			report.Verdict = NotNow
		}
		return *report
	}
	return judgeStatus(a, m, s.opts.Now())
}

// with returns the receiver's address with one parameter more.
func (s *HTTPSink) with(name, value string) string {
	at := *s.at
	query := at.Query()
	query.Set(name, value)
	at.RawQuery = query.Encode()
	return at.String()
}

// about is the message that a request is about; the zero value is none.
type about struct {
	key   string
	token int64
}

// answer is what a receiver said.
type answer struct {
	status int
	header http.Header
	body   []byte
	whole  bool // the body was not longer than answerMax
}

// ask makes one request, once: it is never repeated behind our back. It returns a report when no
// answer came.
func (s *HTTPSink) ask(
	ctx context.Context, method, at string, m about, body []byte,
) (answer, *Report) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	var content io.Reader = http.NoBody
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, at, content)
	if err != nil {
		return answer{}, &Report{Verdict: NotNow, Detail: "the address cannot be used"}
	}
	// The transport repeats a request whose body it can read again; an attempt would then be two.
	req.GetBody = nil
	s.head(req, m, body)
	res, err := s.client.Do(req)
	if err != nil {
		return answer{}, s.silence(err, connected.Load())
	}
	defer res.Body.Close()
	most := answerMax
	if m == (about{}) {
		most = listMax
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, int64(most)+1))
	if err != nil {
		return answer{}, s.silence(err, true)
	}
	return answer{
		status: res.StatusCode, header: res.Header, body: text[:min(len(text), most)],
		whole: len(text) <= most,
	}, nil
}

func (s *HTTPSink) head(req *http.Request, m about, body []byte) {
	if m.key != "" {
		req.Header.Set(HeaderKey, m.key)
		req.Header.Set(HeaderToken, strconv.FormatInt(m.token, 10))
	}
	req.Header.Set("User-Agent", "rewardctl")
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	}
	if s.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.opts.Token)
	}
	if s.opts.Secret != "" {
		stamp := strconv.FormatInt(s.opts.Now().Unix(), 10)
		req.Header.Set(HeaderTimestamp, stamp)
		req.Header.Set(HeaderSignature, Sign(s.opts.Secret, req.Method, stamp, m.key, body))
	}
}

// silence judges a request without an answer. Without a connection nothing was sent. The library's
// error names the whole URL; ours names the host.
func (s *HTTPSink) silence(err error, connected bool) *Report {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	why := plainLine(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		why = "no answer in time"
	}
	if !connected {
		return &Report{
			Verdict: NotNow, Detail: fmt.Sprintf("cannot connect to %s: %s", s.at.Host, why),
		}
	}
	return &Report{
		Verdict: Unknown, Detail: fmt.Sprintf("no answer from %s: %s", s.at.Host, why),
	}
}

// plainLine makes text from outside one line of bounded length.
func plainLine(text string) string {
	text = strings.ToValidUTF8(text, "?")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > detailMax {
		text = strings.ToValidUTF8(text[:detailMax], "") + "..."
	}
	return text
}
