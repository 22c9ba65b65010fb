package main

import (
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// redis sends a command to the script's Redis. Arguments may hold escapes such as \x1b.
func (s *script) redis(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: redis COMMAND...")
	}
	words := make([]any, len(args))
	for i, arg := range args {
		word, err := strconv.Unquote(`"` + arg + `"`)
		ts.Check(err)
		words[i] = word
	}
	ts.Check(s.world.Redis.Do(s.t.Context(), words...).Err())
}
