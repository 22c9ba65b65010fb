package tui

import (
	"context"

	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// readingMsg brings the lines of a readingPage.
type readingMsg struct {
	lines []string
	err   error
}

// readingPage is a page whose text must be read first.
type readingPage struct {
	page
	d   *desk
	job *job
}

// openReading shows a page and fills it with what read returns.
func openReading(d *desk, title string, read func(ctx context.Context) ([]string, error)) tea.Cmd {
	p := &readingPage{d: d}
	p.page = *newPage(d.root, title, []string{d.tr("reading") + d.theme.Glyphs.Ellipsis})
	j, cmd := d.start(d.ctx, title, false, readLimit, func(ctx context.Context, _ *job) tea.Msg {
		lines, err := read(ctx)
		return readingMsg{lines, err}
	})
	p.job = j
	d.root.open(p, false)
	return cmd
}

// Close gives up reading.
func (p *readingPage) Close() { p.job.stop() }

// Update takes the answer.
func (p *readingPage) Update(msg tea.Msg) tea.Cmd {
	done, ok := msg.(jobDoneMsg)
	if !ok || done.job != p.job {
		return nil
	}
	got, ok := done.result.(readingMsg)
	if !ok {
		return nil
	}
	if got.err != nil {
		p.d.health.failed(got.err)
		got.lines = []string{p.d.tr("not read: %s", p.d.unread(got.err))}
	}
	p.text = nil
	for _, line := range got.lines {
		p.text = append(p.text, safetext.Lines(line)...)
	}
	return nil
}
