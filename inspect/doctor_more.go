package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"rewardctl/grant/lease"
)

// identityRow is which database system a server is.
type identityRow struct {
	System   string `db:"system"`
	Timeline int64  `db:"timeline"`
}

// examineIdentity shows which database system answers, and whether the replica is one of it.
func (r *Reader) examineIdentity(ctx context.Context, d *Diagnosis) {
	check := Check{
		Name: "database system", Level: Warning,
		Why: "a restore or a failover that lost commits shows as another system or timeline; a " +
			"replica of another system shows the histories of other players",
		Fix: "correct postgres.read_url: it must name a replica of the same system",
	}
	primary, err := examine[identityRow](ctx, r, doctorIdentitySQL, none{})
	if err != nil {
		d.unseen(check, err)
		return
	}
	check.Value = fmt.Sprintf("system %s, timeline %d", primary[0].System, primary[0].Timeline)
	if r.opts.Replica == nil {
		d.add(check, true)
		return
	}
	replica, err := examineIn[identityRow](ctx, r, r.opts.Replica, doctorIdentitySQL, none{})
	if err != nil { // the check of the replica says why
		d.add(check, true)
		return
	}
	same := replica[0].System == primary[0].System
	if !same {
		check.Value += ", but the replica is of system " + replica[0].System
	}
	d.add(check, same)
}

// examineTwins looks for keys that the ledger holds twice although its unique index looks whole: an
// index that was damaged once shows only one of them, so the table itself is read. A large ledger
// is left to the audit, which shows its progress.
func (r *Reader) examineTwins(ctx context.Context, d *Diagnosis) {
	check := Check{
		Name: "ledger rows", Level: Warning, Value: "every key is there once",
		Why: "a row that its unique index does not show was paid twice, and the index cannot be " +
			"rebuilt while it is there",
		Fix: "run: rewardctl audit run duplicate-key",
	}
	type twin struct {
		Player string `db:"player_id"`
		Event  string `db:"reward_event_id"`
		Rows   int64  `db:"rows"`
	}
	var twins []twin
	err := r.readFrom(ctx, r.pool, "examine", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, doctorHeapSQL); err != nil {
			return err
		}
		var err error
		twins, err = collect[twin](ctx, tx, doctorTwinSQL, none{})
		return err
	})
	switch {
	case errors.Is(err, errTooSlow):
		check.Status, check.slow = Unseen, true
		check.Value = "the ledger is too large to be read here in time"
		d.Checks = append(d.Checks, check)
		return
	case err != nil:
		d.unseen(check, err)
		return
	}
	if len(twins) > 0 {
		check.Value = fmt.Sprintf("player %s has event %s %d times", twins[0].Player,
			twins[0].Event, twins[0].Rows)
	}
	d.add(check, len(twins) == 0)
}

// redisReplicas looks at what a failover or a torn file may lose.
func (d *Diagnosis) redisReplicas(f lease.Facts) {
	check := Check{
		Name: "redis min-replicas", Level: Warning,
		Why: "without it a primary that lost its replicas goes on issuing leases, which a failover " +
			"then forgets; the fence keeps grants correct, but work is refused",
		Fix: "CONFIG SET min-replicas-to-write 1, and set it in redis.conf",
	}
	switch {
	case f.Replicas == 0:
		check.Value = "no replicas"
		d.add(check, true)
	case f.MinReplicas == "":
		check.Status, check.Value = Unseen, "CONFIG is forbidden"
		d.Checks = append(d.Checks, check)
	default:
		check.Value = fmt.Sprintf("%s, with %d replicas", f.MinReplicas, f.Replicas)
		d.add(check, f.MinReplicas != "0")
	}
	if !f.AppendOnly {
		return
	}
	check = Check{
		Name: "redis aof-load-truncated", Level: Warning, Value: f.LoadTruncated,
		Why: "with yes a file that was torn by a crash is loaded without its end, silently: " +
			"counters go back; with no the server says so and does not start",
		Fix: "CONFIG SET aof-load-truncated no, and set it in redis.conf",
	}
	if f.LoadTruncated == "" {
		check.Status, check.Value = Unseen, "CONFIG is forbidden"
		d.Checks = append(d.Checks, check)
		return
	}
	d.add(check, f.LoadTruncated == "no")
}
