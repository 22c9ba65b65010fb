package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rewardctl/tui/safetext"
	"rewardctl/tui/text"

	tea "github.com/charmbracelet/bubbletea"
)

// command is one command of the ":" prompt that opens something here. It has the words of the
// command line.
type command struct {
	words []string // such as "player", "history"
	usage string
	help  string // English; translated when it is shown
	run   func(args []string) tea.Cmd
	// plain commands open a screen by names or a filter alone: with flags, what the command of the
	// command line prints is shown instead.
	plain bool
}

// commands lists what ":" does by itself; any other command of the grammar that only reads is run
// and its output shown.
func (p *prompt) commands() []command {
	return append(p.opening(), p.own()...)
}

// newCommand makes a command of its usage: its words are those before the first argument.
func newCommand(usage, help string, run func(args []string) tea.Cmd) command {
	var words []string
	for _, word := range strings.Fields(usage) {
		if strings.ToLower(word) != word || word[0] == '[' {
			break
		}
		words = append(words, word)
	}
	return command{words: words, usage: usage, help: help, run: run}
}

// opening are the commands of the command line for which there is a screen.
func (p *prompt) opening() []command {
	r := p.r
	list := func(usage, help string, id ScreenID) command {
		c := newCommand(usage, help, func(a []string) tea.Cmd {
			return r.goTo(id, Args{"filter": strings.Join(a, " ")})
		})
		c.plain = true
		return c
	}
	about := func(usage, help string, id ScreenID, names ...string) command {
		c := newCommand(usage, help, func(a []string) tea.Cmd {
			if len(a) != len(names) {
				return r.usage(usage)
			}
			args := Args{}
			for i, name := range names {
				args[name] = a[i]
			}
			return r.goTo(id, args)
		})
		c.plain = true
		return c
	}
	return []command{
		list("lease list [FILTER]", text.N("the leases"), ScreenLeases),
		about("lease show RESOURCE", text.N("one lease"), ScreenLeases, "row"),
		about("token list RESOURCE", text.N("the tokens of a resource"), ScreenTokens, "resource"),
		newCommand(refusedUsage, text.N("late writes that the fence refused"), r.openRefused),
		about("player history PLAYER", text.N("what a player received"), ScreenPlayer, "player"),
		about("explain PLAYER EVENT", text.N("was it granted, and why or why not"), ScreenPlayer,
			"player", "explain"),
		newCommand("grant create [--player P ...]", text.N("grant by hand"), r.openGrant),
		newCommand("grant plan [FILE] [--campaign C ...]", text.N("plan a file of rewards"), r.openFile),
		list("grant list [FILTER]", text.N("the plans"), ScreenPlans),
		about("grant status PLAN", text.N("a plan, and how far it is"), ScreenPlan, "plan"),
		list("approvals [FILTER]", text.N("what waits for somebody's approval"), ScreenApprovals),
		list("audit list [FILTER]", text.N("the audits"), ScreenAudits),
		about("audit show RUN", text.N("what an audit found"), ScreenFindings, "run"),
		list("outbox list [FILTER]", text.N("deliveries"), ScreenOutbox),
		list("oplog list [FILTER]", text.N("what operators did"), ScreenLog),
		list("doctor", text.N("is everything fit to grant?"), ScreenDoctor),
		list("drill list", text.N("scripted failures"), ScreenDrills),
	}
}

// own are the commands that only the console has.
func (p *prompt) own() []command {
	r := p.r
	return []command{
		newCommand("now", text.N("what needs attention"), func([]string) tea.Cmd {
			return r.goTo(ScreenNow, nil)
		}),
		newCommand(handoverUsage, text.N("a report as Markdown: of this console, or of a time"),
			r.handover),
		newCommand("context [NAME]", text.N("go to another context of the configuration"),
			r.openContext),
		newCommand("help", text.N("this list"), func([]string) tea.Cmd {
			r.open(newHelp(r), false)
			return nil
		}),
		newCommand("quit", text.N("leave"), func([]string) tea.Cmd {
			if r.keys.fast {
				r.d.say(Warned, r.d.tr("quit: keys arrived together; type it by hand"))
				return nil
			}
			return r.hold(r.askQuit)
		}),
	}
}

// aliases are short forms of commands.
func aliases() map[string]string {
	return map[string]string{
		"ctx": "context", "q": "quit", "q!": "quit", "leases": "lease list", "lease": "lease list",
		"player": "player history", "grant": "grant create", "keys": "help", "audits": "audit list",
		"drills": "drill list", "plans": "grant list", "outbox": "outbox list", "log": "oplog list",
	}
}

// run carries out what was typed after ":". Nothing that changes state can be started from here:
// a command opens the screen or the form, and the dialog does the rest.
func (r *root) run(line string) tea.Cmd {
	words, err := split(line)
	if err != nil {
		r.d.say(Warned, r.d.tr("the command cannot be read: %s", err))
		return nil
	}
	if words = r.d.typed(words); len(words) == 0 {
		return nil
	}
	if c, args := r.match(words); c != nil && !c.wantsPrint(args) {
		return c.run(args)
	}
	if full, ok := aliases()[words[0]]; ok && len(words) < 3 {
		if c, args := r.match(append(strings.Fields(full), words[1:]...)); c != nil {
			if len(args) == 0 && c.words[0] == "player" {
				return r.goTo(ScreenPlayer, nil)
			}
			switch {
			case c.wantsPrint(args):
				return r.read(append(slices.Clone(c.words), args...))
			case !r.known(words):
				return c.run(args)
			}
		}
	}
	return r.read(words)
}

// known reports whether the grammar has a command of these words, which an alias must not hide.
func (r *root) known(words []string) bool {
	if r.d.opts.Commands == nil || len(words) < 2 {
		return false
	}
	usage, _ := r.d.opts.Commands.Describe(words)
	return strings.HasPrefix(usage, "rewardctl "+words[0]+" "+words[1])
}

// wantsPrint reports whether the arguments ask for what only the command prints, such as "-o json".
func (c *command) wantsPrint(args []string) bool {
	for _, a := range args {
		flag := len(a) > 1 && a[0] == '-'
		if flag && c.plain || a == "-o" || a == "--help" || a == "-h" ||
			strings.HasPrefix(a, "--output") {
			return true
		}
	}
	return false
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
	r.d.say(Warned, r.d.tr("usage: %s", usage))
	return nil
}

// printedMsg brings what a command printed.
type printedMsg struct {
	title  string
	output string
	err    error
}

// read runs a command that only reads, and shows what it prints.
func (r *root) read(words []string) tea.Cmd {
	d, commands := r.d, r.d.opts.Commands
	line := strings.Join(words, " ")
	if commands == nil {
		d.say(Warned, d.tr("no such command here: %s; ? lists them", line))
		return nil
	}
	j, cmd := d.start(d.ctx, line, false, deedLimit, func(ctx context.Context, _ *job) tea.Msg {
		output, err := commands.Read(ctx, words)
		return printedMsg{line, output, err}
	})
	j.long = true
	return cmd
}

// printed shows what a command printed.
func (r *root) printed(msg printedMsg) {
	if msg.err != nil {
		r.d.say(Warned, msg.title+": "+msg.err.Error(), safetext.Lines(msg.output)...)
		return
	}
	p := newPage(r, msg.title, safetext.Lines(strings.TrimRight(msg.output, "\n")))
	p.wide = true
	r.open(p, true)
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
				r.d.say(Warned, r.d.tr("--%s needs a value", name))
				return nil
			}
			value = words[i]
		}
		args[name] = value
	}
	return r.goTo(ScreenGrant, args)
}

// openFile fills the screen of a file from the words of grant plan.
func (r *root) openFile(words []string) tea.Cmd {
	args, columns := Args{}, []string{}
	known := map[string]bool{
		"campaign": true, "version": true, "sheet": true, "reason": true, "column": true,
	}
	for i, flags := 0, true; i < len(words); i++ {
		name, value, joined := strings.Cut(strings.TrimPrefix(words[i], "--"), "=")
		switch isFlag := flags && strings.HasPrefix(words[i], "--"); {
		case words[i] == "--" && flags:
			flags = false
			continue
		case isFlag && name == "skip-invalid" && !joined:
			args[name] = "yes"
			continue
		case !isFlag && args["file"] == "":
			args["file"] = words[i]
			continue
		case !isFlag || !known[name]:
			return r.usage("grant plan [FILE] [--campaign C] [--version N] [--sheet S]" +
				" [--column player_id=NAME] [--reason TEXT] [--skip-invalid]")
		case !joined && i+1 >= len(words):
			r.d.say(Warned, r.d.tr("--%s needs a value", name))
			return nil
		case !joined:
			i++
			value = words[i]
		}
		if name == "column" {
			columns = append(columns, value)
			continue
		}
		args[name] = value
	}
	if len(columns) > 0 {
		args["columns"] = strings.Join(columns, "\n")
	}
	return r.goTo(ScreenFile, args)
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
