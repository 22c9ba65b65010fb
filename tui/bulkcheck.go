package tui

import (
	"cmp"
	"context"
	"strconv"
	"sync"
	"time"

	"rewardctl/repair/batchfile"
	"rewardctl/tui/paint"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// badRowsMax bounds the problems that are shown; all of them are counted, and exported.
const badRowsMax = 20_000

// checkEvery is the least time between two looks at what a running check has found.
const checkEvery = 250 * time.Millisecond

// badStore is what a check has found so far. It is filled by the check and read by the list.
type badStore struct {
	mu       sync.Mutex
	at       batchfile.Progress
	problems []batchfile.Problem // the first ones; only appended to
	count    int                 // all of them
}

func (b *badStore) progress(at batchfile.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = at
}

func (b *badStore) problem(p batchfile.Problem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count++; len(b.problems) < badRowsMax {
		b.problems = append(b.problems, p)
	}
}

// settle replaces what was found on the way with what the check came to.
func (b *badStore) settle(check *batchfile.Check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems, b.count = check.Problems, check.ProblemCount
}

func (b *badStore) now() (at batchfile.Progress, problems []batchfile.Problem, count int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at, b.problems, b.count
}

func newBadList(d *desk, s *bulkScreen) *list[batchfile.Problem] {
	type row = batchfile.Problem
	return newList(d, listSpec[row]{
		id: ScreenFile, title: "Bad rows", every: readSlowly,
		columns: []column[row]{
			numberColumn(table.Column{Key: "line", Title: "LINE", Min: 8},
				func(p *row) int64 { return int64(p.Line) }),
			plainColumn(table.Column{Key: "field", Title: "FIELD", Min: 10},
				func(p *row) string { return p.Field }),
			plainColumn(table.Column{Key: "value", Title: "VALUE", Min: 12, Flex: 1, Max: 30},
				func(p *row) string { return p.Value }),
			roleColumn(table.Column{Key: "problem", Title: "PROBLEM", Min: 20, Flex: 3, Max: 70},
				func(p *row) (string, paint.Role) { return p.Problem, paint.Bad }),
			plainColumn(table.Column{
				Key: "wayout", Title: "WAY OUT", Min: 20, Flex: 2, Max: 60, Priority: 1,
			}, func(p *row) string { return p.WayOut }),
		},
		rowID: func(p *row) string {
			return strconv.Itoa(p.Line) + "/" + p.Field + "/" + p.Problem
		},
		load: func(context.Context, Args) (batch[row], error) {
			_, problems, _ := s.found.Load().now()
			return batch[row]{rows: problems[:len(problems):len(problems)]}, nil
		},
		sortKey: "line", empty: "no row is bad",
		detail: func(it *item[row], w int) (a, b []string) {
			left, right := facts{d: d, w: w}, facts{d: d, w: w}
			left.title(d.tr("line %d", it.row.Line), paint.Strong)
			left.add(d.tr("field"), it.row.Field)
			left.add(d.tr("value"), strconv.Quote(it.row.Value))
			right.in(d.tr("problem"), it.row.Problem, paint.Bad)
			right.add(d.tr("way out"), it.row.WayOut)
			return left.lines, right.lines
		},
	})
}

// uncheck forgets the check; one that runs is stopped.
func (s *bulkScreen) uncheck() {
	s.check.stop()
	s.check = nil
	s.checkSeq++
	if s.checked != nil {
		checked := s.checked
		s.d.spawn(func() { _ = checked.Close() }) // it was only read
	}
	s.checked = nil
	s.found.Store(&badStore{})
	s.turnBad()
}

// turnBad has the list of bad rows forget those of the check before.
func (s *bulkScreen) turnBad() {
	l, about := s.bad, Args{"check": idText(int64(s.checkSeq))}
	l.args = about
	l.feed.turn(about)
	l.feed.hold.Store(false)
	l.shown = &view[batchfile.Problem]{args: about}
	l.table.ClearMarks()
	l.place()
	l.feed.refresh()
}

// checking reports whether a check runs.
func (s *bulkScreen) checking() bool { return s.check != nil && !s.check.done }

// fresh reports whether the form still says what was checked.
func (s *bulkScreen) fresh() bool { return s.checked != nil && s.asked.reads(s.ask()) }

// readable says whether the file can be checked as the form stands, and why not.
func (s *bulkScreen) readable() (bool, string) {
	tr := s.d.tr
	version, err := strconv.Atoi(s.value(bulkVersion))
	lacks := s.lacking()
	switch {
	case s.d.opts.Plans == nil:
		return false, tr("this console cannot plan files")
	case s.value(bulkFile) == "":
		return false, tr("name a file")
	case !s.looked:
		return false, tr("the file is being looked at")
	case s.look.Format == "":
		return false, tr("the file cannot be read")
	case len(s.look.Columns) == 0 && len(s.look.Sheets) > 1:
		return false, tr("choose a sheet")
	case len(lacks) > 0:
		return false, tr("no column is read as %s", lacks[0])
	case s.value(bulkCampaign) == "" && !s.hasEvent():
		return false, tr("a campaign is needed: it builds the event ids")
	case err != nil || version < 1:
		return false, tr("the version is a whole number from 1")
	case s.checking():
		return false, tr("the check is running; x stops it")
	}
	return true, ""
}

// runCheck has every row judged, in a job.
func (s *bulkScreen) runCheck() tea.Cmd {
	d, ask := s.d, s.ask()
	s.uncheck()
	s.problem, s.asked, s.zone, s.pane = nil, ask, zoneCheck, zoneCheck
	s.bad.SetFilter("")
	seq, found := s.checkSeq, s.found.Load()
	drawn := d.now()
	j, cmd := d.start(d.ctx, d.tr("checking"), false, longLimit,
		func(ctx context.Context, j *job) tea.Msg {
			checked, err := d.opts.Plans.CheckFile(ctx, ask, FileWatch{
				Problem: found.problem, Keep: badRowsMax,
				Progress: func(at batchfile.Progress) {
					found.progress(at)
					j.tell(d.tr("%d rows", at.Rows))
					if now := d.now(); now.Sub(drawn) >= checkEvery {
						drawn = now
						s.bad.feed.hold.Store(false) // rows only come behind those that are shown
						s.bad.feed.refresh()
						d.notify()
					}
				},
			})
			return bulkCheckedMsg{seq, checked, err}
		})
	s.check, j.long = j, true
	return cmd
}

// takeCheck shows what a check came to. One that is not waited for any more is put away.
func (s *bulkScreen) takeCheck(got bulkCheckedMsg) {
	if got.seq != s.checkSeq {
		if got.checked != nil {
			s.d.spawn(func() { _ = got.checked.Close() })
		}
		return
	}
	if got.err != nil {
		s.problem = []string{s.d.unread(got.err)}
		s.d.say(Erred, s.d.tr("the file was not checked"), got.err.Error())
		return
	}
	s.checked = got.checked
	s.found.Load().settle(got.checked.Check())
	s.bad.feed.hold.Store(false)
	s.bad.feed.refresh()
}

// badCounts say how much of the bad rows is shown.
func (s *bulkScreen) badCounts() string {
	_, problems, count := s.found.Load().now()
	if count > len(problems) {
		return s.d.tr("the first %d of %d problems; e exports all", len(problems), count)
	}
	return s.bad.Crumb().counts
}

// hasBad says whether there are bad rows to export.
func (s *bulkScreen) hasBad() (bool, string) {
	switch {
	case s.d.opts.Export == nil:
		return false, s.d.tr("this console cannot write files")
	case s.checked == nil:
		return false, s.d.tr("check the file first")
	case s.checked.Check().Refused == 0:
		return false, s.d.tr("no row is bad")
	}
	return true, ""
}

// pickBad asks which bad rows to export, and how.
func (s *bulkScreen) pickBad() tea.Cmd {
	d, check := s.d, s.checked.Check()
	var choices []choice
	add := func(label, format string, match func(*batchfile.Problem) bool) {
		choices = append(choices, choice{label: label, note: format, run: func() tea.Cmd {
			return s.exportBad(format, match)
		}})
	}
	for _, format := range []string{"csv", "jsonl"} {
		add(d.tr("all %d bad rows, shown or not", check.Refused), format, nil)
	}
	if q := s.bad.feed.query.Load(); q != nil && q.match != nil {
		add(d.tr("the problems that match the filter"), "csv", q.match)
	}
	return openPicker(d, d.tr("export bad rows: one line per problem"), choices)
}

// exportBad writes the problems of bad rows, read once more from the file.
func (s *bulkScreen) exportBad(format string, match func(*batchfile.Problem) bool) tea.Cmd {
	d, checked := s.d, s.checked
	j, cmd := d.start(d.ctx, "export", false, longLimit, func(ctx context.Context, _ *job) tea.Msg {
		written := 0
		path, err := d.opts.Export(ctx, Export{
			Name: "bad-rows", Format: format, Header: []string{
				"line", "field", "value", "problem", "way_out", "player_id", "kind", "amount", "event",
			},
			Each: func(write func([]string) error) error {
				return checked.Bad(ctx, func(r batchfile.Row) error {
					for _, p := range r.Problems {
						if match != nil && !match(&p) {
							continue
						}
						written++
						q := r.Request
						if err := write([]string{
							strconv.Itoa(p.Line), p.Field, p.Value, p.Problem, p.WayOut, q.PlayerID, q.Kind,
							r.AmountText, q.EventID,
						}); err != nil {
							return err
						}
					}
					return nil
				})
			},
		})
		return exportMsg{path, written, err}
	})
	j.long = true
	return cmd
}

// plannable says whether the rows that were checked can be planned, and why not.
func (s *bulkScreen) plannable() (bool, string) {
	tr := s.d.tr
	if ok, why := s.d.canPlan(); !ok {
		return false, why
	}
	check := s.checked.Check()
	switch {
	case check.Refused > 0 && !s.skip:
		return false, tr("%d rows are bad: correct the file, or ctrl+g plans the good ones only",
			check.Refused)
	case check.Good == 0:
		return false, tr("no row is good")
	case s.value(bulkReason) == "":
		return false, tr("a reason is needed")
	case s.isPlanning():
		return false, tr("it is being planned")
	}
	return true, ""
}

// isPlanning reports whether the rows are being frozen.
func (s *bulkScreen) isPlanning() bool { return s.planning != nil && !s.planning.done }

// plan freezes the rows that were checked, in a job.
func (s *bulkScreen) plan() tea.Cmd {
	d, ask, checked, stored := s.d, s.ask(), s.checked, &s.stored
	s.problem = nil
	stored.Store(0)
	j, cmd := d.start(d.ctx, d.tr("planning"), true, longLimit,
		func(ctx context.Context, j *job) tea.Msg {
			plan, err := checked.Plan(ctx, ask, func(done, total int64) {
				stored.Store(done)
				j.tell(d.tr("%d of %d rows", done, total))
				d.notify()
			})
			return plannedMsg{plan, err}
		})
	s.planning, j.long = j, true
	return cmd
}

// largest is the largest single amount of a check, and where it is.
func largest(check *batchfile.Check) *batchfile.KindTotal {
	var most *batchfile.KindTotal
	for i := range check.Kinds {
		if k := &check.Kinds[i]; most == nil || cmp.Compare(k.Largest, most.Largest) > 0 {
			most = k
		}
	}
	return most
}
