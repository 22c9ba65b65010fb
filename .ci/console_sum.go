package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usage is what a process has used so far.
type usage struct {
	at   time.Time
	cpu  time.Duration
	rss  int64 // bytes
	peak int64
}

// usage reads what the program on the screen has used. It needs Linux; elsewhere it is zero.
func (s *screen) usage() usage {
	u := usage{at: time.Now()}
	dir := "/proc/" + strconv.Itoa(s.cmd.Process.Pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return u
	}
	const ticksPerSecond = 100 // of the kernel's interface, on every machine of today
	_, rest, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(rest); len(fields) > 12 {
		user, _ := strconv.ParseInt(fields[11], 10, 64)
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		u.cpu = time.Duration(user+system) * time.Second / ticksPerSecond
	}
	status, _ := os.ReadFile(dir + "/status")
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		n, _ := strconv.ParseInt(kib, 10, 64)
		switch name {
		case "VmRSS":
			u.rss = n << 10
		case "VmHWM":
			u.peak = n << 10
		}
	}
	return u
}

// since is the share of one processor that was used between two readings.
func (u usage) since(before usage) string {
	return fmt.Sprintf("%.1f %%", 100*(u.cpu-before.cpu).Seconds()/u.at.Sub(before.at).Seconds())
}

func (u usage) memory() string {
	return fmt.Sprintf("memory %s, at most %s", sized(float64(u.rss)), sized(float64(u.peak)))
}

func sized(n float64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", n/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", n/(1<<20))
}

// at returns the value that a share of all is not above.
func share(all []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*percent/100, len(sorted)-1)]
}

// spread writes the middle, the 95th and the worst of some times.
func spread(all []time.Duration) string {
	return fmt.Sprintf("p50 %s p95 %s max %s (%d)", millis(share(all, 50)), millis(share(all, 95)),
		millis(share(all, 100)), len(all))
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
