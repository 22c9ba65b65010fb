package text

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// said is a sentence in the sources of the console.
type said struct {
	sentence string
	where    token.Position
}

// constant returns the value of a string literal or of literals that are joined.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, okA := constant(e.X)
		b, okB := constant(e.Y)
		return a + b, okA && okB && e.Op == token.ADD
	}
	return "", false
}

// reading collects what a file says, through the catalogue and past it.
type reading struct {
	files *token.FileSet
	seen  map[ast.Node]bool
	said  []said
	past  []said
}

func (r *reading) take(e ast.Expr) {
	s, ok := constant(e)
	if !ok || s == "" {
		return
	}
	if trimmed := strings.TrimRight(s, "…"); !r.seen[e] {
		r.said = append(r.said, said{trimmed, r.files.Position(e.Pos())})
	}
	r.skip(e)
}

// skip marks all literals below a node as dealt with.
func (r *reading) skip(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n != nil {
			r.seen[n] = true
		}
		return true
	})
}

func (r *reading) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		r.call(n)
	case *ast.KeyValueExpr:
		key, ok := n.Key.(*ast.Ident)
		if ok && slices.Contains([]string{"Help", "Title", "title", "empty"}, key.Name) {
			r.translated(n.Value)
		}
	case *ast.ImportSpec:
		r.skip(n)
		return false
	case *ast.BasicLit, *ast.BinaryExpr:
		s, ok := constant(n.(ast.Expr))
		if ok && !r.seen[n] && sentence().MatchString(s) {
			r.past = append(r.past, said{s, r.files.Position(n.Pos())})
			r.skip(n)
		}
	}
	return true
}

// translated takes a value that is translated when it is drawn. "run" + ellipsis counts as "run".
func (r *reading) translated(e ast.Expr) {
	if b, ok := e.(*ast.BinaryExpr); ok {
		if _, literal := constant(e); !literal {
			r.take(b.X)
			return
		}
	}
	r.take(e)
}

func (r *reading) call(n *ast.CallExpr) {
	name := ""
	switch f := n.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	switch name {
	case "tr", "T", "N":
		if len(n.Args) > 0 {
			r.take(n.Args[0])
		}
	case "usage", "Errorf", "New": // command lines, and errors of the program: as in logs
		r.skip(n)
	}
}

// sentence matches what reads like words for people: two words in a row.
func sentence() *regexp.Regexp { return regexp.MustCompile(`[a-z]{2,} [a-z]{2,}`) }

// sources reads all files of the console.
func sources(t *testing.T) *reading {
	t.Helper()
	r := &reading{files: token.NewFileSet(), seen: map[ast.Node]bool{}}
	paths, err := filepath.Glob("../*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(r.files, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, r.visit)
	}
	return r
}

func TestCatalogueHasWhatTheConsoleSays(t *testing.T) {
	t.Parallel()
	have := map[string]Entry{}
	for _, e := range Entries() {
		if _, twice := have[e.English]; twice {
			t.Errorf("catalogue.txt:%d: %q stands there twice", e.Line, e.English)
		}
		have[e.English] = e
		if strings.TrimSpace(e.Korean) == "" {
			t.Errorf("catalogue.txt:%d: %q has no Korean", e.Line, e.English)
		}
	}
	used := map[string]bool{}
	for _, s := range sources(t).said {
		used[s.sentence] = true
		if _, ok := have[s.sentence]; !ok {
			t.Errorf("%s: the catalogue lacks %q", s.where, s.sentence)
		}
	}
	for sentence, e := range have {
		if !used[sentence] {
			t.Errorf("catalogue.txt:%d: nobody says %q", e.Line, sentence)
		}
	}
}

// What is said past the catalogue is English in every language: command lines, names of the
// engine and of formats.
func TestNothingIsSaidPastTheCatalogue(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t).past {
		if !slices.Contains(untranslated(), s.sentence) {
			t.Errorf("%s: %q does not go through the catalogue", s.where, s.sentence)
		}
	}
}

func untranslated() []string {
	return []string{
		// Commands, as they are typed.
		"player history PLAYER", "lease show RESOURCE", "audit show RUN",
		"token list RESOURCE", "token refused [--since 4h]", "lease list [FILTER]",
		"grant create [--player P ...]", "grant plan [FILE] [--campaign C ...]",
		"audit list [FILTER]", "grant list [FILTER]",
		"grant status PLAN", "outbox list [FILTER]", "oplog list [FILTER]", "drill list", "lease list",
		"player history", "grant create", "audit list", "grant list", "outbox list", "oplog list",
		"rewardctl drill run ",
		// What is compared and not shown, and what stands in logs.
		"would be posted", "ends by itself", "cannot tell", "looks dead: ", "the console crashed: %v",
		// Refusals in the words of the engine, which refuses the same things.
		"is not a whole number", "give a number from 1", "is not a whole number from 1",
		"count repetitions from 1", "event id", "correct the form",
	}
}

var verbs = regexp.MustCompile(`%(\[\d+\])?[-+0-9.]*[a-zA-Z]`)

func TestTranslationsTakeTheSameArguments(t *testing.T) {
	t.Parallel()
	kinds := func(s string) []string {
		found := verbs.FindAllString(s, -1)
		for i := range found {
			found[i] = string(found[i][len(found[i])-1])
		}
		sort.Strings(found)
		return found
	}
	for _, e := range Entries() {
		if !slices.Equal(kinds(e.English), kinds(e.Korean)) {
			t.Errorf("catalogue.txt:%d: %q and %q take other arguments", e.Line, e.English, e.Korean)
		}
		if e.English != strings.TrimLeft(e.English, "") || strings.Contains(e.Korean, "\t") {
			t.Errorf("catalogue.txt:%d: blanks that do not belong there", e.Line)
		}
	}
}
