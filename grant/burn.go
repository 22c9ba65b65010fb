package grant

import "strings"

// tombstone begins the owner of a burned fence. No acquisition has such an owner.
const tombstone = "burned:"

// BurnOwner returns the tombstone owner under which a token is burned. id tells one burn from
// another.
func BurnOwner(id string) string { return tombstone + id }

// Burned reports whether a fence's owner is a tombstone: an operator has ended the right of the
// token's holder to write.
func Burned(owner string) bool { return strings.HasPrefix(owner, tombstone) }
