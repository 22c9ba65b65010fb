package workbook

import (
	"archive/zip"
	"compress/flate"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Error says why a workbook is refused. Nothing is guessed about what it might have meant.
type Error struct {
	Row     int // the row of the sheet, from 1; 0 when no single row is to blame
	Problem string
	WayOut  string
}

// Error reads "row 3: the sheet is damaged; save it again".
func (e *Error) Error() string {
	if e.Row > 0 {
		return fmt.Sprintf("row %d: %s; %s", e.Row, e.Problem, e.WayOut)
	}
	return e.Problem + "; " + e.WayOut
}

const (
	partBuffer = 64 << 10
	// tokenMax bounds one tag or one run of text, which the XML decoder keeps in memory.
	tokenMax = 1 << 20
	depthMax = 32 // elements inside each other; a sheet has eight
)

const saveAgain = "save it again, or save the sheet as CSV UTF-8"

// part reads one XML part of a workbook, token by token.
type part struct {
	name  string
	src   *source
	dec   *xml.Decoder
	path  []string // the open elements, without prefixes
	ended bool
}

// openPart opens a part of which at most max bytes are read. stop is asked now and then; what it
// answers ends the reading.
func openPart(file *zip.File, max int64, stop func() error) (*part, error) {
	if file.Flags&1 != 0 {
		return nil, &Error{
			Problem: "it is encrypted", WayOut: "save it without a password",
		}
	}
	unpacked, err := file.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, &Error{
			Problem: "its part " + file.Name + " is packed in an unknown way", WayOut: saveAgain,
		}
	}
	if err != nil {
		return nil, damaged(file.Name, err)
	}
	src := &source{from: unpacked, left: max, stop: stop, buf: make([]byte, partBuffer)}
	src.tooLarge = &Error{
		Problem: fmt.Sprintf("its part %s unpacks to more than %d MiB", file.Name, max>>20),
		WayOut:  "delete sheets and columns that are not needed, or save the sheet as CSV UTF-8",
	}
	src.tooLong = &Error{
		Problem: fmt.Sprintf("its part %s has a text or tag of more than %d bytes", file.Name,
			tokenMax),
		WayOut: saveAgain,
	}
	p := &part{name: file.Name, src: src, dec: xml.NewDecoder(src)}
	p.dec.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, p.damage(fmt.Errorf("it is written in %s", label))
	}
	return p, nil
}

// next returns the next start tag, end tag or text. At the end of the part, which is then known to
// be whole, it answers io.EOF. Bytes in the token are good until the next call.
func (p *part) next() (xml.Token, error) {
	for {
		p.src.token = 0
		token, err := p.dec.RawToken()
		if errors.Is(err, io.EOF) && len(p.path) == 0 && p.ended {
			return nil, io.EOF
		}
		if err != nil {
			return nil, p.damage(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if len(p.path) >= depthMax {
				return nil, p.damage(fmt.Errorf("more than %d elements inside each other", depthMax))
			}
			if len(p.path) == 0 && p.ended {
				return nil, p.damage(errors.New("it has two root elements"))
			}
			p.path = append(p.path, t.Name.Local)
			return t, nil
		case xml.EndElement:
			last := len(p.path) - 1
			if last < 0 || p.path[last] != t.Name.Local {
				return nil, p.damage(fmt.Errorf("unexpected </%s>", t.Name.Local))
			}
			p.path, p.ended = p.path[:last], last == 0
			return t, nil
		case xml.CharData:
			return t, nil
		case xml.Directive:
			return nil, p.damage(errors.New("it has a document type"))
		}
	}
}

// at reports whether the open elements are exactly these.
func (p *part) at(path ...string) bool {
	if len(path) != len(p.path) {
		return false
	}
	for i := range path {
		if path[i] != p.path[i] {
			return false
		}
	}
	return true
}

// walk calls begin for each start tag.
func (p *part) walk(begin func(xml.StartElement) error) error {
	for {
		token, err := p.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if tag, ok := token.(xml.StartElement); ok {
			if err := begin(tag); err != nil {
				return err
			}
		}
	}
}

func (p *part) close() { _ = p.src.from.Close() } // only a pooled decompressor

func (p *part) damage(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return damaged(p.name, err)
}

// damaged tells a part that is wrong from a system that cannot read or a caller who stopped.
func damaged(name string, err error) error {
	var own *Error
	var syntax *xml.SyntaxError
	var packed flate.CorruptInputError
	var halt stopped
	var system *fs.PathError
	var detail string
	switch {
	case errors.As(err, &own):
		return err
	case errors.As(err, &syntax):
		detail = fmt.Sprintf(": XML line %d: %s", syntax.Line, syntax.Msg)
	case errors.As(err, &packed), errors.Is(err, zip.ErrChecksum), errors.Is(err, zip.ErrFormat),
		errors.Is(err, io.ErrUnexpectedEOF):
	case errors.As(err, &halt):
		return halt.err
	case errors.As(err, &system):
		return err
	default:
		detail = ": " + err.Error()
	}
	return &Error{
		Problem: "its part " + name + " is damaged" + clip(detail), WayOut: saveAgain,
	}
}

// clip bounds what is quoted of a file in a message.
func clip(text string) string {
	const max = 120
	if len(text) <= max {
		return text
	}
	return strings.ToValidUTF8(text[:max], "") + "..."
}

// attr returns an attribute without a prefix by its name; empty without it.
func attr(tag xml.StartElement, name string) string {
	for _, a := range tag.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// relationID returns the attribute r:id, whatever its prefix is.
func relationID(tag xml.StartElement) string {
	for _, a := range tag.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}

// truth reads an xsd:boolean.
func truth(text string) bool { return text == "1" || text == "true" || text == "on" }
