package main

import (
	"go/ast"
	"go/token"
)

// checkVars looks for package variables that change. Variables that are set where they are
// declared and never again are fine: embedded files, errors, patterns.
func checkVars(files []*goFile) []finding {
	declared := map[string]bool{} // by name: may it stay as it is?
	var found []finding
	for _, f := range files {
		for _, d := range f.tree.Decls {
			g, is := d.(*ast.GenDecl)
			if !is || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec) // a var declaration holds nothing else
				embedded := hasDirective(g.Doc) || hasDirective(v.Doc)
				for _, n := range v.Names {
					declared[n.Name] = n.Name != "_"
					if len(v.Values) == 0 && !embedded && !f.test {
						found = append(found, f.varFinding(n, "starts empty, so it is to change"))
					}
				}
			}
		}
	}
	for _, f := range files {
		if !f.test {
			found = append(found, f.changes(declared)...)
		}
	}
	return found
}

func (f *goFile) varFinding(n ast.Node, how string) finding {
	return finding{
		f.name, f.set.Position(n.Pos()).Line,
		"a package variable " + how + "; make it a constructor's argument",
	}
}

func hasDirective(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if len(c.Text) > 10 && c.Text[:10] == "//go:embed" {
			return true
		}
	}
	return false
}

// changes finds where package variables are assigned to.
func (f *goFile) changes(declared map[string]bool) []finding {
	var found []finding
	target := func(e ast.Expr) {
		id := rootName(e)
		// The parser links a name to a local declaration, and to one of the same file; package
		// variables are those it links to a ValueSpec at the top, or not at all.
		if id == nil || !declared[id.Name] || !packageLevel(f.tree, id) {
			return
		}
		found = append(found, f.varFinding(e, id.Name+" is changed"))
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					target(e)
				}
			}
		case *ast.IncDecStmt:
			target(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				target(n.X)
			}
		}
		return true
	})
	return found
}

// rootName returns the variable that an assignable expression belongs to.
func rootName(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// packageLevel reports whether a name means a package variable.
func packageLevel(tree *ast.File, id *ast.Ident) bool {
	if id.Obj == nil {
		return true // declared in another file of the package
	}
	return tree.Scope.Lookup(id.Name) == id.Obj
}
