package workbook

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

const (
	directoryMax = 4 << 20  // the archive's list of parts, some 100 bytes each
	listPartMax  = 16 << 20 // parts that list others
	sheetsMax    = 1000
	relationsMax = 10_000
	peekMax      = 64 << 20 // what is read in all to see which sheets are empty
)

var errTooMany = errors.New("too many entries")

// Book is an open workbook. It is not for concurrent use.
type Book struct {
	parts  map[string]*zip.File // by lower-case name
	sheets []Sheet
	styles []style
	texts  *texts
	shared *zip.File // nil when the workbook has no shared texts
}

// Sheet is one sheet of a workbook.
type Sheet struct {
	Name   string
	Hidden bool

	book *Book
	file *zip.File
}

// relation is a line of a part that says where other parts are.
type relation struct{ id, kind, target string }

// Is reports whether a file begins as a workbook does: as a zip archive.
func Is(head []byte) bool {
	return strings.HasPrefix(string(head), "PK\x03\x04") || strings.HasPrefix(string(head),
		"PK\x05\x06")
}

// Open opens a workbook of size bytes and reads its lists of sheets, styles and shared texts. The
// error is an *Error when it is refused, the context's, or the system's.
func Open(ctx context.Context, from io.ReaderAt, size int64) (*Book, error) {
	directory := &meter{from: from, left: directoryMax}
	archive, err := zip.NewReader(directory, size)
	switch {
	case directory.over:
		return nil, &Error{
			Problem: "it is an archive with too many parts", WayOut: saveAgain,
		}
	case errors.Is(err, zip.ErrFormat), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return nil, &Error{
			Problem: "it is a workbook or archive that is damaged or cut off",
			WayOut:  "copy or save it again",
		}
	case err != nil:
		return nil, damaged("list", err)
	}
	directory.left = -1 // parts have limits of their own
	b := &Book{parts: make(map[string]*zip.File, len(archive.File))}
	for _, file := range archive.File {
		name := strings.ToLower(strings.TrimPrefix(file.Name, "/"))
		if b.parts[name] != nil {
			return nil, &Error{
				Problem: "its part " + clip(file.Name) + " is there twice", WayOut: saveAgain,
			}
		}
		b.parts[name] = file
	}
	if err := b.read(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// read finds the parts that matter, by the relations between them.
func (b *Book) read(ctx context.Context) error {
	root, err := b.relations(ctx, "_rels/.rels")
	if err != nil {
		return err
	}
	var main string
	for _, r := range root {
		if r.kind == "officeDocument" {
			main = strings.TrimPrefix(path.Clean(r.target), "/")
		}
	}
	if file := b.parts[strings.ToLower(main)]; main == "" || file == nil {
		return b.other()
	} else if strings.HasSuffix(strings.ToLower(main), ".bin") {
		return &Error{Problem: "it is a binary workbook (.xlsb)", WayOut: saveAs}
	}
	folder, base := path.Split(main)
	relations, err := b.relations(ctx, folder+"_rels/"+base+".rels")
	if err != nil {
		return err
	}
	byID := make(map[string]relation, len(relations))
	for _, r := range relations {
		if !strings.HasPrefix(r.target, "/") {
			r.target = path.Join("/", folder, r.target)
		}
		byID[r.id] = r
		file := b.parts[strings.ToLower(strings.TrimPrefix(r.target, "/"))]
		switch {
		case r.kind == "sharedStrings" && file != nil:
			b.shared = file
		case r.kind == "styles" && file != nil:
			if err := b.readStyles(ctx, file); err != nil {
				return err
			}
		}
	}
	return b.list(ctx, main, byID)
}

const saveAs = "save it as .xlsx, or save the sheet as CSV UTF-8"

// other says what an archive is that is not a workbook.
func (b *Book) other() error {
	if b.parts["mimetype"] != nil {
		return &Error{Problem: "it is an OpenDocument file (.ods)", WayOut: saveAs}
	}
	return &Error{Problem: "it is an archive, but no workbook", WayOut: "unpack it first"}
}

func (b *Book) readStyles(ctx context.Context, file *zip.File) error {
	p, err := openPart(file, stylesPartMax, ctx.Err)
	if err != nil {
		return err
	}
	defer p.close()
	b.styles, err = readStyles(p)
	return err
}

// relations reads a list of parts; none when it is not there.
func (b *Book) relations(ctx context.Context, name string) ([]relation, error) {
	file := b.parts[strings.ToLower(name)]
	if file == nil {
		return nil, nil
	}
	p, err := openPart(file, listPartMax, ctx.Err)
	if err != nil {
		return nil, err
	}
	defer p.close()
	var list []relation
	err = p.walk(func(tag xml.StartElement) error {
		if !p.at("Relationships", "Relationship") || attr(tag, "TargetMode") == "External" {
			return nil
		}
		kind := attr(tag, "Type")
		list = append(list, relation{
			id: attr(tag, "Id"), kind: kind[strings.LastIndexByte(kind, '/')+1:],
			target: attr(tag, "Target"),
		})
		if len(list) > relationsMax {
			return p.damage(errTooMany)
		}
		return nil
	})
	return list, err
}

// list reads the list of sheets. Charts and macro sheets have no rows to grant and are left out.
func (b *Book) list(ctx context.Context, main string, byID map[string]relation) error {
	p, err := openPart(b.parts[strings.ToLower(main)], listPartMax, ctx.Err)
	if err != nil {
		return err
	}
	defer p.close()
	return p.walk(func(tag xml.StartElement) error {
		if !p.at("workbook", "sheets", "sheet") {
			return nil
		}
		r, name := byID[relationID(tag)], attr(tag, "name")
		file := b.parts[strings.ToLower(strings.TrimPrefix(r.target, "/"))]
		if r.kind == "chartsheet" || r.kind == "dialogsheet" || r.kind == "xlMacrosheet" {
			return nil
		}
		if r.kind != "worksheet" || file == nil {
			return &Error{
				Problem: fmt.Sprintf("the sheet %q is listed, but not there", clip(name)),
				WayOut:  saveAgain,
			}
		}
		if len(b.sheets) >= sheetsMax {
			return p.damage(errTooMany)
		}
		b.sheets = append(b.sheets, Sheet{
			Name: name, Hidden: strings.Contains(strings.ToLower(attr(tag, "state")), "hidden"),
			book: b, file: file,
		})
		return nil
	})
}

// Shared reads the table of shared texts, once. Rows needs it.
func (b *Book) Shared(ctx context.Context) error {
	if b.shared == nil || b.texts != nil {
		return nil
	}
	p, err := openPart(b.shared, sharedPartMax, ctx.Err)
	if err != nil {
		return err
	}
	defer p.close()
	b.texts, err = readTexts(p, b.shared.UncompressedSize64)
	return err
}

// meter bounds what is read while the archive's list of parts is, which zip.NewReader keeps whole.
type meter struct {
	from io.ReaderAt
	left int64 // -1: no bound
	over bool
}

// ReadAt reads as the file does, until the bound is reached.
func (m *meter) ReadAt(to []byte, at int64) (int, error) {
	if m.left >= 0 {
		if m.left -= int64(len(to)); m.left < 0 {
			m.left, m.over = 0, true
			return 0, errTooMany
		}
	}
	return m.from.ReadAt(to, at)
}
