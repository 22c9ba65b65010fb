package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// askBurn asks whether to end the right of a token's holder to write, and to leave its lock alone.
func askBurn(d *desk, resource string, token int64, owner string) tea.Cmd {
	req := repair.BurnRequest{Resource: resource, Token: token, Owner: owner}
	return openDeed(d, burnDeed(d, req), Observed{At: d.now(), Facts: burnFacts(d, req)})
}

// burnFacts are what the deed is about, whatever the servers say.
func burnFacts(d *desk, req repair.BurnRequest) []Fact {
	facts := []Fact{{Name: text.N("token"), Value: strconv.FormatInt(req.Token, 10), Guard: true}}
	if req.Owner != "" {
		facts = append(facts, Fact{Name: text.N("owner"), Value: req.Owner, Guard: true})
	}
	return facts
}

func burnDeed(d *desk, req repair.BurnRequest) deed {
	return by(deed{
		verb:    "burn",
		observe: func(ctx context.Context) (Observed, error) { return lookAtToken(ctx, d, req) },
	}, req, func(q *repair.BurnRequest) *string { return &q.Reason },
		func(ctx context.Context, q repair.BurnRequest) Answer { return burnToken(ctx, d, q) })
}

// lookAtToken asks what a burn would find, and who holds the lock.
func lookAtToken(ctx context.Context, d *desk, req repair.BurnRequest) (Observed, error) {
	o := Observed{At: d.now(), Facts: burnFacts(d, req)}
	dry := req
	dry.DryRun, dry.Reason = true, "look"
	got, err := d.opts.Operator.Burn(ctx, dry)
	var changed *repair.PreconditionError
	if errors.As(err, &changed) {
		o.Block = changed.Error()
		return o, nil
	}
	if err != nil {
		return Observed{}, err
	}
	detail, err := d.opts.Inspector.Lease(ctx, req.Resource)
	if err != nil && !errors.Is(err, inspect.ErrNotFound) {
		return Observed{}, err
	}
	fence := d.tr("none accepted yet")
	if f := got.FenceBefore; f != nil {
		fence = d.tr("%d by %s", f.Token, f.Owner)
	}
	lock := d.tr("nobody holds it now")
	if l := detail.Lease; l != nil {
		lock = fmt.Sprintf("%d  %s", l.Token, stateWords(d.lang, l.Verdict))
		if l.Foreign != "" {
			lock = heldWords(d, l)
		}
		if l.Token == req.Token && trust(l.Verdict) == "alive" {
			o.Effects = append(o.Effects,
				d.tr("its holder shows signs of life: its next write is refused"))
		}
	}
	o.Facts = append(o.Facts, Fact{
		Name: text.N("standing"), Value: string(got.Burning), Guard: true,
		Show: func(time.Time) string { return burnWords(d, got.Burning) },
	},
		Fact{Name: text.N("fence"), Value: fence}, Fact{Name: text.N("lock"), Value: lock})
	o.Effects = append(o.Effects,
		d.tr("the fence is raised to %d under a tombstone: who had it can never write again",
			req.Token), d.tr("the lock is left alone"))
	if got.Burning != repair.WouldBurn {
		o.Block = d.tr("there is nothing to burn: %s", burnWords(d, got.Burning))
	}
	return o, nil
}

func burnToken(ctx context.Context, d *desk, req repair.BurnRequest) Answer {
	got, err := d.opts.Operator.Burn(ctx, req)
	if err != nil {
		return failure(d, req, err)
	}
	a := Answer{
		Kind: AnswerDone, Title: d.tr("token %d of %s: %s", req.Token, req.Resource,
			burnWords(d, got.Burning)), Lines: []string{got.Note},
	}
	if got.ActionID > 0 {
		a.Lines = append(a.Lines, d.tr("recorded as operator action %d", got.ActionID))
	}
	return a
}

// lookLong bounds a look at all fences: there can be millions.
const lookLong = 5 * time.Minute

// askReseed asks which way counters and fences are brought together.
func askReseed(d *desk) tea.Cmd {
	ask := func(label string, fences bool) choice {
		req := repair.ReseedRequest{Fences: fences}
		argv := req.CLI()
		note := argv[1:slices.Index(argv, "--reason")]
		return choice{label: label, note: strings.Join(note, " "), run: func() tea.Cmd {
			return openDeed(d, reseedDeed(d, req, 0), Observed{At: d.now()})
		}}
	}
	return openPicker(d, d.tr("bring counters and fences together; nothing is ever lowered"),
		[]choice{
			ask(d.tr("raise counters that fell behind: Redis lost them"), false),
			ask(d.tr("raise fences, void all leases: PostgreSQL lost rows in a failover"), true),
		})
}

// reseedDeed raises what the look found. due is how many those are.
func reseedDeed(d *desk, req repair.ReseedRequest, due int) deed {
	verb := "reseed"
	if req.Fences {
		verb = "void-leases"
	}
	a := by(deed{
		target: d.tr("all resources"), verb: verb, looks: lookLong,
		confirm: strconv.Itoa(due) + "-" + verb,
		observe: func(ctx context.Context) (Observed, error) {
			dry := req
			dry.DryRun, dry.Reason = true, "look"
			got, err := d.opts.Operator.Reseed(ctx, dry)
			if err != nil {
				return Observed{}, err
			}
			return reseedSeen(d, req, got), nil
		},
	}, req, func(q *repair.ReseedRequest) *string { return &q.Reason },
		func(ctx context.Context, q repair.ReseedRequest) Answer { return reseed(ctx, d, q) })
	a.run = func(ctx context.Context, reason string, tell func(string)) Answer {
		q := req
		q.Reason, q.OnProgress = reason, func(n int) { tell(d.tr("%d looked at", n)) }
		return reseed(ctx, d, q)
	}
	return a
}

func reseedSeen(d *desk, req repair.ReseedRequest, got repair.Reseed) Observed {
	due := got.Counts[repair.WouldReseed]
	o := Observed{At: d.now(), next: reseedDeed(d, req, due), Facts: []Fact{
		{Name: text.N("raise"), Value: strconv.Itoa(due), Guard: true, Role: badIf(int64(due))},
		{Name: text.N("looked"), Value: d.tr("%d resources", got.Checked)},
	}}
	for _, item := range got.Items {
		words := fmt.Sprintf("%s  %s %s %d", item.State, orDash(item.Counter, d), d.theme.Glyphs.Arrow,
			item.To)
		if req.Fences {
			words = fmt.Sprintf("%s  %s %s %d", item.State, fenceToken(item.Fence, d),
				d.theme.Glyphs.Arrow, item.To)
		}
		o.Rows = append(o.Rows, Fact{Name: item.Resource, Value: words, Guard: true})
	}
	o.Effects = []string{
		d.tr("each counter is raised to its fence, only if it is still as it was seen"),
	}
	if req.Fences {
		o.Effects = []string{d.tr("each fence is raised to its counter: every lease that is held is " +
			"void, its holder is refused and takes a new one")}
	}
	timeline := got.Timeline != (repair.Timeline{})
	if timeline {
		o.Facts = append(o.Facts, Fact{
			Name: text.N("timeline"), Guard: true, Role: paint.Warn,
			Value: got.Timeline.From + " " + d.theme.Glyphs.Arrow + " " + got.Timeline.To,
		})
		o.Effects = append(o.Effects, d.tr("the database's timeline is accepted: grants go on"))
	}
	if due == 0 && !timeline {
		o.Block = d.tr("nothing has to be raised")
	}
	return o
}

func fenceToken(f *grant.Fence, d *desk) string {
	if f == nil {
		return d.theme.Glyphs.Dash
	}
	return strconv.FormatInt(f.Token, 10)
}

func orDash(value string, d *desk) string {
	if value == "" {
		return d.theme.Glyphs.Dash
	}
	return value
}

func reseed(ctx context.Context, d *desk, req repair.ReseedRequest) Answer {
	got, err := d.opts.Operator.Reseed(ctx, req)
	if err != nil {
		return failure(d, req, err)
	}
	left := got.Counts[repair.ReseedChanged] + got.Counts[repair.ReseedFailed]
	a := Answer{Kind: AnswerDone, Title: d.tr("%d raised, %d were raised before, %d left",
		got.Counts[repair.Reseeded], got.Counts[repair.ReseedKept], left)}
	if left > 0 {
		a.Kind = AnswerRefused
	}
	for _, item := range got.Items {
		kind, words := AnswerDone, fmt.Sprintf("%s %d", item.Answer, item.To)
		switch {
		case item.Err != nil:
			kind, words = AnswerFailed, item.Err.Error()
		case item.Answer == repair.ReseedChanged:
			kind = AnswerRefused
		}
		a.Rows = append(a.Rows, signOf(d.theme.Glyphs, kind)+" "+item.Resource+"  "+words)
	}
	if got.ResultID > 0 {
		a.Lines = append(a.Lines, d.tr("recorded as operator action %d", got.ResultID))
	}
	if got.LogProblem != "" {
		a.Lines = append(a.Lines, d.tr("the result could not be logged: %s", got.LogProblem))
	}
	return a
}
