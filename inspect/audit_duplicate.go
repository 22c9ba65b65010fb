package inspect

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/jackc/pgx/v5"
)

// readDuplicates finds keys that occur more than once. The server streams a hash of each key, the
// hashes are compared here, and only the rows behind equal ones are looked at. That reads the
// table once, without a sort of all its keys.
func readDuplicates(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	sql, err := u.source.fill("duplicate_hash", u.scope)
	if err != nil {
		return err
	}
	pile := &hashPile{}
	defer pile.close()
	stream := &hashStream{take: func(h uint64) error {
		u.seen(1)
		return pile.add(h)
	}}
	if _, err := tx.Conn().PgConn().CopyTo(ctx, stream, sql); err != nil {
		return err
	}
	var found []draft
	err = pile.repeated(func(hashes []int64) error {
		rows, err := u.source.fill("duplicate_rows", u.scope)
		if err != nil {
			return err
		}
		args := pgx.StrictNamedArgs{"hashes": hashes}
		return drafts(ctx, tx, rows, args, func(d draft) error {
			d.events = []string{d.EventID}
			u.collect(&found, d)
			return nil
		})
	})
	if err != nil {
		return err
	}
	return u.finish(ctx, tx, found)
}

// hashStream reads rows of one bigint in PostgreSQL's binary format of COPY.
type hashStream struct {
	take   func(uint64) error
	headed bool
	rest   []byte // an incomplete row
}

const (
	copyHead = 19 // signature, flags and the length of an extension that is not there
	copyRow  = 14 // one column: count, length, eight bytes
)

var errCopyFormat = errors.New("audit: the stream of hashes is not as expected")

// Write takes a piece of the stream.
func (s *hashStream) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.rest) > 0 {
		p = append(s.rest, p...)
		s.rest = nil
	}
	if !s.headed {
		if len(p) < copyHead {
			s.rest = slices.Clone(p)
			return n, nil
		}
		s.headed, p = true, p[copyHead:]
	}
	for len(p) >= copyRow {
		if binary.BigEndian.Uint16(p) != 1 || binary.BigEndian.Uint32(p[2:]) != 8 {
			return 0, errCopyFormat
		}
		if err := s.take(binary.BigEndian.Uint64(p[6:])); err != nil {
			return 0, err
		}
		p = p[copyRow:]
	}
	if len(p) > 0 && !(len(p) == 2 && p[0] == 0xff && p[1] == 0xff) { // the end of the stream
		s.rest = slices.Clone(p)
	}
	return n, nil
}

const (
	pileMax     = 1_000_000 // hashes in memory: 8 MB
	pileFiles   = 256       // files, by the first byte of the hash, for more than that
	repeatedMax = 200_000   // hashes that are looked up at once
)

// hashPile collects hashes and finds those that came more than once. It keeps a bounded number of
// them in memory and the rest in temporary files.
type hashPile struct {
	memory []uint64
	files  []*os.File
	out    []*bufio.Writer
}

func (p *hashPile) add(h uint64) error {
	if p.memory == nil {
		p.memory = make([]uint64, 0, pileMax)
	}
	p.memory = append(p.memory, h)
	if len(p.memory) < pileMax {
		return nil
	}
	return p.spill()
}

// spill moves the hashes in memory to the files.
func (p *hashPile) spill() error {
	for len(p.files) < pileFiles {
		f, err := os.CreateTemp("", "rewardctl-audit-")
		if err != nil {
			return err
		}
		// Nothing is left behind, however this process ends: the file has no name any more.
		err = os.Remove(f.Name())
		p.files = append(p.files, f)
		p.out = append(p.out, bufio.NewWriterSize(f, 16<<10))
		if err != nil {
			return err
		}
	}
	var buffer [8]byte
	for _, h := range p.memory {
		binary.BigEndian.PutUint64(buffer[:], h)
		if _, err := p.out[h>>56].Write(buffer[:]); err != nil {
			return err
		}
	}
	p.memory = p.memory[:0]
	return nil
}

// repeated calls do with the hashes that came more than once, some at a time. The pile is then
// empty.
func (p *hashPile) repeated(do func([]int64) error) error {
	var found []int64
	flush := func(least int) error {
		if len(found) <= least {
			return nil
		}
		err := do(found)
		found = found[:0]
		return err
	}
	search := func(hashes []uint64) error {
		slices.Sort(hashes)
		for i := 1; i < len(hashes); i++ {
			if hashes[i] == hashes[i-1] && (i == 1 || hashes[i] != hashes[i-2]) {
				found = append(found, int64(hashes[i]))
			}
			if err := flush(repeatedMax); err != nil {
				return err
			}
		}
		return nil
	}
	if p.files == nil {
		if err := search(p.memory); err != nil {
			return err
		}
		return flush(0)
	}
	if err := p.spill(); err != nil {
		return err
	}
	for i := range p.files {
		hashes, err := p.load(i)
		if err == nil {
			err = search(hashes)
		}
		if err != nil {
			return err
		}
	}
	return flush(0)
}

// load reads one file back into memory.
func (p *hashPile) load(i int) ([]uint64, error) {
	if err := p.out[i].Flush(); err != nil {
		return nil, err
	}
	if _, err := p.files[i].Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	hashes, in, buffer := p.memory[:0], bufio.NewReaderSize(p.files[i], 256<<10), [8]byte{}
	for {
		_, err := io.ReadFull(in, buffer[:])
		if errors.Is(err, io.EOF) {
			return hashes, nil
		}
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, binary.BigEndian.Uint64(buffer[:]))
	}
}

func (p *hashPile) close() {
	for _, f := range p.files {
		_ = f.Close() // it has no name: closing removes it
	}
	p.memory, p.files = nil, nil
}
