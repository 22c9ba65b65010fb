package granttest

import (
	"bufio"
	"io"
)

// RESPReplies lets the fuzz test cut a stream.
func RESPReplies(in io.Reader) func() ([]byte, error) {
	r := &respReader{in: bufio.NewReader(in)}
	return r.reply
}
