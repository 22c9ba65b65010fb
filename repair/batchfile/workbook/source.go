package workbook

import "io"

// stopped is the caller's own error on its way through the XML decoder.
type stopped struct{ err error }

func (s stopped) Error() string { return "stopped: " + s.err.Error() }

// source gives the bytes of a part one by one, as the XML decoder takes them, and counts them: a
// text that never ends would otherwise be gathered whole.
type source struct {
	from  io.ReadCloser
	left  int64 // bytes that may still be unpacked
	token int   // bytes given since the last token
	taken int64 // bytes given in all
	stop  func() error
	buf   []byte
	at    int
	n     int
	ended error

	tooLarge, tooLong error
}

// ReadByte is what makes the decoder read without a buffer of its own.
func (s *source) ReadByte() (byte, error) {
	if s.at == s.n {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	if s.token++; s.token > tokenMax {
		return 0, s.tooLong
	}
	c := s.buf[s.at]
	s.at++
	return c, nil
}

// Read serves io.Reader, which xml.NewDecoder asks for; the decoder calls ReadByte.
func (s *source) Read(to []byte) (int, error) {
	for i := range to {
		c, err := s.ReadByte()
		if err != nil {
			return i, err
		}
		to[i] = c
	}
	return len(to), nil
}

func (s *source) fill() error {
	if err := s.stop(); err != nil {
		return stopped{err}
	}
	for s.at, s.n = 0, 0; s.n == 0; {
		if s.ended != nil {
			return s.ended
		}
		s.n, s.ended = s.from.Read(s.buf)
	}
	s.taken += int64(s.n)
	if s.left -= int64(s.n); s.left < 0 {
		s.n = 0
		s.ended = s.tooLarge
		return s.tooLarge
	}
	return nil
}
