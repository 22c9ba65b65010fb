package inspect

import (
	"fmt"
	"time"
)

// renewedShare tells a renewal from clocks that differ: a keeper renews every third of the TTL.
const renewedShare = 4

// concludeRenewals finds tokens that lived longer than one TTL, or have more time left than is left
// of their first. Nobody writes a renewal down: it happens so often that the history of Redis
// would hold little else.
func (h *TokenHistory) concludeRenewals(issued []TokenEntry, ttl time.Duration) {
	if ttl <= 0 {
		return
	}
	last := make(map[string]TokenEntry) // by token: the last moment at which its owner held it
	for _, e := range h.Entries {
		switch e.Event {
		case TokenReleased, TokenFreed, TokenUsed:
			key := tokenKey(e.Token, e.Owner)
			if e.At.After(last[key].At) {
				last[key] = e
			}
		case TokenIssued, TokenRenewed, TokenAbandoned, TokenExpired, TokenRefused, TokenBurned,
			TokenOther:
		}
	}
	for _, e := range issued {
		renewed := TokenEntry{
			At: e.At.Add(ttl), Source: Concluded, Event: TokenRenewed, Token: e.Token, Owner: e.Owner,
		}
		seen, lived := last[tokenKey(e.Token, e.Owner)]
		switch {
		case h.heldBy(e) && h.Lease.NoExpiry:
			continue
		case h.heldBy(e):
			at := h.Lease.At.Add(h.Lease.Left - ttl)
			if at.Sub(e.At) < ttl/renewedShare {
				continue
			}
			renewed.At = at
			renewed.Detail = fmt.Sprintf("%s are left of a lease of %s that was issued at %s: its "+
				"owner has renewed it, last at about this time",
				h.Lease.Left.Round(time.Millisecond), ttl, clock(e.At))
		case lived && seen.At.Sub(e.At) > ttl+ttl/renewedShare:
			renewed.Detail = fmt.Sprintf("%s at %s, more than %s after it was issued: its owner had "+
				"renewed it, by this time at the latest", seen.Event, clock(seen.At), ttl)
		default:
			continue
		}
		h.Entries = append(h.Entries, renewed)
	}
}
