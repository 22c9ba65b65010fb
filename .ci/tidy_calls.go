package main

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// checkNode checks one node of a file; it is called for all of them.
func (f *goFile) checkNode(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		f.checkCall(n)
	case *ast.SelectorExpr:
		f.checkSelector(n)
	case *ast.BinaryExpr:
		if !f.test && (n.Op == token.EQL || n.Op == token.NEQ) &&
			(isErrorText(n.X) || isErrorText(n.Y)) {
			f.bad(n, "an error's text is compared; use errors.Is, errors.As or a code")
		}
	case *ast.SwitchStmt:
		if !f.test && n.Tag != nil && isErrorText(n.Tag) {
			f.bad(n, "an error's text is compared; use errors.Is, errors.As or a code")
		}
	case *ast.BasicLit:
		f.checkLiteral(n)
	}
	return true
}

// selected returns the full name that a selector means, such as "time.Now", or "" when it does
// not select from a package.
func (f *goFile) selected(e ast.Expr) string {
	s, is := e.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	id, is := s.X.(*ast.Ident)
	if !is || id.Obj != nil { // a local variable of that name
		return ""
	}
	at, known := f.imports[id.Name]
	if !known {
		return ""
	}
	return at + "." + s.Sel.Name
}

// ban is a call that has a better form.
type ban struct {
	call    string
	instead string
	allowed func(*goFile) bool
}

func bans() []ban {
	clockless := func(f *goFile) bool {
		return f.test || !f.in("grant", "repair", "inspect", "tui")
	}
	process := func(f *goFile) bool { return f.test || f.isMain() || f.in("config") }
	root := func(f *goFile) bool { return f.test || f.isMain() }
	prints := func(f *goFile) bool { return f.test || f.in("cmd", ".ci") }
	// In a bubble of synctest, sleeping moves a clock that is not the real one.
	bubble := func(f *goFile) bool { return f.test && f.imports["synctest"] != "" }
	return []ban{
		{"time.Now", "Options.Now", clockless},
		{"time.Since", "Options.Now", clockless},
		{"time.Until", "Options.Now", clockless},
		{"time.Sleep", "a signal, or a bounded poll", bubble},
		{"context.Background", "the caller's context", root},
		{"context.TO" + "DO", "the caller's context", root},
		{"os.Exit", "an error", root},
		{"os.Getenv", "a value handed in", process},
		{"os.LookupEnv", "a value handed in", process},
		{"os.Environ", "a value handed in", process},
		{"fmt.Print", "a writer handed in", prints},
		{"fmt.Printf", "a writer handed in", prints},
		{"fmt.Println", "a writer handed in", prints},
	}
}

func (f *goFile) checkCall(c *ast.CallExpr) {
	name := f.selected(c.Fun)
	for _, b := range bans() {
		if name == b.call && !b.allowed(f) {
			f.bad(c, name+": use "+b.instead)
		}
	}
	if s, is := c.Fun.(*ast.SelectorExpr); is {
		f.checkMethod(c, s, name)
	}
	if !f.test && searchesText(name) && slices.ContainsFunc(c.Args, isErrorText) {
		f.bad(c, "an error's text is searched; use errors.Is, errors.As or a code")
	}
}

// checkMethod checks calls by the name of the method alone: types are not known here.
func (f *goFile) checkMethod(c *ast.CallExpr, s *ast.SelectorExpr, name string) {
	switch method := s.Sel.Name; method {
	case "FlushDB", "FlushAll", "FlushDBAsync", "FlushAllAsync":
		f.bad(c, method+" deletes what belongs to others; use a prefix and SCAN")
	case "Exec", "Query", "QueryRow", "Queue", "Prepare":
		if !f.test && slices.ContainsFunc(c.Args, isText) {
			f.bad(c, method+" of a string; keep the statement in sql/NAME.sql")
		}
	case "Keys":
		if name == "" && len(c.Args) == 2 {
			f.bad(c, "KEYS blocks the server; use SCAN, or an index")
		}
	case "Skip", "Skipf", "SkipNow":
		if id, is := s.X.(*ast.Ident); is && slices.Contains([]string{"t", "tb", "b"}, id.Name) {
			f.bad(c, method+" hides what is not tested; make it work or remove it")
		}
	}
	if at, rest, _ := strings.Cut(name, "/viper."); rest != "" && strings.HasSuffix(at, "spf13") &&
		!strings.HasPrefix(rest, "New") && !strings.HasSuffix(rest, "Delimiter") {
		f.bad(c, "viper."+rest+" works on the global configuration; use viper.New()")
	}
}

// checkSelector checks names that must not be used in any way.
func (f *goFile) checkSelector(s *ast.SelectorExpr) {
	if f.selected(s) == "github.com/jackc/pgx/v5.NamedArgs" {
		f.bad(s, "NamedArgs fills a missing argument with NULL; use StrictStructArgs")
	}
}

// checkLiteral looks for statements and scripts in strings.
func (f *goFile) checkLiteral(l *ast.BasicLit) {
	if l.Kind != token.STRING || f.test || f.top == ".ci" {
		return
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return
	}
	if sqlInGo(text) {
		f.bad(l, "SQL or Lua in a string; keep it in sql/NAME.sql or lua/NAME.lua")
	}
	if slices.Contains([]string{"KEYS", "FLUSHDB", "FLUSHALL"}, text) {
		f.bad(l, text+" works through every key there is; use a prefix and SCAN, or an index")
	}
}

// isText reports whether an expression is a string that stands there, or starts with one.
func isText(e ast.Expr) bool {
	for {
		b, is := e.(*ast.BinaryExpr)
		if !is {
			break
		}
		e = b.X
	}
	l, is := e.(*ast.BasicLit)
	return is && l.Kind == token.STRING
}

// isErrorText reports whether an expression is err.Error(), whatever err is called.
func isErrorText(e ast.Expr) bool {
	c, is := e.(*ast.CallExpr)
	if !is || len(c.Args) != 0 {
		return false
	}
	s, is := c.Fun.(*ast.SelectorExpr)
	return is && s.Sel.Name == "Error"
}

func searchesText(name string) bool {
	return slices.Contains([]string{
		"strings.Contains", "strings.HasPrefix", "strings.HasSuffix", "strings.EqualFold",
		"strings.Index", "regexp.MatchString",
	}, name)
}
