package batchfile

import (
	"bytes"
	"io"

	"rewardctl/repair/batchfile/workbook"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// headLen is how much of the file the encoding is decided by.
const headLen = 512

// decode returns the file's text as UTF-8 without a byte-order mark. It refuses what a guess
// could read wrongly, naming the cause.
func decode(src *io.SectionReader) (io.Reader, error) {
	head := make([]byte, headLen)
	n, err := src.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	switch {
	case n == 0:
		return nil, &FileError{
			Problem: "it is empty", WayOut: "give a file with a header line and data rows",
		}
	case workbook.IsOld(head):
		return nil, asFileError(workbook.Old(src))
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return nil, &FileError{
			Problem: "it is compressed", WayOut: "unpack it, or pipe: gzip -dc FILE | ... -",
		}
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")),
		bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return nil, &FileError{Problem: "it is UTF-32", WayOut: "save it as CSV UTF-8"}
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return io.NewSectionReader(src, 3, src.Size()-3), nil
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		if src.Size()%2 != 0 {
			return nil, &FileError{
				Problem: "it is UTF-16 cut off in the middle of a character",
				WayOut:  "copy or save it again",
			}
		}
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
		all := io.NewSectionReader(src, 0, src.Size())
		return transform.NewReader(all, utf16.NewDecoder()), nil
	case bytes.IndexByte(head[:min(n, 2)], 0) >= 0:
		return nil, &FileError{
			Problem: "it contains NUL bytes, as UTF-16 without a byte-order mark does",
			WayOut:  "save it as CSV UTF-8",
		}
	}
	return io.NewSectionReader(src, 0, src.Size()), nil
}
