package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestMutantsFitTheSources tells whoever changes a line that a mutant changes too: each text is
// there once, and there is room for what replaces it.
func TestMutantsFitTheSources(t *testing.T) {
	t.Chdir("..")
	var names []string
	for _, m := range mutants() {
		if slices.Contains(names, m.name) {
			t.Errorf("two mutants are called %q", m.name)
		}
		names = append(names, m.name)
		texts := map[string]string{}
		for _, e := range m.edits {
			b, err := os.ReadFile(e.file)
			if err != nil {
				t.Fatal(err)
			}
			text, again := texts[e.file]
			if !again {
				text = string(b)
			}
			if texts[e.file], err = e.apply(text); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
			isGo := strings.HasSuffix(e.file, ".go")
			if isGo && strings.Contains(e.old, "MUTANT") {
				t.Errorf("%s: the old text says MUTANT", m.name)
			}
			if !isGo {
				fitted, err := fit(texts[e.file], len(b))
				if err != nil || len(fitted) != len(b) {
					t.Errorf("%s: %s: %d bytes instead of %d, %v", m.name, e.file, len(fitted),
						len(b), err)
				}
			}
		}
		// A bug that its program cannot switch off would kill all others' tests as well.
		if n := switches(m); n == 0 && !onlyEmbedded(m) {
			t.Errorf("%s: no edit says MUTANT", m.name)
		}
	}
	if len(names) < 20 {
		t.Errorf("%d mutants", len(names))
	}
}

func switches(m mutant) (n int) {
	for _, e := range m.edits {
		n += strings.Count(e.new, "MUTANT")
	}
	return n
}

func onlyEmbedded(m mutant) bool {
	return !slices.ContainsFunc(m.edits, func(e edit) bool {
		return strings.HasSuffix(e.file, ".go")
	})
}

func TestFit(t *testing.T) {
	t.Parallel()
	const text = "-- +goose Up\n-- purpose: words\nselect 1\n  -- more words\n"
	for length, want := range map[int]string{
		len(text) + 2: text + "  ", len(text): text,
		len(text) - 3: "-- +goose Up\nselect 1\n  -- more words\n" + strings.Repeat(" ", 15),
		22:            "-- +goose Up\nselect 1\n",
	} {
		if got, err := fit(text, length); err != nil || string(got) != want {
			t.Errorf("%d: %q, %v", length, got, err)
		}
	}
	if got, err := fit(text, 21); err == nil {
		t.Errorf("fitted where there is no room: %q", got)
	}
}

// TestProgramWith changes a file that is embedded in a program.
func TestProgramWith(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("a.lua", []byte("-- purpose: x\nreturn 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{text: []byte("\x00\x01-- purpose: x\nreturn 1\n\x02")}
	m := mutant{edits: []edit{{"a.lua", "return 1", "return 10"}}}
	path, err := p.with(m, filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, []byte("\x00\x01return 10\n"+strings.Repeat(" ", 13)+
		"\x02")) {
		t.Errorf("%q, %v", got, err)
	}
	p.text = []byte("another program")
	if _, err := p.with(m, filepath.Join(dir, "other")); err == nil {
		t.Error("a program without the file was changed")
	}
}

// TestSurvivorsAreToldFromTheKilled runs programs that stand for tests that pass, fail, hang, and
// are not there.
func TestSurvivorsAreToldFromTheKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, want := range map[string]string{
		"echo '--- FAIL: TestX (0.00s)'; sleep 60": "",
		"echo 'panic: x'; exit 2":                  "",
		"echo PASS":                                "survived",
		"echo 'testing: warning: no tests to run'": "no test is called",
		"echo 'no such server'; exit 1":            "did not come to its tests",
	} {
		path := filepath.Join(dir, "program")
		script := []byte("#!/bin/sh\n" + name + "\n")
		syscall.ForkLock.RLock()
		err := os.WriteFile(path, script, 0o700)
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
		err = mutant{name: "x", tests: "TestX", pkg: "."}.test(t.Context(), path, nil)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
