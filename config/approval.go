package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Approval says what one person may grant alone: a plan or a file that is over any of these
// limits waits for somebody else. 0 means no limit.
type Approval struct {
	Amount    int64 // one grant
	PlayerDay int64 // one player and kind within 24 hours, other grants included
	Rows      int64 // grants of one plan
	Total     int64 // the sum of one kind in one plan

	Within     time.Duration // how long an approval lasts until the plan begins
	BreakGlass bool          // makers may approve their own plan in an emergency
	Rules      ApprovalRules // other limits for some people
}

// ApprovalRule gives other limits to one operator, or to the members of a database role. What it
// leaves out is as in Approval.
type ApprovalRule struct {
	Operator string
	Role     string

	Amount, PlayerDay, Rows, Total *int64
}

// ApprovalRules is a list of rules, of which the first that matches counts. In a file it is a list
// of mappings; in one line of text it is written as "operator=alice amount=5000; role=leads
// rows=0".
type ApprovalRules []ApprovalRule

func approvalKeys() []key {
	return []key{
		{
			"approval.amount", "0", "a grant above it needs a second person; 0: none does",
			func(c *Context) any { return &c.Approval.Amount },
		},
		{
			"approval.player_day", "0", "likewise: per player and kind within 24 hours",
			func(c *Context) any { return &c.Approval.PlayerDay },
		},
		{
			"approval.rows", "0", "likewise: grants of one plan or file",
			func(c *Context) any { return &c.Approval.Rows },
		},
		{
			"approval.total", "0", "likewise: the sum of one kind in one plan or file",
			func(c *Context) any { return &c.Approval.Total },
		},
		{
			"approval.within", "15m", "how long an approval lasts until the plan begins",
			func(c *Context) any { return &c.Approval.Within },
		},
		{
			"approval.break_glass", "false", "makers may approve their own plan in an emergency",
			func(c *Context) any { return &c.Approval.BreakGlass },
		},
		{
			"approval.rules", "", "other limits per operator or database role, the first counts",
			func(c *Context) any { return &c.Approval.Rules },
		},
	}
}

func (v *checker) approval() {
	a := v.context.Approval
	for _, one := range []struct {
		name  string
		value int64
	}{
		{"amount", a.Amount},
		{"player_day", a.PlayerDay},
		{"rows", a.Rows},
		{"total", a.Total},
	} {
		if one.value < 0 {
			v.bad("approval."+one.name, "is below 0", "give 0 for no limit, or a limit")
		}
	}
	within(v, "approval.within", a.Within, time.Second, 7*24*time.Hour)
}

// limits are the numbers of a rule by their names.
func (r *ApprovalRule) limits() []struct {
	name string
	at   **int64
} {
	return []struct {
		name string
		at   **int64
	}{
		{"amount", &r.Amount},
		{"player_day", &r.PlayerDay},
		{"rows", &r.Rows},
		{"total", &r.Total},
	}
}

// String writes the list as one line, which set reads back.
func (l *ApprovalRules) String() string {
	var lines []string
	for i := range *l {
		lines = append(lines, strings.Join((*l)[i].words(), " "))
	}
	return strings.Join(lines, "; ")
}

func (r *ApprovalRule) words() []string {
	var words []string
	if r.Operator != "" {
		words = append(words, "operator="+r.Operator)
	}
	if r.Role != "" {
		words = append(words, "role="+r.Role)
	}
	for _, l := range r.limits() {
		if *l.at != nil {
			words = append(words, l.name+"="+strconv.FormatInt(**l.at, 10))
		}
	}
	return words
}

// parseApprovalRules reads the form of one line.
func parseApprovalRules(raw string) (rules ApprovalRules, problem, wayOut string) {
	for line := range strings.SplitSeq(raw, ";") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var one ApprovalRule
		for _, word := range words {
			name, value, _ := strings.Cut(word, "=")
			if problem, wayOut := one.set(name, value); problem != "" {
				return nil, problem, wayOut
			}
		}
		if one.Operator == "" && one.Role == "" {
			return nil, "names neither operator nor role", "say whom the limits are for"
		}
		rules = append(rules, one)
	}
	return rules, "", ""
}

var personName = regexp.MustCompile(`^[^\s=;]{1,100}$`)

// set takes one value.
func (r *ApprovalRule) set(name, value string) (problem, wayOut string) {
	known := []string{"operator", "role"}
	switch name {
	case "operator", "role":
		at := &r.Operator
		if name == "role" {
			at = &r.Role
		}
		if *at != "" {
			return "gives " + name + " twice", "keep one"
		}
		if *at = value; !personName.MatchString(value) {
			return fmt.Sprintf("%s %q is not a plain name", name, value),
				"write it without blanks, = and ;"
		}
		return "", ""
	}
	for _, l := range r.limits() {
		known = append(known, l.name)
		if l.name != name {
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return fmt.Sprintf("%s %q is not a limit", name, value),
				"write digits only; 0 means no limit"
		}
		if *l.at != nil {
			return "gives " + name + " twice", "keep one"
		}
		*l.at = &n
		return "", ""
	}
	return fmt.Sprintf("has no key %q", name), didYouMean(name, known)
}

// approvalRules reads the form of a file: a list of mappings, made into the form of one line.
func (r *reader) approvalRules(n *yaml.Node, at string) value {
	rules, v := mappings(r, n, at, "write - operator: NAME and the limits below it",
		(*ApprovalRule).set)
	if len(rules) > 0 {
		v.text = (*ApprovalRules)(&rules).String()
	}
	return v
}

// node is the inverse of reader.approvalRules.
func (l *ApprovalRules) node() *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range *l {
		item := mapping()
		for _, word := range (*l)[i].words() {
			name, text, _ := strings.Cut(word, "=")
			add(item, name, scalar(text))
		}
		list.Content = append(list.Content, item)
	}
	return list
}

// approvalRules reports whether the value is a list of rules.
func (k key) approvalRules() bool {
	_, is := k.at(&Context{}).(*ApprovalRules)
	return is
}

// For returns the limits for whom a rule is: its own, and where it has none those of a.
func (a *Approval) For(rule ApprovalRule) Approval {
	filled := *a
	for _, one := range []struct {
		at   *int64
		from *int64
	}{
		{&filled.Amount, rule.Amount},
		{&filled.PlayerDay, rule.PlayerDay},
		{&filled.Rows, rule.Rows},
		{&filled.Total, rule.Total},
	} {
		if one.from != nil {
			*one.at = *one.from
		}
	}
	return filled
}

// Any reports whether there is any limit for anybody.
func (a *Approval) Any() bool {
	some := func(a Approval) bool {
		return a.Amount > 0 || a.PlayerDay > 0 || a.Rows > 0 || a.Total > 0
	}
	return some(*a) || slices.ContainsFunc(a.Rules, func(r ApprovalRule) bool {
		return some(a.For(r))
	})
}
