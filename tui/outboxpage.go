package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"rewardctl/inspect"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// deliveryPage shows every try of a delivery and what is sent, folded until somebody wants it
// whole.
type deliveryPage struct {
	page
	d      *desk
	job    *job
	got    *inspect.OutboxDetail
	folded bool
}

// deliveryMsg brings what a deliveryPage shows.
type deliveryMsg struct {
	got inspect.OutboxDetail
	err error
}

// openDelivery shows every try of a delivery, and what is sent.
func openDelivery(d *desk, id int64) tea.Cmd {
	p := &deliveryPage{d: d, folded: true}
	p.page = *newPage(d.root, d.tr("delivery %d", id), []string{
		d.tr("reading") + d.theme.Glyphs.Ellipsis,
	})
	j, cmd := d.start(d.ctx, p.title, false, deedLimit, func(ctx context.Context, _ *job) tea.Msg {
		got, err := d.opts.Inspector.OutboxShow(ctx, id)
		return deliveryMsg{got, err}
	})
	p.job = j
	d.root.open(p, false)
	return cmd
}

// Close gives up reading.
func (p *deliveryPage) Close() { p.job.stop() }

// Bindings returns the page's keys, closing this page.
func (p *deliveryPage) Bindings() []Binding {
	list := p.page.Bindings()
	return append([]Binding{{
		Keys: []string{"z"}, Help: "fold or unfold what is sent",
		Enabled: func() (bool, string) {
			return p.got != nil, p.d.tr("nothing was read yet")
		},
		Action: func() tea.Cmd {
			p.folded = !p.folded
			p.write()
			return nil
		},
	}}, list...)
}

// Update takes the answer.
func (p *deliveryPage) Update(msg tea.Msg) tea.Cmd {
	done, ok := msg.(jobDoneMsg)
	if !ok || done.job != p.job {
		return nil
	}
	got, ok := done.result.(deliveryMsg)
	if !ok {
		return nil
	}
	if got.err != nil {
		p.d.health.failed(got.err)
		p.text = safetext.Lines(p.d.tr("not read: %s", p.d.unread(got.err)))
		return nil
	}
	p.got = &got.got
	p.write()
	return nil
}

func (p *deliveryPage) write() {
	p.text = nil
	for _, line := range deliveryText(p.d, p.got, p.folded) {
		p.text = append(p.text, safetext.Lines(line)...)
	}
}

func deliveryText(d *desk, got *inspect.OutboxDetail, folded bool) []string {
	word, _ := laneWord(d, got.Lane)
	lines := []string{strings.TrimRight(word+"  "+got.Why(), " ")}
	if !got.NextAttempt.IsZero() {
		lines = append(lines, d.tr("next try at %s", stamp(got.NextAttempt)))
	}
	lines = append(lines, "", d.tr("Tries, oldest first"))
	for _, a := range got.Attempts {
		lines = append(lines, fmt.Sprintf("  %3d  %s  %-9s  %s  %s", a.Attempt, stamp(a.Started),
			plain(a.Verdict), brief(max(a.Ended.Sub(a.Started), 0)), a.Relay))
		if a.Detail != "" {
			lines = append(lines, "       "+a.Detail)
		}
	}
	if len(got.Attempts) == 0 {
		lines = append(lines, "  "+d.tr("none yet"))
	}
	lines = append(lines, "", d.tr("What is sent, under the key %s", strconv.Quote(got.Key)))
	hint := d.tr("z unfolds")
	if !folded {
		hint = d.tr("z folds")
	}
	for _, line := range jsonLines(got.Message, folded, d.theme.Glyphs.Ellipsis) {
		lines = append(lines, "  "+line)
	}
	return append(lines, "  "+hint)
}

// jsonLines writes JSON with one value to a line, indented. Folded, what is nested deeper than the
// first level is only counted. Numbers stay as they are written; what is no JSON stays as it is.
func jsonLines(raw []byte, folded bool, ellipsis string) []string {
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return strings.Split(string(raw), "\n")
	}
	lines := strings.Split(out.String(), "\n")
	if !folded {
		return lines
	}
	const first = "  " // the indent of the first level
	var short []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		opens := strings.HasSuffix(line, "{") || strings.HasSuffix(line, "[")
		if !opens || !strings.HasPrefix(line, first) {
			short = append(short, line)
			continue
		}
		inside := 0
		for i++; i < len(lines) && strings.HasPrefix(lines[i], first+first); i++ {
			if !strings.HasPrefix(lines[i], first+first+first) && !closesJSON(lines[i]) {
				inside++
			}
		}
		short = append(short, fmt.Sprintf("%s%s %d %s", line, ellipsis, inside,
			strings.TrimSpace(lines[min(i, len(lines)-1)])))
	}
	return short
}

// closesJSON reports whether a line only ends what an earlier one began.
func closesJSON(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "}") || strings.HasPrefix(line, "]")
}
