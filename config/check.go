package config

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// complete fills in what depends on other values, then checks everything.
func (l *loader) complete(c *Context, origins map[string]origin, dir string) {
	v := &checker{loader: l, context: c, origins: origins}
	if c.Environment == "" {
		c.Environment = c.Name
	}
	if c.Operator == "" {
		c.Operator = systemUser()
	}
	for _, name := range []string{
		"postgres.password_file", "redis.password_file", "redis.sentinel_password_file",
		"redis.tls_ca_file", "outbox_http.secret_file", "outbox_http.token_file",
		"outbox_http.tls_ca_file", "outbox_stream.password_file", "outbox_stream.tls_ca_file",
		"outbox_kafka.password_file", "outbox_kafka.tls_ca_file",
	} {
		v.resolveFile(name, dir)
	}
	v.identity()
	v.postgres()
	v.redis()
	v.lease()
	v.numbers()
	v.approval()
	v.players()
	v.outbox()
}

func systemUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid-" + strconv.Itoa(os.Getuid())
}

// checker checks the values of one context.
type checker struct {
	*loader
	context *Context
	origins map[string]origin
}

// bad notes a problem with the value of a key.
func (v *checker) bad(name, problem, wayOut string) {
	for _, k := range keys() {
		if k.name == name {
			v.fail(v.origins[name], k, text(k.at(v.context)), problem, wayOut)
		}
	}
}

// resolveFile makes a path absolute: relative ones are relative to the configuration file, and a
// tilde is the home folder. A file with a secret must be closed to others.
func (v *checker) resolveFile(name, dir string) {
	var at *string
	for _, k := range keys() {
		if k.name == name {
			at = k.at(v.context).(*string) // all these keys are paths
		}
	}
	if *at == "" {
		return
	}
	if rest, is := strings.CutPrefix(*at, "~/"); is {
		if home, err := os.UserHomeDir(); err == nil {
			*at = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(*at) {
		*at = filepath.Join(dir, *at)
	}
	var problem, wayOut string
	if secretFile(name) {
		_, problem, wayOut = readSecret(*at)
	} else if _, err := os.Stat(*at); err != nil {
		problem, wayOut = "cannot be read: "+reason(err), "name a file that can be read"
	}
	if problem != "" {
		v.bad(name, problem, wayOut)
	}
}

// secretFile reports whether a key names a file that holds a secret.
func secretFile(name string) bool {
	return strings.HasSuffix(name, "password_file") || strings.HasSuffix(name, "secret_file") ||
		strings.HasSuffix(name, "token_file")
}

func (v *checker) identity() {
	c := v.context
	if !plainWord(c.Environment, 32) {
		v.bad("environment", "is not a plain word", "use up to 32 letters, digits, - and _")
	}
	if len(c.Operator) > 100 || strings.TrimSpace(c.Operator) != c.Operator ||
		strings.ContainsFunc(c.Operator, func(r rune) bool { return !unicode.IsPrint(r) }) {
		v.bad("operator", "is not a plain name", "use up to 100 visible characters")
	}
}

func plainWord(word string, limit int) bool {
	return word != "" && len(word) <= limit && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func (v *checker) postgres() {
	p := &v.context.Postgres
	if !schemaName.MatchString(p.Schema) {
		v.bad("postgres.schema", "is not a plain name",
			"use up to 63 lower-case letters, digits and _, and start with a letter")
	}
	if p.Pooler && p.Schema != "public" {
		v.bad("postgres.schema", "cannot be set through a pooler",
			"set it on the server: ALTER ROLE ... SET search_path, and leave it out here")
	}
	v.oneSecret("postgres.password", &p.Password, &p.PasswordFile)
	v.postgresURL("postgres.url", &p.URL)
	v.postgresURL("postgres.read_url", &p.ReadURL)
}

// postgresURL moves a password out of a URL and checks the rest.
func (v *checker) postgresURL(name string, at *string) {
	if *at == "" {
		return
	}
	u, problem, wayOut := splitURL(*at)
	if problem == "" && u.password != "" {
		if v.origins[name].rank == fromFlag {
			problem, wayOut = "holds a password, which other users see in the process list",
				"use password_file, "+variablePrefix+"POSTGRES_PASSWORD, or pgpass"
		} else {
			v.takePassword(name, u.password)
		}
	}
	if problem == "" {
		problem, wayOut = u.check(v.context.Postgres.Insecure)
	}
	if problem != "" {
		v.bad(name, problem, wayOut)
		return
	}
	*at = u.String()
}

// takePassword uses the password of a URL, unless a source of the same or a higher rank gives one
// in a better way.
func (v *checker) takePassword(name, password string) {
	p := &v.context.Postgres
	rank := v.origins[name].rank
	if p.Password.Set() && v.origins["postgres.password"].rank >= rank ||
		p.PasswordFile != "" && v.origins["postgres.password_file"].rank >= rank {
		return
	}
	p.Password, p.PasswordFile = NewSecret(password), ""
	v.origins["postgres.password"] = v.origins[name]
}

// oneSecret settles a secret that is given both directly and as a file: the higher source wins,
// and one source may not give both.
func (v *checker) oneSecret(name string, direct *Secret, path *string) {
	if !direct.Set() || *path == "" {
		return
	}
	a, b := v.origins[name], v.origins[name+"_file"]
	switch {
	case a.rank > b.rank:
		*path = ""
	case a.rank < b.rank:
		*direct = Secret{}
	default:
		v.bad(name, "is given, and "+name+"_file too", "keep one")
	}
}

func (v *checker) redis() {
	r := &v.context.Redis
	for _, addr := range r.Addrs {
		host, port, err := net.SplitHostPort(addr)
		n, numErr := strconv.Atoi(port)
		if err != nil || host == "" || numErr != nil || n < 1 || n > 65535 {
			v.bad("redis.addrs", addr+" is not an address", "write HOST:PORT, such as cache-1:6379")
			continue
		}
		if !r.TLS && !r.Insecure && !loopback(host) {
			v.bad("redis.addrs", addr+" would be spoken to in plain text over the network",
				"set redis.tls, or redis.insecure if the network is trusted")
		}
	}
	clustered := r.MasterName == "" && (r.Cluster || len(r.Addrs) > 1)
	if clustered && r.DB != 0 {
		v.bad("redis.db", "does not exist on a cluster", "leave it out")
	}
	if r.Cluster && r.MasterName != "" {
		v.bad("redis.cluster", "is set, and master_name too", "keep one")
	}
	if !r.TLS && (r.TLSCAFile != "" || r.TLSServerName != "") {
		v.bad("redis.tls", "is off, but there are settings for it", "set redis.tls to true")
	}
	v.oneSecret("redis.password", &r.Password, &r.PasswordFile)
	v.oneSecret("redis.sentinel_password", &r.SentinelPassword, &r.SentinelPasswordFile)
}

// loopback reports whether a host is this machine. Names other than localhost are not looked up.
func loopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (v *checker) lease() {
	l := v.context.Lease
	// Anything shorter than a millisecond would be sent to Redis as 0, and 0 means for ever.
	within(v, "lease.ttl", l.TTL, 500*time.Millisecond, time.Hour)
	if l.TTL%time.Millisecond != 0 {
		v.bad("lease.ttl", "is finer than Redis keeps time", "give whole milliseconds")
	}
	within(v, "lease.margin", l.Margin, 0, time.Hour)
	if l.Margin >= l.TTL {
		v.bad("lease.margin", "leaves nothing of the ttl of "+l.TTL.String(),
			"give less than the ttl")
	}
	within(v, "lease.fence_idle", l.FenceIdle, max(time.Hour, 2*l.TTL), 10*365*24*time.Hour)
	within(v, "lease.history_max", l.HistoryMax, 1, 10_000)
	within(v, "lease.shards", l.Shards, 1, 256)
	if l.Prefix == "" || len(l.Prefix) > 64 || strings.ContainsAny(l.Prefix, `{}*?[]\^ `) {
		v.bad("lease.prefix", "is not a plain prefix",
			"use up to 64 characters without braces, blanks and patterns, such as prod:")
	}
}

// Homes lists what the console may open with: kinds of work, and screens.
func Homes() []string {
	return []string{
		"auto", "oncall", "support", "liveops", "now", "leases", "player", "grant", "plans",
		"audits", "approvals", "outbox", "log", "doctor", "drills",
	}
}

func (v *checker) numbers() {
	c := v.context
	within(v, "limits.amount_max", c.Limits.AmountMax, 1, int64(math.MaxInt64))
	within(v, "limits.batch_max", c.Limits.BatchMax, 1, 5000)
	within(v, "postgres.pool_max", c.Postgres.PoolMax, 1, 1000)
	within(v, "postgres.connect_timeout", c.Postgres.ConnectTimeout,
		100*time.Millisecond, time.Minute)
	within(v, "redis.pool_max", c.Redis.PoolMax, 1, 1000)
	within(v, "redis.dial_timeout", c.Redis.DialTimeout, 100*time.Millisecond, time.Minute)
	within(v, "redis.db", c.Redis.DB, 0, 9999)
	within(v, "ui.refresh", c.UI.Refresh, 100*time.Millisecond, time.Minute)
	if homes := Homes(); !slices.Contains(homes, c.UI.Home) {
		v.bad("ui.home", "is not a screen to open with", didYouMean(c.UI.Home, homes))
	}
	for _, one := range c.UI.Roles {
		role, home, _ := strings.Cut(one, "=")
		if strings.TrimSpace(role) == "" || home == "auto" || !slices.Contains(Homes(), home) {
			v.bad("ui.roles", "has "+strconv.Quote(one)+", which is not ROLE=HOME",
				"write such as support_team=support; homes are "+strings.Join(Homes()[1:], ", "))
		}
	}
	if all := []string{"auto", "en", "ko"}; !slices.Contains(all, c.UI.Language) {
		v.bad("ui.language", "is not a language of the console", didYouMean(c.UI.Language, all))
	}
}

// within complains about a value below least or above most.
func within[T cmp.Ordered](v *checker, name string, value, least, most T) {
	wayOut := fmt.Sprintf("give %v to %v", least, most)
	switch {
	case value < least:
		v.bad(name, fmt.Sprintf("is below %v", least), wayOut)
	case value > most:
		v.bad(name, fmt.Sprintf("is above %v", most), wayOut)
	}
}
