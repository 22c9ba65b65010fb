package tui

import (
	"cmp"
	"fmt"
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
)

func leaseColumns() []table.Column {
	return []table.Column{
		{Key: colResource, Title: "RESOURCE", Min: 20, Flex: 2, Max: 60},
		{Key: colState, Title: "VERDICT", Min: 19, Flex: 1, Max: 21},
		{Key: colLeft, Title: "LEFT", Min: 7, Right: true},
		{Key: colHeat, Title: "TTL USED", Min: 10, NoSort: true, Priority: 2},
		{Key: colOwner, Title: "OWNER", Min: 16, Flex: 4, Max: 44, Priority: 1},
		{Key: colToken, Title: "TOKEN", Min: 8, Right: true, Priority: 1},
		{Key: colFence, Title: "FENCE", Min: 8, Right: true, Priority: 4},
		{Key: colClaims, Title: "DUE", Min: 5, Right: true, Priority: 5},
	}
}

// leaseData shows a view of leases as they stand at a moment.
type leaseData struct {
	view *view[inspect.Lease]
	now  time.Time
	ttl  time.Duration
	g    paint.Glyphs
}

func (d leaseData) Len() int           { return len(d.view.items) }
func (d leaseData) ID(i int) string    { return d.view.items[i].id }
func (d leaseData) Find(id string) int { return d.view.find(id) }

func (d leaseData) Cells(i int, out []table.Cell) {
	it := d.view.items[i]
	l := it.row
	left := leftNow(l, d.now)
	role := stateRole(l.Verdict.State)
	out[0] = table.Cell{Text: l.Resource}
	out[1] = table.Cell{
		Text: stateGlyph(d.g, l.Verdict.State) + " " + stateWords(l.Verdict),
		Role: role,
	}
	out[2] = table.Cell{Text: leftText(l, left), Role: leftRole(l, left)}
	out[3] = table.Cell{Text: heat(d.g, l, left, d.ttl), Role: leftRole(l, left)}
	out[4] = table.Cell{Text: ownerShort(l)}
	out[5] = table.Cell{Text: tokenText(l.Token)}
	if l.Fence != nil {
		out[6] = table.Cell{Text: strconv.FormatInt(l.Fence.Token, 10), Role: paint.Muted}
	}
	if l.Claims != nil {
		out[7] = table.Cell{Text: claimsText(l.Claims), Role: paint.Muted}
	}
	if it.gone {
		out[1] = table.Cell{Text: d.g.Hollow + " gone", Role: paint.Muted}
		out[2], out[3] = table.Cell{Text: d.g.Dash, Role: paint.Muted}, table.Cell{}
	}
}

// leftNow returns the time left now: what the server said, less what has passed here since, by
// the monotonic clock. The wall clocks of the two machines are never compared.
func leftNow(l *inspect.Lease, now time.Time) time.Duration {
	return max(l.Left-now.Sub(l.At), 0)
}

func leftText(l *inspect.Lease, left time.Duration) string {
	switch {
	case l.NoExpiry:
		return "never"
	case left == 0:
		return "ended"
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
func stateWords(v inspect.Verdict) string {
	words := strings.ReplaceAll(string(v.State), "_", " ")
	if v.State == inspect.CannotTell && v.Likely != "" {
		words += ", likely " + strings.ReplaceAll(string(v.Likely), "_", " ")
	}
	return words
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

// leaseOrder returns the order of a column; ties are broken by time left, then by resource.
func leaseOrder(key string, desc bool) func(a, b *leaseItem) int {
	by := map[string]func(a, b *inspect.Lease) int{
		colLeft:  compareLeft,
		colOwner: func(a, b *inspect.Lease) int { return cmp.Compare(ownerShort(a), ownerShort(b)) },
		colToken: func(a, b *inspect.Lease) int { return cmp.Compare(a.Token, b.Token) },
		colFence: func(a, b *inspect.Lease) int { return cmp.Compare(fenceOf(a), fenceOf(b)) },
		colState: func(a, b *inspect.Lease) int {
			return cmp.Compare(stateRank(a.Verdict.State), stateRank(b.Verdict.State))
		},
		colClaims: func(a, b *inspect.Lease) int { return cmp.Compare(dueOf(a), dueOf(b)) },
	}[key]
	return func(a, b *leaseItem) int {
		if by != nil {
			if c := by(a.row, b.row); c != 0 {
				if desc {
					return -c
				}
				return c
			}
		}
		c := cmp.Compare(a.row.Resource, b.row.Resource)
		if desc && by == nil {
			return -c
		}
		return c
	}
}

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
	expiryBuckets = 20
	expirySpan    = time.Minute
)

// summarise makes a leaseSummary. It runs in the feed's goroutine.
func summarise(items []*leaseItem, now time.Time) any {
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
	var parts []string
	for _, state := range inspect.States() {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n,
				strings.ReplaceAll(string(state), "_", " ")))
		}
	}
	s.counts = strings.Join(parts, "   ")
	return s
}
