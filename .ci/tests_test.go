package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// events are the lines of a run with one good test, one bad one, one that was skipped, a package
// that does not build and a package that falls over.
const events = `{"Action":"output","Package":"a","Test":"TestGood","Output":"good words\n"}
{"Action":"output","Package":"a","Test":"TestB","Output":"scoreboard: kills=2 redis_ms=7 seed=5\n"}
{"Action":"output","Package":"a","Test":"TestB","Output":"scoreboard: kills=1 redis_ms=4 odd=x\n"}
{"Action":"pass","Package":"a","Test":"TestGood","Elapsed":0.1}
{"Action":"output","Package":"a","Test":"TestBad","Output":"bad words\n"}
{"Action":"fail","Package":"a","Test":"TestBad","Elapsed":20.5}
{"Action":"output","Package":"a","Test":"TestSkipped","Output":"skip words\n"}
{"Action":"skip","Package":"a","Test":"TestSkipped","Elapsed":0}
{"Action":"fail","Package":"a","Elapsed":21}
{"Action":"pass","Package":"b","Test":"TestB/one","Elapsed":0.1}
{"Action":"pass","Package":"b","Test":"TestB","Elapsed":0.1}
{"Action":"pass","Package":"b","Elapsed":0.2}
{"ImportPath":"c [c.test]","Action":"build-output","Output":"c.go:1: no such thing\n"}
{"ImportPath":"c [c.test]","Action":"build-fail"}
{"Action":"fail","Package":"c","Elapsed":0,"FailedBuild":"c [c.test]"}
{"Action":"output","Package":"d","Test":"TestD","Output":"panic: words\n"}
{"Action":"output","Package":"d","Output":"exit status 2\n"}
{"Action":"fail","Package":"d","Elapsed":0}
not json
{"Action":"skip","Package":"e","Elapsed":0}
`

func TestScore(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &counts{}
	s := newScore(&out, c)
	s.read(strings.NewReader(events))
	s.slowest(&out)
	s.board.print(&out)
	if c.passed != 3 || c.failed != 4 {
		t.Errorf("counted %d passed, %d failed\n%s", c.passed, c.failed, out.String())
	}
	for _, want := range []string{
		"FAIL a ", "2 of 3 tests failed", "bad words", "skip words", "2 tests", "FAIL c ",
		"no such thing", "FAIL d ", "panic: words", "exit status 2", "not json",
		"slow: a TestBad 20.5s", "redis ms                           7\n",
		`{"kills":3,"redis_ms":7,"seed":5}`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	for _, noise := range []string{"good words", " e "} {
		if strings.Contains(out.String(), noise) {
			t.Errorf("%q is noise in\n%s", noise, out.String())
		}
	}
}

func TestStagesAreCountedAndShown(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &counts{}
	c.run(t.Context(), &out, stage{"good", command("go", "version")})
	c.run(t.Context(), &out, stage{"bad", command("go", "no-such-command")})
	if c.passed != 1 || c.failed != 1 {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{"ok   good", "FAIL bad", "no-such-command: unknown command"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestTidyReadsTheFilesOfGit proves that tidy sees new files, and not what git ignores.
func TestTidyReadsTheFilesOfGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "", "go.sum": "", "README.md": "", ".gitignore": "ignored.go\n", "tui/a": "",
		"repair/a": "", "inspect/a": "", "grant/a.go": "package a\n", "config/a": "",
		"cmd/a.go": "package a\n", "cmd/ignored.go": "package util\n",
	} {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(content), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	initialise := exec.CommandContext(t.Context(), "git", "init", "-q", dir)
	if out, err := initialise.CombinedOutput(); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	if err := tidy(dir); err != nil {
		t.Errorf("false alarm: %v", err)
	}
	bad := filepath.Join(dir, "grant", "b.go")
	if err := os.WriteFile(bad, []byte("package util\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tidy(dir); err == nil || !strings.Contains(err.Error(), "grant/b.go:1: package util") {
		t.Errorf("a new file is not seen: %v", err)
	}
}

// TestFuzzTargetsAreThere finds the targets that the soak requires in the sources.
func TestFuzzTargetsAreThere(t *testing.T) {
	t.Parallel()
	all, err := fuzzTargets("..")
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range required() {
		if !slices.Contains(all, target{"rewardctl/" + want.pkg, want.name}) {
			t.Errorf("nothing fuzzes %s: %s has no %s", what, want.pkg, want.name)
		}
	}
	if len(all) < 15 {
		t.Errorf("%d targets found: %v", len(all), all)
	}
}

// TestEveryCaseHasATest finds a test, or a named part of one, for each case of the two articles'
// systems that has a number.
func TestEveryCaseHasATest(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{
		"01", "03", "05", "06", "07", "08", "09", "10", "12", "14", "18", "19", "21", "24", "25",
		"26", "29", "30", "31", "32", "33",
	} {
		named := regexp.MustCompile(`(?m)^func Test\w*B` + number + `[A-Z]|^\t+"B` + number + ` [^"]+":`)
		if !named.MatchString(tests.String()) {
			t.Errorf("case B%s has no test of its name", number)
		}
	}
}
