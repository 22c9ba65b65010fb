package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrow says what a package may import of this module, and what it must not import at all. A
// pattern is a package, a tree such as "grant/...", or "..." for everything.
type arrow struct {
	packages string
	may      []string
	never    []string
	why      string
}

// drivers are the clients of the two servers.
func drivers() []string {
	return []string{"github.com/jackc/...", "github.com/redis/...", "github.com/alicebob/..."}
}

// arrows lists all packages; the first that matches counts. Every package may import its own
// subpackages.
func arrows() []arrow {
	return []arrow{
		{packages: "cmd/rewardctl", may: []string{"..."}, why: "it wires everything"},
		{
			packages: "tui/...", may: []string{"inspect/...", "repair/...", "grant", "tui/..."},
			never: drivers(), why: "screens show values; they do not talk to servers",
		},
		{
			packages: "repair/...", may: []string{"grant", "grant/lease", "repair/..."},
			why: "a deed reads again what it needs; it does not trust what inspect showed",
		},
		{
			packages: "inspect/...", may: []string{"grant", "grant/lease", "inspect/..."},
			why: "questions change nothing, so they know no deeds",
		},
		{
			packages: "grant/drill/...",
			may: []string{
				"grant", "grant/lease", "grant/outbox/...", "grant/schema", "grant/drill/...",
			},
			why: "a drill plays the engine's parts, not an operator's",
		},
		{
			packages: "grant/lease/...", may: []string{"grant", "grant/lease/..."},
			why: "it implements what grant asks of a lease store",
		},
		{
			packages: "grant/outbox/...", may: []string{"grant", "grant/outbox/..."},
			why: "it delivers what grant posted",
		},
		{
			packages: "grant/granttest/...", may: []string{"grant/...", "config/embedded"},
			why: "it gives tests of the engine their world",
		},
		{packages: "grant/schema", why: "migrations stand alone"},
		{packages: "grant", why: "the engine declares what it needs of others"},
		{packages: "config", why: "it reads settings and knows nobody who uses them"},
		{packages: "config/embedded", why: "it runs servers for anybody"},
		{packages: "config/quiet", why: "it must be initialised before the terminal library"},
		{
			packages: ".ci",
			may:      []string{"config", "config/embedded", "grant", "grant/lease", "grant/schema"},
			why:      "it starts servers and fills them; the program itself is run",
		},
	}
}

// onlyForTests are the packages that no program may hold.
func onlyForTests() []string {
	return []string{
		"grant/granttest", "grant/granttest/simulator", "tui/tuitest",
		"repair/batchfile/workbook/booktest",
	}
}

// matches reports whether a pattern covers a package.
func matches(pattern, name string) bool {
	tree, is := strings.CutSuffix(pattern, "...")
	if !is {
		return pattern == name
	}
	return tree == "" || name == strings.TrimSuffix(tree, "/") || strings.HasPrefix(name, tree)
}

func anyMatches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// judge says what is wrong with an import, or "". Names within the module have no "rewardctl/".
func judge(from, imported string, test bool) string {
	i := slices.IndexFunc(arrows(), func(a arrow) bool { return matches(a.packages, from) })
	if i < 0 {
		return "no arrow covers package " + from + "; add one to arrows"
	}
	a := arrows()[i]
	own, isOwn := strings.CutPrefix(imported, "rewardctl/")
	switch {
	case test || anyMatches(onlyForTests(), from) && (!isOwn || anyMatches(a.may, own)):
		return ""
	case anyMatches(a.never, imported):
		return from + " must not import " + imported + ": " + a.why
	case isOwn && anyMatches(onlyForTests(), own):
		return from + " imports " + own + ", which is for tests only"
	case isOwn && !anyMatches(a.may, own):
		return from + " must not import " + own + ": " + a.why
	}
	return ""
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, imported string
		test           bool
		want           string
	}{
		{from: "grant", imported: "rewardctl/grant/lease", want: "must not import grant/lease"},
		{from: "grant", imported: "rewardctl/grant/lease", test: true},
		{from: "grant", imported: "github.com/jackc/pgx/v5"},
		{from: "grant/lease", imported: "rewardctl/grant"},
		{from: "grant/lease", imported: "rewardctl/grant/outbox", want: "must not import"},
		{from: "grant/schema", imported: "rewardctl/grant", want: "must not import"},
		{from: "repair", imported: "rewardctl/inspect", want: "must not import inspect"},
		{from: "inspect", imported: "rewardctl/repair/batchfile", want: "must not import"},
		{from: "repair", imported: "rewardctl/repair/batchfile"},
		{from: "repair/batchfile", imported: "rewardctl/grant"},
		{from: "tui", imported: "rewardctl/inspect"},
		{from: "tui", imported: "rewardctl/grant/lease", want: "must not import grant/lease"},
		{from: "tui/table", imported: "github.com/jackc/pgx/v5", want: "must not import github"},
		{from: "tui", imported: "github.com/redis/go-redis/v9", want: "must not import github"},
		{from: "tui", imported: "rewardctl/tui/tuitest", want: "for tests only"},
		{from: "cmd/rewardctl", imported: "rewardctl/config/embedded"},
		{from: "cmd/rewardctl", imported: "rewardctl/grant/granttest", want: "for tests only"},
		{from: "cmd/rewardctl", imported: "rewardctl/grant/granttest", test: true},
		{from: "grant/granttest", imported: "rewardctl/config/embedded"},
		{from: "grant/granttest", imported: "rewardctl/repair", want: "must not import repair"},
		{from: "config", imported: "rewardctl/grant", want: "must not import grant"},
		{from: "config/embedded", imported: "rewardctl/config", want: "must not import config"},
		{from: "server", imported: "fmt", want: "no arrow covers"},
		{from: "grants", imported: "fmt", want: "no arrow covers"},
	} {
		got := judge(c.from, c.imported, c.test)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s (test %v): got %q, want in it %q", c.from, c.imported, c.test,
				got, c.want)
		}
	}
}

// TestImportArrows reads the imports of every file of the module.
func TestImportArrows(t *testing.T) {
	t.Parallel()
	const root = "../.."
	files := 0
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" && at != root
			if hidden || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(at) != ".go" {
			return nil
		}
		files++
		return checkImports(t, root, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("only %d files were read; is the root of the module %s?", files, root)
	}
}

// checkImports judges the imports of one file.
func checkImports(t *testing.T, root, at string) error {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), at, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	dir, err := filepath.Rel(root, filepath.Dir(at))
	if err != nil {
		return err
	}
	for _, i := range tree.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		test := strings.HasSuffix(at, "_test.go")
		if problem := judge(filepath.ToSlash(dir), imported, test); problem != "" {
			t.Errorf("%s: %s", at, problem)
		}
	}
	return nil
}

// importsTesting is the one package that links testing into the program: the library which fetches
// PostgreSQL keeps a helper for its own tests beside its code.
const importsTesting = "github.com/fergusstrange/embedded-postgres"

// TestProgramHoldsNoTests lists everything that is linked into rewardctl.
func TestProgramHoldsNoTests(t *testing.T) {
	t.Parallel()
	const form = `{{.ImportPath}} {{join .Imports " "}}`
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", form, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name, imports := words[0], words[1:]
		if strings.HasPrefix(name, "rewardctl/") {
			linked++
		}
		if slices.Contains(imports, "testing") && name != importsTesting {
			t.Errorf("%s links testing into the program", name)
		}
		if anyMatches(onlyForTests(), strings.TrimPrefix(name, "rewardctl/")) {
			t.Errorf("%s is linked into the program", name)
		}
	}
	if linked < 3 {
		t.Fatalf("only %d packages of the module are linked; is the list right?", linked)
	}
}
