package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rewardctl/grant"
)

// settle sums up the tokens, concludes what nobody wrote down, and marks what is odd. It is a pure
// function of what was read.
func (h *TokenHistory) settle(counter counterSeen, redisSeen bool, ttl time.Duration) {
	// The stream of Redis is in the order in which tokens were issued, whatever its clock did.
	var issued []TokenEntry
	for _, e := range h.Entries {
		if e.Source == FromRedis && e.Event == TokenIssued {
			issued = append(issued, e)
		}
	}
	h.markRegressions(issued)
	h.concludeExpiry(issued, redisSeen)
	h.concludeRenewals(issued, ttl)
	h.order()
	h.sum()
	h.markCounter(counter, redisSeen)
	h.markOwners()
	h.markLateWrites()
	h.markRefused()
	h.markGaps(issued)
	if redisSeen {
		h.Lost = h.lost(issued, counter)
	}
	h.tellTokens()
}

func (h *TokenHistory) mark(kind MarkKind, token int64, format string, args ...any) {
	h.Marks = append(h.Marks, TokenMark{kind, token, fmt.Sprintf(format, args...)})
}

func (h *TokenHistory) markRegressions(issued []TokenEntry) {
	var highest TokenEntry
	for _, e := range issued {
		if highest.Token >= e.Token && !(highest.Token == e.Token && highest.Owner == e.Owner) {
			h.mark(MarkRegression, e.Token, "token %d was issued to %s after token %d had been "+
				"issued to %s: Redis lost its counter, by a failover or a restart. PostgreSQL "+
				"refuses it if the higher one has written.", e.Token, e.Owner, highest.Token,
				highest.Owner)
		}
		if e.Token > highest.Token {
			highest = e
		}
	}
	for _, e := range issued {
		for _, used := range h.Entries {
			if used.Event == TokenUsed && used.Token > e.Token && used.At.Before(e.At) {
				h.mark(MarkRegression, e.Token, "token %d was issued at %s although token %d had "+
					"written at %s: Redis lost its counter, and the floor from PostgreSQL was not "+
					"presented.", e.Token, clock(e.At), used.Token, clock(used.At))
				break
			}
		}
	}
}

// concludeExpiry finds tokens whose end nobody wrote down: an expiry leaves no trace.
func (h *TokenHistory) concludeExpiry(issued []TokenEntry, redisSeen bool) {
	ended := make(map[string]bool)
	for _, e := range h.Entries {
		switch e.Event {
		case TokenReleased, TokenFreed, TokenAbandoned:
			ended[tokenKey(e.Token, e.Owner)] = true
		case TokenIssued, TokenRenewed, TokenExpired, TokenUsed, TokenRefused, TokenBurned,
			TokenOther:
		}
	}
	for i, e := range issued {
		if ended[tokenKey(e.Token, e.Owner)] || i+1 == len(issued) {
			continue
		}
		next := issued[i+1]
		if next.Token == e.Token && next.Owner == e.Owner {
			continue
		}
		h.Entries = append(h.Entries, TokenEntry{
			At: next.At, Source: Concluded, Event: TokenExpired, Token: e.Token, Owner: e.Owner,
			Detail: fmt.Sprintf("no release was seen, and token %d was issued: it had expired",
				next.Token),
		})
	}
	if n := len(issued); n > 0 && redisSeen && !h.heldBy(issued[n-1]) &&
		!ended[tokenKey(issued[n-1].Token, issued[n-1].Owner)] {
		last, holder := issued[n-1], "nobody holds it"
		if h.Lease != nil && h.Lease.Foreign != "" {
			holder = "other data (" + h.Lease.Foreign + ") is under its key"
		}
		h.Entries = append(h.Entries, TokenEntry{
			At: last.At, Source: Concluded, Event: TokenExpired, Token: last.Token,
			Owner: last.Owner, Detail: "no release was seen, and " + holder + ": it has expired " +
				"since; when is not known",
		})
	}
}

func (h *TokenHistory) heldBy(e TokenEntry) bool {
	return h.Lease != nil && h.Lease.Token == e.Token && h.Lease.Owner == e.Owner
}

func tokenKey(token int64, owner string) string { return fmt.Sprintf("%d:%s", token, owner) }

// sum makes one TokenUse per token and owner.
func (h *TokenHistory) sum() {
	uses := make(map[string]*TokenUse)
	for _, e := range h.Entries {
		if e.Token == 0 || e.Event == TokenOther {
			continue
		}
		key := tokenKey(e.Token, e.Owner)
		u := uses[key]
		if u == nil {
			u = &TokenUse{Token: e.Token, Owner: e.Owner}
			uses[key] = u
		}
		switch e.Event {
		case TokenIssued:
			u.Issued = e.At
		case TokenUsed:
			u.Accepted++
		case TokenRefused:
			u.Refused++
		case TokenReleased, TokenFreed, TokenAbandoned:
			u.End, u.Ended = e.Event, e.At
		case TokenExpired:
			u.End = e.Event
		case TokenBurned:
			if u.End == "" {
				u.End, u.Ended = e.Event, e.At
			}
		case TokenRenewed, TokenOther:
		}
	}
	for _, u := range uses {
		h.Tokens = append(h.Tokens, *u)
	}
	slices.SortFunc(h.Tokens, func(a, b TokenUse) int {
		return cmp.Or(cmp.Compare(a.Token, b.Token), a.Issued.Compare(b.Issued),
			cmp.Compare(a.Owner, b.Owner))
	})
}

func (h *TokenHistory) markCounter(c counterSeen, redisSeen bool) {
	switch {
	case !redisSeen || h.Fence == nil:
	case c.damaged != "":
		h.mark(MarkRegression, h.Fence.Token, "the token counter in Redis is damaged, it holds %q: "+
			"no token can be issued until it is set to the fence, %d.", c.damaged, h.Fence.Token)
	case c.there && c.token < h.Fence.Token:
		h.mark(MarkRegression, c.token, "the token counter in Redis stands at %d, below the fence "+
			"%d: Redis lost state. The next acquire presents the fence and gets a higher token.",
			c.token, h.Fence.Token)
	}
}

func (h *TokenHistory) markOwners() {
	owners := make(map[int64][]string)
	for _, u := range h.Tokens {
		if u.Owner != "" && !grant.Burned(u.Owner) {
			owners[u.Token] = append(owners[u.Token], u.Owner)
		}
	}
	if f := h.Fence; f != nil && !f.Burned && !slices.Contains(owners[f.Token], f.Owner) {
		owners[f.Token] = append(owners[f.Token], f.Owner)
	}
	for _, u := range h.Tokens {
		names := owners[u.Token]
		if len(names) < 2 {
			continue
		}
		delete(owners, u.Token)
		h.mark(MarkTwoOwners, u.Token, "token %d had %d owners: %s. Redis lost its counter between "+
			"them; PostgreSQL accepts the token from one of them only.", u.Token, len(names),
			strings.Join(names, " and "))
	}
}

// markLateWrites looks for postings whose tokens go down in the order of the database's time.
func (h *TokenHistory) markLateWrites() {
	var highest TokenEntry
	for _, e := range h.Entries {
		if e.Event != TokenUsed {
			continue
		}
		if e.Token < highest.Token {
			h.mark(MarkLateWrite, e.Token, "posting %d under token %d stands after posting %d under "+
				"token %d: a write passed the fence although a newer holder had written, or one of "+
				"the two was made under the lease of another resource.", e.LedgerID, e.Token,
				highest.LedgerID, highest.Token)
			continue
		}
		highest = e
	}
}

func (h *TokenHistory) markRefused() {
	for _, u := range h.Tokens {
		if u.Refused == 0 {
			continue
		}
		var last TokenEntry
		n := 0
		for _, e := range h.Entries {
			if e.Event == TokenRefused && e.Token == u.Token && e.Owner == u.Owner &&
				e.Outcome != grant.Mismatch.String() {
				last, n = e, n+1
			}
		}
		if n > 0 {
			h.mark(MarkFencedOff, u.Token, "late writes of %s refused: %d, the last at %s. The "+
				"fence did its work, nothing was paid twice.", u.Owner, n, clock(last.At))
		}
	}
}

// markGaps looks for tokens that nobody ever saw, from the oldest token whose issue Redis still
// remembers. Below it a token that was never used leaves no trace anyway.
func (h *TokenHistory) markGaps(issued []TokenEntry) {
	if len(issued) == 0 {
		return
	}
	floor := issued[0].Token
	for _, e := range issued {
		floor = min(floor, e.Token)
	}
	previous := floor
	for _, u := range h.Tokens {
		if u.Token > previous+1 {
			missing := fmt.Sprintf("token %d was", previous+1)
			if u.Token > previous+2 {
				missing = fmt.Sprintf("tokens %d to %d were", previous+1, u.Token-1)
			}
			h.mark(MarkGap, u.Token, "%s never seen before token %d. Gaps are harmless: a floor was "+
				"presented that lay above the counter, or an entry of the history was lost.",
				missing, u.Token)
		}
		previous = max(previous, u.Token)
	}
}

// lost says what Redis no longer remembers of what PostgreSQL knows.
func (h *TokenHistory) lost(issued []TokenEntry, c counterSeen) string {
	remembered := make(map[int64]bool)
	for _, e := range issued {
		remembered[e.Token] = true
	}
	var lowest, highest, n int64
	for _, u := range h.Tokens {
		if remembered[u.Token] {
			continue
		}
		if n == 0 {
			lowest = u.Token
		}
		if u.Token != highest {
			n++
		}
		highest = u.Token
	}
	var said []string
	if n > 0 {
		said = append(said, fmt.Sprintf("Redis has no record of the issue of %d tokens that are "+
			"known otherwise, from %d to %d: its history is capped, expired, or was lost.", n,
			lowest, highest))
	}
	if h.Fence != nil && !c.there && c.damaged == "" {
		said = append(said, fmt.Sprintf("Redis has no token counter: it was idle for long or was "+
			"lost. The next token will be %d.", h.Fence.Token+1))
	}
	return strings.Join(said, " ")
}

// tellTokens copies the kinds of the marks to the tokens they are about.
func (h *TokenHistory) tellTokens() {
	for i := range h.Tokens {
		u := &h.Tokens[i]
		for _, m := range h.Marks {
			if m.Token == u.Token && !slices.Contains(u.Marks, m.Kind) {
				u.Marks = append(u.Marks, m.Kind)
			}
		}
	}
}

// Held is how long the token was held, as far as that is known; 0 otherwise.
func (u TokenUse) Held() time.Duration {
	if u.Issued.IsZero() || u.Ended.IsZero() {
		return 0
	}
	return u.Ended.Sub(u.Issued)
}
