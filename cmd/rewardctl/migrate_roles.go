package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"rewardctl/grant/schema"
	"rewardctl/repair"
)

// rolesFlags are the flags of "migrate roles".
type rolesFlags struct {
	prefix, reason, confirm string

	logins []string
	dryRun bool
}

type rolesJSON struct {
	Schema     string     `json:"schema"`
	Database   string     `json:"database"`
	DryRun     bool       `json:"dry_run"`
	Roles      []roleJSON `json:"roles"`
	HandOut    []string   `json:"hand_out"` // SQL, for each login that is still to be made
	Statements []string   `json:"statements"`
}

type roleJSON struct {
	Name  string `json:"name"`
	Role  string `json:"role"`
	Login bool   `json:"login"`
	State string `json:"state"` // created, updated; with --dry-run: would_create, would_update
	About string `json:"about"`
}

func (a *app) migrateRolesCommand() *cobra.Command {
	var f rolesFlags
	cmd := &cobra.Command{
		Use:   "roles",
		Short: "Create or update the database roles: each may do only what its work takes",
		Long: "Makes four roles that nobody can log in as, and gives each exactly what its work" +
			" takes:\n\n  grant     a worker that pays\n  relay     delivers what was paid\n" +
			"  view      looks at everything, changes nothing\n  operator  a person: sees" +
			" everything, grants, repairs; the log stays append-only\n\nNo role owns a table, deletes" +
			" a row or changes a posting. Make the accounts of people and\nprograms members of one:" +
			" with --login NAME=ROLE, which also sets how their sessions begin.\nIt is safe to" +
			" repeat, and wants to be repeated after each migrate up.",
		Example: "  rewardctl migrate roles --dry-run\n" +
			"  rewardctl migrate roles\n" +
			"  rewardctl migrate roles --login mara=operator --login payout=grant",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.migrateRoles(cmd, f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.prefix, "prefix", "",
		"how the roles' names begin: rewardctl, or rewardctl_SCHEMA for another schema than public")
	flags.StringArrayVar(&f.logins, "login", nil, "make an account too: NAME=ROLE; repeatable")
	flags.StringVar(&f.reason, "reason", "roles as the tables need them", "why, for the records")
	flags.BoolVar(&f.dryRun, "dry-run", false, "list the statements, change nothing")
	flags.StringVar(&f.confirm, "confirm", "", "the words that a protected context asks for")
	return cmd
}

func (a *app) migrateRoles(cmd *cobra.Command, f rolesFlags) error {
	w, err := a.wire()
	if err != nil {
		return err
	}
	opt := schema.RoleOptions{
		Prefix: orElse(f.prefix, schema.DefaultPrefix(w.conf.Postgres.Schema)), DryRun: f.dryRun,
	}
	if opt.Logins, err = roleLogins(f.logins); err != nil {
		return err
	}
	if !f.dryRun {
		a.attempts(w, rolesDeed(opt, f.reason), f.reason, nil)
		want, deed := opt.Prefix+"-roles", "change who may do what in the database"
		if err := a.mayChange(cmd.Context(), w.conf, f.confirm, want, deed); err != nil {
			return err
		}
	}
	conn, err := w.conn()
	if err != nil {
		return err
	}
	report, err := schema.Roles(cmd.Context(), conn, opt)
	var refused *schema.RoleError
	if errors.As(err, &refused) {
		p := usage("prefix", "see: rewardctl migrate roles --help", "%s", refused.Error())
		p.value = refused.Name
		return p
	}
	if err != nil {
		return err
	}
	if !f.dryRun {
		w.recordRoles(cmd.Context(), opt, f.reason)
	}
	return a.printRoles(report, opt)
}

// roleLogins reads NAME=ROLE.
func roleLogins(given []string) ([]schema.RoleLogin, error) {
	var logins []schema.RoleLogin
	for _, text := range given {
		name, role, ok := strings.Cut(text, "=")
		if !ok || !contains(schema.RoleWords(), role) {
			return nil, usage("login", "write NAME=ROLE, with one of: "+
				strings.Join(schema.RoleWords(), ", "), "--login %q names no account and role", text)
		}
		logins = append(logins, schema.RoleLogin{Name: name, Role: role})
	}
	return logins, nil
}

// recordRoles writes the deed into the operator log.
func (w *wiring) recordRoles(ctx context.Context, opt schema.RoleOptions, reason string) {
	w.record(ctx, rolesDeed(opt, reason))
}

// rolesDeed is the making of roles as a deed.
func rolesDeed(opt schema.RoleOptions, reason string) repair.Deed {
	argv := []string{"rewardctl", "migrate", "roles", "--prefix", opt.Prefix}
	arguments := map[string]string{"prefix": opt.Prefix}
	for _, l := range opt.Logins {
		argv = append(argv, "--login", l.Name+"="+l.Role)
		arguments["login "+l.Name] = l.Role
	}
	return repair.Deed{
		Words: "migrate roles", About: opt.Prefix, Argv: append(argv, "--reason", reason),
		Reason: reason, Arguments: arguments, Outcome: "done",
	}
}

// printRoles prints the roles, and how to hand them out.
func (a *app) printRoles(r schema.RoleReport, opt schema.RoleOptions) error {
	doc := rolesJSON{
		Schema: r.Schema, Database: r.Database, DryRun: opt.DryRun, Roles: []roleJSON{},
		HandOut: handOut(r, opt), Statements: r.Statements,
	}
	l := listing{columns: columns("name", "role", "state", "about")}
	for _, role := range r.Roles {
		state := "updated"
		if role.Created {
			state = "created"
		}
		if opt.DryRun {
			state = "would_" + strings.TrimSuffix(state, "d")
		}
		value := roleJSON{role.Name, role.Word, role.Login, state, roleAbout(role)}
		doc.Roles = append(doc.Roles, value)
		l.values = append(l.values, value)
		l.rows = append(l.rows, []cell{
			text(value.Name), text(value.Role), toned(strings.ReplaceAll(state, "_", " "), good),
			text(value.About),
		})
	}
	l.document = doc
	if err := a.print(l); err != nil || a.output != string(formatTable) {
		return err
	}
	if opt.DryRun {
		for _, sql := range r.Statements {
			a.say("%s;", sql)
		}
		return nil
	}
	a.say("hand them out, as an account that may make roles:")
	for _, line := range doc.HandOut {
		a.say("  %s", line)
	}
	return nil
}

func roleAbout(r schema.Role) string {
	if r.Login {
		return "an account; give it a password, or a certificate"
	}
	return map[string]string{
		"grant": "workers that pay", "relay": "delivers what was paid",
		"view": "looks, changes nothing", "operator": "people: look, grant, repair",
	}[r.Word]
}

// handOut says how people and programs get the roles.
func handOut(r schema.RoleReport, opt schema.RoleOptions) []string {
	var lines []string
	for _, role := range r.Roles {
		if role.Login {
			lines = append(lines, `in psql: \password `+role.Name)
		}
	}
	if len(opt.Logins) > 0 {
		return lines
	}
	return []string{
		"rewardctl migrate roles --login mara=operator     makes the account mara, a person",
		"rewardctl migrate roles --login payout=grant      makes the account of a worker",
		`in psql: \password mara                            gives it a password`,
		"for an account that is there, in psql: GRANT " + opt.Prefix + "_operator TO mara",
	}
}
