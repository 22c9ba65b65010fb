package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What could deliver rewards to the wrong place, in plain text or with a secret in the open is
// refused when the configuration is read.
func TestOutboxProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"outbox: {sink: pigeon}":                                "outbox.sink",
		"outbox: {policy: skip}":                                "outbox.policy",
		"outbox: {timeout: 40s}":                                "outbox.timeout",
		"outbox: {backoff_min: 5m}":                             "outbox.backoff_min",
		"outbox: {sinks: http}":                                 "did you mean",
		"outbox_http: {url: 'ftp://items.example/x'}":           "outbox_http.url",
		"outbox_http: {url: 'http://items.example/x'}":          "plain text",
		"outbox_http: {url: 'https://me:pw@items.example/x'}":   "name or password",
		"outbox_http: {secret: a, secret_file: b}":              "outbox_http.secret",
		"outbox_stream: {addrs: ['cache.example:6379']}":        "plain text",
		"outbox_stream: {addrs: [cache]}":                       "HOST:PORT",
		"outbox_stream: {key: 'a b'}":                           "outbox_stream.key",
		"outbox_kafka: {brokers: ['k.example:9092']}":           "plain text",
		"outbox_kafka: {username: me}":                          "outbox_kafka.mechanism",
		"outbox_kafka: {mechanism: gssapi}":                     "outbox_kafka.mechanism",
		"outbox_http: {url: 'http://127.0.0.1/', insecure: no}": "insecure",
	} {
		_, err := load(t, "contexts: {one: {"+text+"}}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "pw@") {
			t.Errorf("%s: the message shows the password: %v", text, err)
		}
	}
}

func TestOutboxSecretFromFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, "contexts: {one: {outbox_http: {url: 'https://items.example/rewards', "+
		"secret_file: "+path+"}}}")
	secret, err := c.HTTPSecret()
	if err != nil || secret.Reveal() != "hush" {
		t.Errorf("%q, %v", secret.Reveal(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.HTTPSecret(); err == nil {
		t.Error("a secret that others can read was taken")
	}
}
