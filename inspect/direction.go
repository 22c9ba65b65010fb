package inspect

import "strings"

// direction is the way in time in which a page goes on from its place.
type direction bool

const (
	toOlder direction = false
	toNewer direction = true
)

// fill completes a statement of sql/page. Both ways are one statement: order and comparisons turn
// round together, so that each way walks the same indexes from its own end.
func (d direction) fill(statement string) string {
	words := strings.NewReplacer("{beyond}", "<", "{from}", "<=", "{end}", "'infinity'",
		"{order}", "desc")
	if d == toNewer {
		words = strings.NewReplacer("{beyond}", ">", "{from}", ">=", "{end}", "'-infinity'",
			"{order}", "asc")
	}
	return words.Replace(statement)
}
