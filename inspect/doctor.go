package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"rewardctl/grant"
)

// Level says what a failed check means.
type Level string

// The levels of a check.
const (
	Gate    Level = "gate"    // granting is refused, or must be, until it is fixed
	Warning Level = "warning" // granting is correct, something else suffers
)

// Status is the result of a check.
type Status string

// The results of a check.
const (
	Pass   Status = "pass"
	Fail   Status = "fail"
	Unseen Status = "unseen" // could not be seen: server down, or the account may not look
)

// Check is one thing that Doctor looked at.
type Check struct {
	Name   string // such as "ledger unique key"
	Level  Level
	Status Status
	Value  string // what was found
	Why    string // why it matters, one sentence
	Fix    string // what to do exactly; empty when it passed

	slow bool // it could not be seen in the time that a look may take
}

// Diagnosis is everything that Doctor looked at.
type Diagnosis struct {
	At      time.Time // this machine's clock
	Checks  []Check
	Missing []Missing
}

// Refuses reports whether a gate failed: granting must not go on.
func (d Diagnosis) Refuses() bool { return d.count(Gate, Fail) > 0 }

// Healthy reports whether every check was seen and passed.
func (d Diagnosis) Healthy() bool {
	for _, c := range d.Checks {
		if c.Status != Pass {
			return false
		}
	}
	return len(d.Missing) == 0
}

func (d Diagnosis) count(level Level, status Status) int {
	n := 0
	for _, c := range d.Checks {
		if c.Level == level && c.Status == status {
			n++
		}
	}
	return n
}

// Doctor looks at everything that granting depends on: gates, whose failure must stop granting,
// and warnings. A server that is down or an account that may not look is part of the answer; the
// error is only ever the context's.
func (r *Reader) Doctor(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{At: r.opts.Now()}
	r.examinePostgres(ctx, &d)
	r.examineReplica(ctx, &d)
	r.examineRedis(ctx, &d)
	if err := ctx.Err(); err != nil {
		return Diagnosis{}, context.Cause(ctx)
	}
	return d, nil
}

// add records a check. The fix is shown only when it failed.
func (d *Diagnosis) add(c Check, passed bool) {
	c.Status = Fail
	if passed {
		c.Status, c.Fix = Pass, ""
	}
	d.Checks = append(d.Checks, c)
}

func (d *Diagnosis) unseen(c Check, err error) {
	c.Status, c.Value = Unseen, refusalText(err)
	d.Checks = append(d.Checks, c)
}

// refusalText says why something could not be seen.
func refusalText(err error) string {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		if answer.Code == "42501" {
			return "this account may not look: " + answer.Message
		}
		return fmt.Sprintf("%s (SQLSTATE %s)", answer.Message, answer.Code)
	}
	return err.Error()
}

// examine runs one statement of the doctor in a transaction of its own, so that a look that is
// refused does not spoil the next.
func examine[T any](ctx context.Context, r *Reader, sql string, args any) ([]T, error) {
	return examineIn[T](ctx, r, r.pool, sql, args)
}

func examineIn[T any](
	ctx context.Context, r *Reader, pool *pgxpool.Pool, sql string, args any,
) ([]T, error) {
	var out []T
	err := r.readFrom(ctx, pool, "examine", func(ctx context.Context, tx pgx.Tx) error {
		var err error
		out, err = collect[T](ctx, tx, sql, args)
		return err
	})
	return out, err
}

// none stands for the arguments of a statement that has none.
type none struct{}

// clockCheck compares a server's clock with this machine's. Half of the round trip is the
// uncertainty of the comparison.
func (r *Reader) clockCheck(backend grant.Backend, server, before, after time.Time) (Check, bool) {
	trip := after.Sub(before)
	skew := server.Sub(before.Add(trip / 2))
	return Check{
		Name: string(backend) + " clock", Level: Warning,
		Value: fmt.Sprintf("%s from this machine's, give or take %s",
			signed(skew.Round(time.Millisecond)), (trip / 2).Round(time.Microsecond)),
		Why: "times from different clocks stand beside each other in histories; leases do not " +
			"depend on them",
		Fix: "synchronise the clocks of both machines, for example with chrony",
	}, skew.Abs()-trip/2 <= r.opts.SkewMax
}

func signed(d time.Duration) string {
	if d >= 0 {
		return "+" + d.String()
	}
	return d.String()
}
