package outbox

import (
	"context"
	"crypto/tls"
	"errors"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"rewardctl/grant"
)

// KafkaOptions configure a Kafka sink. Brokers and Topic are required.
type KafkaOptions struct {
	Brokers []string // host:port of some of them
	Topic   string
	// Mechanism is "", "plain", "scram-sha-256" or "scram-sha-512".
	Mechanism, Username, Password string
	// TLS says whom to trust; nil means that the connection is not encrypted.
	TLS *tls.Config
	// Timeout bounds one record, retries of the driver included; default 10 s. It is better
	// shorter than the relay's, so that the driver's verdict arrives.
	Timeout time.Duration
}

// KafkaSink produces messages to a topic: idempotently, acknowledged by all replicas in sync, with
// the player as the record's key, so that a player's messages stay in one partition and in order.
type KafkaSink struct {
	client *kgo.Client
}

// NewKafkaSink returns a sink. Nothing is sent yet. It returns a *grant.Rejection when the options
// cannot work.
func NewKafkaSink(opts KafkaOptions) (*KafkaSink, error) {
	if len(opts.Brokers) == 0 || opts.Topic == "" {
		return nil, &grant.Rejection{
			Field: "kafka", Problem: "names no brokers or no topic", WayOut: "set brokers and topic",
		}
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 10 * time.Second
	}
	settings := []kgo.Opt{
		kgo.SeedBrokers(opts.Brokers...), kgo.DefaultProduceTopic(opts.Topic),
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordDeliveryTimeout(opts.Timeout), kgo.ProduceRequestTimeout(opts.Timeout),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		// Messages wait for each other only while the one before them is on its way.
		kgo.ProducerLinger(0), kgo.ClientID("rewardctl"),
	}
	if opts.TLS != nil {
		settings = append(settings, kgo.DialTLSConfig(opts.TLS.Clone()))
	}
	login, err := opts.login()
	if err != nil {
		return nil, err
	}
	if login != nil {
		settings = append(settings, kgo.SASL(login))
	}
	client, err := kgo.NewClient(settings...)
	if err != nil {
		return nil, &grant.Rejection{
			Field: "kafka", Problem: plainLine(err.Error()), WayOut: "correct the context",
		}
	}
	return &KafkaSink{client: client}, nil
}

func (o KafkaOptions) login() (sasl.Mechanism, error) {
	switch o.Mechanism {
	case "":
		return nil, nil
	case "plain":
		return plain.Auth{User: o.Username, Pass: o.Password}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: o.Username, Pass: o.Password}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: o.Username, Pass: o.Password}.AsSha512Mechanism(), nil
	}
	return nil, &grant.Rejection{
		Field: "mechanism", Value: o.Mechanism, Problem: "is not known",
		WayOut: "use plain, scram-sha-256 or scram-sha-512",
	}
}

// Name returns "kafka".
func (s *KafkaSink) Name() string { return "kafka" }

// Close gives up the connections.
func (s *KafkaSink) Close() { s.client.Close() }

// Publish produces the message and waits until all replicas in sync have it.
func (s *KafkaSink) Publish(ctx context.Context, m grant.Message) Report {
	body, err := m.Encode()
	if err != nil {
		return Report{Verdict: Refused, Detail: "cannot be rendered: " + err.Error()}
	}
	record := &kgo.Record{
		Key: []byte(m.PlayerID), Value: body, Timestamp: m.At,
		Headers: []kgo.RecordHeader{
			{Key: "content-type", Value: []byte("application/cloudevents+json; charset=utf-8")},
			{Key: "idempotency-key", Value: []byte(m.Key())},
			{Key: "fence-token", Value: strconv.AppendInt(nil, m.Token, 10)},
		},
	}
	if err := s.client.ProduceSync(ctx, record).FirstErr(); err != nil {
		return kafkaProblem(err)
	}
	return Report{Verdict: Delivered}
}

// kafkaProblem judges an error. A record whose time is over may have arrived: the broker may have
// done the work and answered with an error, or not at all.
func kafkaProblem(err error) Report {
	detail := plainLine(err.Error())
	switch {
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.InvalidRecord):
		return Report{Verdict: Failed, Detail: detail}
	case errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.NotEnoughReplicas),
		errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kgo.ErrMaxBuffered),
		errors.Is(err, kerr.ClusterAuthorizationFailed), errors.Is(err, kerr.SaslAuthenticationFailed),
		errors.Is(err, kerr.InvalidTopicException):
		return Report{Verdict: NotNow, Detail: detail}
	}
	return Report{Verdict: Unknown, Detail: detail}
}
