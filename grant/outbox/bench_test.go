package outbox_test

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant"
	"rewardctl/grant/granttest"
	"rewardctl/grant/outbox"
	"rewardctl/grant/outbox/itemserver"
)

// The benchmarks report ratios of two things measured in one run: the machine's speed may drift,
// the ratio hardly does.

// BenchmarkRelay: a whole relay beside a bare loop of the same HTTP client against the same
// receiver with the same concurrency.
func BenchmarkRelay(b *testing.B) {
	s := setup(b, itemserver.Options{})
	const rows, concurrency = 1000, 16
	to := sink(b, s.server.URL)
	bare, relayed := time.Duration(0), time.Duration(0)
	round := 0
	for b.Loop() {
		round++
		began := time.Now()
		var group sync.WaitGroup
		for c := range concurrency {
			group.Go(func() {
				for n := c; n < rows; n += concurrency {
					to.Publish(b.Context(), grant.Message{
						PlayerID: fmt.Sprintf("bare-%d", n), EventID: fmt.Sprintf("e-%d", round),
						Kind: "gems", Amount: 1, Token: int64(round), LedgerID: 1, At: began,
					})
				}
			})
		}
		group.Wait()
		bare += time.Since(began)
		s.post(b, rows, round)
		opts := quick()
		opts.Concurrency = concurrency
		r := s.relay(b, to, opts)
		began = time.Now()
		if tally, err := r.Drain(b.Context()); err != nil || tally.Delivered != rows {
			b.Fatalf("%+v, %v", tally, err)
		}
		relayed += time.Since(began)
	}
	b.ReportMetric(float64(rows*round)/relayed.Seconds(), "rows/s")
	b.ReportMetric(bare.Seconds()/relayed.Seconds(), "x_bare_http")
	b.ReportMetric(0, "ns/op")
}

// nowhere is a sink that takes everything at once: what is left is claiming and marking.
type nowhere struct{}

func (nowhere) Name() string { return "nowhere" }
func (nowhere) Close()       {}
func (nowhere) Publish(context.Context, grant.Message) outbox.Report {
	return outbox.Report{Verdict: outbox.Delivered}
}

// BenchmarkClaimAndMark: what a row costs without its sending.
func BenchmarkClaimAndMark(b *testing.B) {
	s := setup(b, itemserver.Options{})
	const rows = 2000
	took, round := time.Duration(0), 0
	for b.Loop() {
		round++
		s.post(b, rows, round)
		opts := quick()
		opts.Concurrency = 64
		r := s.relay(b, nowhere{}, opts)
		began := time.Now()
		if _, err := r.Drain(b.Context()); err != nil {
			b.Fatal(err)
		}
		took += time.Since(began)
	}
	b.ReportMetric(float64(took.Microseconds())/float64(rows*round), "us/row")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkClaimBacklog: a claim of 32 rows with a backlog of 1,000,000 rows beside one of 1,000.
// The median of many claims is compared, each undone.
func BenchmarkClaimBacklog(b *testing.B) {
	for name, shape := range backlogShapes() {
		b.Run(name, func(b *testing.B) {
			var conns [2]*pgx.Conn
			for i, n := range []int{1000, 1_000_000} {
				w := granttest.New(b)
				fill(b, w, shape, n)
				conn, err := pgx.ConnectConfig(b.Context(), w.Conn.Copy())
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { _ = conn.Close(context.WithoutCancel(b.Context())) })
				conns[i] = conn
			}
			var took [2][]time.Duration
			for b.Loop() {
				for range 20 {
					for i, conn := range conns {
						began := time.Now()
						claimOnce(b.Context(), b, conn, "y", false)
						took[i] = append(took[i], time.Since(began))
					}
				}
			}
			b.ReportMetric(float64(median(took[1]).Microseconds()), "us/claim")
			b.ReportMetric(float64(median(took[1]))/float64(median(took[0])), "x_short_backlog")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func median(d []time.Duration) time.Duration {
	sort.Slice(d, func(i, j int) bool { return d[i] < d[j] })
	return d[len(d)/2]
}
