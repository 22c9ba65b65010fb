package tui

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"rewardctl/repair"
	"rewardctl/repair/batchfile"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// The fields of a file's form, in order.
const (
	bulkFile = iota
	bulkSheet
	bulkCampaign
	bulkVersion
	bulkReason
	bulkCount
)

// bulkZone is what of the screen has the keys.
type bulkZone uint8

const (
	zoneForm bulkZone = iota
	zoneColumns
	zoneCheck
)

// bulkScreen leads a file from its name to a plan: what it is, what its columns mean, every row
// checked, frozen. Whatever is refused, what was typed stays.
type bulkScreen struct {
	d      *desk
	ctx    context.Context
	args   Args // what the form was filled with last
	fields [bulkCount]field
	focus  int
	zone   bulkZone
	pane   bulkZone // the table that is shown: columns or check
	skip   bool

	lookSeq int // counts changes of what is looked at
	looking *job
	looked  bool // the look answers the form as it is
	look    batchfile.Look
	choices map[string]string // by column: what the operator chose it to mean; "" is nothing
	columns *table.Table
	tableAt int // the line on which the table begins, when it was drawn last

	paths []string // what the file's name may go on with

	check    *job
	checkSeq int
	found    atomic.Pointer[badStore] // also read by the list, in its own goroutine
	checked  CheckedFile              // nil before a check, and when it failed
	asked    PlanAsk                  // what was checked
	bad      *list[batchfile.Problem]

	planning *job
	stored   atomic.Int64 // rows that are stored by it
	problem  []string     // why the last step was refused
}

// The messages of the screen's jobs.
type (
	bulkDueMsg    struct{ seq int }
	bulkLookedMsg struct {
		seq  int
		look batchfile.Look
		err  error
	}
	bulkPathsMsg struct {
		begun string
		paths []string
	}
	bulkCheckedMsg struct {
		seq     int
		checked CheckedFile
		err     error
	}
	plannedMsg struct {
		plan repair.Plan
		err  error
	}
)

func newBulkScreen(d *desk) *bulkScreen {
	s := &bulkScreen{d: d, choices: map[string]string{}, pane: zoneColumns}
	s.found.Store(&badStore{})
	s.columns = newBulkColumns(d)
	s.bad = newBadList(d, s)
	s.clear()
	return s
}

// clear empties the form and forgets what was looked at.
func (s *bulkScreen) clear() {
	for i := range s.fields {
		s.fields[i] = newField("")
	}
	s.fields[bulkVersion].set("1")
	s.focus, s.skip, s.problem, s.paths = bulkFile, false, nil, nil
	s.forget()
	s.zone, s.pane = zoneForm, zoneColumns
}

// forget drops what was learnt about a file.
func (s *bulkScreen) forget() {
	s.looking.stop()
	s.lookSeq++
	s.look, s.looked, s.choices = batchfile.Look{}, false, map[string]string{}
	s.uncheck()
}

// ID names the screen.
func (s *bulkScreen) ID() ScreenID { return ScreenFile }

// Parent is the screen of grants.
func (s *bulkScreen) Parent() ScreenID { return ScreenGrant }

// Title names the screen.
func (s *bulkScreen) Title() string { return "File" }

// Open shows the form, filled with what is given. Shown again, it is as it was left.
func (s *bulkScreen) Open(ctx context.Context, args Args) tea.Cmd {
	s.ctx = ctx
	cmds := []tea.Cmd{s.bad.Open(ctx, nil)}
	if len(args) > 0 && !args.equal(s.args) {
		s.args = args
		s.clear()
		for i, name := range [bulkCount]string{"file", "sheet", "campaign", "version", "reason"} {
			if value, ok := args[name]; ok {
				s.fields[i].set(value)
			}
		}
		s.skip = args["skip-invalid"] != ""
		s.chooseAll(args["columns"])
		s.focus = s.firstEmpty()
	}
	if s.zone == zoneForm && s.value(bulkFile) != "" && !s.looked {
		cmds = append(cmds, s.due(0))
	}
	return tea.Batch(cmds...)
}

// chooseAll takes columns that a command names, one a line.
func (s *bulkScreen) chooseAll(lines string) {
	if lines == "" {
		return
	}
	columns, err := batchfile.ParseColumns(strings.Split(lines, "\n"))
	if err != nil {
		s.problem = []string{err.Error()}
	}
	for _, c := range columns {
		s.choices[strings.TrimSpace(c.Source)] = c.Target
	}
}

func (s *bulkScreen) firstEmpty() int {
	for i := range s.fields {
		if s.value(i) == "" && i != bulkSheet {
			return i
		}
	}
	return bulkReason
}

func (s *bulkScreen) value(i int) string { return strings.TrimSpace(s.fields[i].value()) }

// ask is what the form says, with the columns as they are read now.
func (s *bulkScreen) ask() PlanAsk {
	version, _ := strconv.Atoi(s.value(bulkVersion)) // ready says when it is none
	return PlanAsk{
		Path: s.value(bulkFile), Sheet: s.value(bulkSheet), Campaign: s.value(bulkCampaign),
		Reason: s.value(bulkReason), Version: version, Columns: s.named(), SkipInvalid: s.skip,
	}
}

// due plans a look at the file, when the form has rested.
func (s *bulkScreen) due(wait time.Duration) tea.Cmd {
	s.lookSeq++
	s.looked = false
	s.looking.stop()
	seq := s.lookSeq
	if wait == 0 {
		return func() tea.Msg { return bulkDueMsg{seq} }
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return bulkDueMsg{seq} })
}

// Update takes what the jobs answer.
func (s *bulkScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case bulkDueMsg:
		if msg.seq == s.lookSeq {
			return s.lookNow()
		}
	case jobDoneMsg:
		switch got := msg.result.(type) {
		case bulkLookedMsg:
			if got.seq == s.lookSeq {
				s.takeLook(got)
			}
		case bulkPathsMsg:
			return s.takePaths(got)
		case bulkCheckedMsg:
			s.takeCheck(got)
		case plannedMsg:
			if msg.job == s.planning {
				s.takePlan(got)
			}
		}
		return nil
	}
	return s.bad.Update(msg)
}

// lookNow reads the first lines of the file.
func (s *bulkScreen) lookNow() tea.Cmd {
	ask := s.ask()
	ask.Columns = nil
	if ask.Path == "" || s.d.opts.Plans == nil || s.ctx == nil || s.ctx.Err() != nil {
		return nil
	}
	seq := s.lookSeq
	j, cmd := s.d.start(s.ctx, s.d.tr("looking at %s", ask.Path), false, deedLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			look, err := s.d.opts.Plans.LookFile(ctx, ask)
			return bulkLookedMsg{seq, look, err}
		})
	s.looking = j
	return cmd
}

func (s *bulkScreen) takeLook(got bulkLookedMsg) {
	s.looked, s.look, s.problem = true, got.look, nil
	if got.err != nil {
		s.look = batchfile.Look{}
		s.problem = []string{got.err.Error()}
	}
	for source, target := range s.choices {
		there := slices.ContainsFunc(s.look.Columns, func(c batchfile.FoundColumn) bool {
			return batchfile.SameColumn(c.Name, source)
		})
		if len(s.look.Columns) > 0 && !there {
			s.problem = append(s.problem, s.d.tr("the file has no column %s, which was to be read as %s",
				source, target))
			delete(s.choices, source)
		}
	}
	if s.value(bulkSheet) == "" && len(s.look.Sheets) > 1 && s.look.Sheet != "" {
		s.fields[bulkSheet].set(s.look.Sheet) // the only one that holds anything
	}
	s.columns.Top()
}

// takePlan shows the refusal of a plan; what became of one is shown on its own screen.
func (s *bulkScreen) takePlan(got plannedMsg) {
	if s.problem = nil; got.err != nil {
		s.problem = strings.Split(got.err.Error(), "\n")
		return
	}
	s.uncheck() // its rows are frozen: nothing has to be remembered of the file
}

// planned tells what became of a file.
func (d *desk) planned(msg plannedMsg) tea.Cmd {
	if msg.err != nil {
		d.say(Erred, d.tr("the file was not planned"), strings.Split(msg.err.Error(), "\n")...)
		return nil
	}
	p := msg.plan
	words := d.tr("%s: %d rows, %s", p.Name(), p.Due, p.State)
	if p.Existing {
		words = d.tr("these rows are planned already: %s, %s", p.Name(), p.State)
	}
	d.sayDeed(Info, words)
	return d.root.goTo(ScreenPlan, Args{"plan": idText(p.ID)})
}

// Crumb says what the screen is for.
func (s *bulkScreen) Crumb() crumb {
	c := crumb{path: s.d.tr("Grants") + " › " + s.d.tr("a file")}
	if _, _, bad := s.found.Load().now(); s.pane == zoneCheck && bad > 0 {
		c.filter, c.counts = s.bad.Filter(), s.badCounts()
	}
	return c
}

// Seen says nothing: a file is read when it is asked for.
func (s *bulkScreen) Seen() seen { return seen{} }

// State is how the table of bad rows is set up.
func (s *bulkScreen) State() json.RawMessage { return s.bad.State() }

// Filter returns the filter of the bad rows.
func (s *bulkScreen) Filter() string { return s.bad.Filter() }

// SetFilter filters the bad rows.
func (s *bulkScreen) SetFilter(text string) { s.bad.SetFilter(text) }
