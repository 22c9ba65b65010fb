package main

import "github.com/rogpeppe/go-internal/testscript"

// person makes somebody else give the commands that follow: another operator with a database user
// of his own. Without a name it is mara again, as the configuration says.
func (s *script) person(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: person [NAME]")
	}
	if len(args) == 0 {
		ts.Setenv("REWARDCTL_POSTGRES_URL", "")
		ts.Setenv("REWARDCTL_OPERATOR", "")
		return
	}
	ts.Setenv("REWARDCTL_POSTGRES_URL", account(s.t, s.world, args[0], "operator"))
	ts.Setenv("REWARDCTL_OPERATOR", args[0])
}
