package main

import (
	"net"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// port puts an address that is free into a variable: port NAME.
func (s *script) port(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: port NAME")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], listener.Addr().String())
	ts.Check(listener.Close())
}

// answers waits until somebody listens on an address: answers ADDRESS.
func (s *script) answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers ADDRESS")
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		conn, err := net.DialTimeout("tcp", args[0], time.Second)
		if err == nil {
			_ = conn.Close()
			return
		}
	}
	ts.Fatalf("nobody listens on %s", args[0])
}
