package tui

import (
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// command is one command of the ":" prompt. It has the words of the command line.
type command struct {
	words []string // such as "player", "history"
	usage string
	help  string
	run   func(args []string) tea.Cmd
}

// commands lists what ":" understands: the command line's words, for what the console can show.
func (p *prompt) commands() []command {
	r := p.r
	return []command{
		{[]string{"lease", "list"}, "lease list [FILTER]", "the leases", func(a []string) tea.Cmd {
			return r.goTo(ScreenLeases, Args{"filter": strings.Join(a, " ")})
		}},
		{[]string{"lease", "show"}, "lease show RESOURCE", "one lease", func(a []string) tea.Cmd {
			if len(a) != 1 {
				return r.usage("lease show RESOURCE")
			}
			return r.goTo(ScreenLeases, Args{"resource": a[0]})
		}},
		{
			[]string{"player", "history"},
			"player history PLAYER", "what a player received",
			func(a []string) tea.Cmd {
				if len(a) != 1 {
					return r.usage("player history PLAYER")
				}
				return r.goTo(ScreenPlayer, Args{"player": a[0]})
			},
		},
		{
			[]string{"explain"},
			"explain PLAYER EVENT", "was it granted, and why or why not",
			func(a []string) tea.Cmd {
				if len(a) != 2 {
					return r.usage("explain PLAYER EVENT")
				}
				return r.goTo(ScreenPlayer, Args{"player": a[0], "explain": a[1]})
			},
		},
		{
			[]string{"grant", "create"},
			"grant create [--player P ...]", "grant by hand",
			func(a []string) tea.Cmd { return r.openGrant(a) },
		},
		{[]string{"help"}, "help", "this list", func([]string) tea.Cmd {
			r.open(newHelp(r), false)
			return nil
		}},
		{[]string{"quit"}, "quit", "leave", func([]string) tea.Cmd {
			if r.keys.fast {
				r.d.say(Warned, "quit: keys arrived together; type it by hand")
				return nil
			}
			return r.hold(r.askQuit)
		}},
	}
}

// aliases are short forms of commands.
func aliases() map[string]string {
	return map[string]string{
		"q": "quit", "q!": "quit", "leases": "lease list", "lease": "lease list",
		"player": "player history", "grant": "grant create", "keys": "help",
	}
}

// run carries out what was typed after ":". Nothing that changes state can be started from here:
// a command opens the screen or the form, and the dialog does the rest.
func (r *root) run(text string) tea.Cmd {
	words, err := split(strings.TrimPrefix(text, "rewardctl "))
	if err != nil {
		r.d.say(Warned, "command: "+err.Error())
		return nil
	}
	if len(words) == 0 {
		return nil
	}
	if c, args := r.match(words); c != nil {
		return c.run(args)
	}
	if full, ok := aliases()[words[0]]; ok {
		if c, args := r.match(append(strings.Fields(full), words[1:]...)); c != nil {
			if len(args) == 0 && c.words[0] == "player" {
				return r.goTo(ScreenPlayer, nil)
			}
			return c.run(args)
		}
	}
	r.d.say(Warned, "no such command here: "+text+"; ? lists them")
	return nil
}

func (r *root) match(words []string) (*command, []string) {
	for _, c := range r.prompt.commands() {
		if len(words) >= len(c.words) &&
			strings.Join(words[:len(c.words)], " ") == strings.Join(c.words, " ") {
			return &c, words[len(c.words):]
		}
	}
	return nil, nil
}

func (r *root) usage(usage string) tea.Cmd {
	r.d.say(Warned, "usage: "+usage)
	return nil
}

// openGrant fills the form from the flags of grant create.
func (r *root) openGrant(words []string) tea.Cmd {
	args := Args{}
	known := map[string]bool{
		"player": true, "campaign": true, "subject": true, "version": true, "kind": true,
		"amount": true, "reason": true, "event": true,
	}
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(strings.TrimPrefix(words[i], "--"), "=")
		if !strings.HasPrefix(words[i], "--") || !known[name] {
			return r.usage("grant create [--player P] [--campaign C] [--subject S] [--version N]" +
				" [--event ID] [--kind K] [--amount N] [--reason TEXT]")
		}
		if !joined {
			i++
			if i >= len(words) {
				return r.usage("--" + name + " needs a value")
			}
			value = words[i]
		}
		args[name] = value
	}
	return r.goTo(ScreenGrant, args)
}

// split breaks a line into words as a shell does: blanks separate, quotes and \ keep together.
func split(line string) ([]string, error) {
	var (
		words  []string
		word   strings.Builder
		inWord bool
		quote  rune
		escape bool
	)
	for _, c := range line {
		switch {
		case escape:
			word.WriteRune(c)
			escape = false
		case c == '\\' && quote != '\'':
			escape, inWord = true, true
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				word.WriteRune(c)
			}
		case c == '\'' || c == '"':
			quote, inWord = c, true
		case c == ' ':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 || escape {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
