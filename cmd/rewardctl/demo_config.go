package main

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"rewardctl/config"
)

// writeConfig writes the demo's configuration file, and the password beside it in a file of its
// own, where both psql and rewardctl find it. Both are for the owner's eyes only.
func (d *demo) writeConfig() error {
	dsn, err := url.Parse(d.postgres.URL())
	if err != nil {
		return err
	}
	password, _ := dsn.User.Password()
	line := strings.Join([]string{dsn.Hostname(), dsn.Port(), "*", dsn.User.Username(), password}, ":")
	if err := os.WriteFile(d.passFile(), []byte(line+"\n"), demoFileMode); err != nil {
		return err
	}
	dsn.User = url.User(dsn.User.Username())
	d.config = filepath.Join(d.home(), demoConfig)
	var c config.Context
	c.Name, c.Environment = demoContext, demoContext
	c.Postgres.URL, c.Postgres.PasswordFile = dsn.String(), d.postgres.PasswordFile()
	c.Redis.Addrs = []string{d.redis.Addr()}
	c.Lease.TTL = demoTTL
	c.Audit.Ledgers = config.Ledgers{{
		Table: "legacy_reward_log", Player: "user_id", Event: "reward_key", Amount: "qty",
		Kind: "item", At: "created",
	}}
	d.delivery.configure(&c)
	return config.Write(d.config, demoContext, c)
}

func (d *demo) passFile() string { return filepath.Join(d.home(), demoPassFile) }

// portOf returns the port of a host:port address.
func portOf(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return port
}
