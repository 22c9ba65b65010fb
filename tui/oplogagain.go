package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"rewardctl/grant"
	"rewardctl/inspect"
	"rewardctl/repair"
	"rewardctl/tui/safetext"

	tea "github.com/charmbracelet/bubbletea"
)

// again makes the deed of a row of the log once more, for a look at what it would do now; nil when
// the console has no such deed, or the row does not say enough.
func again(d *desk, e *inspect.LogEntry) Action {
	args := logObject(e.Arguments)
	number := func(name string) int64 {
		n, err := strconv.ParseInt(args[name], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	switch e.Action {
	case repair.WordRelease:
		return againRelease(d, args, number("token"))
	case repair.WordBurn:
		if token := number("token"); token > 0 && args["resource"] != "" {
			return burnDeed(d, repair.BurnRequest{
				Resource: args["resource"], Token: token, Owner: args["owner"],
			})
		}
	case repair.WordRequeue, repair.WordPark:
		word := outboxRequeue
		if e.Action == repair.WordPark {
			word = outboxPark
		}
		switch id := number("ledger_id"); {
		case id > 0:
			seen := logObject(e.Observed)
			tries, _ := strconv.Atoi(seen["attempts"]) // none is 0
			return deliveryDeed(d, word, inspect.OutboxRow{
				LedgerID: id, State: seen["state"], Attempts: tries,
			})
		case word == outboxRequeue && args["state"] == "dead" && args["player"]+args["kind"]+
			args["error"]+args["since"]+args["until"] == "":
			return deadDeed(d, number("expect"))
		}
	case repair.WordGrant:
		if args["player"] != "" && args["event"] != "" && number("amount") != 0 {
			return newGrant(d, grant.Request{
				PlayerID: args["player"], EventID: args["event"], Kind: args["kind"],
				Amount: number("amount"), Reason: e.Reason, Actor: e.Operator,
			})
		}
	case repair.WordReverse:
		if id := number("ledger_id"); id > 0 && d.opts.Reverser != nil {
			return reverseDeed(d, repair.ReverseRequest{
				ReverseSelection: repair.ReverseSelection{LedgerID: id}, Policy: grant.Policy(args["policy"]),
			})
		}
	}
	return nil
}

func againRelease(d *desk, args map[string]string, token int64) Action {
	if args["resource"] == "" {
		return nil
	}
	l := inspect.Lease{Resource: args["resource"], Owner: args["owner"], Token: token}
	if token == 0 {
		l.Foreign, l.Value = "string", args["value"]
	}
	return newRelease(d, l)
}

// canAgain says whether the deed of the row under the cursor can be looked at again.
func canAgain(l *logList) func() (bool, string) {
	return func() (bool, string) {
		it := l.selected()
		if it == nil {
			return false, l.d.tr("there is no row under the cursor")
		}
		if again(l.d, it.row) == nil {
			return false, l.d.tr("the console cannot look at this deed again; Y copies its command")
		}
		return true, ""
	}
}

// lookAgain shows what the deed of a row would find and do now. Nothing can be done from there.
func lookAgain(d *desk, e *inspect.LogEntry) tea.Cmd {
	action := again(d, e)
	if action.NeedsReason() {
		action = action.WithReason(e.Reason)
	}
	title := d.tr("again, as a dry look: %s", e.Action)
	return openReading(d, title, func(ctx context.Context) ([]string, error) {
		words, _ := outcomeWord(d, e)
		lines := []string{
			action.Word() + "  " + action.Target(), "",
			d.tr("Then, in row %d at %s", e.ID, stamp(e.At)),
			"  " + fitLabel(d.tr("outcome")) + words,
			"  " + fitLabel(d.tr("saw")) + plainObject(e.Observed), "",
			d.tr("Now, at %s", stamp(d.now())),
		}
		seen, err := action.Observe(ctx)
		if err != nil {
			return nil, err
		}
		for _, f := range seen.Facts {
			lines = append(lines, "  "+fitLabel(d.tr(f.Name))+f.text(d.now()))
		}
		lines = append(lines, "", d.tr("What it would do now"))
		if seen.Block != "" {
			lines = append(lines, "  "+d.theme.Glyphs.Wrong+" "+d.tr("nothing: %s", seen.Block))
		}
		for _, effect := range seen.Effects {
			lines = append(lines, "  "+effect)
		}
		argv := slices.Insert(action.CLI(), 1+len(strings.Fields(action.Word())), "--dry-run")
		return append(lines, "", d.tr("This was a look: nothing was changed. The same as a command:"),
			"  $ "+safetext.Cell(d.commandLine(argv))), nil
	})
}
