package tui

import (
	"context"
	"strings"

	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// Drill is a scripted failure that can be played.
type Drill struct {
	Name     string
	Plays    string   // what it plays, in a sentence
	Defences []string // the last one is all of them
}

// Drills plays scripted failures. Nil in the options leaves the screen empty.
type Drills interface {
	List() []Drill
	// Play runs a drill with one of its defences and tells each line of its timeline as it
	// happens. It returns the closing report, and whether the invariants held.
	Play(ctx context.Context, name, defence string, tell func(line string)) (report []string,
		holds bool, err error)
}

type drillList = list[Drill]

func newDrillsScreen(d *desk) *drillList {
	return newList(d, listSpec[Drill]{
		id: ScreenDrills, title: "Drills", every: readSlowly,
		columns: []column[Drill]{
			plainColumn(table.Column{Key: "drill", Title: "DRILL", Min: 18, Flex: 1, Max: 30},
				func(r *Drill) string { return r.Name }),
			plainColumn(table.Column{Key: "plays", Title: "PLAYS", Min: 30, Flex: 4, Max: 100},
				func(r *Drill) string { return r.Plays }),
			plainColumn(table.Column{Key: "defences", Title: "DEFENCES", Min: 22, Priority: 1},
				func(r *Drill) string { return strings.Join(r.Defences, " ") }),
		},
		rowID: func(r *Drill) string { return r.Name },
		load: func(context.Context, Args) (batch[Drill], error) {
			if d.opts.Drills == nil {
				return batch[Drill]{}, nil
			}
			return batch[Drill]{rows: d.opts.Drills.List()}, nil
		},
		empty: "there are no drills here", sortKey: "drill",
		detail: func(it *item[Drill], w int) (a, b []string) {
			what, how := facts{d: d, w: w}, facts{d: d, w: w}
			what.title(it.row.Name, paint.Strong)
			what.add(d.tr("plays"), it.row.Plays)
			how.add(d.tr("defences"), strings.Join(it.row.Defences, ", "))
			how.add(d.tr("where"), d.tr("in a schema and under keys of its own, which are removed again"))
			return what.lines, how.lines
		},
		keys: func(l *drillList) []Binding {
			return []Binding{{
				Keys: []string{"enter"}, Help: "play" + d.theme.Glyphs.Ellipsis, Enabled: canPlay(l),
				Action: func() tea.Cmd { return askPlay(l) },
			}}
		},
		cli: func(Args, string) []string { return []string{"rewardctl", "drill", "list"} },
	})
}

func canPlay(l *drillList) func() (bool, string) {
	return func() (bool, string) {
		if l.d.opts.ReadOnly {
			return false, l.d.tr("the context %s is read-only", l.d.opts.Context)
		}
		if l.d.jobs.stoppable() != nil {
			return false, l.d.tr("a job runs already; x stops it")
		}
		return hasRow(l)()
	}
}

// askPlay asks with which defences to play.
func askPlay(l *drillList) tea.Cmd {
	drill := *l.selected().row
	var choices []choice
	for i := len(drill.Defences) - 1; i >= 0; i-- {
		defence := drill.Defences[i]
		choices = append(choices, choice{
			label: l.d.tr("with %s", defence),
			note:  "rewardctl drill run " + drill.Name + " --defence " + defence,
			run:   func() tea.Cmd { return playDrill(l.d, drill.Name, defence) },
		})
	}
	return openPicker(l.d, l.d.tr("play %s", drill.Name), choices)
}

// playMsg brings one line of a drill, or its end.
type playMsg struct {
	report []string
	holds  bool
	err    error
}

// drillPage shows a drill as it is played.
type drillPage struct {
	page
	d     *desk
	job   *job
	lines chan string
}

// playDrill plays a drill and shows its timeline as it happens.
func playDrill(d *desk, name, defence string) tea.Cmd {
	p := &drillPage{d: d, lines: make(chan string, 1000)}
	p.page = *newPage(d.root, name+", "+defence, nil)
	ctx, cancel := context.WithCancel(d.ctx)
	j := &job{name: d.tr("drill %s", name), long: true, started: d.now(), cancel: cancel}
	d.jobs.running = append(d.jobs.running, j)
	p.job = j
	d.root.open(p, false)
	return d.command(func() tea.Msg {
		defer cancel()
		report, holds, err := d.opts.Drills.Play(ctx, name, defence, func(line string) {
			select {
			case p.lines <- line:
			default: // nobody looks; the report has everything
			}
			d.notify()
		})
		return jobDoneMsg{j, playMsg{report, holds, err}}
	})
}

// Close leaves the drill to its end: it removes what it made.
func (p *drillPage) Close() {}

// Update takes lines and the report.
func (p *drillPage) Update(msg tea.Msg) tea.Cmd {
	p.take()
	done, ok := msg.(jobDoneMsg)
	if !ok || done.job != p.job {
		return nil
	}
	got, ok := done.result.(playMsg)
	if !ok {
		return nil
	}
	p.text = append(p.text, "")
	switch {
	case got.err != nil:
		p.text = append(p.text, safetext.Cell(p.d.tr("it was not played to its end: %s", got.err)))
	case got.holds:
		p.text = append(p.text, p.d.theme.Glyphs.OK+" "+p.d.tr("the invariants hold"))
	default:
		p.text = append(p.text, p.d.theme.Glyphs.Wrong+" "+
			p.d.tr("the invariants are broken: this is what the defences prevent"))
	}
	for _, line := range got.report {
		p.text = append(p.text, safetext.Cell(line))
	}
	p.top = 1 << 20
	return nil
}

// take shows the lines that came.
func (p *drillPage) take() {
	for {
		select {
		case line := <-p.lines:
			p.text = append(p.text, safetext.Cell(line))
			p.top = 1 << 20
		default:
			return
		}
	}
}
