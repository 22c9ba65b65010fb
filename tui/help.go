package tui

import (
	"strings"

	"rewardctl/tui/safetext"
)

// newHelp lists what the keys mean now, from the bindings that dispatch them.
func newHelp(r *root) *page {
	s, tr := r.screen(), r.d.tr
	lines := []string{tr("On this screen (%s)", tr(s.Title()))}
	lines = append(lines, helpLines(r.d, r.screenKeys())...)
	lines = append(lines, "", tr("Everywhere"))
	lines = append(lines, helpLines(r.d, r.globalKeys())...)
	lines = append(lines, "", tr("Commands after ':'"))
	for _, c := range r.prompt.commands() {
		lines = append(lines, "  "+safetext.Fit(c.usage, 34, "")+"  "+tr(c.help))
	}
	if r.d.opts.Commands != nil {
		lines = append(lines, "  "+tr("and every command of rewardctl that only reads; tab completes"))
	}
	lines = append(lines, "",
		tr("Filter: words must all occur; field:word looks in one column; !word excludes;"),
		tr("left:<5s and left:>1m compare the time left. Deeds show their command line first."))
	if r.d.opts.Endpoints != "" {
		lines = append(lines, "", tr("Connected to %s", r.d.opts.Endpoints))
	}
	return newPage(r, tr("help"), lines)
}

func helpLines(d *desk, list []Binding) []string {
	var lines []string
	for _, b := range list {
		keys := strings.ReplaceAll(strings.Join(b.Keys, "\n"), " ", "space")
		keys = strings.ReplaceAll(keys, "\n", "  ")
		if len(b.Keys) == 0 {
			keys = d.tr("(no key)")
		}
		line := "  " + safetext.Fit(keys, 18, "") + "  " + b.says(d)
		if b.Action != nil && b.Dangerous {
			line += ", " + d.tr("pressed alone")
		}
		if b.Changes {
			line += " " + d.tr("(changes something; asks first)")
		}
		if ok, reason := b.enabled(); !ok {
			line += " (" + d.tr("not now: %s", reason) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
