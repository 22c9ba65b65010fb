package config

import "time"

// Context is one place to work on: its servers, its limits, and how careful to be.
type Context struct {
	Name        string
	Environment string // the environment's word, such as "prod"; the name if none is given
	ReadOnly    bool   // refuse every change, for the whole run
	Protected   bool   // ask for a typed confirmation before a change
	Operator    string // who acts; the system's user name if none is given

	Postgres Postgres
	Redis    Redis
	Lease    Lease
	Limits   Limits
	Approval Approval
	Audit    Audit
	Players  Players
	Outbox   Outbox
	UI       UI
}

// Postgres says how to reach PostgreSQL. Use Context.PoolConfig to connect.
type Postgres struct {
	URL            string // never with a password once loaded
	ReadURL        string // a server for reading; empty means URL
	Schema         string
	Password       Secret
	PasswordFile   string
	Pooler         bool // a transaction-pooling PgBouncer stands between
	PoolMax        int
	ConnectTimeout time.Duration // per server address
	Insecure       bool          // accept a connection over the network that is not verified
}

// Redis says how to reach Redis. Use Context.RedisOptions to connect.
type Redis struct {
	// Addrs are host:port addresses: of one server, of sentinels if MasterName is set, or of
	// cluster nodes if there are several or Cluster is set.
	Addrs                []string
	MasterName           string
	Cluster              bool
	Username             string
	Password             Secret
	PasswordFile         string
	SentinelUsername     string
	SentinelPassword     Secret
	SentinelPasswordFile string
	DB                   int
	TLS                  bool
	TLSCAFile            string // certificates to trust instead of the system's
	TLSServerName        string // the name to expect instead of the address's
	PoolMax              int
	DialTimeout          time.Duration
	Insecure             bool // accept a network connection without TLS
}

// Lease says how leases are kept. All workers of a context must agree on Prefix.
type Lease struct {
	Prefix     string        // opens every Redis key
	TTL        time.Duration // how long a lease lasts without renewal
	Margin     time.Duration // taken off the trusted time; 0 means a tenth of TTL
	FenceIdle  time.Duration // how long an unused token counter is kept
	HistoryMax int           // events kept per resource
	Shards     int           // index keys
}

// Limits bound what one grant may do.
type Limits struct {
	AmountMax int64 // the highest amount of one grant
	BatchMax  int   // items in one transaction
}

// Audit says what audits look at besides the tables of the engine.
type Audit struct {
	Ledgers Ledgers // the studio's own tables of rewards
}

// UI says how the console looks.
type UI struct {
	Refresh time.Duration // between two reads of what is on the screen
	ASCII   bool          // draw with ASCII only
	// Home is the screen to open with, or the kind of work that has one; "auto" goes by the
	// database role.
	Home string
	// Roles say which kind of work, or screen, members of a database role have, as ROLE=HOME. The
	// first that fits counts. They are for Home "auto".
	Roles []string
	// Language is "en", "ko", or "auto" for the locale's.
	Language string
	Mouse    bool     // the mouse scrolls and selects from the start
	Keys     []string // other keys for deeds, as NAME=KEY or SCREEN/NAME=KEY
}
