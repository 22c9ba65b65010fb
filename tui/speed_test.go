package tui_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui"
	"rewardctl/tui/tuitest"
)

// crowd is a world with very many leases, all of which tick.
type crowd struct {
	*tuitest.World
	leases []inspect.Lease
}

func (c crowd) Leases(context.Context, inspect.LeaseFilter) (inspect.LeaseList, error) {
	at := time.Now()
	list := inspect.LeaseList{At: at, Leases: slices.Clone(c.leases), Total: len(c.leases)}
	for i := range list.Leases {
		list.Leases[i].At = at
	}
	return list, nil
}

func (c crowd) LeasesOf(_ context.Context, resources []string) (inspect.LeaseList, error) {
	at := time.Now()
	list := inspect.LeaseList{At: at}
	for _, l := range c.leases {
		if slices.Contains(resources, l.Resource) {
			l.At = at
			list.Leases = append(list.Leases, l)
		}
	}
	return list, nil
}

func (c crowd) CountLeases(context.Context) (inspect.LeaseCounts, error) {
	return inspect.LeaseCounts{
		At: time.Now(), Total: len(c.leases), States: map[inspect.State]int{inspect.Held: len(c.leases)},
		Ending: make([]int, inspect.LeaseEndings),
	}, nil
}

// crowded starts a console at real speed on n leases.
func crowded(b *testing.B, n, w, h int) *tuitest.Console {
	b.Helper()
	clock := tuitest.NewClock()
	world := crowd{World: tuitest.NewWorld(clock.Now)}
	for i := range n {
		l := tuitest.Lease(fmt.Sprintf("reward:player-%06d", i), i%50, time.Duration(5+i%25)*time.Second)
		world.leases = append(world.leases, l)
	}
	c := tuitest.Start(b, world.World, clock, w, h, func(o *tui.Options) {
		o.Inspector, o.Now, o.Refresh = world, time.Now, time.Second
	})
	c.See(fmt.Sprintf("%d total", n))
	return c
}

// BenchmarkKeyToFrame measures from a key's byte to its effect in the terminal's cells, with all
// leases read again each second. The milliseconds are those of this machine.
func BenchmarkKeyToFrame(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := crowded(b, n, 200, 60)
			cursorAt := func(y int) func() bool {
				return func() bool { return c.Cell(0, y) == "▶" }
			}
			const first = 6
			c.Until("the cursor", cursorAt(first))
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				key, y := "j", first+1
				if i%2 == 1 {
					key, y = "k", first
				}
				start := time.Now()
				c.Send(key)
				c.Until("the key's frame", cursorAt(y))
				took = append(took, time.Since(start))
				rest := time.NewTimer(17 * time.Millisecond) // as fast as a held key repeats
				<-rest.C
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// BenchmarkOutput measures what a list of ticking leases sends to its terminal each second.
func BenchmarkOutput(b *testing.B) {
	c := crowded(b, 100_000, 120, 50)
	start, before := time.Now(), c.Written()
	for b.Loop() {
		second := time.NewTimer(time.Second)
		<-second.C
	}
	rate := float64(c.Written()-before) / time.Since(start).Seconds()
	b.ReportMetric(rate/1024, "KiB/s")
	b.ReportMetric(0, "ns/op")
}
