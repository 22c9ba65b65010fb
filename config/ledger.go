package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Ledger names a table of the studio's own that holds rewards, and its columns.
type Ledger struct {
	Table  string // may be preceded by a schema and a dot
	Player string // column: who received it
	Event  string // column: what it was for
	Amount string // column: how many; empty: all rows have one amount
	Kind   string // column: what was given; empty: all rows are of one kind
	At     string // column: when; empty: near duplicates are not looked for
}

// Ledgers is a list of tables. In a file it is a list of mappings; in one line of text it is
// written as "table=T player=P event=E; table=...".
type Ledgers []Ledger

// ledgerField is one key of a ledger in a file.
type ledgerField struct {
	name string
	at   *string
	must bool
}

func (l *Ledger) fields() []ledgerField {
	return []ledgerField{
		{"table", &l.Table, true},
		{"player", &l.Player, true},
		{"event", &l.Event, true},
		{"amount", &l.Amount, false},
		{"kind", &l.Kind, false},
		{"at", &l.At, false},
	}
}

// String writes the list as one line, which set reads back.
func (l *Ledgers) String() string {
	var lines []string
	for _, one := range *l {
		var words []string
		for _, f := range one.fields() {
			if *f.at != "" {
				words = append(words, f.name+"="+*f.at)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "; ")
}

var (
	columnName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	tableName  = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$`)
)

// parseLedgers reads the form of one line.
func parseLedgers(raw string) (ledgers Ledgers, problem, wayOut string) {
	for line := range strings.SplitSeq(raw, ";") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var one Ledger
		for _, word := range words {
			name, value, _ := strings.Cut(word, "=")
			if problem, wayOut := one.set(name, value); problem != "" {
				return nil, problem, wayOut
			}
		}
		for _, f := range one.fields() {
			if f.must && *f.at == "" {
				return nil, "names no " + f.name,
					"give table, player and event; amount, kind and at if there are such columns"
			}
		}
		if slices.ContainsFunc(ledgers, func(l Ledger) bool { return l.Table == one.Table }) {
			return nil, "names the table " + one.Table + " twice", "keep one"
		}
		ledgers = append(ledgers, one)
	}
	return ledgers, "", ""
}

// set takes one value.
func (l *Ledger) set(name, value string) (problem, wayOut string) {
	var known []string
	for _, f := range l.fields() {
		known = append(known, f.name)
		if f.name != name {
			continue
		}
		pattern := columnName
		if name == "table" {
			pattern = tableName
		}
		switch {
		case !pattern.MatchString(value):
			return fmt.Sprintf("%s %q is not a plain name", name, value),
				"use up to 63 lower-case letters, digits and _, and start with a letter"
		case *f.at != "":
			return "gives " + name + " twice", "keep one"
		}
		*f.at = value
		return "", ""
	}
	return fmt.Sprintf("has no key %q", name), didYouMean(name, known)
}

// ledgers reads the form of a file: a list of mappings. What comes out is the form of one line,
// which is then checked like a value from anywhere else.
func (r *reader) ledgers(n *yaml.Node, at string) value {
	ledgers, v := mappings(r, n, at, "write - table: NAME and its columns below it", (*Ledger).set)
	if len(ledgers) > 0 {
		v.text = (*Ledgers)(&ledgers).String()
	}
	return v
}

// mappings reads a list of mappings, each key by set, which answers with a problem and its way
// out. A list that is written on one line comes back as the text of the value.
func mappings[T any](
	r *reader, n *yaml.Node, at, wayOut string, set func(*T, string, string) (string, string),
) ([]T, value) {
	if n.Kind == yaml.ScalarNode {
		return nil, r.scalar(n, at)
	}
	v := value{where: r.where(n)}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, at, "", "is not a list", wayOut)
		return nil, v
	}
	var all []T
	for i, item := range n.Content {
		var one T
		here := fmt.Sprintf("%s.%d", at, i+1)
		r.entries(item, here, func(name string, key, val *yaml.Node) {
			text := r.scalar(val, join(here, name)).text
			if problem, wayOut := set(&one, name, text); problem != "" {
				r.fail(key, here, "", problem, wayOut)
			}
		})
		all = append(all, one)
	}
	return all, v
}

// node is the inverse of reader.ledgers.
func (l *Ledgers) node() *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, one := range *l {
		item := mapping()
		for _, f := range one.fields() {
			if *f.at != "" {
				add(item, f.name, scalar(*f.at))
			}
		}
		list.Content = append(list.Content, item)
	}
	return list
}

// ledgers reports whether the value is a list of tables.
func (k key) ledgers() bool {
	_, is := k.at(&Context{}).(*Ledgers)
	return is
}
