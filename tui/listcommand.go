package tui

import (
	"slices"
	"strings"
	"time"

	"rewardctl/inspect"
)

// command is the command that lists the same rows, and the words of the filter that it has no
// flag for.
func (l *list[R]) command() (argv, left []string) {
	argv = slices.Clone(l.spec.cli(l.args, l.filter))
	for _, t := range l.parsed().terms {
		var flag []string
		if l.spec.flags != nil {
			flag = l.spec.flags(l, t)
		}
		if len(flag) == 0 || slices.Contains(argv, flag[0]) {
			left = append(left, t.word)
			continue
		}
		argv = append(argv, flag...)
	}
	return argv, left
}

// fitting are the rows that the filter selects; none as long as it was not applied.
func (l *list[R]) fitting() []*item[R] {
	if l.shown.gen != l.gen {
		return nil
	}
	return l.shown.items
}

// flagFor is a flag with the one value that all shown rows have in the field of a term: it then
// selects the same rows as the term, which looks for part of a value. It is nothing when the rows
// differ in it.
func flagFor[R any](l *list[R], t term, field, flag string, value func(*R) string) []string {
	if t.not || t.op != "" || t.field != field || len(l.fitting()) == 0 {
		return nil
	}
	one := value(l.fitting()[0].row)
	for _, it := range l.fitting() {
		if value(it.row) != one {
			return nil
		}
	}
	if one == "" || !strings.Contains(strings.ToLower(one), t.text) {
		return nil
	}
	return []string{flag, one}
}

// leaseFlags says a term in flags of "lease list".
func leaseFlags(l *leaseList, t term) []string {
	switch {
	case t.not:
	case t.field == colResource && t.op == "" && t.text != "":
		return resourceFlag(l, t.text)
	case t.field == colState && slices.Contains(inspect.States(), inspect.State(t.text)):
		return []string{"--state", t.text}
	case t.field == colLeft && (t.op == "<" || t.op == "<="):
		most := t.limit.duration
		if n := t.limit.number; n != nil {
			whole := time.Duration(*n) * time.Second
			most = &whole
		}
		if most != nil {
			return []string{"--expiring-within", most.String()}
		}
	}
	for _, part := range []func(owner string) string{workerName, withoutNonce, wholeOwner} {
		flag := flagFor(l, t, colOwner, "--owner", func(l *inspect.Lease) string {
			return part(l.Owner)
		})
		if flag != nil {
			return flag
		}
	}
	return nil
}

// workerName is the part of an owner that all processes of a worker share.
func workerName(owner string) string {
	name, _, _ := strings.Cut(withoutNonce(owner), "@")
	return name
}

func wholeOwner(owner string) string { return owner }

// resourceFlag is a pattern for a part of a name, as the shown rows write it: capitals count in
// a pattern, and do not in a filter.
func resourceFlag(l *leaseList, text string) []string {
	part := text
	for i, it := range l.fitting() {
		name := it.row.Resource
		at := strings.Index(strings.ToLower(name), text)
		if i == 0 && at >= 0 && len(name) == len(strings.ToLower(name)) {
			part = name[at : at+len(text)]
		}
		if !strings.Contains(name, part) {
			return nil
		}
	}
	return []string{"--resource", "*" + globbed(part) + "*", "--glob"}
}

// outboxFlags says a term in flags of "outbox list".
func outboxFlags(l *outboxList, t term) []string {
	if flag := flagFor(l, t, "player", "--player", func(r *inspect.OutboxRow) string {
		return r.PlayerID
	}); flag != nil {
		return flag
	}
	if t.not || t.field != "state" || len(l.fitting()) == 0 {
		return nil
	}
	lane := l.fitting()[0].row.Lane
	for _, it := range l.fitting() {
		if it.row.Lane != lane {
			return nil
		}
	}
	return []string{"--state", string(lane)}
}

// logFlags says a term in flags of "oplog list".
func logFlags(l *logList, t term) []string {
	type row = inspect.LogEntry
	for _, one := range []struct {
		field, flag string
		value       func(*row) string
	}{
		{"by", "--actor", func(e *row) string { return e.Operator }},
		{"action", "--action", func(e *row) string { return e.Action }},
		{"target", "--target", func(e *row) string { return e.Target }},
	} {
		if flag := flagFor(l, t, one.field, one.flag, one.value); flag != nil {
			return flag
		}
	}
	return nil
}

// planFlags says a term in flags of "grant list".
func planFlags(l *planList, t term) []string {
	if t.not || t.field != "state" || len(l.fitting()) == 0 {
		return nil
	}
	state := l.fitting()[0].row.State
	for _, it := range l.fitting() {
		if it.row.State != state || unreviewed(it.row) {
			return nil
		}
	}
	return []string{"--state", string(state)}
}
