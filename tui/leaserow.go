package tui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"
)

// leaseItem is a lease in the list.
type leaseItem = item[inspect.Lease]

// The columns of the lease list, by key.
const (
	colHeat     = "heat"
	colLeft     = "left"
	colResource = "resource"
	colOwner    = "owner"
	colToken    = "token"
	colFence    = "fence"
	colClaims   = "claims"
	colState    = "state"
	colHeld     = "held"
)

// heldAt is where the column of how long a lease is held stands.
const heldAt = 6

func leaseColumns(d *desk, held *holding) []column[inspect.Lease] {
	g, ttl, lang := d.theme.Glyphs, d.opts.LeaseTTL, d.lang
	type row = inspect.Lease
	cell := func(text string, role paint.Role) table.Cell { return table.Cell{Text: text, Role: role} }
	return []column[row]{
		{
			table.Column{Key: colResource, Title: "RESOURCE", Min: 20, Flex: 2, Max: 60},
			func(l *row, _ time.Time) table.Cell { return cell(l.Resource, paint.Plain) },
			func(a, b *row) int { return cmp.Compare(a.Resource, b.Resource) },
		},
		{
			table.Column{Key: colState, Title: "VERDICT", Min: 19, Flex: 1, Max: 21},
			func(l *row, _ time.Time) table.Cell {
				return cell(stateGlyph(g, l.Verdict.State)+" "+stateWords(lang, l.Verdict),
					stateRole(l.Verdict.State))
			},
			func(a, b *row) int {
				return cmp.Compare(stateRank(a.Verdict.State), stateRank(b.Verdict.State))
			},
		},
		{
			table.Column{Key: colLeft, Title: "LEFT", Min: 7, Right: true},
			func(l *row, now time.Time) table.Cell {
				left := leftNow(l, now)
				c := cell(leftText(lang, l, left), leftRole(l, left))
				c.Value = leftValue(l, left)
				return c
			},
			compareLeft,
		},
		{
			table.Column{Key: colHeat, Title: "TTL USED", Min: 10, Priority: 2},
			func(l *row, now time.Time) table.Cell {
				left := leftNow(l, now)
				return cell(heat(g, l, left, ttl), leftRole(l, left))
			},
			nil,
		},
		{
			table.Column{Key: colOwner, Title: "OWNER", Min: 16, Flex: 4, Max: 44, Priority: 1},
			func(l *row, _ time.Time) table.Cell { return cell(ownerShort(l), paint.Plain) },
			func(a, b *row) int { return cmp.Compare(ownerShort(a), ownerShort(b)) },
		},
		{
			table.Column{Key: colToken, Title: "TOKEN", Min: 8, Right: true, Priority: 1},
			func(l *row, _ time.Time) table.Cell { return cell(tokenText(l.Token), paint.Plain) },
			func(a, b *row) int { return cmp.Compare(a.Token, b.Token) },
		},
		heldColumn(held),
		{
			table.Column{Key: colFence, Title: "FENCE", Min: 8, Right: true, Priority: 4},
			func(l *row, _ time.Time) table.Cell { return cell(tokenText(fenceOf(l)), paint.Muted) },
			func(a, b *row) int { return cmp.Compare(fenceOf(a), fenceOf(b)) },
		},
		{
			table.Column{Key: colClaims, Title: "DUE", Min: 5, Right: true, Priority: 5},
			func(l *row, _ time.Time) table.Cell { return cell(claimsText(l.Claims), paint.Muted) },
			func(a, b *row) int { return cmp.Compare(dueOf(a), dueOf(b)) },
		},
	}
}

// leftNow returns the time left now: what the server said, less what has passed here since, by
// the monotonic clock. The wall clocks of the two machines are never compared.
func leftNow(l *inspect.Lease, now time.Time) time.Duration {
	return max(l.Left-now.Sub(l.At), 0)
}

// heldColumn is how long each lease on the screen has been held.
func heldColumn(held *holding) column[inspect.Lease] {
	return column[inspect.Lease]{
		table.Column{Key: colHeld, Title: "HELD", Min: 7, Right: true, Priority: 3},
		func(l *inspect.Lease, now time.Time) table.Cell {
			age, ok := held.of(l, now)
			if !ok {
				return table.Cell{}
			}
			return table.Cell{
				Text: brief(age.Truncate(100 * time.Millisecond)), Role: paint.Muted,
				Value: table.Value{Kind: table.Duration, N: int64(age)},
			}
		},
		nil, // it is known of what is on the screen only
	}
}

// forever is the time left of what never ends.
const forever time.Duration = math.MaxInt64

// leftValue is the time left as a number: what never ends has the most of it.
func leftValue(l *inspect.Lease, left time.Duration) table.Value {
	if l.NoExpiry {
		left = forever
	}
	return table.Value{Kind: table.Duration, N: int64(left)}
}

func leftText(lang language, l *inspect.Lease, left time.Duration) string {
	switch {
	case l.NoExpiry:
		return lang.T("never")
	case left == 0:
		return lang.T("ended")
	default:
		return brief(left.Truncate(100 * time.Millisecond))
	}
}

func leftRole(l *inspect.Lease, left time.Duration) paint.Role {
	const soon = 2 * time.Second
	switch {
	case l.NoExpiry:
		return paint.Warn
	case left == 0:
		return paint.Muted
	case left < soon:
		return paint.Warn
	default:
		return paint.Plain
	}
}

func heat(g paint.Glyphs, l *inspect.Lease, left, ttl time.Duration) string {
	const width = 10
	if l.NoExpiry || ttl <= 0 {
		return ""
	}
	return g.Heat(1-float64(left)/float64(ttl), width)
}

func ownerShort(l *inspect.Lease) string {
	switch {
	case l.Foreign != "":
		return "(" + l.Foreign + ")"
	case l.Worker != "":
		return l.Worker
	default:
		return l.Owner
	}
}

func tokenText(token int64) string {
	if token == 0 {
		return ""
	}
	return strconv.FormatInt(token, 10)
}

func claimsText(c *inspect.Claims) string {
	if c == nil {
		return ""
	}
	n := c.Pending + c.Processing
	if n == 0 && !c.More {
		return ""
	}
	text := strconv.Itoa(n)
	if c.More {
		text += "+"
	}
	return text
}

// stateWords writes a state for people: "orphan suspect", "cannot tell, likely held".
func stateWords(lang language, v inspect.Verdict) string {
	words := stateWord(lang, v.State)
	if v.State == inspect.CannotTell && v.Likely != "" {
		words += ", " + lang.T("likely") + " " + stateWord(lang, v.Likely)
	}
	return words
}

// stateWord writes one state for people.
func stateWord(lang language, s inspect.State) string {
	switch s {
	case inspect.Held:
		return lang.T("held")
	case inspect.Expiring:
		return lang.T("expiring")
	case inspect.OverdueRenewal:
		return lang.T("overdue renewal")
	case inspect.OrphanSuspect:
		return lang.T("orphan suspect")
	case inspect.NoExpiry:
		return lang.T("no expiry")
	case inspect.LongerThanTTL:
		return lang.T("longer than ttl")
	case inspect.Superseded:
		return lang.T("superseded")
	case inspect.Foreign:
		return lang.T("foreign")
	case inspect.CannotTell:
		return lang.T("cannot tell")
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

func stateGlyph(g paint.Glyphs, s inspect.State) string {
	switch s {
	case inspect.Held:
		return g.Dot
	case inspect.Expiring, inspect.OverdueRenewal, inspect.CannotTell:
		return g.Hollow
	default:
		return g.Warning
	}
}

func stateRole(s inspect.State) paint.Role {
	switch s {
	case inspect.Held:
		return paint.Good
	case inspect.OrphanSuspect, inspect.NoExpiry, inspect.LongerThanTTL, inspect.Superseded:
		return paint.Bad
	case inspect.Foreign, inspect.OverdueRenewal, inspect.Expiring:
		return paint.Warn
	default:
		return paint.Muted
	}
}

// stateRank orders states by how much they need attention.
func stateRank(s inspect.State) int { return slices.Index(inspect.States(), s) }

// compareLeft puts what ends first in front, and what never ends last. Both were read by one
// server at about the same time, so the readings are comparable.
func compareLeft(a, b *inspect.Lease) int {
	if a.NoExpiry != b.NoExpiry {
		if a.NoExpiry {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Left, b.Left)
}

func fenceOf(l *inspect.Lease) int64 {
	if l.Fence == nil {
		return 0
	}
	return l.Fence.Token
}

func dueOf(l *inspect.Lease) int {
	if l.Claims == nil {
		return 0
	}
	return l.Claims.Pending + l.Claims.Processing
}

// leaseSummary is what stands above the list: how many leases are in which state, and how many
// end in each part of the next minute.
type leaseSummary struct {
	counts   string
	expiries []int
}

const (
	expiryBuckets = inspect.LeaseEndings
	expirySpan    = inspect.LeaseEndingSpan
)

// summarise makes a leaseSummary. It runs in the feed's goroutine.
func summarise(lang language) func(items []*leaseItem, now time.Time) any {
	return func(items []*leaseItem, now time.Time) any { return summary(lang, items, now) }
}

func summary(lang language, items []*leaseItem, now time.Time) leaseSummary {
	s := leaseSummary{expiries: make([]int, expiryBuckets)}
	counts := map[inspect.State]int{}
	for _, it := range items {
		if it.gone {
			continue
		}
		counts[it.row.Verdict.State]++
		if left := leftNow(it.row, now); !it.row.NoExpiry && left < expirySpan {
			s.expiries[left*expiryBuckets/expirySpan]++
		}
	}
	s.counts = stateCounts(lang, counts)
	return s
}

// stateCounts writes how many leases are in which state.
func stateCounts(lang language, counts map[inspect.State]int) string {
	var parts []string
	for _, state := range inspect.States() {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, stateWord(lang, state)))
		}
	}
	return strings.Join(parts, "   ")
}
