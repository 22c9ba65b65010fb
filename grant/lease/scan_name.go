package lease

import (
	"strconv"
	"strings"
)

// place is what a key's name says about it.
type place struct {
	ours     bool
	want     string // the type that we keep under such a key; empty for a name of nobody's
	lock     bool   // a lock key of ours
	resource string // of a lock key of ours; empty when the name is none that we write
	lockLike bool
}

// placeOf reads a name.
func (s *Store) placeOf(key string) place {
	rest, under := strings.CutPrefix(key, s.opts.Prefix)
	if !under {
		return place{lockLike: lockLike(key)}
	}
	switch {
	case strings.HasPrefix(rest, "lock:{"):
		resource, _ := s.Resource(key)
		return place{ours: true, want: "string", lock: true, resource: resource}
	case strings.HasPrefix(rest, "fence:{"), strings.HasPrefix(rest, "heartbeat:"):
		return place{ours: true, want: "string"}
	case strings.HasPrefix(rest, "history:{"):
		return place{ours: true, want: "stream"}
	}
	if n, ok := strings.CutPrefix(rest, "index:"); ok {
		if shard, err := strconv.Atoi(n); err == nil && shard >= 0 && shard < s.opts.Shards {
			return place{ours: true, want: "zset"}
		}
	}
	return place{lockLike: lockLike(key)}
}

// lockLike reports whether one of the words of a name means a lock. Words are runs of ASCII
// letters; a capital after a small letter begins a new one.
func lockLike(name string) bool {
	start := -1 // of the word we are in
	for i := range len(name) + 1 {
		letter := i < len(name) && isLetter(name[i])
		ends := start >= 0 && (!letter || isUpper(name[i]) && !isUpper(name[i-1]))
		if ends && lockWord(name[start:i]) {
			return true
		}
		switch {
		case !letter:
			start = -1
		case start < 0 || ends:
			start = i
		}
	}
	return false
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
func isUpper(b byte) bool  { return b >= 'A' && b <= 'Z' }

func lockWord(word string) bool {
	for _, known := range [...]string{
		"lock", "locks", "locked", "mutex", "lease", "leases", "semaphore", "redlock", "shedlock",
		"rwlock", "redisson",
	} {
		if strings.EqualFold(word, known) {
			return true
		}
	}
	return false
}

const (
	uuidLength = 36
	holdersMax = 32 // fields of a hash lock: a lock for readers has one for each
)

// holderField reports whether a field of a hash names a holder as Redisson does: UUID:THREAD, with
// ":write" behind it in a lock for readers and writers.
func holderField(field string) bool {
	if len(field) < uuidLength+2 || field[uuidLength] != ':' {
		return false
	}
	for i := range uuidLength {
		c := field[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return isNumber(strings.TrimSuffix(field[uuidLength+1:], ":write"))
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'f' }

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// modeField is the field of a lock for readers and writers that tells which of the two holds it.
const modeField = "mode"

// holderFields reports whether the fields of a hash are those of a lock.
func holderFields(fields []string) bool {
	holders := 0
	for _, f := range fields {
		switch {
		case holderField(f):
			holders++
		case f != modeField:
			return false
		}
	}
	return holders > 0
}
