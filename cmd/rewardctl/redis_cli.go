package main

import (
	"net"
	"strconv"

	"rewardctl/config"
	"rewardctl/repair"
)

// redisCLI is the command line that reaches the server of the leases, for people who want to look
// with their own eyes. A password is left to REDISCLI_AUTH, which redis-cli reads.
func redisCLI(r config.Redis) string {
	argv := []string{"redis-cli"}
	if len(r.Addrs) > 0 && r.MasterName == "" { // who is the master now, only the sentinels know
		if host, port, err := net.SplitHostPort(r.Addrs[0]); err == nil {
			argv = append(argv, "-h", host, "-p", port)
		}
	}
	if r.Cluster || r.MasterName == "" && len(r.Addrs) > 1 {
		argv = append(argv, "-c")
	}
	if r.DB != 0 {
		argv = append(argv, "-n", strconv.Itoa(r.DB))
	}
	if r.Username != "" {
		argv = append(argv, "--user", r.Username)
	}
	if r.TLS {
		argv = append(argv, "--tls")
		if r.TLSCAFile != "" {
			argv = append(argv, "--cacert", r.TLSCAFile)
		}
		if r.TLSServerName != "" {
			argv = append(argv, "--sni", r.TLSServerName)
		}
	}
	return repair.CommandLine(argv)
}
