package config

func outboxKeys() []key {
	return []key{
		{
			"outbox.sink", SinkHTTP, "where postings are delivered: http, stream or kafka",
			func(c *Context) any { return &c.Outbox.Sink },
		},
		{
			"outbox.policy", "wait", "rows behind a dead letter of the same player: wait or pass",
			func(c *Context) any { return &c.Outbox.Policy },
		},
		{
			"outbox.batch", "100", "rows that one claim takes at most",
			func(c *Context) any { return &c.Outbox.Batch },
		},
		{
			"outbox.concurrency", "16", "messages on their way at once",
			func(c *Context) any { return &c.Outbox.Concurrency },
		},
		{
			"outbox.claim_for", "30s", "how long rows of a relay that died lie",
			func(c *Context) any { return &c.Outbox.ClaimFor },
		},
		{
			"outbox.timeout", "10s", "of one attempt; shorter than claim_for",
			func(c *Context) any { return &c.Outbox.Timeout },
		},
		{
			"outbox.strikes_max", "20", "failures after which a row is a dead letter",
			func(c *Context) any { return &c.Outbox.StrikesMax },
		},
		{
			"outbox.backoff_min", "1s", "wait before the second attempt, then doubled",
			func(c *Context) any { return &c.Outbox.BackoffMin },
		},
		{
			"outbox.backoff_max", "1m", "longest wait between two attempts",
			func(c *Context) any { return &c.Outbox.BackoffMax },
		},
		{
			"outbox.pause_max", "5s", "longest rest before a receiver that is down is tried again",
			func(c *Context) any { return &c.Outbox.PauseMax },
		},
		{
			"outbox.poll_max", "1s", "longest time between two looks at the outbox",
			func(c *Context) any { return &c.Outbox.PollMax },
		},
	}
}

func outboxHTTPKeys() []key {
	return []key{
		{
			"outbox_http.url", "", "address of the item server",
			func(c *Context) any { return &c.Outbox.HTTP.URL },
		},
		{
			"outbox_http.secret", "", "signs the requests; better: secret_file",
			func(c *Context) any { return &c.Outbox.HTTP.Secret },
		},
		{
			"outbox_http.secret_file", "", "file that holds the secret, mode 0600",
			func(c *Context) any { return &c.Outbox.HTTP.SecretFile },
		},
		{
			"outbox_http.token", "", "bearer token; better: token_file",
			func(c *Context) any { return &c.Outbox.HTTP.Token },
		},
		{
			"outbox_http.token_file", "", "file that holds the token, mode 0600",
			func(c *Context) any { return &c.Outbox.HTTP.TokenFile },
		},
		{
			"outbox_http.tls_ca_file", "", "certificates to trust instead of the system's",
			func(c *Context) any { return &c.Outbox.HTTP.TLSCAFile },
		},
		{
			"outbox_http.insecure", "false", "accept a network connection without TLS",
			func(c *Context) any { return &c.Outbox.HTTP.Insecure },
		},
	}
}

func outboxStreamKeys() []key {
	return []key{
		{
			"outbox_stream.key", "rewards", "the Redis stream to append to",
			func(c *Context) any { return &c.Outbox.Stream.Key },
		},
		{
			"outbox_stream.addrs", "", "HOST:PORT; empty means the Redis of the leases",
			func(c *Context) any { return &c.Outbox.Stream.Addrs },
		},
		{
			"outbox_stream.cluster", "false", "a single address is a node of a cluster",
			func(c *Context) any { return &c.Outbox.Stream.Cluster },
		},
		{
			"outbox_stream.master_name", "", "makes the addresses those of sentinels",
			func(c *Context) any { return &c.Outbox.Stream.MasterName },
		},
		{
			"outbox_stream.username", "", "ACL user",
			func(c *Context) any { return &c.Outbox.Stream.Username },
		},
		{
			"outbox_stream.password", "", "password; better: password_file",
			func(c *Context) any { return &c.Outbox.Stream.Password },
		},
		{
			"outbox_stream.password_file", "", "file that holds the password, mode 0600",
			func(c *Context) any { return &c.Outbox.Stream.PasswordFile },
		},
		{
			"outbox_stream.db", "0", "database number",
			func(c *Context) any { return &c.Outbox.Stream.DB },
		},
		{
			"outbox_stream.tls", "false", "encrypt and verify, TLS 1.2 or newer",
			func(c *Context) any { return &c.Outbox.Stream.TLS },
		},
		{
			"outbox_stream.tls_ca_file", "", "certificates to trust instead of the system's",
			func(c *Context) any { return &c.Outbox.Stream.TLSCAFile },
		},
		{
			"outbox_stream.tls_server_name", "", "name to expect instead of the address's",
			func(c *Context) any { return &c.Outbox.Stream.TLSServerName },
		},
		{
			"outbox_stream.insecure", "false", "accept a network connection without TLS",
			func(c *Context) any { return &c.Outbox.Stream.Insecure },
		},
		{
			"outbox_stream.replicas", "0", "wait until so many replicas have the message",
			func(c *Context) any { return &c.Outbox.Stream.Replicas },
		},
	}
}

func outboxKafkaKeys() []key {
	return []key{
		{
			"outbox_kafka.brokers", "", "HOST:PORT of some brokers",
			func(c *Context) any { return &c.Outbox.Kafka.Brokers },
		},
		{
			"outbox_kafka.topic", "rewards", "the topic; the key of a record is the player",
			func(c *Context) any { return &c.Outbox.Kafka.Topic },
		},
		{
			"outbox_kafka.mechanism", "", "plain, scram-sha-256 or scram-sha-512; empty: none",
			func(c *Context) any { return &c.Outbox.Kafka.Mechanism },
		},
		{
			"outbox_kafka.username", "", "user name",
			func(c *Context) any { return &c.Outbox.Kafka.Username },
		},
		{
			"outbox_kafka.password", "", "password; better: password_file",
			func(c *Context) any { return &c.Outbox.Kafka.Password },
		},
		{
			"outbox_kafka.password_file", "", "file that holds the password, mode 0600",
			func(c *Context) any { return &c.Outbox.Kafka.PasswordFile },
		},
		{
			"outbox_kafka.tls", "false", "encrypt and verify, TLS 1.2 or newer",
			func(c *Context) any { return &c.Outbox.Kafka.TLS },
		},
		{
			"outbox_kafka.tls_ca_file", "", "certificates to trust instead of the system's",
			func(c *Context) any { return &c.Outbox.Kafka.TLSCAFile },
		},
		{
			"outbox_kafka.insecure", "false", "accept a network connection without TLS",
			func(c *Context) any { return &c.Outbox.Kafka.Insecure },
		},
	}
}
