package inspect

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// readBy returns a function that reads a unit by one statement without arguments.
func readBy(name string) readUnit {
	return func(ctx context.Context, u *unitRun, tx pgx.Tx) error {
		return u.findBy(ctx, tx, name, pgx.StrictNamedArgs{}, nil)
	}
}

// findBy runs a statement that returns evidence rows and reports what it finds. keep may drop
// drafts before their evidence is read.
func (u *unitRun) findBy(
	ctx context.Context, tx pgx.Tx, name string, args pgx.StrictNamedArgs,
	keep func(context.Context, pgx.Tx, []draft) ([]draft, error),
) error {
	sql, err := u.source.fill(name, u.scope)
	if err != nil {
		return err
	}
	var found []draft
	err = drafts(ctx, tx, sql, args, func(d draft) error {
		u.collect(&found, d)
		return nil
	})
	if err != nil {
		return err
	}
	if keep != nil {
		if found, err = keep(ctx, tx, found); err != nil {
			return err
		}
	}
	return u.finish(ctx, tx, found)
}

// collect keeps a draft, or only counts it when the check has found too much already. That bounds
// the memory of an audit of a ledger that is broken throughout.
func (u *unitRun) collect(found *[]draft, d draft) {
	if u.state.found+int64(len(*found)) < int64(u.plan.FindingsMax) {
		*found = append(*found, d)
		return
	}
	u.state.dropped++
	u.extra++
}

func readStuck(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	return u.findBy(ctx, tx, "stuck", pgx.StrictNamedArgs{"after": u.plan.StuckAfter}, nil)
}

func readLate(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	args := pgx.StrictNamedArgs{"after": u.reader.opts.OutboxAgeMax}
	return u.findBy(ctx, tx, "late", args, nil)
}

func readFence(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	return u.findBy(ctx, tx, "fence", pgx.StrictNamedArgs{}, u.withoutShared)
}

// withoutShared drops findings about owners that held a lease of something else than the player's
// own resource. The ledger does not say which resource a token belongs to.
func (u *unitRun) withoutShared(
	ctx context.Context, tx pgx.Tx, found []draft,
) ([]draft, error) {
	if len(found) == 0 {
		return nil, nil
	}
	rows, err := u.readPlaces(ctx, tx, found)
	if err != nil {
		return nil, err
	}
	ownersOf := func(d draft) []string {
		var owners []string
		for _, text := range d.Places {
			for _, c := range rows[placeOf(text)] {
				if c.name == "lease_owner" && c.value != nil {
					owners = append(owners, *c.value)
				}
			}
		}
		return owners
	}
	var all []string
	for _, d := range found {
		all = append(all, ownersOf(d)...)
	}
	sql, err := statement("shared_owner")
	if err != nil {
		return nil, err
	}
	answer, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"owners": all})
	if err != nil {
		return nil, err
	}
	shared, err := pgx.CollectRows(answer, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(d draft) bool {
		return slices.ContainsFunc(ownersOf(d), func(owner string) bool {
			return slices.Contains(shared, owner)
		})
	}), nil
}
