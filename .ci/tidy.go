package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The limits of size. A function, a file and a line each fit what eyes take in at once.
const (
	lineMax     = 100
	fileMax     = 400
	functionMax = 70
)

// finding is one breach of a rule.
type finding struct {
	file    string
	line    int
	problem string // what is wrong, and what to do instead
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s", f.file, f.line, f.problem) }

// tidy checks the rules of style on the module in dir.
func tidy(dir string) error {
	files, err := sourceFiles(dir)
	if err != nil {
		return err
	}
	found := checkTop(files)
	vars := map[string][]*goFile{} // by folder, for rules that need the whole package
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return err
		}
		found = append(found, checkText(name, string(content))...)
		if path.Ext(name) == ".go" {
			f, more := checkGo(name, string(content))
			found = append(found, more...)
			if f != nil {
				vars[path.Dir(name)] = append(vars[path.Dir(name)], f)
			}
		}
	}
	for _, files := range vars {
		found = append(found, checkVars(files)...)
	}
	return report(found)
}

func report(found []finding) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortFunc(found, func(a, b finding) int {
		return strings.Compare(fmt.Sprintf("%s:%06d", a.file, a.line),
			fmt.Sprintf("%s:%06d", b.file, b.line))
	})
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintln(&b, f)
	}
	return fmt.Errorf("%s%d rules broken", b.String(), len(found))
}

// sourceFiles lists the files that git knows or would add, relative to dir.
func sourceFiles(dir string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(files)
	return slices.Compact(files), nil
}

// topEntries is all there is at the top; hidden entries may be there as well.
func topEntries() []string {
	return []string{
		"README.md", "cmd", "config", "go.mod", "go.sum", "grant", "inspect", "repair", "tui",
	}
}

// checkTop compares the top level with what is allowed there, both ways.
func checkTop(files []string) []finding {
	var found []finding
	var seen []string
	for _, name := range files {
		top, _, _ := strings.Cut(name, "/")
		if slices.Contains(seen, top) {
			continue
		}
		seen = append(seen, top)
		if !strings.HasPrefix(top, ".") && !slices.Contains(topEntries(), top) {
			found = append(found, finding{
				name, 1,
				"the top level is fixed; move it into one of " + strings.Join(topEntries(), " "),
			})
		}
	}
	for _, want := range topEntries() {
		if !slices.Contains(seen, want) {
			found = append(found, finding{want, 1, "is missing at the top level"})
		}
	}
	return found
}

// checkText checks what needs no parsing: sizes, and the headers of statements and scripts.
func checkText(name, content string) []finding {
	var found []finding
	bad := func(line int, problem string) { found = append(found, finding{name, line, problem}) }
	ext := path.Ext(name)
	if !slices.Contains([]string{".go", ".sql", ".lua", ".sh"}, ext) {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	if len(lines) > fileMax {
		bad(fileMax+1, fmt.Sprintf("the file has %d lines, more than %d; split it by noun",
			len(lines), fileMax))
	}
	for i, line := range lines {
		if n := len([]rune(line)); n > lineMax {
			bad(i+1, fmt.Sprintf("the line has %d characters, more than %d", n, lineMax))
		}
		for _, word := range []string{"TO" + "DO", "FIX" + "ME"} {
			if strings.Contains(line, word) {
				bad(i+1, word+" means unfinished; finish it")
			}
		}
	}
	switch ext {
	case ".sql":
		found = append(found, checkSQL(name, content)...)
	case ".lua":
		found = append(found, checkLua(name, content)...)
	}
	return found
}
