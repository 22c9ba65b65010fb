package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"rewardctl/grant/schema"
	"rewardctl/repair"
)

type migrationJSON struct {
	Version   int64   `json:"version"`
	Name      string  `json:"name"`
	State     string  `json:"state"` // applied, pending, or with "up": applied_now
	AppliedAt *string `json:"applied_at"`
}

func (a *app) migrateCommand() *cobra.Command {
	return a.group("migrate", "Create or upgrade the tables", a.migrateUpCommand(),
		a.migrateRolesCommand(), a.migrateStatusCommand())
}

func (a *app) migrateUpCommand() *cobra.Command {
	var (
		dryRun          bool
		confirm, reason string
	)
	cmd := &cobra.Command{
		Use:     "up",
		Short:   "Apply all pending migrations; safe to repeat and to run twice at once",
		Example: "  rewardctl migrate up --dry-run\n  rewardctl migrate up",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dryRun {
				return a.migrationStatus(cmd, true)
			}
			w, err := a.wire()
			if err != nil {
				return err
			}
			a.attempts(w, migrationDeed(reason), reason, nil)
			err = a.mayChange(cmd.Context(), w.conf, confirm, "migrate", "migrate the database")
			if err != nil {
				return err
			}
			conn, err := w.conn()
			if err != nil {
				return err
			}
			steps, err := schema.Up(cmd.Context(), conn)
			if err != nil {
				return err
			}
			w.recordMigration(cmd.Context(), steps, reason)
			l := listing{
				columns: columns("version", "name", "state"), empty: "the schema is up to date",
			}
			for _, s := range steps {
				l.rows = append(l.rows, []cell{
					number(s.Version), text(s.Name), toned("applied now", good),
				})
				l.values = append(l.values, migrationJSON{s.Version, s.Name, "applied_now", nil})
			}
			return a.print(l)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "list what is pending, change nothing")
	cmd.Flags().StringVar(&reason, "reason", "tables as this program needs them",
		"why, for the records")
	cmd.Flags().StringVar(&confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

// recordMigration writes the migrations that were applied into the operator log, whose table one of
// them may have made.
func (w *wiring) recordMigration(ctx context.Context, steps []schema.Step, reason string) {
	if len(steps) == 0 {
		return
	}
	last := strconv.FormatInt(steps[len(steps)-1].Version, 10)
	deed := migrationDeed(reason)
	deed.After = map[string]string{"version": last, "applied": strconv.Itoa(len(steps))}
	w.record(ctx, deed)
}

// migrationDeed is a migration as a deed.
func migrationDeed(reason string) repair.Deed {
	return repair.Deed{
		Words: "migrate up", About: "tables", Reason: reason, Outcome: "done",
		Argv: []string{"rewardctl", "migrate", "up", "--reason", reason},
	}
}

// record writes a deed that is done into the operator log. That it could not be written undoes
// nothing, so it is said and no error.
func (w *wiring) record(ctx context.Context, deed repair.Deed) {
	operator, err := w.operator(ctx, 0)
	if err == nil {
		_, err = operator.Record(ctx, deed)
	}
	if err != nil {
		w.app.say("warning: it is done, but could not be written to the operator log: %v", err)
	}
}

func (a *app) migrateStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "List the migrations; ends with 6 when some are pending",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.migrationStatus(cmd, false) },
	}
}

// migrationStatus lists all migrations, or only the pending ones. Pending migrations are a
// finding, except for a dry run, which was asked for them.
func (a *app) migrationStatus(cmd *cobra.Command, onlyPending bool) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	conn, err := w.conn()
	if err != nil {
		return err
	}
	steps, err := schema.Status(cmd.Context(), conn)
	if err != nil {
		return err
	}
	l := listing{
		columns: columns("version", "name", "state", "applied_at"), empty: "nothing is pending",
	}
	pending := 0
	for _, s := range steps {
		state := toned("applied", good)
		if s.AppliedAt.IsZero() {
			pending++
			state = toned("pending", notice)
		} else if onlyPending {
			continue
		}
		l.rows = append(l.rows, []cell{
			number(s.Version), text(s.Name), state, instant(s.AppliedAt),
		})
		l.values = append(l.values, migrationJSON{
			s.Version, s.Name, state.text, jsonTime(s.AppliedAt),
		})
	}
	if err := a.print(l); err != nil {
		return err
	}
	if pending > 0 && !onlyPending {
		a.say("%d pending; apply with: rewardctl migrate up", pending)
		return ended(exitFindings)
	}
	return nil
}
