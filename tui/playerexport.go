package tui

import (
	"context"
	"strconv"
	"time"

	"rewardctl/inspect"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	// exportPage is how many entries are read at a time for an export.
	exportPage = 1000
	// exportLimit bounds the reading of a whole history.
	exportLimit = 10 * time.Minute
)

// cli is the command that prints the same entries.
func (s *playerScreen) cli() []string {
	argv := []string{"rewardctl", "player", "history", s.player}
	if s.player == "" {
		argv[3] = "PLAYER"
	}
	if s.asked.kind != "" {
		argv = append(argv, "--type", string(s.asked.kind))
	}
	if !s.asked.to.IsZero() {
		argv = append(argv, "--to", s.asked.to.UTC().Format(time.RFC3339))
	}
	return argv
}

// exportAll writes every page that the filter selects, not only what was read so far. It reads in
// the background and says how far it is; x stops it.
func (s *playerScreen) exportAll(format string) tea.Cmd {
	d, query := s.d, s.question()
	query.Limit = exportPage
	f, about := s.parsed(), s.about
	j, cmd := d.start(d.ctx, d.tr("export"), false, exportLimit,
		func(ctx context.Context, j *job) tea.Msg {
			var all []inspect.PlayerEntry
			for {
				page, err := d.opts.Inspector.Player(ctx, query)
				if err != nil {
					return exportMsg{err: err}
				}
				all = append(all, page.Entries...)
				j.tell(strconv.Itoa(len(all)))
				d.notify()
				if query.Cursor = page.Next; query.Cursor == "" {
					break
				}
			}
			rows := entriesOf(query.PlayerID, all, about)
			var items []*item[entry]
			for i := range rows {
				if f.match(lookAtEntry(d, &rows[i], d.now())) {
					items = append(items, &item[entry]{id: entryID(&rows[i]), row: &rows[i]})
				}
			}
			header, cells := s.cells(items)
			path, err := d.opts.Export(ctx, Export{
				Name: string(ScreenPlayer), Format: format, Header: header, Rows: cells,
			})
			return exportMsg{path, len(cells), err}
		})
	j.long = true
	return cmd
}
