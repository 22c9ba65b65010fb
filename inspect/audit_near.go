package inspect

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// nearRow is a posting that has another of the same player, kind and amount close in time.
type nearRow struct {
	player, kind, event, place string
	amount                     *string
	at                         time.Time
	isNew                      bool
	forms                      EventForms
}

// readNear finds postings that were probably made by a retry under another id. The server narrows
// the ledger down to rows close in time; whether two ids mean the same is decided here.
func readNear(ctx context.Context, u *unitRun, tx pgx.Tx) error {
	sql, err := u.source.fill("near", u.scope)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"within": u.plan.Window})
	if err != nil {
		return err
	}
	var found []draft
	group := &nearGroup{window: u.plan.Window, report: func(d draft) {
		d.folded = !u.source.own
		u.collect(&found, d)
	}}
	var r nearRow
	targets := []any{&r.player, &r.kind, &r.amount, &r.event, &r.at, &r.isNew, &r.place}
	_, err = pgx.ForEachRow(rows, targets, func() error {
		u.seen(1)
		group.add(r)
		return nil
	})
	group.end()
	if err != nil {
		return err
	}
	return u.finish(ctx, tx, found)
}

// nearGroup takes the rows of one player, kind and amount in order of time and chains those that
// mean the same. It keeps only what is still inside the window.
type nearGroup struct {
	window time.Duration
	report func(draft)

	first  *nearRow // names the group
	chains []*chain // in order of the time of their last row
}

// chain is a row and what looks like retries of it.
type chain struct {
	rows   []nearRow
	count  int64
	isNew  bool
	strong bool // equal in spelling alone
	last   nearRow
}

func (g *nearGroup) add(r nearRow) {
	if g.first == nil || r.player != g.first.player || r.kind != g.first.kind ||
		!sameText(r.amount, g.first.amount) {
		g.end()
		named := r
		g.first = &named
	}
	r.forms = NormalEvent(r.event)
	g.expire(r.at)
	for i, c := range g.chains {
		strong, same := c.matches(r, g.window)
		if !same {
			continue
		}
		c.take(r, strong)
		g.chains = append(append(g.chains[:i], g.chains[i+1:]...), c)
		return
	}
	g.chains = append(g.chains, &chain{
		rows: []nearRow{r}, count: 1, isNew: r.isNew, strong: true, last: r,
	})
}

// expire reports and forgets the chains that no later row can belong to.
func (g *nearGroup) expire(at time.Time) {
	n := 0
	for n < len(g.chains) && at.Sub(g.chains[n].last.at) > g.window {
		g.chains[n].tell(g.report)
		n++
	}
	g.chains = g.chains[n:]
}

// end reports what is left of the group.
func (g *nearGroup) end() {
	for _, c := range g.chains {
		c.tell(g.report)
	}
	g.chains = nil
}

// matches reports whether a row means the same as the chain's last one, and whether its spelling
// alone says so. Equal ids are the business of duplicate-key: they join a chain, but do not make
// one a finding.
func (c *chain) matches(r nearRow, window time.Duration) (strong, same bool) {
	const tellsNothing = 10 * time.Minute
	l, apart := c.last, r.at.Sub(c.last.at)
	if r.event == l.event {
		return true, true
	}
	if r.forms.Spelling == l.forms.Spelling && r.forms.Spelling != "" {
		return true, true
	}
	if r.forms.Bare != l.forms.Bare || apart > window/weakShare {
		return false, false
	}
	// Nothing but random parts: only that they are so close speaks for one reward.
	if meaning := strings.ReplaceAll(r.forms.Bare, NormalEvent(r.player).Spelling, ""); !readable(
		meaning) {
		return false, apart <= min(window/weakShare, tellsNothing)
	}
	return false, true
}

// readable reports whether a text holds a letter or a digit.
func readable(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("-_.:/#|@", r) })
}

func (c *chain) take(r nearRow, strong bool) {
	c.count++
	c.isNew = c.isNew || r.isNew
	c.strong = c.strong && strong
	c.last = r
	if len(c.rows) < evidenceMax {
		c.rows = append(c.rows, r)
	}
}

// tell reports the chain if it holds different ids.
func (c *chain) tell(report func(draft)) {
	var events, places []string
	seen := map[string]bool{}
	for _, r := range c.rows {
		places = append(places, r.place)
		if !seen[r.event] {
			seen[r.event] = true
			events = append(events, r.event)
		}
	}
	if len(events) < 2 || !c.isNew {
		return
	}
	word := "retried"
	if c.strong {
		word = "respelled"
	}
	first := c.rows[0]
	report(draft{
		evidenceRow: evidenceRow{
			Word: word, Key: first.kind, PlayerID: first.player, EventID: first.event,
			IsNew: true, Places: places,
		},
		count: c.count, events: events,
	})
}
