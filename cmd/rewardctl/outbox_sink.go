package main

import (
	"github.com/redis/go-redis/v9"

	"rewardctl/grant/outbox"
)

// openStreamSink opens a client of its own: closing the sink must not close that of the leases.
func (w *wiring) openStreamSink() (outbox.Sink, error) {
	settings, err := w.conf.StreamOptions()
	if err != nil {
		return nil, err
	}
	return outbox.NewStreamSink(redis.NewUniversalClient(settings), outbox.StreamOptions{
		Key: w.conf.Outbox.Stream.Key, Replicas: w.conf.Outbox.Stream.Replicas,
	}), nil
}

func (w *wiring) openKafkaSink() (outbox.Sink, error) {
	k := w.conf.Outbox.Kafka
	if len(k.Brokers) == 0 {
		return nil, usage("outbox_kafka.brokers", "set outbox_kafka.brokers in the context",
			"the context names no Kafka broker")
	}
	encryption, err := w.conf.KafkaTLS()
	if err != nil {
		return nil, err
	}
	password, err := w.conf.KafkaPassword()
	if err != nil {
		return nil, err
	}
	return outbox.NewKafkaSink(outbox.KafkaOptions{
		Brokers: k.Brokers, Topic: k.Topic, Mechanism: k.Mechanism, Username: k.Username,
		Password: password.Reveal(), TLS: encryption, Timeout: w.conf.Outbox.Timeout * 9 / 10,
	})
}
