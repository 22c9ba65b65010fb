package granttest

import (
	"net"
	"testing"
)

// FreePort returns a loopback port on which nobody listens right now.
func FreePort(tb testing.TB) int {
	tb.Helper()
	free, err := new(net.ListenConfig).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("granttest: %v", err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		tb.Fatalf("granttest: %v", err)
	}
	return port
}
