package grant

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Validate returns what is wrong with a request, or nil. It looks at the request alone: no
// server is asked. Ids are taken as they are; trimming is the reader's business.
func Validate(r Request, limits Limits) *Rejection {
	max := limits.AmountMax
	if max <= 0 {
		max = AmountMaxDefault
	}
	texts := []struct {
		field, value, wayOut string
		max                  int
	}{
		{"player_id", r.PlayerID, "name the player", textMax},
		{"reward_event_id", r.EventID, "name what the reward is for", textMax},
		{"kind", r.Kind, "name what is given, such as gems", textMax},
		{"actor", r.Actor, "say who grants", proseMax},
		{"reason", r.Reason, "say why", proseMax},
	}
	for _, t := range texts {
		if problem := textProblem(t.value, t.max); problem != "" {
			return &Rejection{t.field, t.value, problem, t.wayOut}
		}
	}
	if strings.HasPrefix(r.EventID, ReversePrefix) {
		return &Rejection{
			"reward_event_id", r.EventID, "begins with " + ReversePrefix +
				", which is kept for what takes postings back",
			"name what the reward is for; to take a posting back: rewardctl ledger reverse ID",
		}
	}
	if r.Resource != "" {
		if problem := textProblem(r.Resource, 2*textMax); problem != "" {
			return &Rejection{"resource", r.Resource, problem, "leave it out"}
		}
	}
	amount := strconv.FormatInt(r.Amount, 10)
	if r.Amount <= 0 {
		return &Rejection{"amount", amount, "is not above zero", "give a whole number from 1"}
	}
	if r.Amount > max {
		return &Rejection{
			"amount", amount, fmt.Sprintf("is over the limit of %d per grant", max),
			"grant less, or have the limit raised",
		}
	}
	return heldProblem(r)
}

func heldProblem(r Request) *Rejection {
	if r.Held == nil {
		return nil
	}
	if r.Held.Token <= 0 {
		token := strconv.FormatInt(r.Held.Token, 10)
		return &Rejection{"token", token, "is not above zero", "give the token of your lease"}
	}
	if problem := textProblem(r.Held.Owner, 2*textMax); problem != "" {
		return &Rejection{"owner", r.Held.Owner, problem, "give the owner of your lease"}
	}
	return nil
}

// textProblem says what makes a text unfit as an id: two ids must never look alike.
func textProblem(s string, max int) string {
	if s == "" {
		return "is empty"
	}
	if len(s) > max {
		return fmt.Sprintf("is longer than %d bytes", max)
	}
	if !utf8.ValidString(s) {
		return "is not valid UTF-8"
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return "begins or ends with a blank"
	}
	for _, c := range s {
		if c >= ' ' && c < unicode.MaxASCII {
			continue // the common case, without a look into the tables
		}
		if unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("contains the invisible character U+%04X", c)
		}
	}
	return ""
}
