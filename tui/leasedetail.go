package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rewardctl/inspect"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

const readLimit = 6 * time.Second // one question to the servers

// pair writes a labelled value on one line.
func pair(t *paint.Theme, label, value string, role paint.Role) string {
	const labelWidth = 10
	return t.Text(paint.Muted, safetext.Fit(label, labelWidth, "")) +
		t.Text(role, safetext.Cell(value))
}

// wrapped writes a labelled value on as many lines as it needs.
func wrapped(t *paint.Theme, label, value string, role paint.Role, w int) []string {
	const labelWidth = 10
	var lines []string
	for i, part := range safetext.Wrap(safetext.Cell(value), max(w-labelWidth, 8)) {
		if i > 0 {
			label = ""
		}
		lines = append(lines, pair(t, label, part, role))
	}
	return lines
}

// leaseVerdict writes the verdict on a lease with its evidence.
func leaseVerdict(d *desk, it *leaseItem, w int) []string {
	t, l := d.theme, it.row
	state := stateGlyph(t.Glyphs, l.Verdict.State) + " " + stateWords(l.Verdict)
	role := stateRole(l.Verdict.State)
	if it.gone {
		state, role = t.Glyphs.Hollow+" gone; this is how it was", paint.Muted
	}
	lines := []string{t.Text(paint.Strong, safetext.Cut(safetext.Cell(l.Resource), w,
		t.Glyphs.Ellipsis)), pair(t, "verdict", state, role)}
	for _, also := range l.Verdict.Also {
		lines = append(lines, pair(t, "", "also "+stateWords(inspect.Verdict{State: also}),
			stateRole(also)))
	}
	for _, e := range l.Verdict.Evidence {
		lines = append(lines, wrapped(t, e.Name, e.Finding, paint.Plain, w)...)
	}
	return lines
}

// leaseIdentity writes who holds a lease, until when and under which token.
func leaseIdentity(d *desk, it *leaseItem, w int) []string {
	t, l := d.theme, it.row
	left := leftNow(l, d.now())
	share := heat(t.Glyphs, l, left, d.opts.LeaseTTL)
	lines := []string{pair(t, "left", leftText(l, left)+"  "+share, leftRole(l, left))}
	if l.Foreign != "" {
		lines = append(lines, pair(t, "foreign", l.Foreign, paint.Warn))
	} else {
		lines = append(lines, pair(t, "token", tokenText(l.Token), paint.Plain))
		lines = append(lines, wrapped(t, "owner", l.Owner, paint.Plain, w)...)
	}
	if l.Fence != nil {
		lines = append(lines, wrapped(t, "fence", fmt.Sprintf("%d by %s", l.Fence.Token,
			l.Fence.Owner), paint.Plain, w)...)
	}
	if l.Claims != nil {
		text := fmt.Sprintf("%d pending, %d processing", l.Claims.Pending, l.Claims.Processing)
		lines = append(lines, pair(t, "due", text, paint.Plain))
	}
	if l.Value == "" {
		return lines
	}
	return append(lines, wrapped(t, "value", l.Value, paint.Muted, w)...)
}

// leaseDetailMsg brings what the servers know about one resource.
type leaseDetailMsg struct {
	detail inspect.LeaseDetail
	err    error
}

// historyPage shows the history of one resource.
type historyPage struct {
	page
	d   *desk
	job *job
}

// openHistory reads and shows the history of the lease under the cursor.
func (s *leasesScreen) openHistory() tea.Cmd {
	resource := s.selected().row.Resource
	p := &historyPage{d: s.d}
	p.page = *newPage(s.d.root, resource, []string{"reading" + s.d.theme.Glyphs.Ellipsis})
	j, cmd := s.d.start(s.d.ctx, "reading "+resource, false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			detail, err := s.d.opts.Inspector.Lease(ctx, resource)
			return leaseDetailMsg{detail, err}
		})
	p.job = j
	s.d.root.open(p, false)
	return cmd
}

// Close gives up reading.
func (p *historyPage) Close() { p.job.stop() }

// Bindings returns the page's keys, closing this page.
func (p *historyPage) Bindings() []Binding {
	list := p.page.Bindings()
	list[len(list)-1].Action = func() tea.Cmd {
		p.r.close(p)
		return nil
	}
	return list
}

// Update takes the answer.
func (p *historyPage) Update(msg tea.Msg) tea.Cmd {
	done, ok := msg.(jobDoneMsg)
	if !ok || done.job != p.job {
		return nil
	}
	got, ok := done.result.(leaseDetailMsg)
	if !ok {
		return nil
	}
	if got.err != nil {
		p.d.health.failed(got.err)
		p.text = safetext.Lines("not read: " + got.err.Error())
		return nil
	}
	p.text = historyText(got.detail)
	return nil
}

func historyText(detail inspect.LeaseDetail) []string {
	var text []string
	add := func(format string, args ...any) {
		text = append(text, safetext.Lines(fmt.Sprintf(format, args...))...)
	}
	if l := detail.Lease; l != nil {
		add("held by   %s", l.Owner)
		add("token     %d", l.Token)
		add("verdict   %s", stateWords(l.Verdict))
	} else {
		add("nobody holds it now")
	}
	if f := detail.Fence; f != nil {
		burned := ""
		if f.Burned {
			burned = "  burned: its holder can never write again"
		}
		add("fence     %d by %s since %s%s", f.Token, f.Owner, stamp(f.At), burned)
	}
	if len(detail.Due) > 0 {
		add("")
		add("Rewards that are due")
	}
	for _, c := range detail.Due {
		add("  %-10s  %s  %d %s", c.Status, c.EventID, c.Amount, c.Kind)
	}
	add("")
	add("History, newest first")
	for _, e := range detail.History {
		owner, _, _ := strings.Cut(e.Owner, "#") // without the nonce: the token tells them apart
		add("  %s  %-17s token %d, %s: %s", stamp(e.At), e.Event, e.Token, owner, e.Detail)
	}
	if len(detail.History) == 0 {
		add("  nothing is recorded")
	}
	for _, m := range detail.Missing {
		add("")
		add("%s", m.String())
	}
	return text
}

// stamp writes a server's time to the second; a dash when it is not known.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}
