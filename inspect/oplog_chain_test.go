package inspect

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// fields reads a canonical form back: "-" is nil.
func fields(form []byte) ([]*string, error) {
	var all []*string
	for len(form) > 0 {
		if form[0] == '-' {
			all, form = append(all, nil), form[1:]
			continue
		}
		colon := bytes.IndexByte(form, ':')
		if colon < 1 {
			return nil, fmt.Errorf("no length before %q", form)
		}
		n, err := strconv.Atoi(string(form[:colon]))
		if err != nil || n < 0 || n > len(form)-colon-1 {
			return nil, fmt.Errorf("a length that does not fit: %q", form[:colon])
		}
		text := string(form[colon+1 : colon+1+n])
		all, form = append(all, &text), form[colon+1+n:]
	}
	return all, nil
}

// The canonical form can be read back into the very fields: two rows that differ anywhere have
// different forms, whatever stands in them.
func FuzzCanonicalForm(f *testing.F) {
	f.Add(int64(1), "mara", "5:abcde", "-", "", int64(0), int64(-1), uint8(0), int64(0))
	f.Add(int64(-9), "", ":", "1:", "\x00\xff", int64(7), int64(7), uint8(15), int64(1e15))
	f.Fuzz(func(t *testing.T, id int64, a, b, c, d string, approval, intent int64, absent uint8,
		micros int64,
	) {
		micros %= int64(200 * 365 * 24 * time.Hour / time.Microsecond)
		row := logRow{
			ID: id, Operator: a, DBUser: b, Host: c, Client: d, Action: b, Target: a,
			ArgsVersion: int(absent), Arguments: c, Observed: d, Reason: a, Phase: b, Outcome: c,
			Command: d, CreatedAt: time.UnixMicro(micros),
		}
		text := func(bit uint8, s string) *string {
			if absent&bit != 0 {
				return nil
			}
			return &s
		}
		row.Before, row.After, row.Ticket = text(1, a), text(2, b), text(4, c)
		if absent&8 == 0 {
			row.Approval, row.Intent = &approval, &intent
		}
		form := row.canonical(nil)
		got, err := fields(form)
		if err != nil || len(got) != 21 {
			t.Fatalf("%d fields, %v: %q", len(got), err, form)
		}
		digits := func(n *int64) *string {
			if n == nil {
				return nil
			}
			s := strconv.FormatInt(*n, 10)
			return &s
		}
		version, at := strconv.Itoa(row.ArgsVersion), row.CreatedAt.UTC().Format(logTime)
		one := logForm
		for i, want := range []*string{
			&one, digits(&row.ID), &a, &b, &c, &d, &b, &a, &version, &c, &d, row.Before, row.After, &a,
			row.Ticket, digits(row.Approval), &b, digits(row.Intent), &c, &d, &at,
		} {
			if (want == nil) != (got[i] == nil) || want != nil && *want != *got[i] {
				t.Fatalf("field %d is %v, want %v: %q", i, got[i], want, form)
			}
		}
		read, err := time.Parse(logTime, at)
		if err != nil || !read.Equal(row.CreatedAt) {
			t.Fatalf("%s is not %v: %v", at, row.CreatedAt, err)
		}
	})
}
