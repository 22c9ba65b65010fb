package inspect

import (
	"cmp"
	"slices"
	"time"

	"rewardctl/grant/lease"
)

// order compares leases of a list.
type order struct {
	by      LeaseSort
	reverse bool
}

// compare is below zero when a comes before b. Their states are given by rank.
func (o order) compare(a, b *lease.Entry, rankA, rankB uint8) int {
	var first int
	switch o.by {
	case SortLeft:
		first = cmp.Compare(leftRank(a), leftRank(b))
	case SortOwner:
		first = cmp.Compare(a.Owner, b.Owner)
	case SortToken:
		first = cmp.Compare(a.Token, b.Token)
	case SortState:
		first = cmp.Compare(rankA, rankB)
	case SortResource:
	}
	if o.reverse {
		first = -first
	}
	if first != 0 {
		return first
	}
	tie := cmp.Compare(a.Resource, b.Resource)
	if o.reverse && (o.by == SortResource || o.by == "") {
		tie = -tie
	}
	return tie
}

// leftRank puts a lease without expiry behind all others.
func leftRank(e *lease.Entry) time.Duration {
	if e.NoExpiry {
		return 1<<63 - 1
	}
	return e.Left
}

// firstOf returns the first n of some positions in order; all of them when n is 0. The first few
// of very many are found without sorting the rest. It reorders all.
func firstOf(all []int32, n int, compare func(a, b int32) int) []int32 {
	if n <= 0 || n >= len(all)/2 {
		slices.SortFunc(all, compare)
		if n > 0 && n < len(all) {
			all = all[:n]
		}
		return all
	}
	// The kept ones are a heap whose top comes last: whatever comes before it takes its place.
	kept := all[:n]
	for i := n/2 - 1; i >= 0; i-- {
		sink(kept, i, compare)
	}
	for _, at := range all[n:] {
		if compare(at, kept[0]) < 0 {
			kept[0] = at
			sink(kept, 0, compare)
		}
	}
	slices.SortFunc(kept, compare)
	return kept
}

// sink moves the element at i down to its place in a heap.
func sink(heap []int32, i int, compare func(a, b int32) int) {
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if child+1 < len(heap) && compare(heap[child+1], heap[child]) > 0 {
			child++
		}
		if compare(heap[child], heap[i]) <= 0 {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}
