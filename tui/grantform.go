package tui

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"rewardctl/grant"
	"rewardctl/repair"

	tea "github.com/charmbracelet/bubbletea"
)

// previewWait lets a word be typed before it is looked up.
const previewWait = 150 * time.Millisecond

// The fields of the form, in order.
const (
	inPlayer = iota
	inCampaign
	inSubject
	inVersion
	inKind
	inAmount
	inReason
	inCount
)

// grantScreen is the form for a grant by hand, with a live preview beside it.
type grantScreen struct {
	d      *desk
	ctx    context.Context
	fields [inCount]field
	focus  int
	typing bool
	event  string // an event id given as a whole, instead of its parts

	seq     int // counts changes of the form
	preview *repair.GrantPreview
	forSeq  int   // the change that preview and err answer
	err     error // why there is no preview
	looking *job
	seen    seen
}

// previewDueMsg starts a look when the form has rested; previewMsg brings its answer.
type (
	previewDueMsg struct{ seq int }
	previewMsg    struct {
		seq     int
		preview repair.GrantPreview
		err     error
	}
)

func newGrantScreen(d *desk) *grantScreen {
	s := &grantScreen{d: d, typing: true, forSeq: -1}
	s.clear()
	return s
}

func (s *grantScreen) clear() {
	for i := range s.fields {
		s.fields[i] = newField("")
	}
	s.fields[inVersion].set("1")
	s.event, s.focus = "", inPlayer
	s.preview, s.err = nil, nil
	s.seq++
}

func (s *grantScreen) ID() ScreenID  { return ScreenGrant }
func (s *grantScreen) Title() string { return "Grants" }

// Open shows the form, filled with what is given.
func (s *grantScreen) Open(ctx context.Context, args Args) tea.Cmd {
	s.ctx = ctx
	names := [inCount]string{
		"player", "campaign", "subject", "version", "kind", "amount", "reason",
	}
	if len(args) > 0 {
		s.clear()
		s.event = args["event"]
	}
	for i, name := range names {
		if value, ok := args[name]; ok {
			s.fields[i].set(value)
		}
	}
	s.typing = true
	for i := range s.fields {
		if s.fields[i].value() == "" && (i != inSubject && (s.event == "" || i != inCampaign)) {
			s.focus = i
			break
		}
	}
	return s.changed()
}

// request builds the grant from the form, or says what is missing.
func (s *grantScreen) request() (grant.Request, *grant.Rejection) {
	get := func(i int) string { return strings.TrimSpace(s.fields[i].value()) }
	req := grant.Request{
		PlayerID: get(inPlayer), Kind: get(inKind), Actor: s.d.opts.User, Reason: get(inReason),
		EventID: s.event,
	}
	amount, err := strconv.ParseInt(get(inAmount), 10, 64)
	if err != nil {
		return req, &grant.Rejection{
			Field: "amount", Value: get(inAmount),
			Problem: "is not a whole number", WayOut: "give a number from 1",
		}
	}
	req.Amount = amount
	if s.event == "" {
		version, err := strconv.Atoi(get(inVersion))
		if err != nil || version < 1 {
			return req, &grant.Rejection{
				Field: "version", Value: get(inVersion),
				Problem: "is not a whole number from 1", WayOut: "count repetitions from 1",
			}
		}
		id, err := grant.EventID(grant.EventParts{
			Campaign: get(inCampaign), PlayerID: req.PlayerID, Subject: get(inSubject),
			Kind: req.Kind, Version: version,
		})
		if err != nil {
			return req, asRejection(err)
		}
		req.EventID = id
	}
	return req, grant.Validate(req, grant.Limits{AmountMax: s.d.opts.AmountMax})
}

// changed drops the preview and plans the next look.
func (s *grantScreen) changed() tea.Cmd {
	s.seq++
	seq := s.seq
	s.looking.stop()
	return tea.Tick(previewWait, func(time.Time) tea.Msg { return previewDueMsg{seq} })
}

// Update looks when the form has rested, and takes the answer if the form is still the same.
func (s *grantScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case previewDueMsg:
		if msg.seq == s.seq {
			return s.look()
		}
	case jobDoneMsg:
		got, ok := msg.result.(previewMsg)
		if !ok {
			if _, isDeed := msg.result.(answerMsg); isDeed {
				return s.changed() // what was previewed may be posted by now
			}
			return nil
		}
		if got.seq == s.seq {
			s.take(got)
		}
	}
	return nil
}

func (s *grantScreen) take(got previewMsg) {
	s.forSeq, s.err = got.seq, got.err
	s.preview = &got.preview
	if got.err != nil {
		s.preview = nil
		s.d.health.failed(got.err)
		s.seen.problem = s.d.unread(got.err)
		return
	}
	s.seen = seen{at: s.d.now()}
}

func (s *grantScreen) look() tea.Cmd {
	req, problem := s.request()
	if problem != nil || s.d.opts.Operator == nil || s.ctx == nil || s.ctx.Err() != nil {
		return nil
	}
	seq := s.seq
	j, cmd := s.d.start(s.ctx, s.d.tr("preview"), false, readLimit,
		func(ctx context.Context, _ *job) tea.Msg {
			p, err := s.d.opts.Operator.PreviewGrant(ctx, req)
			return previewMsg{seq, p, err}
		})
	s.looking = j
	return cmd
}

// ready says whether the grant can be asked for, and why not.
func (s *grantScreen) ready() (bool, string) {
	if why := s.d.cannot(repair.WordGrant); why != "" {
		return false, why
	}
	if _, problem := s.request(); problem != nil {
		return false, problem.Error()
	}
	switch {
	case s.forSeq != s.seq:
		return false, s.d.tr("the preview is not there yet")
	case s.err != nil:
		return false, s.d.tr("there is no preview: %s", s.err)
	}
	return true, ""
}

func (s *grantScreen) submit() tea.Cmd {
	req, _ := s.request()
	action := newGrant(s.d, req)
	saw := action.observed(*s.preview)
	saw.At = s.seen.at
	return openDeed(s.d, action, saw)
}

// Typing reports whether a field has the keys.
func (s *grantScreen) Typing() bool { return s.typing }

// Type edits the field.
func (s *grantScreen) Type(msg tea.KeyMsg, fast bool) tea.Cmd {
	if changed, _ := s.fields[s.focus].update(msg, fast); changed {
		return s.edited()
	}
	return nil
}

// edited follows a change: a whole event id is replaced by its parts once one of them changes.
func (s *grantScreen) edited() tea.Cmd {
	if s.focus == inCampaign || s.focus == inSubject || s.focus == inVersion {
		s.event = ""
	}
	return s.changed()
}

// Paste puts the first line into the field.
func (s *grantScreen) Paste(text string) (tea.Cmd, string) {
	changed, refusal := s.fields[s.focus].paste(strings.TrimSpace(text))
	if changed {
		return s.edited(), refusal
	}
	return nil, refusal
}

// Unfocus takes the keys away from the form.
func (s *grantScreen) Unfocus() bool {
	was := s.typing
	s.typing = false
	return was
}

func (s *grantScreen) step(n int) tea.Cmd {
	if !s.typing {
		s.typing = true
		return nil
	}
	s.focus = (s.focus + n + inCount) % inCount
	return nil
}

// Bindings returns what the keys mean in the form.
func (s *grantScreen) Bindings() []Binding {
	return []Binding{
		{
			Keys: []string{"ctrl+s"}, Help: "grant" + s.d.theme.Glyphs.Ellipsis, Enabled: s.ready,
			Action: s.submit,
		},
		{
			Keys: []string{"tab", "down", "enter"}, Show: "tab", Help: "next field",
			Action: func() tea.Cmd { return s.step(1) },
		},
		{
			Keys: []string{"shift+tab", "up"}, Help: "field before", Quiet: true,
			Action: func() tea.Cmd { return s.step(-1) },
		},
		{Keys: []string{"ctrl+n"}, Help: "clear", Action: func() tea.Cmd {
			s.clear()
			s.typing = true
			return s.changed()
		}},
		{
			Keys: []string{"ctrl+y"}, Help: "copy command", Enabled: s.complete,
			Action: func() tea.Cmd {
				req, _ := s.request()
				return s.d.clip(s.d.tr("the command"), s.d.commandLine(newGrant(s.d, req).CLI()))
			},
		},
		{Keys: []string{"ctrl+t", "P"}, Help: "plans of files", Action: func() tea.Cmd {
			return s.d.root.goTo(ScreenPlans, nil)
		}},
		{Keys: []string{"ctrl+g"}, Help: "player", Quiet: true, Action: func() tea.Cmd {
			return s.d.root.goTo(ScreenPlayer, Args{"player": s.fields[inPlayer].value()})
		}},
	}
}

func (s *grantScreen) complete() (bool, string) {
	if _, problem := s.request(); problem != nil {
		return false, problem.Error()
	}
	return true, ""
}

// Crumb says what the form is for.
func (s *grantScreen) Crumb() crumb {
	return crumb{path: s.d.tr("Grants") + " › " + s.d.tr("one by hand")}
}

// Seen tells how old the preview is.
func (s *grantScreen) Seen() seen { return s.seen }

// State is nothing: a half-filled grant is not kept.
func (s *grantScreen) State() json.RawMessage { return json.RawMessage("{}") }
