package config

import (
	"crypto/tls"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The kinds of sinks that an outbox can be relayed to.
const (
	SinkHTTP   = "http"   // an item server
	SinkStream = "stream" // a Redis stream
	SinkKafka  = "kafka"  // a Kafka topic
)

// Outbox says how postings are delivered.
type Outbox struct {
	Sink        string // SinkHTTP, SinkStream or SinkKafka
	Policy      string // "wait" or "pass": what a player's rows behind one that was given up do
	Batch       int    // rows that one claim takes at most
	Concurrency int    // messages on their way at once
	ClaimFor    time.Duration
	Timeout     time.Duration // of one attempt
	StrikesMax  int           // failures after which a row is a dead letter
	BackoffMin  time.Duration
	BackoffMax  time.Duration
	PauseMax    time.Duration // before a receiver that is down is tried again
	PollMax     time.Duration // between two looks at the outbox

	HTTP   OutboxHTTP
	Stream OutboxStream
	Kafka  OutboxKafka
}

// OutboxHTTP says how to reach an item server.
type OutboxHTTP struct {
	URL        string
	Secret     Secret // signs the requests
	SecretFile string
	Token      Secret // bearer token
	TokenFile  string
	TLSCAFile  string // certificates to trust instead of the system's
	Insecure   bool   // accept a network connection without TLS
}

// OutboxStream says which Redis stream to append to. Without Addrs it is on the context's Redis.
type OutboxStream struct {
	Key           string
	Addrs         []string
	Cluster       bool
	MasterName    string
	Username      string
	Password      Secret
	PasswordFile  string
	DB            int
	TLS           bool
	TLSCAFile     string
	TLSServerName string
	Insecure      bool
	Replicas      int // wait until so many replicas have it; 0 does not wait
}

// OutboxKafka says which Kafka topic to produce to.
type OutboxKafka struct {
	Brokers      []string
	Topic        string
	Mechanism    string // "", "plain", "scram-sha-256" or "scram-sha-512"
	Username     string
	Password     Secret
	PasswordFile string
	TLS          bool
	TLSCAFile    string
	Insecure     bool
}

// HTTPSecret returns the secret that signs requests; it is not Set when there is none.
func (c Context) HTTPSecret() (Secret, error) {
	return resolve("outbox_http.secret_file", c.Outbox.HTTP.Secret, c.Outbox.HTTP.SecretFile)
}

// HTTPToken returns the bearer token of requests; it is not Set when there is none.
func (c Context) HTTPToken() (Secret, error) {
	return resolve("outbox_http.token_file", c.Outbox.HTTP.Token, c.Outbox.HTTP.TokenFile)
}

// HTTPTLS returns whom requests trust; nil means the system's certificates.
func (c Context) HTTPTLS() (*tls.Config, error) {
	if c.Outbox.HTTP.TLSCAFile == "" {
		return nil, nil
	}
	return trust("outbox_http.tls_ca_file", c.Outbox.HTTP.TLSCAFile, "")
}

// StreamOptions returns the settings of the client that appends to the stream: the context's own
// Redis when the stream names none. It fails as RedisOptions does.
func (c Context) StreamOptions() (*redis.UniversalOptions, error) {
	s := c.Outbox.Stream
	if len(s.Addrs) == 0 {
		return c.RedisOptions()
	}
	other := c
	other.Redis = Redis{
		Addrs: s.Addrs, Cluster: s.Cluster, MasterName: s.MasterName, Username: s.Username,
		Password: s.Password, PasswordFile: s.PasswordFile, DB: s.DB, TLS: s.TLS,
		TLSCAFile: s.TLSCAFile, TLSServerName: s.TLSServerName, PoolMax: c.Redis.PoolMax,
		DialTimeout: c.Redis.DialTimeout,
	}
	return other.RedisOptions()
}

// KafkaTLS returns whom the connection to Kafka trusts; nil means that it is not encrypted.
func (c Context) KafkaTLS() (*tls.Config, error) {
	if !c.Outbox.Kafka.TLS {
		return nil, nil
	}
	return trust("outbox_kafka.tls_ca_file", c.Outbox.Kafka.TLSCAFile, "")
}

// KafkaPassword returns the password for Kafka; it is not Set when there is none.
func (c Context) KafkaPassword() (Secret, error) {
	return resolve("outbox_kafka.password_file", c.Outbox.Kafka.Password,
		c.Outbox.Kafka.PasswordFile)
}

func (v *checker) outbox() {
	o := &v.context.Outbox
	for _, choice := range []struct {
		name, value string
		words       []string
	}{
		{"outbox.sink", o.Sink, []string{SinkHTTP, SinkStream, SinkKafka}},
		{"outbox.policy", o.Policy, []string{"wait", "pass"}},
		{
			"outbox_kafka.mechanism", o.Kafka.Mechanism,
			[]string{"", "plain", "scram-sha-256", "scram-sha-512"},
		},
	} {
		if !slices.Contains(choice.words, choice.value) {
			v.bad(choice.name, "is not one of its words", didYouMean(choice.value, choice.words))
		}
	}
	within(v, "outbox.batch", o.Batch, 1, 1000)
	within(v, "outbox.concurrency", o.Concurrency, 1, 1000)
	within(v, "outbox.claim_for", o.ClaimFor, time.Second, time.Hour)
	within(v, "outbox.timeout", o.Timeout, 100*time.Millisecond, o.ClaimFor*9/10)
	within(v, "outbox.strikes_max", o.StrikesMax, 1, 10_000)
	within(v, "outbox.backoff_min", o.BackoffMin, time.Millisecond, o.BackoffMax)
	within(v, "outbox.backoff_max", o.BackoffMax, time.Millisecond, 24*time.Hour)
	within(v, "outbox.pause_max", o.PauseMax, 10*time.Millisecond, time.Hour)
	within(v, "outbox.poll_max", o.PollMax, 10*time.Millisecond, time.Minute)
	v.outboxHTTP(&o.HTTP)
	v.outboxStream(&o.Stream)
	v.outboxKafka(&o.Kafka)
}

func (v *checker) outboxHTTP(h *OutboxHTTP) {
	v.oneSecret("outbox_http.secret", &h.Secret, &h.SecretFile)
	v.oneSecret("outbox_http.token", &h.Token, &h.TokenFile)
	if h.URL == "" {
		return
	}
	const form = "write https://HOST/PATH"
	at, err := url.Parse(h.URL)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http":
		v.bad("outbox_http.url", "is not an HTTP address", form)
	case at.User != nil:
		v.bad("outbox_http.url", "holds a name or password", "use secret_file or token_file")
	case at.Scheme == "http" && !h.Insecure && !loopback(at.Hostname()):
		v.bad("outbox_http.url", "would be spoken to in plain text over the network",
			form+", or set outbox_http.insecure if the network is trusted")
	}
}

func (v *checker) outboxStream(s *OutboxStream) {
	v.oneSecret("outbox_stream.password", &s.Password, &s.PasswordFile)
	v.addresses("outbox_stream.addrs", s.Addrs, s.TLS, s.Insecure, "outbox_stream")
	within(v, "outbox_stream.db", s.DB, 0, 9999)
	within(v, "outbox_stream.replicas", s.Replicas, 0, 10)
	if s.Key == "" || len(s.Key) > 200 || strings.ContainsAny(s.Key, " \t") {
		v.bad("outbox_stream.key", "is not a plain name", "use a key such as rewards")
	}
}

func (v *checker) outboxKafka(k *OutboxKafka) {
	v.oneSecret("outbox_kafka.password", &k.Password, &k.PasswordFile)
	v.addresses("outbox_kafka.brokers", k.Brokers, k.TLS, k.Insecure, "outbox_kafka")
	if k.Mechanism == "" && (k.Username != "" || k.Password.Set() || k.PasswordFile != "") {
		v.bad("outbox_kafka.mechanism", "is empty, but there is a name or a password",
			"write plain, scram-sha-256 or scram-sha-512")
	}
}

// addresses checks host:port addresses, and that they are not spoken to in plain text.
func (v *checker) addresses(name string, addrs []string, encrypted, insecure bool, section string) {
	for _, addr := range addrs {
		host, port, err := net.SplitHostPort(addr)
		n, numErr := strconv.Atoi(port)
		switch {
		case err != nil || host == "" || numErr != nil || n < 1 || n > 65535:
			v.bad(name, addr+" is not an address", "write HOST:PORT")
		case !encrypted && !insecure && !loopback(host):
			v.bad(name, addr+" would be spoken to in plain text over the network",
				"set "+section+".tls, or "+section+".insecure if the network is trusted")
		}
	}
}
