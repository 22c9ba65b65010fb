package tui

import (
	"context"
	"errors"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"

	tea "github.com/charmbracelet/bubbletea"
)

// rightsAgain is the time between two questions for the role's rights when the last one failed.
const rightsAgain = 5 * time.Second

// rights is what the database role may do. It is asked for once per connection: at the start, and
// when the database answers again after it did not.
type rights struct {
	known *repair.Rights // nil until it was answered: nothing is disabled for want of it
	asked time.Time      // when it was asked for last
	stale bool           // the database was away since
}

type rightsMsg struct {
	rights repair.Rights
	err    error
}

// askRights asks what the role may do, when that is due.
func (d *desk) askRights() tea.Cmd {
	r, now := &d.rights, d.now()
	if d.health.postgres.down {
		r.stale = true
		return nil
	}
	due := r.known == nil || r.stale
	if d.opts.Operator == nil || !due || !r.asked.IsZero() && now.Sub(r.asked) < rightsAgain {
		return nil
	}
	r.asked, r.stale = now, false
	_, cmd := d.start(d.ctx, d.tr("rights"), false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			got, err := d.opts.Operator.Rights(ctx, rolesOf(d.opts.Roles)...)
			return rightsMsg{got, err}
		})
	return cmd
}

// heardRights takes the answer. The first one chooses what to open with, if nobody did so yet.
func (d *desk) heardRights(msg rightsMsg) tea.Cmd {
	if msg.err != nil {
		d.rights.stale = true
		return nil
	}
	first := d.rights.known == nil
	d.rights.known = &msg.rights
	if !first || d.opts.Home != homeByRole || d.root.keys.seq > 0 || msg.rights.Bare {
		return nil
	}
	at := d.root.index(homeScreen(homeFor(d.opts.Roles, msg.rights)))
	if at == d.root.cur {
		return nil
	}
	return d.root.show(at, nil)
}

// cannot says why a deed cannot be done from here, by its word; empty when it can.
func (d *desk) cannot(word string) string {
	if why := d.readOnly(); why != "" {
		return why
	}
	if d.health.postgres.down { // every deed is written down there, before or with its effect
		return d.tr("a server does not answer") + ": postgresql"
	}
	return d.lacks(word)
}

// lacks says what the database role lacks for a deed; empty when it may do it.
func (d *desk) lacks(word string) string {
	if r := d.rights.known; r != nil && r.Lacks(word) != "" {
		return d.tr("the database role %s may not: it lacks %s", r.Role, r.Lacks(word))
	}
	return ""
}

// denied puts the refusal of a read into words, if that is what the error is: the server answers,
// but not to this role.
func (d *desk) denied(err error) (words string, is bool) {
	var denied *grant.DeniedError
	if !errors.As(err, &denied) {
		return "", false
	}
	var question *grant.BackendError
	if errors.As(err, &question) {
		return d.tr("the database role %s may not %s", denied.Role, question.Op), true
	}
	return d.tr("the database role %s may not see this", denied.Role), true
}

// unread says why something was not read.
func (d *desk) unread(err error) string {
	if words, is := d.denied(err); is {
		return words
	}
	var schema *grant.SchemaError
	if errors.As(err, &schema) {
		return d.tr("the tables are not there or too old; run: rewardctl migrate up")
	}
	return err.Error()
}

// missing says what an answer lacks, and why.
func (d *desk) missing(m inspect.Missing) string {
	if words, is := d.denied(m.Err); is {
		return words + ": " + d.tr("no %s", m.Lacks)
	}
	if grant.Answers(m.Err) {
		return d.unread(m.Err)
	}
	return m.String()
}

// isDenied reports whether an error says that the role may not, which no server's health tells.
func isDenied(err error) bool {
	var denied *grant.DeniedError
	return errors.As(err, &denied)
}
