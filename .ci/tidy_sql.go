package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// checkSQL checks a file of SQL: its header, that it holds one statement, and what that may not
// say. Migrations hold several statements and need only a purpose; fixtures of tests and demos,
// which are data, too.
func checkSQL(name, content string) []finding {
	migration := strings.HasPrefix(name, "grant/schema/sql/")
	words := []string{"purpose", "params", "result", "locks"}
	if migration {
		words = words[:1]
	}
	found := checkHeader(name, content, words)
	if migration && strings.Contains(content, "\n-- purpose: ") {
		found = nil // goose wants its marks first
	}
	bare := stripSQL(content)
	if n := statements(bare); n != 1 && !migration {
		found = append(found, finding{
			name, 1,
			fmt.Sprintf("holds %d statements; one statement per file", n),
		})
	}
	if regexp.MustCompile(`(?i)\bselect\s+(distinct\s+)?\*`).MatchString(bare) {
		found = append(found, finding{name, 1, "select *: name the columns"})
	}
	return found
}

// checkLua checks the header of a script, and commands that are never right.
func checkLua(name, content string) []finding {
	found := checkHeader(name, content, []string{"keys", "args", "result"})
	for i, line := range strings.Split(content, "\n") {
		code, _, _ := strings.Cut(line, "--")
		if m := regexp.MustCompile(`(?i)["'](keys|flushdb|flushall)["']`).FindString(code); m != "" {
			found = append(found, finding{
				name, i + 1,
				m + " works through every key there is; use a prefix and SCAN, or an index",
			})
		}
	}
	return found
}

// checkHeader wants a comment at the top with a line for each word, in this order.
func checkHeader(name, content string, words []string) []finding {
	next := 0
	for line := range strings.Lines(content) {
		text, isComment := strings.CutPrefix(line, "--")
		if !isComment {
			break
		}
		if next < len(words) && strings.HasPrefix(strings.TrimSpace(text), words[next]+":") {
			next++
		}
	}
	if next == len(words) {
		return nil
	}
	return []finding{{name, 1, fmt.Sprintf(
		"the header lacks the line `-- %s: ...`; it opens with %s", words[next],
		strings.Join(words, ", "))}}
}

// stripSQL blanks comments, quoted text and quoted bodies, so that what is left is code.
func stripSQL(content string) string {
	pattern := regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|\$\$.*?\$\$`)
	return pattern.ReplaceAllStringFunc(content, func(part string) string {
		if strings.HasPrefix(part, `"`) {
			return "name"
		}
		if strings.HasPrefix(part, "--") || strings.HasPrefix(part, "/*") {
			return " "
		}
		return "''"
	})
}

// statements counts the statements in code without comments.
func statements(bare string) int {
	n := 0
	for part := range strings.SplitSeq(bare, ";") {
		if strings.TrimSpace(part) != "" {
			n++
		}
	}
	return n
}

// sqlInGo recognises SQL and Lua that stand in a Go string. Advice to operators, such as an ALTER
// to type, is no statement of ours; what is handed to a driver is checked where that happens.
func sqlInGo(text string) bool {
	if strings.Contains(text, "redis.call(") {
		return true
	}
	return regexp.MustCompile(`(?is)^\s*(--[^\n]*\n\s*)*(` + strings.Join([]string{
		`select\s.*\sfrom\s`, `with\s+\w+\s+as\s*\(`, `insert\s+into\s`, `update\s+\S+\s+set\s`,
		`delete\s+from\s`, `create\s+(temp\s+|unique\s+)?(table|schema|index|function|view)\s`,
	}, "|") + `)`).MatchString(text)
}

// packageNames are names that say nothing about what is inside.
func packageNames() []string {
	return []string{"util", "utils", "common", "helper", "helpers", "base", "types", "models"}
}

// room returns the first folder of a file, and whether the file belongs to tests: folders whose
// name ends in "test" are imported by tests only.
func room(name string) (top string, test bool) {
	top, _, _ = strings.Cut(name, "/")
	return top, strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path.Dir(name), "test")
}
