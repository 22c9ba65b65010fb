package inspect

import (
	"context"
	"fmt"
	"slices"

	"rewardctl/grant"
	"rewardctl/grant/lease"
)

// Found is one lock that a scan met, with the verdict on it.
type Found struct {
	lease.Found
	Verdict Verdict
}

// ScanReport is what a scan has seen in all.
type ScanReport struct {
	lease.ScanReport
	// Missing says what the verdicts lack because a server could not be asked.
	Missing []Missing
}

// Scan walks all keys of all primaries and calls emit with each lock found, as soon as its page was
// read: leases, locks that the index does not know, other libraries' locks. It changes nothing.
// Lease.Scan says what counts as a lock. Leases of ours are judged as Leases does; anything else is
// Foreign, with what it is as evidence.
//
// The report is valid with an error, too: that of emit, the context's cause when the scan was
// stopped, or a *grant.BackendError.
func (r *Reader) Scan(
	ctx context.Context, o lease.ScanOptions, emit func(Found) error,
) (ScanReport, error) {
	if r.store == nil {
		return ScanReport{}, &grant.BackendError{
			Backend: grant.Redis, Op: "scan", Err: errNoPool,
		}
	}
	var report ScanReport
	var err error
	report.ScanReport, err = r.store.Scan(ctx, o, func(page []lease.Found) error {
		for _, f := range r.judgeFound(ctx, page, &report) {
			if err := emit(f); err != nil {
				return err
			}
		}
		return nil
	})
	return report, err
}

// judgeFound judges the locks of a page; it asks each server once.
func (r *Reader) judgeFound(ctx context.Context, page []lease.Found, report *ScanReport) []Found {
	list := LeaseList{At: r.opts.Now()}
	found := make([]Found, len(page))
	var ours []int
	for i, f := range page {
		found[i].Found = f
		if f.Kind == lease.FoundLease || f.Kind == lease.FoundUnindexed {
			ours = append(ours, i)
			list.Leases = append(list.Leases, leaseOf(lease.Entry{
				Resource: f.Resource, Value: f.Value, Token: f.Token, Owner: f.Owner,
				Left: f.Left, NoExpiry: f.NoExpiry,
			}, list.At))
			continue
		}
		found[i].Verdict = foreignVerdict(f)
	}
	asker := *r
	if report.lacksAny(grant.PostgreSQL) {
		asker.pool = nil // it did not answer for an earlier page: do not wait for it each time
	}
	asker.judgeAll(ctx, &list)
	for i, at := range ours {
		v := list.Leases[i].Verdict
		if found[at].Kind == lease.FoundUnindexed {
			v.Evidence = append(v.Evidence, Evidence{
				"index", "not there: lists of leases do not show it",
			})
		}
		found[at].Verdict = v
	}
	for _, m := range list.Missing {
		if !report.lacks(m) {
			report.Missing = append(report.Missing, m)
		}
	}
	return found
}

func (r *ScanReport) lacks(m Missing) bool {
	return slices.ContainsFunc(r.Missing, func(known Missing) bool {
		return known.Backend == m.Backend && known.Lacks == m.Lacks
	})
}

func (r *ScanReport) lacksAny(backend grant.Backend) bool {
	return slices.ContainsFunc(r.Missing, func(m Missing) bool { return m.Backend == backend })
}

// foreignVerdict is the verdict on what is no lease of ours.
func foreignVerdict(f lease.Found) Verdict {
	v := Verdict{State: Foreign}
	if f.NoExpiry {
		v.Also = append(v.Also, NoExpiry)
	}
	left := Evidence{"time left", f.Left.String()}
	if f.NoExpiry {
		left.Finding = "no expiry: it will not end by itself"
	}
	v.Evidence = []Evidence{{"value", foreignWords(f)}, left}
	return v
}

func foreignWords(f lease.Found) string {
	switch f.Kind {
	case lease.FoundString:
		return "a text under a name like a lock's, or selected by the pattern: " +
			"another program's lock, or none at all"
	case lease.FoundHash:
		return "a hash of holders with counters, as Redisson keeps a lock"
	case lease.FoundWrongType:
		return fmt.Sprintf("a %s under a key of ours that never holds one", f.Type)
	case lease.FoundForeign:
		if f.Resource == "" {
			return "under our lock prefix, but under a name that we never write"
		}
		return "text under a lock key of ours, not TOKEN:OWNER"
	case lease.FoundLease, lease.FoundUnindexed:
	}
	return "unknown"
}
