package outbox

import (
	"hash/fnv"
	"strconv"
	"time"
)

// backoff returns the wait after a row's n-th failure, counted from 1: doubled each time, up to
// most, and spread over its upper half, so that rows that failed together do not come back
// together. The spread follows from the row, so no chance is involved.
func backoff(least, most time.Duration, row int64, n int) time.Duration {
	wait := most
	if n < 1 {
		n = 1
	}
	if n <= 32 && least<<(n-1) > 0 && least<<(n-1) < most {
		wait = least << (n - 1)
	}
	h := fnv.New32a()
	h.Write(strconv.AppendInt(strconv.AppendInt(nil, row, 10), int64(-n), 10))
	share := time.Duration(h.Sum32() % 1000)
	return wait/2 + wait/2*share/999
}
