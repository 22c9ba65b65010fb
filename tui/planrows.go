package tui

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
	"rewardctl/tui/table"

	tea "github.com/charmbracelet/bubbletea"
)

// planRowsMax bounds the rows of a plan that are shown; what was not granted comes first.
const planRowsMax = 20_000

func newPlanRowsScreen(d *desk) *list[repair.ApplyLine] {
	type row = repair.ApplyLine
	l := newList(d, listSpec[row]{
		id: ScreenPlanRows, parent: ScreenPlan, title: "Rows of a plan", every: readSlowly,
		columns: []column[row]{
			numberColumn(table.Column{Key: "line", Title: "LINE", Min: 8},
				func(l *row) int64 { return int64(l.Line) }),
			{
				table.Column{Key: "outcome", Title: "OUTCOME", Min: 17},
				func(l *row, _ time.Time) table.Cell {
					return table.Cell{Text: l.Word(), Role: lineRole(l)}
				},
				func(a, b *row) int { return int(a.Outcome) - int(b.Outcome) },
			},
			plainColumn(table.Column{Key: "player", Title: "PLAYER", Min: 16, Flex: 1, Max: 30},
				func(l *row) string { return l.Request.PlayerID }),
			plainColumn(table.Column{Key: "kind", Title: "KIND", Min: 8},
				func(l *row) string { return l.Request.Kind }),
			numberColumn(table.Column{Key: "amount", Title: "AMOUNT", Min: 9},
				func(l *row) int64 { return l.Request.Amount }),
			plainColumn(table.Column{Key: "event", Title: "EVENT", Min: 18, Flex: 2, Max: 60, Priority: 1},
				func(l *row) string { return l.Request.EventID }),
			plainColumn(table.Column{Key: "detail", Title: "DETAIL", Min: 20, Flex: 2, Max: 80, Priority: 2},
				func(l *row) string { return l.Detail }),
		},
		rowID: func(l *row) string { return strconv.Itoa(l.Line) },
		load: func(ctx context.Context, about Args) (batch[row], error) {
			return loadPlanRows(ctx, d, about["plan"])
		},
		servers: []grant.Backend{grant.PostgreSQL}, sortKey: "line", empty: "the plan has no rows",
		crumb: func(args Args) string {
			return strings.Join([]string{
				d.tr("Grants"), d.tr("Plans"), d.tr("plan %s", safetext.Cell(args["plan"])),
			}, " › ")
		},
		keys: func(l *list[row]) []Binding {
			return []Binding{{
				Keys: []string{"enter"}, Help: "player", Enabled: hasRow(l), Action: func() tea.Cmd {
					return d.root.goTo(ScreenPlayer, Args{"player": l.selected().row.Request.PlayerID})
				},
			}}
		},
		cli: func(args Args, _ string) []string {
			return []string{"rewardctl", "grant", "status", args["plan"]}
		},
		summary: func(l *list[row], w int) string {
			words := d.tr("every row of the plan; e exports them with their answers")
			if l.shown.total >= planRowsMax {
				words = d.tr("only the first %d rows are shown; e exports all", planRowsMax)
			}
			return safetext.Fit(" "+d.theme.Text(paint.Muted, words), w, d.theme.Glyphs.Ellipsis)
		},
	})
	l.spec.proof = func(row *row) []inspect.Proof {
		id, err := strconv.ParseInt(l.args["plan"], 10, 64)
		if err != nil {
			return nil
		}
		return inspect.ProvePlanRow(id, int64(row.Line))
	}
	l.extraSays = d.tr("all rows of the plan, shown or not")
	l.extra = func(format string) tea.Cmd { return exportPlan(d, l.args["plan"], format) }
	return l
}

// exportPlan writes every row of a plan with what became of it, read page by page.
func exportPlan(d *desk, plan, format string) tea.Cmd {
	id, err := strconv.ParseInt(plan, 10, 64)
	if err != nil || d.opts.Plans == nil {
		d.say(Warned, d.tr("there is no plan %s", plan))
		return nil
	}
	j, cmd := d.start(d.ctx, "export", false, longLimit, func(ctx context.Context, j *job) tea.Msg {
		written := 0
		path, err := d.opts.Export(ctx, Export{
			Name: "plan-" + plan, Format: format, Header: []string{
				"line", "player_id", "reward_event_id", "kind", "amount", "outcome", "ledger_id", "detail",
			},
			Each: func(write func([]string) error) error {
				return d.opts.Plans.PlanLines(ctx, id, false, func(l repair.ApplyLine) error {
					if written++; written%planRowsMax == 0 {
						j.tell(d.tr("%d rows", written))
						d.notify()
					}
					return write(planLine(&l))
				})
			},
		})
		return exportMsg{path, written, err}
	})
	j.long = true
	return cmd
}

func planLine(l *repair.ApplyLine) []string {
	ledger, q := "", &l.Request
	if l.LedgerID != 0 {
		ledger = idText(l.LedgerID)
	}
	return []string{
		strconv.Itoa(l.Line), q.PlayerID, q.EventID, q.Kind, orText(l.AmountText, idText(q.Amount)),
		l.Word(), ledger, l.Detail,
	}
}

func orText(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

func lineRole(l *repair.ApplyLine) paint.Role {
	if l.NotRun {
		return paint.Muted
	}
	return outcomeRole(l.Outcome)
}

func loadPlanRows(ctx context.Context, d *desk, plan string) (batch[repair.ApplyLine], error) {
	id, err := strconv.ParseInt(plan, 10, 64)
	if err != nil || d.opts.Plans == nil {
		return batch[repair.ApplyLine]{}, errors.New(d.tr("there is no plan %s", plan))
	}
	var out batch[repair.ApplyLine]
	err = d.opts.Plans.PlanLines(ctx, id, false, func(l repair.ApplyLine) error {
		out.rows = append(out.rows, l)
		if len(out.rows) >= planRowsMax {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}
