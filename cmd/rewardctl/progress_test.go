package main

import (
	"bytes"
	"testing"
	"time"

	"rewardctl/repair"
)

// Without a terminal a run that stands still says once what it waits for, when that lasts, and
// again only after it went on in between.
func TestWaitIsSaidOncePerStandstill(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	a := &app{process: process{stderr: &said, now: func() time.Time { return now }}}
	bar := a.newProgress()
	at := func(after time.Duration, done, rows int) {
		now = now.Add(after)
		s := repair.ApplyProgress{Done: done, Total: 100}
		if rows > 0 {
			s.Waiting = &repair.ApplyWait{
				Rows: rows, Owner: "ops@host/1#\x1b[2J", Left: 20 * time.Second,
			}
		}
		bar.applying(s)
	}
	at(0, 50, 0)
	at(time.Second, 60, 40)
	at(900*time.Millisecond, 60, 40) // shorter than is worth a line
	at(50*time.Millisecond, 90, 10)  // something was granted
	at(900*time.Millisecond, 90, 10)
	if said.Len() > 0 {
		t.Fatalf("a short wait is told: %q", said.String())
	}
	for range 5 {
		at(time.Second, 90, 10)
		at(time.Millisecond, 90, 0) // tried again in vain
	}
	const want = "waiting: 10 rows for leases of others, 20s at most (ops@host/1#"
	if got := said.String(); bytes.Count(said.Bytes(), []byte("\n")) != 1 ||
		!bytes.HasPrefix(said.Bytes(), []byte(want)) || bytes.ContainsRune(said.Bytes(), '\x1b') {
		t.Fatalf("%q", got)
	}
	at(time.Second, 95, 5)
	at(2*time.Second, 95, 5)
	if n := bytes.Count(said.Bytes(), []byte("\n")); n != 2 {
		t.Fatalf("%d lines: %q", n, said.String())
	}
}
