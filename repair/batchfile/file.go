package batchfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"rewardctl/grant"
	"rewardctl/repair/batchfile/workbook"
)

// Options say how a file is read. Campaign is required for files without a column event; Actor
// and Reason go into every request.
type Options struct {
	Campaign string
	Version  int // counts deliberate repetitions of the same rewards from 1; 0 means 1
	Actor    string
	Reason   string
	Limits   grant.Limits

	// Sheet names the sheet of a workbook; empty is right when only one holds anything.
	Sheet string
	// Columns say which columns of the file are meant where their names do not.
	Columns []Column

	Stdin   io.Reader // what the path "-" reads
	TempDir string    // where a stream is spooled; empty means the system's folder

	// KeepMax is how many problems, and how many warnings, a Check keeps; 0 means 100. All of
	// them are counted, and all problems go to OnProblem.
	KeepMax int
	// RowsMax is how many data rows a file may have; 0 means 2,000,000.
	RowsMax int
	// OnProblem is told each problem as it is found: those of single rows in file order, then
	// those of keys that differ. Nil does nothing.
	OnProblem func(Problem)
	// OnProgress is told now and then how far Validate has come. Nil does nothing.
	OnProgress func(Progress)
}

// Progress is how far Validate has come.
type Progress struct {
	Rows     int // data rows read
	Refused  int // rows with a problem of their own
	Repeated int // rows whose player and event an earlier row has: duplicates, or rows that differ
	// Bytes of Total are read.
	Bytes, Total int64
}

const (
	keepMaxDefault = 100
	rowsMaxDefault = 2_000_000
	spoolChunk     = 256 << 10
)

// File is an open file of grants. Its methods are not for concurrent use.
type File struct {
	name  string
	piped bool
	// spooled files are private copies of what cannot be read twice.
	spooled bool
	opt     Options
	src     *os.File
	size    int64
	naming  naming
	layout  layout
	sheet   *workbook.Sheet // nil when the file is no workbook

	check   *Check // set by Validate
	verdict verdicts
	sums    chunks[uint32] // per data row: a checksum of its cells
}

// Open opens a file of grants; "-" reads Options.Stdin. What cannot be read twice (a pipe) is
// first copied to a private file that has no name. The header is read, so that a file which is
// not a file of grants is refused here, with a *FileError, and columns that cannot be meant, with
// a *grant.Rejection. A file that cannot be opened answers the system's error. Close ends it.
func Open(ctx context.Context, path string, opt Options) (*File, error) {
	if opt.KeepMax == 0 {
		opt.KeepMax = keepMaxDefault
	}
	if opt.RowsMax == 0 {
		opt.RowsMax = rowsMaxDefault
	}
	names, err := newNaming(opt.Columns)
	if err != nil {
		return nil, err
	}
	f := &File{name: path, opt: opt, naming: names}
	if err := f.openSource(ctx, path); err != nil {
		return nil, err
	}
	layout, err := f.readLayout(ctx)
	if err != nil {
		return nil, errors.Join(f.named(err), f.Close())
	}
	f.layout = layout
	if layout.event < 0 && opt.Campaign == "" {
		return nil, errors.Join(&FileError{
			Name: f.name, Problem: "it has no column event, and no campaign is given",
			WayOut: "name the campaign with --campaign, or add a column event",
		}, f.Close())
	}
	return f, nil
}

func (f *File) openSource(ctx context.Context, path string) error {
	if path == "-" {
		f.name, f.piped = "standard input", true
		if f.opt.Stdin == nil {
			return errors.New("batchfile: Options.Stdin is needed to read standard input")
		}
		return f.spool(ctx, f.opt.Stdin)
	}
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := src.Stat()
	switch {
	case err != nil:
		return errors.Join(err, src.Close())
	case info.IsDir():
		return errors.Join(&FileError{
			Name: path, Problem: "it is a folder", WayOut: "name a file",
		}, src.Close())
	case info.Mode().IsRegular():
		f.src, f.size = src, info.Size()
		return nil
	}
	defer src.Close()
	return f.spool(ctx, src)
}

// spool copies a stream to a private file. The file loses its name at once, so that nothing is
// left of it however the process ends.
func (f *File) spool(ctx context.Context, stream io.Reader) error {
	private, err := os.CreateTemp(f.opt.TempDir, "rewardctl-spool-*")
	if err != nil {
		return fmt.Errorf("batchfile: spool %s: %w", f.name, err)
	}
	if err := os.Remove(private.Name()); err != nil {
		return errors.Join(fmt.Errorf("batchfile: spool %s: %w", f.name, err), private.Close())
	}
	done := make(chan error, 1)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{private}, stream, make([]byte, spoolChunk))
		done <- err
	}()
	select {
	case <-ctx.Done():
		// The copy may be stuck in a read that nothing ends, such as a terminal's. It then ends
		// with the process; the file must stay open for it.
		return ctx.Err()
	case err = <-done:
	}
	if err == nil {
		f.size, err = private.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("batchfile: spool %s: %w", f.name, err), private.Close())
	}
	f.src, f.spooled = private, true
	return nil
}

// Close ends the file. A spooled copy is gone with it.
func (f *File) Close() error {
	if f.src == nil {
		return nil
	}
	return f.src.Close()
}

// Piped reports whether the rows came from the standard input.
func (f *File) Piped() bool { return f.piped }

// Name is what the file is called in messages: its path, or "standard input".
func (f *File) Name() string { return f.name }

// Sheet is the name of the sheet that is read, when the workbook has several; otherwise empty.
func (f *File) Sheet() string {
	if f.sheet == nil || f.sheet.Others() == 0 {
		return ""
	}
	return f.sheet.Name
}

// Same reports whether path is this very file, also under another name, so that nobody writes
// over the input. A path that does not exist is not.
func (f *File) Same(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("batchfile: look at %s: %w", filepath.Clean(path), err)
	}
	own, err := f.src.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(info, own), nil
}

// Unchanged answers ErrChanged when the file is not what was opened any more: when it became longer
// or shorter, or its name leads to another file. What changed within it is noticed row by row.
func (f *File) Unchanged() error {
	info, err := f.src.Stat()
	if err != nil {
		return err
	}
	same := info.Size() == f.size
	if same && !f.spooled {
		same, err = f.Same(f.name)
	}
	if err == nil && !same {
		err = fmt.Errorf("%s: %w", f.name, ErrChanged)
	}
	return err
}

// section returns a reader over the whole file, independent of others.
func (f *File) section() *io.SectionReader { return io.NewSectionReader(f.src, 0, f.size) }

// named puts the file's name into a FileError.
func (f *File) named(err error) error {
	var fe *FileError
	if errors.As(err, &fe) {
		fe.Name = f.name
	}
	return err
}

// readLayout finds out what the file is and where its columns are.
func (f *File) readLayout(ctx context.Context) (layout, error) {
	head := make([]byte, headLen)
	n, err := f.src.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return layout{}, err
	}
	if workbook.Is(head[:n]) {
		return f.openSheet(ctx)
	}
	if f.opt.Sheet != "" {
		return layout{}, &FileError{
			Problem: "it is no workbook, so it has no sheet " + strconv.Quote(f.opt.Sheet),
			WayOut:  "leave --sheet out",
		}
	}
	return f.naming.readLayout(f.section)
}

// records returns a scanner behind the header.
func (f *File) records(ctx context.Context) (*scanner, error) {
	if f.sheet != nil {
		return f.sheetRecords(ctx)
	}
	text, err := decode(f.section())
	if err != nil {
		return nil, f.named(err)
	}
	s := newScanner(text, f.layout.separator)
	if f.layout.json {
		s.json = &jsonLine{naming: &f.naming, keys: &f.layout.keys}
	}
	for range f.layout.skip {
		if err := s.next(); err != nil {
			return nil, f.named(err)
		}
	}
	return s, nil
}
