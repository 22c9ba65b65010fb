package config

import (
	"slices"
	"strings"
)

// key is one setting of a context.
type key struct {
	name  string // such as "lease.ttl", as in the file
	unset string // the default, in the form of the file; empty means the zero value
	about string
	at    func(*Context) any // a pointer to where the value goes
}

// keys lists all settings of a context, in the order of the documentation.
func keys() []key {
	return slices.Concat(contextKeys(), postgresKeys(), redisKeys(), otherKeys(), approvalKeys(),
		playersKeys(), outboxKeys(), outboxHTTPKeys(),
		outboxStreamKeys(), outboxKafkaKeys())
}

func contextKeys() []key {
	return []key{
		{
			"environment", "", "word shown on every screen, such as prod; default: the context's name",
			func(c *Context) any { return &c.Environment },
		},
		{
			"read_only", "false", "refuse every change; on if any source says so",
			func(c *Context) any { return &c.ReadOnly },
		},
		{
			"protected", "false", "ask for typed confirmation; on if any source says so",
			func(c *Context) any { return &c.Protected },
		},
		{
			"operator", "", "who acts, recorded with every deed; default: the system's user",
			func(c *Context) any { return &c.Operator },
		},
	}
}

func postgresKeys() []key {
	return []key{
		{
			"postgres.url", "", "postgres://USER@HOST:PORT/DATABASE",
			func(c *Context) any { return &c.Postgres.URL },
		},
		{
			"postgres.read_url", "", "server for reading, such as a replica",
			func(c *Context) any { return &c.Postgres.ReadURL },
		},
		{
			"postgres.schema", "public", "schema of the tables",
			func(c *Context) any { return &c.Postgres.Schema },
		},
		{
			"postgres.password", "", "password; better: password_file, or pgpass",
			func(c *Context) any { return &c.Postgres.Password },
		},
		{
			"postgres.password_file", "", "file that holds the password, mode 0600",
			func(c *Context) any { return &c.Postgres.PasswordFile },
		},
		{
			"postgres.pooler", "false", "a PgBouncer in transaction mode stands between",
			func(c *Context) any { return &c.Postgres.Pooler },
		},
		{
			"postgres.pool_max", "10", "connections at most",
			func(c *Context) any { return &c.Postgres.PoolMax },
		},
		{
			"postgres.connect_timeout", "2s", "per server address",
			func(c *Context) any { return &c.Postgres.ConnectTimeout },
		},
		{
			"postgres.insecure", "false", "accept an unverified connection over the network",
			func(c *Context) any { return &c.Postgres.Insecure },
		},
	}
}

func redisKeys() []key {
	return []key{
		{
			"redis.addrs", "", "HOST:PORT, several for sentinels or a cluster",
			func(c *Context) any { return &c.Redis.Addrs },
		},
		{
			"redis.master_name", "", "makes the addresses those of sentinels",
			func(c *Context) any { return &c.Redis.MasterName },
		},
		{
			"redis.cluster", "false", "a single address is a node of a cluster",
			func(c *Context) any { return &c.Redis.Cluster },
		},
		{
			"redis.username", "", "ACL user",
			func(c *Context) any { return &c.Redis.Username },
		},
		{
			"redis.password", "", "password; better: password_file",
			func(c *Context) any { return &c.Redis.Password },
		},
		{
			"redis.password_file", "", "file that holds the password, mode 0600",
			func(c *Context) any { return &c.Redis.PasswordFile },
		},
		{
			"redis.sentinel_username", "", "ACL user of the sentinels",
			func(c *Context) any { return &c.Redis.SentinelUsername },
		},
		{
			"redis.sentinel_password", "", "password of the sentinels",
			func(c *Context) any { return &c.Redis.SentinelPassword },
		},
		{
			"redis.sentinel_password_file", "", "file that holds it, mode 0600",
			func(c *Context) any { return &c.Redis.SentinelPasswordFile },
		},
		{
			"redis.db", "0", "database number; 0 on a cluster",
			func(c *Context) any { return &c.Redis.DB },
		},
		{
			"redis.tls", "false", "encrypt and verify, TLS 1.2 or newer",
			func(c *Context) any { return &c.Redis.TLS },
		},
		{
			"redis.tls_ca_file", "", "certificates to trust instead of the system's",
			func(c *Context) any { return &c.Redis.TLSCAFile },
		},
		{
			"redis.tls_server_name", "", "name to expect instead of the address's",
			func(c *Context) any { return &c.Redis.TLSServerName },
		},
		{
			"redis.pool_max", "10", "connections per server at most",
			func(c *Context) any { return &c.Redis.PoolMax },
		},
		{
			"redis.dial_timeout", "1s", "per try to connect",
			func(c *Context) any { return &c.Redis.DialTimeout },
		},
		{
			"redis.insecure", "false", "accept a network connection without TLS",
			func(c *Context) any { return &c.Redis.Insecure },
		},
	}
}

func otherKeys() []key {
	return []key{
		{
			"lease.prefix", "rewardctl:", "opens every Redis key; the same for all workers",
			func(c *Context) any { return &c.Lease.Prefix },
		},
		{
			"lease.ttl", "30s", "how long a lease lasts without renewal",
			func(c *Context) any { return &c.Lease.TTL },
		},
		{
			"lease.margin", "0s", "taken off the trusted time; 0s means a tenth of ttl",
			func(c *Context) any { return &c.Lease.Margin },
		},
		{
			"lease.fence_idle", "168h", "how long an unused token counter is kept",
			func(c *Context) any { return &c.Lease.FenceIdle },
		},
		{
			"lease.history_max", "64", "events kept per resource",
			func(c *Context) any { return &c.Lease.HistoryMax },
		},
		{
			"lease.shards", "16", "index keys; the same for all workers",
			func(c *Context) any { return &c.Lease.Shards },
		},
		{
			"limits.amount_max", "1000000", "highest amount of one grant",
			func(c *Context) any { return &c.Limits.AmountMax },
		},
		{
			"limits.batch_max", "1000", "items in one transaction",
			func(c *Context) any { return &c.Limits.BatchMax },
		},
		{
			"audit.ledgers", "", "the studio's own reward tables, for audit run foreign-ledger",
			func(c *Context) any { return &c.Audit.Ledgers },
		},
		{
			"ui.refresh", "1s", "time between two reads of what is on the screen",
			func(c *Context) any { return &c.UI.Refresh },
		},
		{
			"ui.ascii", "false", "draw with ASCII only",
			func(c *Context) any { return &c.UI.ASCII },
		},
		{
			"ui.home", "auto", "oncall, support, liveops, a screen such as leases, or auto: by role",
			func(c *Context) any { return &c.UI.Home },
		},
		{
			"ui.roles", "", "what auto means for members of a database role: support_team=support",
			func(c *Context) any { return &c.UI.Roles },
		},
		{
			"ui.language", "auto", "en, ko, or auto for the locale's",
			func(c *Context) any { return &c.UI.Language },
		},
		{
			"ui.mouse", "false", "the mouse scrolls and selects; m toggles it",
			func(c *Context) any { return &c.UI.Mouse },
		},
		{
			"ui.keys", "", "other keys in the console, such as release=ctrl+x, leases/mark=off",
			func(c *Context) any { return &c.UI.Keys },
		},
	}
}

// secret reports whether the value must not be seen, nor be given on the command line.
func (k key) secret() bool {
	_, is := k.at(&Context{}).(*Secret)
	return is
}

// list reports whether the value is a list.
func (k key) list() bool {
	_, is := k.at(&Context{}).(*[]string)
	return is
}

// sticky reports whether true from any source wins, whatever the order of the sources.
func (k key) sticky() bool { return k.name == "read_only" || k.name == "protected" }

// variable is the key's name in the environment.
func (k key) variable() string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// flag is the key's name on the command line.
func (k key) flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(k.name) }

// sections returns the first parts of all keys that have two.
func sections() []string {
	var all []string
	for _, k := range keys() {
		section, _, two := strings.Cut(k.name, ".")
		if two && !slices.Contains(all, section) {
			all = append(all, section)
		}
	}
	return all
}

// forbidden explains keys that exist in Redis clients and must not exist here.
func forbidden(name string) (problem, wayOut string) {
	switch strings.TrimPrefix(name, "redis.") {
	case "read_only", "readonly", "replica_only", "route_by_latency", "route_randomly",
		"routebylatency", "routerandomly":
		if strings.HasPrefix(name, "redis.") {
			return "would read leases from replicas, which lag behind", "leave it out"
		}
	}
	return "", ""
}
