package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// goFile is one parsed file of Go.
type goFile struct {
	name    string // such as "grant/engine.go"
	top     string // such as "grant"
	test    bool   // a test, or only for tests
	set     *token.FileSet
	tree    *ast.File
	imports map[string]string // by local name
	found   []finding
}

// bad notes a breach at a node.
func (f *goFile) bad(n ast.Node, problem string) {
	f.found = append(f.found, finding{f.name, f.set.Position(n.Pos()).Line, problem})
}

// in reports whether the file belongs to one of these top-level folders.
func (f *goFile) in(tops ...string) bool { return slices.Contains(tops, f.top) }

// isMain reports whether the file is the only one that may touch the process itself.
func (f *goFile) isMain() bool { return f.name == "cmd/rewardctl/main.go" || f.top == ".ci" }

// checkGo checks one file of Go.
func checkGo(name, content string) (*goFile, []finding) {
	f := &goFile{name: name, set: token.NewFileSet(), imports: map[string]string{}}
	f.top, f.test = room(name)
	tree, err := parser.ParseFile(f.set, name, content, parser.ParseComments)
	if err != nil {
		return nil, []finding{{name, 1, err.Error()}}
	}
	f.tree = tree
	for _, i := range tree.Imports {
		at, _ := strconv.Unquote(i.Path.Value) // the parser checked it
		local := at[strings.LastIndex(at, "/")+1:]
		if i.Name != nil {
			local = i.Name.Name
		}
		f.imports[local] = at
	}
	f.checkPackage()
	for _, d := range tree.Decls {
		if function, is := d.(*ast.FuncDecl); is {
			f.checkFunction(function)
		}
	}
	f.checkDocs()
	ast.Inspect(tree, f.checkNode)
	return f, f.found
}

func (f *goFile) checkPackage() {
	if slices.Contains(packageNames(), f.tree.Name.Name) {
		f.bad(f.tree.Name, "package "+f.tree.Name.Name+" says nothing; name it by its noun")
	}
	for _, i := range f.tree.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		random := at == "math/rand" || at == "math/rand/v2" || at == "crypto/rand"
		drill := strings.HasPrefix(f.name, "grant/drill/")
		if random && !f.test && !drill && f.in("grant", "repair", "inspect", "tui") {
			f.bad(i, at+": randomness is handed in, as Options.NewID")
		}
		if at == "log" && !f.test && !f.in("cmd", ".ci") {
			f.bad(i, "log: hand a *slog.Logger in")
		}
		if i.Name != nil && i.Name.Name == "." {
			f.bad(i, "a dot import hides where names come from")
		}
	}
}

// checkFunction checks a function's size, and that it is no init.
func (f *goFile) checkFunction(d *ast.FuncDecl) {
	if d.Name.Name == "init" && d.Recv == nil {
		f.bad(d, "init() runs behind everybody's back; use a constructor")
	}
	lines := f.lines(d)
	if f.test {
		lines -= f.tableLines(d) // a table is data
	}
	if lines > functionMax {
		f.bad(d, fmt.Sprintf("%s has %d lines, more than %d; split it", d.Name.Name, lines,
			functionMax))
	}
}

func (f *goFile) lines(n ast.Node) int {
	return f.set.Position(n.End()).Line - f.set.Position(n.Pos()).Line + 1
}

// tableLines returns the lines of the longest composite literal in a function.
func (f *goFile) tableLines(d *ast.FuncDecl) int {
	longest := 0
	ast.Inspect(d, func(n ast.Node) bool {
		if _, is := n.(*ast.CompositeLit); is {
			longest = max(longest, f.lines(n))
		}
		return true
	})
	return longest
}

// checkDocs wants a comment at everything exported.
func (f *goFile) checkDocs() {
	if strings.HasSuffix(f.name, "_test.go") {
		return
	}
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				f.bad(d, d.Name.Name+" is exported; say what it does")
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if name := undocumented(s); name != "" && d.Doc == nil {
					f.bad(s, name+" is exported; say what it means")
				}
			}
		}
	}
}

// undocumented returns the exported name that a specification declares without a comment.
func undocumented(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() && s.Doc == nil && s.Comment == nil {
				return n.Name
			}
		}
	}
	return ""
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && !exported {
			exported = id.IsExported()
		}
		return !exported
	})
	return exported
}
