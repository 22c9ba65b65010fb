package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rewardctl/grant"

	"github.com/jackc/pgx/v5"
)

// beginRow is what begin.sql tells about a transaction.
type beginRow struct {
	Settings string `db:"settings"`
	Mark     int64  `db:"mark"`
	Next     int64  `db:"next"`
	Origin   string `db:"origin"`
}

// auditRead runs fn inside a READ ONLY transaction that sees one moment and reads tables only. It
// has no bound of time: a large table takes long, and whoever waits can cancel.
func (r *Reader) auditRead(
	ctx context.Context, op string, fn func(context.Context, pgx.Tx, beginRow) error,
) error {
	if r.pool == nil {
		return &grant.BackendError{Backend: grant.PostgreSQL, Op: op, Err: errNoPool}
	}
	err := pgx.BeginTxFunc(ctx, r.pool, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	}, func(tx pgx.Tx) error {
		sql, err := statement("begin")
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sql)
		if err != nil {
			return err
		}
		begin, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[beginRow])
		if err != nil {
			return err
		}
		return fn(ctx, tx, begin)
	})
	var sink *sinkError
	if errors.As(err, &sink) || err != nil && ctx.Err() != nil {
		return unmarked(ctx, err)
	}
	err = grant.Answered(r.pool, err)
	var denied *grant.DeniedError
	if errors.As(err, &denied) {
		return fmt.Errorf("%s: this account may not read everything, and an audit that is not "+
			"shown every row proves nothing: %w", op, err)
	}
	return backendError(ctx, grant.PostgreSQL, op, err)
}

// sinkError marks an error of the one who takes the findings.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }
func (e *sinkError) Unwrap() error { return e.err }

// evidenceRow is one row of a statement that finds something. Consecutive rows of the same word,
// key, player and event are one finding.
type evidenceRow struct {
	Word     string   `db:"word"`
	Key      string   `db:"key"`
	PlayerID string   `db:"player"`
	EventID  string   `db:"event"`
	IsNew    bool     `db:"is_new"`
	Total    int64    `db:"total"`
	Places   []string `db:"places"`
	Evidence []byte   `db:"evidence"`
}

func (e evidenceRow) sameFinding(o evidenceRow) bool {
	return e.Word == o.Word && e.Key == o.Key && e.PlayerID == o.PlayerID && e.EventID == o.EventID
}

// draft is a finding whose evidence has not been read yet.
type draft struct {
	evidenceRow
	count  int64
	events []string    // the event ids of its rows, for near duplicates
	given  [][]jsonCol // evidence that came with the rows
	claim  []jsonCol   // the first row that was read for it
	state  string      // of the delivery, for what the receiver says
	folded bool        // the player is in lower case, as near duplicates are looked for
}

// drafts runs a statement and hands on its findings, one by one.
func drafts(
	ctx context.Context, tx pgx.Tx, sql string, args pgx.StrictNamedArgs, take func(draft) error,
) error {
	rows, err := tx.Query(ctx, sql, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	var open *draft
	flush := func() error {
		if open == nil || !open.IsNew {
			return nil
		}
		return take(*open)
	}
	for rows.Next() {
		row, err := pgx.RowToStructByName[evidenceRow](rows)
		if err != nil {
			return err
		}
		if open == nil || !open.sameFinding(row) {
			if err := flush(); err != nil {
				return err
			}
			first := row
			first.Places, first.Evidence = nil, nil
			open = &draft{evidenceRow: first}
		}
		if err := open.add(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return flush()
}

// add takes one more row of the same finding.
func (d *draft) add(row evidenceRow) error {
	d.IsNew = d.IsNew || row.IsNew
	d.count++
	if row.Total > 0 {
		d.count = row.Total
	}
	for _, place := range row.Places {
		if len(d.Places) < evidenceMax {
			d.Places = append(d.Places, place)
		}
	}
	if row.Evidence == nil || len(d.given) >= evidenceMax {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(row.Evidence, &list); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	for _, one := range list {
		columns, err := jsonColumns(one)
		if err != nil {
			return err
		}
		if columns != nil {
			d.given = append(d.given, columns)
		}
	}
	return nil
}

// jsonCol is one column of a row that came as JSON.
type jsonCol struct {
	name  string
	value *string
}

// jsonColumns takes a JSON object apart, in its order. Numbers stay as they are written.
func jsonColumns(raw []byte) ([]jsonCol, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	start, err := d.Token()
	if err != nil || start == nil {
		return nil, err
	}
	var columns []jsonCol
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		columns = append(columns, jsonCol{fmt.Sprint(name), jsonText(value)})
	}
	return columns, nil
}

// jsonText returns a value of a row as text; nil for null.
func jsonText(value json.RawMessage) *string {
	text := string(value)
	if text == "null" {
		return nil
	}
	var plain string
	if json.Unmarshal(value, &plain) == nil {
		text = plain
	}
	return &text
}
