package tui

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func TestFramesAreMarkedAsOne(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newSyncWriter(&out, true)
	frame := strings.Repeat("x", syncFrom)
	if n, err := w.frame([]byte(frame)); n != len(frame) || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if got := out.String(); got != syncOpen+frame+syncClose {
		t.Errorf("the frame is %q", got)
	}
	out.Reset()
	_, _ = w.frame([]byte("\x1b[?25l"))
	if got := out.String(); got != "\x1b[?25l" {
		t.Errorf("a mode switch is %q", got)
	}
	out.Reset()
	_, _ = newSyncWriter(&out, false).frame([]byte(frame))
	if got := out.String(); got != frame {
		t.Errorf("without marks the frame is %q", got)
	}
}

func TestClipboardSaysWhatItDid(t *testing.T) {
	t.Parallel()
	for multiplexer, prefix := range map[string]string{
		"": "\x1b]52;c;", "tmux": "\x1bPtmux;", "screen": "\x1bP",
	} {
		d := testDesk(t, 0)
		d.opts.Multiplexer = multiplexer
		var sent string
		d.copy = func(seq string) { sent = seq }
		if cmd := d.clip("the name", "reward:미라"); cmd != nil {
			cmd()
		}
		if !strings.HasPrefix(sent, prefix) ||
			!strings.Contains(sent, base64.StdEncoding.EncodeToString([]byte("reward:미라"))) {
			t.Errorf("%q: sent %q", multiplexer, sent)
		}
		if m := d.messages.current; m == nil || !strings.Contains(m.text, "not confirmed") {
			t.Errorf("%q: said %+v", multiplexer, m)
		}
		sent = ""
		if cmd := d.clip("the name", strings.Repeat("x", clipboardMax)); cmd != nil || sent != "" {
			t.Errorf("%q: a text beyond the limit was sent", multiplexer)
		}
	}
}

func TestPromptCompletesAndRemembers(t *testing.T) {
	t.Parallel()
	r := shown(t, 3, 120, 32)
	write := func(text string) {
		r.prompt.start(promptCommand, "")
		for _, c := range text {
			r.prompt.Type(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{c}}, false)
		}
	}
	for text, want := range map[string]string{
		"pl": "player history ", "lease s": "lease show ", "ex": "explain ", "xyz": "xyz",
	} {
		write(text)
		r.prompt.complete()
		if got := r.prompt.field.value(); got != want {
			t.Errorf("%q completes to %q, want %q", text, got, want)
		}
	}
	write("nonsense")
	r.prompt.submit()
	if m := r.d.messages.current; m == nil || !strings.Contains(m.text, "no such command") {
		t.Errorf("an unknown command says %+v", m)
	}
	r.prompt.start(promptCommand, "")
	r.prompt.recall(-1)
	if got := r.prompt.field.value(); got != "nonsense" {
		t.Errorf("the history gives %q", got)
	}
}

func TestCommandsOpenWhatTheyName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ScreenID{
		"lease list state:held": ScreenLeases, "leases": ScreenLeases, "player": ScreenPlayer,
		"player history p-1": ScreenPlayer, "rewardctl explain p-1 e:1": ScreenPlayer,
		"grant create --player p-1 --amount=5": ScreenGrant, "grant": ScreenGrant,
	} {
		r := shown(t, 3, 120, 32)
		r.run(text)
		if got := r.screen().ID(); got != want {
			t.Errorf("%q opens %s, want %s", text, got, want)
		}
	}
	r := shown(t, 3, 120, 32)
	r.run("grant create --player 'p 1' --amount=5 --kind gems")
	form := r.screen().(*grantScreen)
	if form.fields[inPlayer].value() != "p 1" || form.fields[inAmount].value() != "5" ||
		form.fields[inKind].value() != "gems" {
		t.Errorf("the form has %q %q %q", form.fields[inPlayer].value(),
			form.fields[inAmount].value(), form.fields[inKind].value())
	}
	r.run("grant create --bogus 1")
	if m := r.d.messages.current; m == nil || !strings.Contains(m.text, "usage: grant create") {
		t.Errorf("an unknown flag says %+v", m)
	}
}

// What tmux takes is in its buffer; what it does not take is asked of the terminal.
func TestClipboardOfTheMultiplexer(t *testing.T) {
	t.Parallel()
	r := shown(t, 3, 120, 32)
	d := r.d
	d.opts.Multiplexer = "tmux"
	var sent, taken string
	d.copy = func(seq string) { sent = seq }
	var refuse error
	d.opts.Clipboard = func(_ context.Context, text string) error {
		taken = text
		return refuse
	}
	run := func() {
		if cmd := r.update(d.clip("the name", "reward:p")()); cmd != nil {
			cmd()
		}
	}
	run()
	if m := d.messages.current; taken != "reward:p" || sent != "" || m == nil ||
		!strings.Contains(m.text, "into the buffer of tmux") {
		t.Errorf("taken %q, sent %q, said %+v", taken, sent, m)
	}
	refuse = errors.New("no server")
	run()
	if m := d.messages.current; sent == "" || m == nil || !strings.Contains(m.text, "not confirmed") {
		t.Errorf("sent %q, said %+v", sent, m)
	}
}
