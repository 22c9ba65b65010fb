package table

// ValueKind says what the number of a Value counts.
type ValueKind uint8

// The kinds of values.
const (
	None     ValueKind = iota // the cell says nothing in numbers
	Number                    // a count, an amount or an id
	Duration                  // nanoseconds
	Instant                   // nanoseconds since 1970, UTC
)

// Value is what a cell says as a number: to compare rows with, and to export it whole where the
// text is short.
type Value struct {
	Kind ValueKind
	N    int64
}
