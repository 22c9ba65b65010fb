package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// scoreboard adds up what tests report of themselves in lines such as
// "scoreboard: schedules=60000 redis_crash_recovered_ms=1123": numbers are summed, the longest of
// those that end in _ms is kept, and a seed stands as it is.
type scoreboard map[string]int64

const scoreMark = "scoreboard: "

// take reads a line of a test's output.
func (s scoreboard) take(line string) {
	_, text, found := strings.Cut(line, scoreMark)
	if !found {
		return
	}
	for _, field := range strings.Fields(text) {
		name, number, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			continue
		}
		switch {
		case strings.HasSuffix(name, "_ms"):
			s[name] = max(s[name], n)
		case strings.HasSuffix(name, "seed"):
			s[name] = n
		default:
			s[name] += n
		}
	}
}

// print writes the scoreboard for people, and as one line of JSON.
func (s scoreboard) print(out io.Writer) {
	if len(s) == 0 {
		return
	}
	fmt.Fprintln(out, "     scoreboard")
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(out, "     %-34s %d\n", strings.ReplaceAll(name, "_", " "), s[name])
	}
	line, err := json.Marshal(s)
	if err == nil {
		fmt.Fprintf(out, "     %s\n", line)
	}
}
