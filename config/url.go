package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// serverURL is a PostgreSQL URL whose password was taken out.
type serverURL struct {
	url.URL
	password string
}

// splitURL parses a PostgreSQL URL. Nothing of it is repeated in what it says is wrong.
func splitURL(raw string) (u serverURL, problem, wayOut string) {
	const form = "write postgres://USER@HOST:PORT/DATABASE"
	parsed, err := url.Parse(raw)
	if err != nil {
		return u, "is not a URL", form + ", with special characters as %XX"
	}
	if parsed.Scheme != "postgres" && parsed.Scheme != "postgresql" {
		return u, "is not a PostgreSQL URL", form
	}
	if parsed.Host == "" && !parsed.Query().Has("host") {
		return u, "names no server", form
	}
	u = serverURL{URL: *parsed}
	if parsed.User != nil {
		u.password, _ = parsed.User.Password()
		u.User = nil
		if name := parsed.User.Username(); name != "" {
			u.User = url.User(name)
		}
	}
	for _, name := range []string{"password", "sslpassword"} {
		if u.Query().Has(name) {
			return u, "holds the parameter " + name, "use password_file instead"
		}
	}
	for name, instead := range map[string]string{
		"search_path": "set postgres.schema", "default_query_exec_mode": "set postgres.pooler",
		"connect_timeout": "set postgres.connect_timeout", "pool_max_conns": "set postgres.pool_max",
		"options": "use settings of the role, ALTER ROLE ... SET",
	} {
		if u.Query().Has(name) {
			return u, "holds the parameter " + name, instead
		}
	}
	return u, "", ""
}

// check refuses what is not safe over a network, and makes verification the default there.
func (u *serverURL) check(insecure bool) (problem, wayOut string) {
	q := u.Query()
	if u.local() {
		return "", ""
	}
	mode := q.Get("sslmode")
	switch {
	case mode == "verify-full" || insecure:
	case mode == "":
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
	default:
		return "does not verify whom it talks to over the network (sslmode=" + mode + ")",
			"leave sslmode out, or set postgres.insecure if the network is trusted"
	}
	return "", ""
}

// local reports whether all servers of the URL are on this machine.
func (u *serverURL) local() bool {
	hosts := u.Host
	for _, name := range []string{"host", "hostaddr"} {
		if h := u.Query().Get(name); h != "" {
			hosts += "," + h
		}
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if host != "" && !strings.HasPrefix(host, "/") && !loopback(host) {
			return false
		}
	}
	return true
}

// MaskURL returns a connection string with stars in place of every password: for messages.
// What cannot be parsed is masked as a whole.
func MaskURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.Scheme == "" {
		if strings.ContainsAny(raw, "@=") {
			return stars
		}
		return raw
	}
	if u.User != nil {
		if _, has := u.User.Password(); has {
			u.User = url.UserPassword(u.User.Username(), stars)
		}
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(strings.ToLower(name), "password") {
			q.Set(name, stars)
			u.RawQuery = q.Encode()
		}
	}
	// The stars are escaped in a URL; people should see them.
	return strings.ReplaceAll(u.String(), url.QueryEscape(stars), stars)
}

// CheckArgs refuses command lines that hold a password: other users of the machine can read them.
func CheckArgs(args []string) error {
	for _, arg := range args {
		if arg == "--" {
			return nil
		}
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && strings.HasSuffix(strings.ToLower(name), "password") {
			return argError("--" + name)
		}
		_, value, assigned := strings.Cut(arg, "=")
		for _, text := range []string{arg, value} {
			u, err := url.Parse(text)
			if err != nil || u.User == nil || !assigned && strings.HasPrefix(arg, "-") {
				continue
			}
			if _, has := u.User.Password(); has {
				return argError(MaskURL(text))
			}
		}
	}
	return nil
}

func argError(what string) error {
	return &Error{
		Where: "command line", Value: what,
		Problem: "a password on the command line can be read by other users",
		WayOut: fmt.Sprintf("use password_file in the configuration, %sPOSTGRES_PASSWORD, "+
			"%sREDIS_PASSWORD, or pgpass", variablePrefix, variablePrefix),
	}
}
