package tui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"rewardctl/grant"
	"rewardctl/repair"
	"rewardctl/tui/paint"
	"rewardctl/tui/safetext"
)

func asRejection(err error) *grant.Rejection {
	var r *grant.Rejection
	if errors.As(err, &r) {
		return r
	}
	return &grant.Rejection{Field: "event id", Problem: err.Error(), WayOut: "correct the form"}
}

func formLabels(tr func(string, ...any) string) [inCount][2]string {
	return [inCount][2]string{
		{tr("player"), tr("who receives it")},
		{tr("campaign"), tr("such as season-2026-week-34")},
		{tr("subject"), tr("such as rank-3; may be empty")},
		{tr("version"), tr("1; 2 pays the same once more")},
		{tr("kind"), tr("such as gems")},
		{tr("amount"), tr("a whole number from 1")},
		{tr("reason"), tr("why, for the record")},
	}
}

// formBesideFrom is the width from which form and preview stand side by side.
const formBesideFrom = 110

// View draws the form on the left and the preview on the right, or below when it is narrow.
func (s *grantScreen) View(w, h int) string {
	t := s.d.theme
	left := s.formLines
	if w >= formBesideFrom {
		lw := w * 9 / 20
		form, preview := left(lw-2), s.previewLines(w-lw-4)
		bar := t.Text(paint.Muted, t.Glyphs.Bar)
		lines := make([]string, h)
		for i := range lines {
			lines[i] = " " + safetext.Fit(at(form, i), lw-1, t.Glyphs.Ellipsis) + bar + " " +
				safetext.Fit(at(preview, i), w-lw-2, t.Glyphs.Ellipsis)
		}
		return strings.Join(lines, "\n")
	}
	lines := append([]string(nil), left(w - 2)[1:inCount+1]...)
	lines = append(lines, t.Text(paint.Muted, strings.Repeat(t.Glyphs.Rule, w-2)))
	lines = append(lines, dense(s.previewLines(w - 2)[1:])...)
	for i := range lines {
		lines[i] = " " + safetext.Fit(lines[i], w-1, t.Glyphs.Ellipsis)
	}
	for len(lines) < h {
		lines = append(lines, safetext.Spaces(w))
	}
	return strings.Join(lines[:h], "\n")
}

func (s *grantScreen) formLines(w int) []string {
	t := s.d.theme
	const label = 11
	lines := []string{t.Text(paint.Strong, s.d.tr("Grant by hand"))}
	for i, text := range formLabels(s.d.tr) {
		focused := s.typing && s.focus == i
		mark := " "
		if focused {
			mark = t.Glyphs.Cursor
		}
		width := min(w-label-2, 44)
		value := s.fields[i].view(t, width, focused)
		if !focused && s.fields[i].value() == "" {
			hint := text[1]
			if s.event != "" && (i == inCampaign || i == inSubject || i == inVersion) {
				hint = s.d.tr("the event id is given as a whole")
			}
			value = t.Text(paint.Field, safetext.Fit("", 1, "")) +
				t.Text(paint.Muted, safetext.Fit(hint, width-1, t.Glyphs.Ellipsis))
		}
		lines = append(lines, t.Text(paint.Accent, mark)+" "+
			t.Text(paint.Muted, safetext.Fit(text[0], label-1, ""))+value)
	}
	lines = append(lines, "")
	if limit := s.d.opts.AmountMax; limit > 0 {
		lines = append(lines, t.Text(paint.Muted, "  "+s.d.tr("limit of one grant: %d", limit)))
	}
	safe := s.d.tr("ctrl+s asks before anything is granted. One event id is never paid twice: doing " +
		"the same again is safe.")
	for _, part := range safetext.Wrap(safe, max(w-4, 8)) {
		lines = append(lines, t.Text(paint.Muted, "  "+part))
	}
	return lines
}

// previewLines draws what would happen, computed by the same code that grants.
func (s *grantScreen) previewLines(w int) []string {
	t := s.d.theme
	req, problem := s.request()
	lines := []string{t.Text(paint.Strong, s.d.tr("Preview"))}
	if req.EventID != "" {
		lines = append(lines, wrapped(t, s.d.tr("event id"), req.EventID, paint.Accent, w)...)
	}
	switch {
	case problem != nil:
		text := problem.Field + " " + problem.Problem + "; " + problem.WayOut
		return append(lines, wrapped(t, s.d.tr("not yet"), text, paint.Warn, w)...)
	case s.d.opts.Operator == nil:
		return append(lines, t.Text(paint.Warn, s.d.tr("read-only: no preview")))
	case s.forSeq != s.seq:
		lines = append(lines, t.Text(paint.Muted, s.d.tr("looking")+t.Glyphs.Ellipsis))
	case s.err != nil:
		lines = append(lines, wrapped(t, s.d.tr("not seen"), s.d.unread(s.err), paint.Bad, w)...)
	default:
		lines = append(lines, s.answerLines(*s.preview, w)...)
	}
	lines = append(lines, "")
	const max = 8
	lines = append(lines, s.d.commandText(newGrant(s.d, req).CLI(), w, max)...)
	return lines
}

func (s *grantScreen) answerLines(p repair.GrantPreview, w int) []string {
	t := s.d.theme
	r := p.Result
	answer := s.d.tr("would be %s. %s", strings.ToUpper(r.Outcome.String()), p.Note)
	lines := wrapped(t, s.d.tr("answer"), answer,
		outcomeRole(r.Outcome), w)
	for _, d := range differences(s.d, r) {
		lines = append(lines, wrapped(t, "", d, paint.Bad, w)...)
	}
	before := s.d.tr("no: this id is free")
	role := paint.Good
	if r.Existing != nil && r.Existing.ID > 0 {
		before, role = strings.Join(existing(s.d, r), ""), paint.Warn
	}
	lines = append(lines, wrapped(t, s.d.tr("granted"), before, role, w)...)
	if p.ClaimStatus != "" {
		lines = append(lines, pair(t, s.d.tr("claim"), p.ClaimStatus, paint.Plain))
	}
	balance := strconv.FormatInt(p.BalanceBefore, 10) + " " + p.Request.Kind
	if p.BalanceAfter != p.BalanceBefore {
		balance = fmt.Sprintf("%d %s %d %s (%+d)", p.BalanceBefore, t.Glyphs.Arrow, p.BalanceAfter,
			p.Request.Kind, p.BalanceAfter-p.BalanceBefore)
	}
	lines = append(lines, pair(t, s.d.tr("balance"), balance, paint.Strong))
	lines = append(lines, wrapped(t, s.d.tr("lease"), holderWords(s.d, p.Holder), paint.Plain, w)...)
	lines = append(lines, wrapped(t, s.d.tr("fence"), fenceWords(s.d, p.Fence), paint.Plain, w)...)
	for _, warning := range p.Warnings {
		lines = append(lines, wrapped(t, t.Glyphs.Warning, warning, paint.Warn, w)...)
	}
	return lines
}
