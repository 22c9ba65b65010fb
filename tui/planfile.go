package tui

import (
	"context"
	"strings"

	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// canPlan says whether a file can be planned from here.
func (d *desk) canPlan() (bool, string) {
	if why := d.cannot(repair.WordPlan); why != "" {
		return false, why
	}
	if d.opts.Plans == nil {
		return false, d.tr("this console cannot plan files")
	}
	return true, ""
}

// planForm asks for a file to plan. Planning grants nothing: it freezes the rows and shows what
// they would do.
type planForm struct {
	d      *desk
	fields [3]field // path, campaign, reason
	focus  int
	skip   bool
}

// plannedMsg brings the plan of a file.
type plannedMsg struct {
	plan repair.Plan
	err  error
}

func openPlanFile(d *desk) tea.Cmd {
	f := &planForm{d: d}
	for i := range f.fields {
		f.fields[i] = newField("")
	}
	d.root.open(f, false)
	return nil
}

// Title names the form.
func (f *planForm) Title() string { return f.d.tr("plan a file") }

// Update does nothing: the form waits for nobody.
func (f *planForm) Update(tea.Msg) tea.Cmd { return nil }

// Width returns the width of the form.
func (f *planForm) Width(w int) int { return min(w-4, 92) }

// Close has nothing to end.
func (f *planForm) Close() {}

// Typing is always true: a field has the keys.
func (f *planForm) Typing() bool { return true }

// Type edits the field.
func (f *planForm) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	f.fields[f.focus].update(msg, fast)
	return nil
}

// Paste goes into the field: a path is often dropped or pasted.
func (f *planForm) Paste(pasted string) (tea.Cmd, string) {
	_, refusal := f.fields[f.focus].paste(strings.Trim(strings.TrimSpace(pasted), "'\""))
	return nil, f.d.refusal(refusal)
}

func (f *planForm) ask() PlanAsk {
	get := func(i int) string { return strings.TrimSpace(f.fields[i].value()) }
	return PlanAsk{Path: get(0), Campaign: get(1), Reason: get(2), SkipInvalid: f.skip}
}

// CLI is the command that plans the same file.
func (a PlanAsk) CLI() []string {
	return repair.PlanRequest{
		Campaign: a.Campaign, Version: 1, Reason: a.Reason, SkipInvalid: a.SkipInvalid,
	}.Action(a.Path).CLI()
}

// Body draws the form.
func (f *planForm) Body(w, _ int) []string {
	t, tr := f.d.theme, f.d.tr
	lines := safetext.Wrap(tr("Every line is checked, the good ones are frozen under a hash, and the "+
		"plan shows what it would do. Nothing is granted by this."), w)
	lines = append(lines, "")
	for i, label := range []string{tr("file"), tr("campaign"), tr("reason")} {
		lines = append(lines, t.Text(paint.Muted, safetext.Fit(label, nameWidth, ""))+
			f.fields[i].view(t, w-nameWidth, f.focus == i))
	}
	skip := tr("refuse the file when a line is invalid")
	if f.skip {
		skip = tr("plan the good lines, list the invalid ones")
	}
	lines = append(lines, t.Text(paint.Muted, safetext.Fit("ctrl+o", nameWidth, ""))+skip, "")
	const max = 3
	return append(lines, commandText(t, f.ask().CLI(), w, max)...)
}

// Bindings plans and closes.
func (f *planForm) Bindings() []Binding {
	step := func(n int) func() tea.Cmd {
		return func() tea.Cmd {
			f.focus = (f.focus + n + len(f.fields)) % len(f.fields)
			return nil
		}
	}
	return []Binding{
		{
			Keys: []string{"ctrl+s"}, Help: "plan", Action: f.plan, Dangerous: true,
			Enabled: func() (bool, string) {
				if a := f.ask(); a.Path == "" || a.Reason == "" {
					return false, f.d.tr("a file and a reason are needed")
				}
				return true, ""
			},
		},
		{Keys: []string{"tab", "down", "enter"}, Show: "tab", Help: "next field", Action: step(1)},
		{Keys: []string{"shift+tab", "up"}, Help: "field before", Quiet: true, Action: step(-1)},
		{Keys: []string{"ctrl+o"}, Help: "invalid lines", Action: func() tea.Cmd {
			f.skip = !f.skip
			return nil
		}},
		{Keys: []string{"esc"}, Help: "close", Action: func() tea.Cmd {
			f.d.root.close(f)
			return nil
		}},
	}
}

// plan reads the file in a job.
func (f *planForm) plan() tea.Cmd {
	d, ask := f.d, f.ask()
	d.root.close(f)
	j, cmd := d.start(d.ctx, d.tr("planning"), false, longLimit,
		func(ctx context.Context, j *job) tea.Msg {
			plan, err := d.opts.Plans.MakePlan(ctx, ask, func(words string) {
				j.tell(words)
				d.notify()
			})
			return plannedMsg{plan, err}
		})
	j.long = true
	return cmd
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
	return d.root.goTo(ScreenPlans, Args{"row": idText(p.ID)})
}
