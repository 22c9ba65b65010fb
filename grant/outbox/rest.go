package outbox

import (
	"slices"
	"sync"
	"time"
)

// rest is the relay's memory of a receiver that is down or busy: while it rests nothing is sent,
// and afterwards one row at a time until the receiver answers again.
type rest struct {
	now  func() time.Time
	most time.Duration

	mu    sync.Mutex
	times int // answers "not now" in a row
	until time.Time
	why   string
	// silent are the rows that got no answer at all since the last answer to any.
	silent []int64
}

// silentRows is how many different rows in a row have to remain without an answer until that is
// the receiver's fault and not theirs.
const silentRows = 3

// silence notes that a row got no answer. It reports whether so many did that the receiver must
// be down.
func (s *rest) silence(row int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.silent) < silentRows && !slices.Contains(s.silent, row) {
		s.silent = append(s.silent, row)
	}
	return len(s.silent) >= silentRows
}

// refuse notes an answer "not now". It reports whether the receiver was fine before.
func (s *rest) refuse(why string, after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.times == 0
	// Messages that were on their way together are refused together: that is one time.
	if now := s.now(); now.After(s.until) || first {
		s.times++
		s.until = now.Add(max(after, s.pause()))
	}
	s.why = why
	return first
}

// accept notes any other answer. It reports whether the receiver was down before.
func (s *rest) accept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.times > 0
	s.times, s.until, s.why, s.silent = 0, time.Time{}, "", nil
	return was
}

// left is how long nothing is to be sent.
func (s *rest) left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.until.Sub(s.now())
}

// careful reports whether the receiver's last answer was "not now", and why.
func (s *rest) careful() (why string, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why, s.times > 0
}

// wait is how long a row that met a resting receiver waits.
func (s *rest) wait() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pause()
}

func (s *rest) pause() time.Duration {
	return backoff(backoffFirst, s.most, 0, s.times)
}
