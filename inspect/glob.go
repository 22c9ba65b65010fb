package inspect

import (
	"errors"
	"strings"
	"unicode/utf8"
)

var errPattern = errors.New("a set [...] is not closed, or the pattern ends with \\")

// pattern is a glob cut into pieces: what each piece matches, one character or any text.
type pattern []piece

type piece struct {
	kind    pieceKind
	literal rune
	set     []span
	negated bool
}

type pieceKind uint8

const (
	pieceLiteral pieceKind = iota
	pieceAny               // one character
	pieceStar              // any text
	pieceSet               // one of a set
)

type span struct{ from, to rune }

// parsePattern reads a glob: * any text, ? one character, [a-z] or [^a-z] one of a set or not,
// \ takes the next character literally.
func parsePattern(glob string) (pattern, error) {
	var p pattern
	for len(glob) > 0 {
		c, size := utf8.DecodeRuneInString(glob)
		glob = glob[size:]
		switch c {
		case '*':
			if len(p) == 0 || p[len(p)-1].kind != pieceStar {
				p = append(p, piece{kind: pieceStar})
			}
		case '?':
			p = append(p, piece{kind: pieceAny})
		case '[':
			set, rest, err := parseSet(glob)
			if err != nil {
				return nil, err
			}
			p = append(p, set)
			glob = rest
		case '\\':
			if glob == "" {
				return nil, errPattern
			}
			c, size = utf8.DecodeRuneInString(glob)
			glob = glob[size:]
			p = append(p, piece{literal: c})
		default:
			p = append(p, piece{literal: c})
		}
	}
	return p, nil
}

func parseSet(glob string) (piece, string, error) {
	set := piece{kind: pieceSet}
	if strings.HasPrefix(glob, "^") {
		set.negated = true
		glob = glob[1:]
	}
	for first := true; ; first = false {
		if glob == "" {
			return set, "", errPattern
		}
		if glob[0] == ']' && !first {
			return set, glob[1:], nil
		}
		from, rest, err := setRune(glob)
		if err != nil {
			return set, "", err
		}
		to := from
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			if to, rest, err = setRune(rest[1:]); err != nil {
				return set, "", err
			}
		}
		set.set = append(set.set, span{min(from, to), max(from, to)})
		glob = rest
	}
}

func setRune(glob string) (rune, string, error) {
	if glob[0] == '\\' {
		if glob = glob[1:]; glob == "" {
			return 0, "", errPattern
		}
	}
	c, size := utf8.DecodeRuneInString(glob)
	return c, glob[size:], nil
}

// matches reports whether the whole of s fits. It takes time in proportion to the lengths
// multiplied, whatever the pattern: on a mismatch only the last star is tried again.
func (p pattern) matches(s string) bool {
	at, star, resume := 0, -1, ""
	for {
		if at < len(p) && p[at].kind == pieceStar {
			star, resume = at, s
			at++
			continue
		}
		if at == len(p) && s == "" {
			return true
		}
		if at < len(p) && s != "" {
			c, size := utf8.DecodeRuneInString(s)
			if p[at].matches(c) {
				at++
				s = s[size:]
				continue
			}
		}
		if star < 0 || resume == "" {
			return false
		}
		_, size := utf8.DecodeRuneInString(resume)
		resume = resume[size:]
		at, s = star+1, resume
	}
}

func (p piece) matches(c rune) bool {
	switch p.kind {
	case pieceLiteral:
		return p.literal == c
	case pieceSet:
		for _, s := range p.set {
			if c >= s.from && c <= s.to {
				return !p.negated
			}
		}
		return p.negated
	case pieceAny, pieceStar:
		return true
	}
	panic("inspect: unknown piece of a pattern")
}

// MatchGlob reports whether the whole of s fits a pattern as LeaseFilter.Resource takes it. The
// error says what is wrong with the pattern.
func MatchGlob(glob, s string) (bool, error) {
	p, err := parsePattern(glob)
	if err != nil {
		return false, err
	}
	return p.matches(s), nil
}
