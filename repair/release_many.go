package repair

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rewardctl/grant"
)

// ReleaseSet is a frozen set of leases: exactly these are released, each only if its lock still
// holds exactly the value that was seen.
type ReleaseSet struct {
	Requests []ReleaseRequest // in order of resource
	Digest   string           // names the set: which resources with which values
}

// NewReleaseSet freezes requests. It returns a *grant.Rejection for a request that is unfit, or
// that names a foreign lock: one of those is released only by itself, by its exact value.
func NewReleaseSet(requests []ReleaseRequest) (ReleaseSet, error) {
	set := ReleaseSet{Requests: slices.Clone(requests)}
	slices.SortFunc(set.Requests, func(a, b ReleaseRequest) int {
		return strings.Compare(a.Resource, b.Resource)
	})
	sum := sha256.New()
	for _, req := range set.Requests {
		ready, err := req.ready()
		if err != nil {
			return ReleaseSet{}, err
		}
		if ready.foreign() {
			return ReleaseSet{}, &grant.Rejection{
				Field: "resource", Value: req.Resource, Problem: "is a foreign lock",
				WayOut: "release it by itself, with --value and its exact value",
			}
		}
		fmt.Fprintf(sum, "%d:%s %d:%s\n", len(ready.Resource), ready.Resource, len(ready.Value),
			ready.Value)
	}
	const bytes = 6 // of the sum: enough to tell sets of one moment apart
	set.Digest = hex.EncodeToString(sum.Sum(nil)[:bytes])
	return set, nil
}

// Word returns "lease release".
func (s ReleaseSet) Word() string { return "lease release" }

// Target returns how many leases there are, such as "3 leases".
func (s ReleaseSet) Target() string {
	if len(s.Requests) == 1 {
		return s.Requests[0].Resource
	}
	return strconv.Itoa(len(s.Requests)) + " leases"
}

// CLI returns the lease release command that names every lease. The digest holds it to the values
// that were seen.
func (s ReleaseSet) CLI() []string {
	argv := []string{"rewardctl", "lease", "release", "--set", s.Digest}
	if len(s.Requests) > 0 {
		argv = append(argv, "--reason", s.Requests[0].Reason)
		if s.Requests[0].DryRun {
			argv = append(argv, "--dry-run")
		}
	}
	for _, req := range s.Requests {
		if strings.HasPrefix(req.Resource, "-") {
			argv = append(argv, "--")
			break
		}
	}
	for _, req := range s.Requests {
		argv = append(argv, req.Resource)
	}
	return argv
}

// WithReason returns the set with a reason for every lease. What it releases is the same.
func (s ReleaseSet) WithReason(reason string) ReleaseSet {
	s.Requests = slices.Clone(s.Requests)
	for i := range s.Requests {
		s.Requests[i].Reason = reason
	}
	return s
}

// ReleaseOf is what became of one lease of a set.
type ReleaseOf struct {
	Request ReleaseRequest
	Release Release
	Err     error // as from Release; nil when it was released or gone
	NotRun  bool  // the run stopped before this lease; Release says nothing then
}

// ReleaseMany releases the leases of a set one after the other, each as Release does, with its own
// rows in the log, and answers each. A lease that changed is left, and the others go on. When ctx
// ends, or a server answers nothing any more, the rest is marked NotRun. onDone is told each answer
// as it comes; nil does nothing.
func (o *Operator) ReleaseMany(
	ctx context.Context, set ReleaseSet, onDone func(ReleaseOf),
) []ReleaseOf {
	out := make([]ReleaseOf, len(set.Requests))
	eachInTurn(ctx, len(out), func(i int) error {
		out[i].Request = set.Requests[i]
		out[i].Release, out[i].Err = o.Release(ctx, set.Requests[i])
		if onDone != nil {
			onDone(out[i])
		}
		return out[i].Err
	}, func(i int, why error) {
		req := set.Requests[i]
		out[i] = ReleaseOf{Request: req, NotRun: true, Err: why, Release: Release{
			Resource: req.Resource, Freeing: NotReleased, Burning: NotBurned,
		}}
	})
	return out
}
