package schema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed roles/*.sql
var roleFiles embed.FS

// RoleLogin is an account to be made a member of a role.
type RoleLogin struct {
	Name string
	Role string // grant, relay, view or operator
}

// RoleOptions say which roles are made.
type RoleOptions struct {
	// Prefix begins the name of every role: prefix_grant and so on. Roles belong to the whole
	// server, so two schemas want two prefixes.
	Prefix string
	// Logins are made as well, without a password, with the settings of their role.
	Logins []RoleLogin
	// DryRun lists the statements and runs none.
	DryRun bool
}

// Role is a role that Roles made or found.
type Role struct {
	Name    string
	Word    string // grant, relay, view or operator
	Login   bool
	Created bool // false: it was there
}

// RoleReport is what Roles did, or would do.
type RoleReport struct {
	Schema     string
	Database   string
	Roles      []Role
	Statements []string // as they were run, in order
}

// RoleWords are the roles there are, by their words.
func RoleWords() []string { return []string{"grant", "relay", "view", "operator"} }

// RoleError says that roles cannot be made under a name.
type RoleError struct {
	Name    string
	Problem string
}

// Error reads `role "a b": is not ...`.
func (e *RoleError) Error() string { return fmt.Sprintf("role %q: %s", e.Name, e.Problem) }

// DefaultPrefix is how the roles of a schema are named unless somebody says otherwise.
func DefaultPrefix(schema string) string {
	if schema == "" || schema == "public" {
		return "rewardctl"
	}
	return "rewardctl_" + schema
}

// Roles makes the roles of the first schema of the connection's search_path, or brings those that
// are there up to date: afterwards each has exactly the privileges of the matrix. It is one
// transaction. It returns a *RoleError for a name that cannot be, and the database's errors, such
// as 42501 for an account that may not make roles.
func Roles(
	ctx context.Context, conn *pgx.ConnConfig, opt RoleOptions,
) (RoleReport, error) {
	if err := opt.check(); err != nil {
		return RoleReport{}, err
	}
	session, err := pgx.ConnectConfig(ctx, conn.Copy())
	if err != nil {
		return RoleReport{}, err
	}
	defer func() { _ = session.Close(context.WithoutCancel(ctx)) }()
	var report RoleReport
	err = pgx.BeginFunc(ctx, session, func(tx pgx.Tx) error {
		w := &roleWork{tx: tx, opt: opt}
		if err := w.plan(ctx); err != nil {
			return err
		}
		report = w.report
		if opt.DryRun {
			return nil
		}
		for _, sql := range w.report.Statements {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
	return report, err
}

var roleName = regexp.MustCompile(`^[a-z_][a-z0-9_.@-]{0,62}$`)

// longestWord is the longest ending of a role's name, underscore included.
const longestWord = len("_operator")

func (o RoleOptions) check() error {
	if !roleName.MatchString(o.Prefix) || len(o.Prefix) > 63-longestWord {
		return &RoleError{o.Prefix, "a prefix has lower-case letters, digits and _, at most 54"}
	}
	for _, l := range o.Logins {
		switch {
		case !roleName.MatchString(l.Name):
			return &RoleError{l.Name, "a name has lower-case letters, digits and _.@-, at most 63"}
		case !slices.Contains(RoleWords(), l.Role):
			return &RoleError{l.Name, "there is no role " + l.Role + "; choose grant, relay, view or " +
				"operator"}
		}
	}
	return nil
}

// roleWork gathers the statements.
type roleWork struct {
	tx             pgx.Tx
	opt            RoleOptions
	report         RoleReport
	present        []string
	settings       []roleSetting
	checksClients  bool
	schema, dbname string
}

type rolePrivilege struct {
	Role      string  `db:"role"`
	Relation  string  `db:"relation"`
	Privilege string  `db:"privilege"`
	Columns   *string `db:"columns"`
}

type roleSetting struct {
	Role  string `db:"role"`
	Name  string `db:"name"`
	Value string `db:"value"`
}

func (w *roleWork) name(word string) string { return w.opt.Prefix + "_" + word }

func (w *roleWork) plan(ctx context.Context) error {
	lock := struct {
		Prefix string `db:"prefix"`
	}{w.opt.Prefix}
	if _, err := w.tx.Exec(ctx, roleFile("lock"), pgx.StrictStructArgs(lock)); err != nil {
		return err
	}
	if err := w.look(ctx); err != nil {
		return err
	}
	matrix, err := roleRows[rolePrivilege](ctx, w.tx, "matrix", struct{}{})
	if err != nil {
		return err
	}
	if w.settings, err = roleRows[roleSetting](ctx, w.tx, "setting", struct{}{}); err != nil {
		return err
	}
	for _, word := range RoleWords() {
		w.create("create", Role{Name: w.name(word), Word: word})
		for _, file := range []string{"clear", "clear_sequence", "clear_function", "usage"} {
			w.add(file, "{role}", quotedRole(w.name(word)))
		}
	}
	if err := w.leave(ctx, matrix); err != nil {
		return err
	}
	for _, p := range matrix {
		w.privilege(p)
	}
	for _, l := range w.opt.Logins {
		w.login(l)
	}
	return nil
}

// leave ends memberships among the roles that the matrix does not have.
func (w *roleWork) leave(ctx context.Context, matrix []rolePrivilege) error {
	names := struct {
		Roles []string `db:"roles"`
	}{}
	for _, word := range RoleWords() {
		names.Roles = append(names.Roles, w.name(word))
	}
	type membership struct {
		Member string `db:"member"`
		Role   string `db:"role"`
	}
	rows, err := roleRows[membership](ctx, w.tx, "membership", names)
	if err != nil {
		return err
	}
	for _, m := range rows {
		if !slices.ContainsFunc(matrix, func(p rolePrivilege) bool {
			return p.Privilege == "member" && w.name(p.Role) == m.Member && w.name(p.Relation) == m.Role
		}) {
			w.add("leave", "{role}", quotedRole(m.Member), "{relation}", quotedRole(m.Role))
		}
	}
	return nil
}

// look learns what is there.
func (w *roleWork) look(ctx context.Context) error {
	type row struct {
		Present       []string `db:"present"`
		Schema        *string  `db:"schema"`
		Database      string   `db:"database"`
		ChecksClients bool     `db:"checks_clients"`
	}
	names := struct {
		Roles []string `db:"roles"`
	}{}
	for _, word := range RoleWords() {
		names.Roles = append(names.Roles, w.name(word))
	}
	for _, l := range w.opt.Logins {
		names.Roles = append(names.Roles, l.Name)
	}
	rows, err := roleRows[row](ctx, w.tx, "present", names)
	if err != nil {
		return err
	}
	seen := rows[0]
	if seen.Schema == nil {
		return errors.New("schema: the search_path names no schema that is there")
	}
	w.present, w.checksClients = seen.Present, seen.ChecksClients
	w.schema, w.dbname = *seen.Schema, seen.Database
	w.report.Schema, w.report.Database = w.schema, w.dbname
	return nil
}

func (w *roleWork) create(file string, r Role) {
	r.Created = !slices.Contains(w.present, r.Name)
	w.report.Roles = append(w.report.Roles, r)
	if r.Created {
		w.add(file, "{role}", quotedRole(r.Name))
	}
}

func (w *roleWork) privilege(p rolePrivilege) {
	role := quotedRole(w.name(p.Role))
	switch {
	case p.Privilege == "member":
		w.add("member", "{role}", role, "{relation}", quotedRole(w.name(p.Relation)))
	case p.Privilege == "execute":
		w.add("function", "{role}", role, "{privilege}", p.Privilege, "{relation}",
			w.relation(p.Relation))
	case strings.HasSuffix(p.Relation, "_seq"):
		w.add("sequence", "{role}", role, "{privilege}", p.Privilege, "{relation}",
			w.relation(p.Relation))
	default:
		columns := ""
		if p.Columns != nil {
			columns = "(" + quotedColumns(*p.Columns) + ")"
		}
		w.add("table", "{role}", role, "{privilege}", p.Privilege, "{columns}", columns,
			"{relation}", w.relation(p.Relation))
	}
}

func (w *roleWork) relation(name string) string { return pgx.Identifier{w.schema, name}.Sanitize() }

// login makes an account a member of its role and says how its sessions begin.
func (w *roleWork) login(l RoleLogin) {
	w.create("login", Role{Name: l.Name, Word: l.Role, Login: true})
	login := quotedRole(l.Name)
	w.add("member", "{role}", login, "{relation}", quotedRole(w.name(l.Role)))
	w.set(login, "search_path", quotedRole(w.schema))
	for _, s := range w.settings {
		if s.Role == l.Role && (w.checksClients || s.Name != "client_connection_check_interval") {
			w.set(login, s.Name, "'"+s.Value+"'")
		}
	}
}

func (w *roleWork) set(login, name, value string) {
	w.add("set", "{role}", login, "{database}", quotedRole(w.dbname), "{name}", name, "{value}", value)
}

// add completes a statement of a file.
func (w *roleWork) add(file string, words ...string) {
	words = append(words, "{schema}", quotedRole(w.schema))
	sql := strings.NewReplacer(words...).Replace(bareStatement(roleFile(file)))
	// Where there are no columns, two blanks are left; no name holds any.
	w.report.Statements = append(w.report.Statements, strings.ReplaceAll(sql, "  ", " "))
}

// bareStatement leaves the comments of a file out.
func bareStatement(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

func roleFile(name string) string {
	text, err := roleFiles.ReadFile("roles/" + name + ".sql")
	if err != nil {
		panic("schema: " + err.Error()) // the names are constants, and a test runs each
	}
	return string(text)
}

func roleRows[T any](ctx context.Context, tx pgx.Tx, file string, args any) ([]T, error) {
	rows, err := tx.Query(ctx, roleFile(file), pgx.StrictStructArgs(args))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[T])
}

func quotedRole(name string) string { return pgx.Identifier{name}.Sanitize() }

// quotedColumns quotes a list of names.
func quotedColumns(list string) string {
	names := strings.Split(list, ",")
	for i, n := range names {
		names[i] = pgx.Identifier{strings.TrimSpace(n)}.Sanitize()
	}
	return strings.Join(names, ", ")
}
