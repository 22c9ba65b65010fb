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

// releaseMax bounds what is released at once from here: the dialog looks at all of it again and
// again. More is the command's business.
const releaseMax = 1000

// marks is a frozen set of marked leases, as they were seen.
type marks struct {
	leases  []inspect.Lease // ours, in order of resource
	foreign int             // locks of other programs, which are left out
	gone    int             // marked leases that nobody holds any more
	hidden  int             // marked leases that the filter does not show
}

func canReleaseMarked(l *leaseList, count int) (bool, string) {
	switch why := l.d.cannot(repair.WordRelease); {
	case why != "":
		return false, why
	case count > releaseMax:
		return false, l.d.tr("%d are marked, %d can be released at once; the command lease release "+
			"takes more", count, releaseMax)
	case l.d.now().Sub(l.shown.at) > staleAfter:
		return false, l.d.tr("what is shown is too old to act upon; r reads it again")
	}
	return true, ""
}

// releaseMarked asks whether to release exactly the leases that are marked.
func releaseMarked(l *leaseList) tea.Cmd {
	items, gone := l.marked()
	_, hidden := l.table.Marks()
	m := marks{gone: gone, hidden: hidden - gone}
	for _, it := range items {
		m.add(*it.row)
	}
	if len(m.leases) == 0 {
		l.d.say(Warned, l.d.tr("none of the marked leases can be released together"))
		return nil
	}
	action, saw := newReleaseMany(l.d, m, nil)
	saw.At = l.shown.at
	return openDeed(l.d, action, saw)
}

func (m *marks) add(l inspect.Lease) {
	if l.Foreign != "" {
		m.foreign++
		return
	}
	m.leases = append(m.leases, l)
}

// newReleaseMany makes the deed for a frozen set, and how the set was seen. names are the resources
// that are looked at; nil means those of the set.
func newReleaseMany(d *desk, m marks, names []string) (deed, Observed) {
	requests := make([]repair.ReleaseRequest, len(m.leases))
	for i, l := range m.leases {
		requests[i] = repair.ReleaseRequest{
			Resource: l.Resource, Owner: l.Owner, Token: l.Token, Reason: "look",
		}
	}
	set, err := repair.NewReleaseSet(requests)
	if names == nil {
		for _, req := range set.Requests {
			names = append(names, req.Resource)
		}
	}
	action := deed{
		word: set.Word(), target: d.tr("%d leases", len(set.Requests)), verb: "release",
		confirm: strconv.Itoa(len(set.Requests)) + "-release",
		cli:     func(reason string) []string { return set.WithReason(reason).CLI() },
		observe: func(ctx context.Context) (Observed, error) { return lookAtMarks(ctx, d, m, names) },
		run: func(ctx context.Context, reason string, tell func(string)) Answer {
			return releaseSet(ctx, d, set.WithReason(reason), tell)
		},
	}
	o := m.observed(d, set)
	if err != nil {
		o.Block = err.Error()
	}
	return action, o
}

// lookAtMarks reads the leases of the set again.
func lookAtMarks(ctx context.Context, d *desk, was marks, names []string) (Observed, error) {
	list, err := d.opts.Inspector.LeasesOf(ctx, names)
	if err != nil {
		return Observed{}, err
	}
	if len(list.Missing) > 0 {
		first := list.Missing[0]
		return Observed{}, fmt.Errorf("%s: %w", first.Backend, first.Err)
	}
	m := marks{hidden: was.hidden, foreign: was.foreign, gone: was.gone}
	for _, l := range list.Leases {
		m.add(l)
	}
	m.gone += len(names) - len(list.Leases)
	action, o := newReleaseMany(d, m, names)
	o.next = action
	return o, nil
}

// observed describes the set: every lease is a row that must not change.
func (m marks) observed(d *desk, set repair.ReleaseSet) Observed {
	o := Observed{At: d.now()}
	alive := 0
	leases := slices.SortedFunc(slices.Values(m.leases), func(a, b inspect.Lease) int {
		return strings.Compare(a.Resource, b.Resource)
	})
	for _, l := range leases {
		if trust(l.Verdict) == "alive" {
			alive++
		}
		o.Rows = append(o.Rows, Fact{
			Name: l.Resource, Guard: true, Role: stateRole(l.Verdict.State),
			Value: fmt.Sprintf("%d:%s %s", l.Token, l.Owner, trust(l.Verdict)),
			Show: func(time.Time) string {
				return fmt.Sprintf("%s  %d  %s", stateWords(d.lang, l.Verdict), l.Token, ownerShort(&l))
			},
		})
	}
	o.Facts = []Fact{
		{Name: text.N("leases"), Value: strconv.Itoa(len(set.Requests))},
		{Name: text.N("alive"), Value: strconv.Itoa(alive), Role: badIf(int64(alive))},
		{Name: text.N("set"), Value: set.Digest},
	}
	o.Effects = []string{d.tr("each token is burned: its holder can never write again; each lock is " +
		"deleted only if owner and token are still these")}
	if alive > 0 {
		o.Effects = append(o.Effects, d.tr("%d show signs of life: releasing them stops working "+
			"processes", alive))
	}
	if m.hidden > 0 {
		o.Effects = append(o.Effects, d.tr("%d of them are hidden by the filter", m.hidden))
	}
	if m.foreign > 0 {
		o.Effects = append(o.Effects, d.tr("%d foreign locks are left out: release each by itself",
			m.foreign))
	}
	if m.gone > 0 {
		o.Effects = append(o.Effects, d.tr("%d that were marked ended by themselves", m.gone))
	}
	if len(set.Requests) == 0 {
		o.Block = d.tr("the leases ended by themselves: there is nothing to release")
	}
	return o
}

// releaseSet releases the leases one after the other and answers each.
func releaseSet(
	ctx context.Context, d *desk, set repair.ReleaseSet, tell func(string),
) Answer {
	done, all := 0, len(set.Requests)
	results := d.opts.Operator.ReleaseMany(ctx, set, func(repair.ReleaseOf) {
		done++
		tell(fmt.Sprintf("%d/%d", done, all))
	})
	counts := map[AnswerKind]int{}
	a := Answer{Spent: ScreenLeases}
	for _, r := range results {
		kind, words := releasedOf(d, r)
		counts[kind]++
		a.Rows = append(a.Rows, signOf(d.theme.Glyphs, kind)+" "+r.Request.Resource+"  "+words)
	}
	a.Title = d.tr("%d of %d released or gone", counts[AnswerDone], all)
	a.settle(d, counts, all)
	return a
}

// releasedOf says what became of one lease of a set.
func releasedOf(d *desk, r repair.ReleaseOf) (AnswerKind, string) {
	var broken *grant.BackendError
	switch {
	case r.NotRun:
		return AnswerFailed, d.tr("not tried: the run stopped before it")
	case errors.As(r.Err, &broken) && broken.Doubt, errors.Is(r.Err, context.DeadlineExceeded),
		errors.Is(r.Err, context.Canceled):
		return AnswerUnknown, d.tr("UNKNOWN: %s", r.Err)
	case broken != nil:
		return AnswerFailed, r.Err.Error()
	case r.Err != nil:
		return AnswerRefused, r.Err.Error()
	case r.Release.Freeing == repair.AlreadyGone:
		return AnswerDone, d.tr("gone already; token: %s", burnWords(d, r.Release.Burning))
	}
	return AnswerDone, d.tr("released; token: %s", burnWords(d, r.Release.Burning))
}

// signOf is the sign before an answer; its word stands beside it.
func signOf(g paint.Glyphs, k AnswerKind) string {
	switch k {
	case AnswerDone:
		return g.OK
	case AnswerRefused:
		return g.Warning
	case AnswerUnknown:
		return "?"
	default:
		return g.Wrong
	}
}
