package config

import (
	"fmt"
	"strings"
)

// Error is one thing that is wrong with the configuration. Load joins all it finds.
type Error struct {
	Where   string // a file and line, an environment variable, a flag
	Key     string // such as "contexts.prod.lease.ttl"
	Value   string // as given; stars if it is secret
	Problem string // such as "is not above zero"
	WayOut  string // such as "give a time from 500ms to 1h"
}

// Error reads `prod.yaml:7: lease.ttl "0s": is below 500ms; give a time from 500ms to 1h`.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Where != "" {
		b.WriteString(e.Where + ": ")
	}
	if e.Key != "" {
		b.WriteString(e.Key + " ")
	}
	if e.Value != "" {
		fmt.Fprintf(&b, "%q: ", e.Value)
	}
	b.WriteString(e.Problem)
	if e.WayOut != "" {
		b.WriteString("; " + e.WayOut)
	}
	return b.String()
}

// nearest returns the candidate most like word, or "" if none is like it.
func nearest(word string, candidates []string) string {
	best, bestAt := "", len(word)/2+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), c); d < bestAt {
			best, bestAt = c, d
		}
	}
	return best
}

// didYouMean is the way out of an unknown name.
func didYouMean(word string, candidates []string) string {
	if n := nearest(word, candidates); n != "" {
		return fmt.Sprintf("did you mean %s?", n)
	}
	return "known are " + strings.Join(candidates, ", ")
}

// distance counts the edits, of one letter each, that turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, before+cost)
		}
	}
	return row[len(b)]
}
