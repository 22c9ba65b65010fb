package config

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// redisWait bounds one answer of Redis.
	redisWait = 2 * time.Second
	// redisRetries and redisDials bound what the driver repeats by itself, so that a server that
	// is down is reported within seconds.
	redisRetries = 1
	redisDials   = 1
)

// ErrNoRedis says that the context names no Redis.
var ErrNoRedis = errors.New("no Redis is configured: set redis.addrs in the configuration, or " +
	"REWARDCTL_REDIS_ADDRS; `rewardctl demo` needs neither")

// RedisOptions returns the settings of a client. It fails with ErrNoRedis, or with an *Error if a
// file with a password or with certificates cannot be used. Nothing is sent.
func (c Context) RedisOptions() (*redis.UniversalOptions, error) {
	r := c.Redis
	if len(r.Addrs) == 0 {
		return nil, ErrNoRedis
	}
	password, err := resolve("redis.password_file", r.Password, r.PasswordFile)
	if err != nil {
		return nil, err
	}
	sentinel, err := resolve("redis.sentinel_password_file", r.SentinelPassword,
		r.SentinelPasswordFile)
	if err != nil {
		return nil, err
	}
	encryption, err := r.tlsConfig()
	if err != nil {
		return nil, err
	}
	return &redis.UniversalOptions{
		Addrs: r.Addrs, MasterName: r.MasterName, IsClusterMode: r.Cluster, DB: r.DB,
		Username: r.Username, Password: password.Reveal(),
		SentinelUsername: r.SentinelUsername, SentinelPassword: sentinel.Reveal(),
		TLSConfig: encryption, PoolSize: r.PoolMax,
		DialTimeout: r.DialTimeout, DialerRetries: redisDials, MaxRetries: redisRetries,
		ReadTimeout: redisWait, WriteTimeout: redisWait, PoolTimeout: redisWait,
		ContextTimeoutEnabled: true,
		// Both would send more commands than the narrow access rights of a worker allow, and
		// the notifications stretch the timeouts above.
		DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}, nil
}

func (r Redis) tlsConfig() (*tls.Config, error) {
	if !r.TLS {
		return nil, nil
	}
	return trust("redis.tls_ca_file", r.TLSCAFile, r.TLSServerName)
}

// trust returns an encryption that verifies whom it talks to: by the certificates in a file, or
// by the system's when there is none.
func trust(name, path, server string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: server}
	if path == "" {
		return c, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, &Error{Key: name, Value: path, Problem: "cannot be read: " + reason(err)}
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, &Error{
			Key: name, Value: path, Problem: "holds no certificate",
			WayOut: "name a file in PEM form",
		}
	}
	return c, nil
}
