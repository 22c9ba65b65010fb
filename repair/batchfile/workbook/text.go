package workbook

import (
	"encoding/xml"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	sharedPartMax = 512 << 20 // XML of the shared texts
	sharedTextMax = 256 << 20 // the texts themselves, kept in memory
	sharedMax     = 8 << 20   // how many there may be: a sheet has one million rows
	sharedFirst   = 16 << 20  // memory taken at once, if the part is that large
)

// texts is the table of shared texts: one array and where each of them ends in it.
type texts struct {
	all  []byte
	ends []uint32
}

// get returns one text; false when there is none of that number.
func (t *texts) get(i uint64) ([]byte, bool) {
	if t == nil || i >= uint64(len(t.ends)) {
		return nil, false
	}
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.all[from:t.ends[i]], true
}

// readTexts reads the shared texts.
func readTexts(p *part, size uint64) (*texts, error) {
	t := &texts{all: make([]byte, 0, min(size, sharedFirst))}
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.CharData:
			if p.at("sst", "si", "t") || p.at("sst", "si", "r", "t") {
				t.all = append(t.all, token...)
			}
		case xml.EndElement:
			if p.at("sst") && token.Name.Local == "si" {
				t.end()
			}
		}
		if len(t.all) > sharedTextMax || len(t.ends) > sharedMax {
			return nil, &Error{
				Problem: "it has too many texts to be kept in memory",
				WayOut:  "save the sheet as CSV UTF-8",
			}
		}
	}
}

func (t *texts) end() {
	from := uint32(0)
	if n := len(t.ends); n > 0 {
		from = t.ends[n-1]
	}
	t.all = t.all[:int(from)+len(unescape(t.all[from:]))]
	t.ends = append(t.ends, uint32(len(t.all)))
}

// unescape replaces, in place, the form _x000D_ in which workbooks write characters that XML
// cannot hold, and the underscore of a text that looks like that form.
func unescape(text []byte) []byte {
	out := text[:0]
	for i := 0; i < len(text); {
		unit, ok := escape(text[i:])
		if !ok {
			out = append(out, text[i])
			i++
			continue
		}
		i += escapeLen
		if utf16.IsSurrogate(rune(unit)) {
			low, ok := escape(text[i:])
			pair := utf16.DecodeRune(rune(unit), rune(low))
			if ok && pair != utf8.RuneError {
				out = utf8.AppendRune(out, pair)
				i += escapeLen
				continue
			}
		}
		out = utf8.AppendRune(out, rune(unit)) // a lone half becomes the mark of damaged text
	}
	return out
}

const escapeLen = len("_x0000_")

func escape(s []byte) (unit uint16, ok bool) {
	if len(s) < escapeLen || s[0] != '_' || s[1] != 'x' || s[escapeLen-1] != '_' {
		return 0, false
	}
	for _, c := range s[2 : escapeLen-1] {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | uint16(c-'0')
		case c >= 'A' && c <= 'F':
			unit = unit<<4 | uint16(c-'A'+10)
		case c >= 'a' && c <= 'f':
			unit = unit<<4 | uint16(c-'a'+10)
		default:
			return 0, false
		}
	}
	return unit, true
}
