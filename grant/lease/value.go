package lease

import (
	"fmt"
	"strconv"
	"strings"
)

// TokenMax is the highest token: the last whole number that Lua counts exactly.
const TokenMax = 1<<53 - 1

// FormatValue returns what a lock holds: "TOKEN:OWNER".
func FormatValue(token int64, owner string) string {
	return strconv.FormatInt(token, 10) + ":" + owner
}

// ParseValue is the inverse of FormatValue. It fails for text that FormatValue does not produce
// for a token from 1 to TokenMax and an owner that is not empty: such a lock is not ours.
func ParseValue(value string) (token int64, owner string, err error) {
	digits, owner, found := strings.Cut(value, ":")
	if !found || owner == "" {
		return 0, "", fmt.Errorf("lease: %.80q is not TOKEN:OWNER", value)
	}
	token, ok := parseToken(digits)
	if !ok {
		return 0, "", fmt.Errorf("lease: %.80q does not begin with a token", value)
	}
	return token, owner, nil
}

// parseToken reads a token in its one spelling: digits, no sign, no leading zero.
func parseToken(digits string) (int64, bool) {
	if digits == "" || len(digits) > 16 || digits[0] < '1' {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		d := digits[i]
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, n <= TokenMax
}
