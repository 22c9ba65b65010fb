package batchfile

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hash128 names a key. It is the first half of SHA-256: among a million keys the chance that two
// share it is about 10^12 / 2^129, or 1 in 10^27, and to make two keys that do takes 2^64 tries.
// So two rows with one hash have one key, and no seed is needed against hostile files.
type hash128 [2]uint64

func hashKey(key []byte) hash128 {
	sum := sha256.Sum256(key)
	return hash128{binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])}
}

// hash64 serves counts and warnings only: a shared value there costs a wrong remark, never money.
func hash64(text []byte) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range text {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h ^= h >> 33 // spread the low bits, by which the tables are indexed
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// appendFolded appends a text without its letter case and Unicode form: two ids whose folded
// texts are equal look alike.
func appendFolded(dst, text []byte) []byte {
	ascii := true
	for _, c := range text {
		ascii = ascii && c < utf8.RuneSelf
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	if ascii {
		return dst
	}
	dst = dst[:len(dst)-len(text)]
	for _, c := range string(norm.NFKC.Bytes(text)) {
		smallest := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			smallest = min(smallest, f)
		}
		if smallest >= 'A' && smallest <= 'Z' {
			smallest |= 0x20 // as ASCII texts are folded above
		}
		dst = utf8.AppendRune(dst, smallest)
	}
	return dst
}

// index is an open-addressing table of entry numbers, at most three quarters full. Entries live
// elsewhere, so growing moves four bytes per entry.
type index struct {
	slots []uint32 // entry number + 1; 0 is free
	used  int
}

// first returns the slot where a probe for the hash starts.
func (x *index) first(hash uint64) int { return int(hash & uint64(len(x.slots)-1)) }

func (x *index) after(slot int) int { return (slot + 1) & (len(x.slots) - 1) }

// put stores an entry number in a free slot.
func (x *index) put(hash uint64, entry uint32) {
	slot := x.first(hash)
	for x.slots[slot] != 0 {
		slot = x.after(slot)
	}
	x.slots[slot] = entry + 1
	x.used++
}

// full reports whether the table must grow before another put, and makes it twice as large and
// empty if so: the caller then puts its entries again.
func (x *index) full() bool {
	if x.used*4 < len(x.slots)*3 {
		return false
	}
	x.slots = make([]uint32, max(1<<bits.Len(uint(len(x.slots))), 1024))
	x.used = 0
	return true
}

const chunkLen = 1 << 13

// chunks is a growing array that never copies what it holds.
type chunks[T any] struct {
	parts [][]T
	n     int
}

func (c *chunks[T]) add(v T) uint32 {
	if c.n == len(c.parts)*chunkLen {
		c.parts = append(c.parts, make([]T, 0, chunkLen))
	}
	last := len(c.parts) - 1
	c.parts[last] = append(c.parts[last], v)
	c.n++
	return uint32(c.n - 1)
}

func (c *chunks[T]) at(i uint32) *T { return &c.parts[i/chunkLen][i%chunkLen] }

// keyRow is a valid row as its key is remembered: 48 bytes.
type keyRow struct {
	key    hash128 // player and event
	folded uint64  // the key without letter case
	amount int64
	line   uint32
	next   uint32 // another row of the same key + 1; 0 ends
	player uint32 // its entry in the playerTable
	kind   uint16
	first  bool // the row is the first of its key
}

// keyTable remembers every valid row by its key.
type keyTable struct {
	rows  chunks[keyRow]
	index index // by folded, first rows only, so that look-alikes stand in one probe
}

// add remembers a row. alike is the first row of a key that differs only in letter case, if any;
// again is true when an earlier row has this very key.
func (t *keyTable) add(row keyRow) (alike *keyRow, again bool) {
	if t.index.full() {
		for i := range uint32(t.rows.n) {
			if r := t.rows.at(i); r.first {
				t.index.put(r.folded, i)
			}
		}
	}
	slot := t.index.first(row.folded)
	for ; t.index.slots[slot] != 0; slot = t.index.after(slot) {
		head := t.rows.at(t.index.slots[slot] - 1)
		if head.key == row.key {
			row.next = head.next
			head.next = t.rows.add(row) + 1
			return nil, true
		}
		if head.folded == row.folded && alike == nil {
			alike = head
		}
	}
	row.first = true
	t.index.put(row.folded, t.rows.add(row))
	return alike, false
}

// player is one player of the file.
type player struct {
	exact  uint64
	folded uint64
	line   uint32 // where it first stands
	hits   uint32 // rows that will be granted
}

// playerTable remembers every player.
type playerTable struct {
	players chunks[player]
	index   index // by folded
}

// find returns the player's entry, added if new. alike is another player that differs only in
// letter case, told once, when the player is new.
func (t *playerTable) find(
	exact, folded uint64, line uint32,
) (entry uint32, alike *player) {
	if t.index.full() {
		for i := range uint32(t.players.n) {
			t.index.put(t.players.at(i).folded, i)
		}
	}
	slot := t.index.first(folded)
	for ; t.index.slots[slot] != 0; slot = t.index.after(slot) {
		entry = t.index.slots[slot] - 1
		q := t.players.at(entry)
		if q.exact == exact && q.folded == folded {
			return entry, nil
		}
		if q.folded == folded && alike == nil {
			alike = q
		}
	}
	entry = t.players.add(player{exact: exact, folded: folded, line: line})
	t.index.put(folded, entry)
	return entry, alike
}
