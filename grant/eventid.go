package grant

import (
	"strconv"
	"strings"
	"time"
)

// EventParts are the meaning that an event id is built from. The same parts always give the same
// id, on the command line, in a form and in a file, today and tomorrow.
type EventParts struct {
	Campaign string // what the reward is part of, such as "season-2026-week-34"; required
	PlayerID string // required
	Subject  string // what within the campaign, such as "rank-3"; may be empty
	Kind     string // required: one campaign may give several kinds to one player
	// Version counts deliberate repetitions of the same reward from 1; 0 means 1.
	Version int
}

// EventID builds a reward_event_id:
//
//	campaign:player:subject:kind:vVERSION
//
// such as "season-2026-week-34:player-42:rank-3:gems:v1". Inside a part ":" is written %3A, a
// blank %20 and "%" %25, so that different parts never give the same id. The amount is not part
// of it: the same reward with another amount must meet the first one and be refused. The error is
// a *Rejection that names the part.
func EventID(p EventParts) (string, error) {
	parts := []struct {
		field, value, wayOut string
		optional             bool
	}{
		{"campaign", p.Campaign, "name the campaign", false},
		{"player_id", p.PlayerID, "name the player", false},
		{"subject", p.Subject, "name the subject in plain visible text", true},
		{"kind", p.Kind, "name what is given, such as gems", false},
	}
	var id strings.Builder
	id.Grow(len(p.Campaign) + len(p.PlayerID) + len(p.Subject) + len(p.Kind) + len("::::v1"))
	for _, part := range parts {
		if part.value != "" || !part.optional {
			if problem := textProblem(part.value, textMax); problem != "" {
				return "", &Rejection{part.field, part.value, problem, part.wayOut}
			}
		}
		eventEscapes.WriteString(&id, part.value)
		id.WriteByte(':')
	}
	if p.Version < 0 {
		return "", &Rejection{
			"version", strconv.Itoa(p.Version), "is below 1", "count repetitions from 1",
		}
	}
	id.WriteByte('v')
	id.WriteString(strconv.Itoa(max(p.Version, 1)))
	if id.Len() > textMax {
		return "", &Rejection{
			"reward_event_id", id.String(), "is longer than " + strconv.Itoa(textMax) + " bytes",
			"shorten the campaign or the subject",
		}
	}
	return id.String(), nil
}

// CampaignPrefix is how the event ids of a campaign begin, as EventID builds them.
func CampaignPrefix(campaign string) string { return eventEscapes.Replace(campaign) + ":" }

// eventEscapes keeps the parts of an event id apart. It never changes.
var eventEscapes = strings.NewReplacer("%", "%25", ":", "%3A", " ", "%20")

// RandomForm is a form of id that is usually made anew on every try.
type RandomForm string

// The forms that LooksRandom knows.
const (
	FormUUID  RandomForm = "UUID"
	FormULID  RandomForm = "ULID"
	FormEpoch RandomForm = "point in time"
)

// LooksRandom reports whether an event id contains something that is usually random or the time
// of the try: a UUID, a ULID, or seconds, milli-, micro- or nanoseconds since 1970. A retry under
// such an id would pay again, so it deserves a warning. It is a guess, never a refusal: leave out
// what is known to be a player's id before asking.
func LooksRandom(id string) (RandomForm, bool) {
	if containsUUID(id) {
		return FormUUID, true
	}
	for rest := id; rest != ""; {
		token := rest
		if end := strings.IndexAny(rest, ":._/-@#|"); end >= 0 {
			token, rest = rest[:end], rest[end+1:]
		} else {
			rest = ""
		}
		switch {
		case isULID(token):
			return FormULID, true
		case isEpoch(token):
			return FormEpoch, true
		case len(token) == 32 && allHex(token) && mixed(token):
			return FormUUID, true
		}
	}
	return "", false
}

const uuidLen = 36

// containsUUID looks for 8-4-4-4-12 hexadecimal digits anywhere in the text.
func containsUUID(s string) bool {
	for i := 0; i+uuidLen <= len(s); i++ {
		c := s[i : i+uuidLen]
		if c[8] == '-' && c[13] == '-' && c[18] == '-' && c[23] == '-' &&
			allHex(c[:8]) && allHex(c[9:13]) && allHex(c[14:18]) && allHex(c[19:23]) &&
			allHex(c[24:]) {
			return true
		}
	}
	return false
}

func allHex(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (s[i] < '0' || s[i] > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// mixed reports whether a text holds both digits and letters.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.Trim(s, "0123456789") != ""
}

// isULID knows the 26 letters and digits of Crockford's base 32, of which the first is at most 7.
func isULID(s string) bool {
	if len(s) != 26 || s[0] > '7' || !mixed(s) {
		return false
	}
	return strings.Trim(strings.ToUpper(s), "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

// The years 2015 to 2039, in which a number is taken for a time.
const (
	epochFrom = 1_420_070_400
	epochTo   = 2_208_988_800
)

// periodSeconds is the shortest period that rewards are named after.
const periodSeconds = 5 * 60

// isEpoch knows seconds, milli-, micro- and nanoseconds since 1970. Whole periods and the digits
// YYYYMMDDHH name what the reward is for, which a retry does not change.
func isEpoch(s string) bool {
	switch len(s) {
	case 10, 13, 16, 19:
	default:
		return false
	}
	if strings.Trim(s, "0123456789") != "" {
		return false
	}
	if _, err := time.Parse("2006010215", s); err == nil {
		return false
	}
	seconds, err := strconv.ParseInt(s[:10], 10, 64)
	if err != nil || seconds < epochFrom || seconds >= epochTo {
		return false
	}
	return seconds%periodSeconds != 0 || strings.Trim(s[10:], "0") != ""
}
