package workbook

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
)

// IsOld reports whether a file begins as the compound files of older programs do: .xls, and
// workbooks with a password.
func IsOld(head []byte) bool { return bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")) }

// Old says which compound file it is and what to do about it. The error is an *Error, or the
// system's.
func Old(from io.ReaderAt) error {
	const (
		sector      = 512
		directoryAt = 48 // where the header names the first sector of the directory
	)
	head := make([]byte, sector)
	n, err := from.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var directory [4 * sector]byte
	if n == sector {
		at := int64(binary.LittleEndian.Uint32(head[directoryAt:])) + 1
		_, err = from.ReadAt(directory[:], at*sector)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if bytes.Contains(directory[:], wide("EncryptedPackage")) {
		return &Error{
			Problem: "it is a workbook with a password", WayOut: "save it without one",
		}
	}
	return &Error{Problem: "it is an old workbook (.xls)", WayOut: saveAs}
}

func wide(text string) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}
