package main

import (
	"fmt"
	"strings"
	"testing"
)

// findings checks one file as tidy would.
func findings(name, content string) string {
	found := checkText(name, content)
	if strings.HasSuffix(name, ".go") {
		f, more := checkGo(name, content)
		found = append(found, more...)
		if f != nil {
			found = append(found, checkVars([]*goFile{f})...)
		}
	}
	var lines []string
	for _, f := range found {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

// in wraps statements in a function of a file that imports what they need.
func in(statements string) string {
	var imports strings.Builder
	for _, at := range []string{
		"context", "errors", "fmt", "log", "maps", "os", "strings", "time",
		"github.com/jackc/pgx/v5", "github.com/spf13/viper",
	} {
		name := at[strings.LastIndex(at, "/")+1:]
		if name == "v5" {
			name = "pgx"
		}
		if strings.Contains(statements, name+".") {
			imports.WriteString("import " + name + " \"" + at + "\"\n")
		}
	}
	return "package x\n" + imports.String() + "func f() {\n" + statements + "\n}\n"
}

const header = "-- purpose: p\n-- params: none\n-- result: r\n-- locks: none\n"

func TestRules(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("\tx()\n", 75)
	for i, c := range []struct{ file, content, want string }{
		{"grant/a.go", in("_ = time.Now()"), "time.Now: use Options.Now"},
		{"tui/a.go", in("_ = time.Since(x)"), "time.Since: use"},
		{"repair/a.go", in("_ = time.Until(x)"), "time.Until: use"},
		{"grant/a.go", in("o.Now = time.Now"), ""},
		{"grant/a_test.go", in("_ = time.Now()"), ""},
		{"grant/granttest/a.go", in("_ = time.Now()"), ""},
		{"config/a.go", in("_ = time.Now()"), ""},
		{"grant/a.go", "package x\nimport now \"time\"\nfunc f() { now.Now() }", "time.Now: use"},
		{"grant/a.go", "package x\nimport \"time\"\nfunc f(time clock) { time.Now() }", ""},
		{"grant/a_test.go", in("time.Sleep(1)"), "time.Sleep: use a signal"},
		{"grant/a_test.go", "package x\nimport (\n\"testing/synctest\"\n\"time\"\n)\n" +
			"func f() { synctest.Test(t, func() { time.Sleep(1) }) }\n", ""},
		{"grant/a.go", in("context.Background()"), "use the caller's context"},
		{"grant/a_test.go", in("context.Background()"), ""},
		{"cmd/rewardctl/main.go", in("context.Background()"), ""},
		{"cmd/rewardctl/app.go", in("context.Background()"), "use the caller's context"},
		{"cmd/rewardctl/app.go", in("os.Exit(1)"), "os.Exit: use an error"},
		{"cmd/rewardctl/main.go", in("os.Exit(1)"), ""},
		{"tui/a.go", in("os.Getenv(x)"), "os.Getenv: use a value handed in"},
		{"config/a.go", in("os.Getenv(x)"), ""},
		{"grant/a.go", in("fmt.Println(x)"), "fmt.Println: use a writer"},
		{"cmd/rewardctl/a.go", in("fmt.Println(x)"), ""},
		{"grant/a.go", in("fmt.Fprintln(w, x)"), ""},
		{"grant/a.go", in("log.Print(x)"), "log: hand a *slog.Logger in"},
		{"grant/a.go", "package x\nimport \"math/rand/v2\"\n", "randomness is handed in"},
		{"grant/drill/a.go", "package x\nimport \"math/rand/v2\"\n", ""},
		{"cmd/rewardctl/a.go", "package x\nimport \"crypto/rand\"\n", ""},
		{"grant/a.go", "package x\nimport . \"fmt\"\n", "dot import"},
		{"grant/a.go", "package x\nfunc init() {}\n", "init() runs"},
		{"grant/util/a.go", "package util\n", "package util says nothing"},
		{"grant/a.go", "package x\nvar n int\n", "starts empty"},
		{"grant/a.go", "package x\nvar n = 1\nfunc f() { n = 2 }\n", "n is changed"},
		{"grant/a.go", "package x\nvar n = 1\nfunc f() { n++ }\n", "n is changed"},
		{"grant/a.go", "package x\nvar m = map[int]int{}\nfunc f() { m[1] = 2 }\n", "m is changed"},
		{"grant/a.go", "package x\nvar n = 1\nfunc f() { g(&n) }\n", "n is changed"},
		{"grant/a.go", "package x\nvar n = 1\nfunc f() { n := 2; n = 3 }\n", ""},
		{"grant/a.go", "package x\nvar _ I = T{}\nfunc f() { _ = g() }\n", ""},
		{"grant/a.go", "package x\n\n//go:embed a.sql\nvar a string\n", ""},
		{"grant/a.go", "package x\nvar errX = errors.New(\"x\")\n", ""},
		{"grant/a_test.go", "package x\nvar n int\n", ""},
		{"grant/a.go", "package x\nfunc F() {}\n", "F is exported"},
		{"grant/a.go", "package x\n// F does.\nfunc F() {}\n", ""},
		{"grant/a.go", "package x\ntype T struct{}\n", "T is exported"},
		{"grant/a.go", "package x\nconst C = 1\n", "C is exported"},
		{"grant/a.go", "package x\n// The list.\nconst (\n\tC = 1\n\tD = 2\n)\n", ""},
		{"grant/a.go", "package x\nfunc (t *t) F() {}\n", ""},
		{"grant/a.go", "package x\nfunc (t *T[K]) F() {}\n", "F is exported"},
		{"grant/a.go", in("_ = err.Error() == \"x\""), "text is compared"},
		{"grant/a.go", in("switch err.Error() {\n}"), "text is compared"},
		{"grant/a.go", in("strings.Contains(err.Error(), x)"), "text is searched"},
		{"grant/a_test.go", in("strings.Contains(err.Error(), x)"), ""},
		{"grant/a.go", in("c.FlushDB(ctx)"), "FlushDB deletes"},
		{"grant/a_test.go", in("c.FlushAll(ctx)"), "FlushAll deletes"},
		{"grant/a_test.go", in("c.Keys(ctx, x)"), "KEYS blocks"},
		{"grant/a.go", in("maps.Keys(m)"), ""},
		{"grant/a.go", in("c.Do(ctx, \"KEYS\", x)"), "KEYS works through"},
		{"grant/a_test.go", in("t.Skip(x)"), "Skip hides"},
		{"grant/a_test.go", in("scan.Skip(x)"), ""},
		{"config/a.go", in("viper.Get(x)"), "viper.Get works on the global"},
		{"config/a.go", in("viper.New()"), ""},
		{"grant/a.go", in("_ = pgx.NamedArgs{}"), "NamedArgs fills"},
		{"grant/a.go", in("_ = pgx.StrictNamedArgs{}"), ""},
		{"grant/a.go", in("_ = `select a from b `"), "SQL or Lua in a string"},
		{"grant/a.go", in("_ = \"-- c\\nINSERT INTO t values (1)\""), "SQL or Lua in a string"},
		{"grant/a.go", in("_ = `with x as (select 1)`"), "SQL or Lua in a string"},
		{"grant/a.go", in("_ = \"redis.call('GET', k)\""), "SQL or Lua in a string"},
		{"grant/a.go", in("_ = \"select a screen\""), ""},
		{"grant/a.go", in("_ = \"delete the key\""), ""},
		{"grant/a.go", in("tx.Exec(ctx, \"begin\")"), "Exec of a string"},
		{"grant/a.go", in("b.Queue(\"lock table \"+name)"), "Queue of a string"},
		{"grant/a.go", in("tx.Exec(ctx, beginSQL)"), ""},
		{"grant/a_test.go", in("tx.Exec(ctx, `insert into t values (1)`)"), ""},
		{"grant/a.go", in(many), "f has 78 lines, more than 70"},
		{"grant/a_test.go", in("for range []int{\n" + strings.Repeat("1,\n", 75) + "} {\n}"), ""},
		{"grant/a_test.go", in(many), "f has 78 lines"},
		{"grant/a.go", "package x\n" + strings.Repeat("\n", 400), "the file has 401 lines"},
		{"grant/a.go", "package x\n// " + strings.Repeat("ä", 97) + "\n", ""},
		{"grant/a.go", "package x\n// " + strings.Repeat("ä", 98) + "\n", "has 101 characters"},
		{"grant/a.go", "package x\n// TO" + "DO: finish\n", "means unfinished"},
		{"grant/a.go", "package", "expected"},
		{"grant/sql/a.sql", header + "select 1", ""},
		{"grant/sql/a.sql", header + "select ';' -- ;\n;", ""},
		{"grant/sql/a.sql", header + "select 1; select 2", "holds 2 statements"},
		{"grant/sql/a.sql", header, "holds 0 statements"},
		{"grant/sql/a.sql", header + "select * from t", "name the columns"},
		{"grant/sql/a.sql", header + "select count(*) from t", ""},
		{"grant/sql/a.sql", "-- purpose: p\nselect 1", "lacks the line `-- params: ...`"},
		{"grant/sql/a.sql", "select 1\n" + header, "lacks the line `-- purpose: ...`"},
		{"grant/schema/sql/1.sql", "-- +goose Up\n-- purpose: p\ncreate table a();drop table a;", ""},
		{"grant/schema/sql/1.sql", "-- +goose Up\ncreate table a()", "lacks the line"},
		{"grant/lease/lua/a.lua", "-- keys: k\n-- args: a\n-- result: r\nreturn 1", ""},
		{"grant/lease/lua/a.lua", "-- keys: k\nreturn 1", "lacks the line `-- args: ...`"},
		{
			"grant/lease/lua/a.lua", "-- keys: k\n-- args: a\n-- result: r\nredis.call('KEYS', '*')",
			"'KEYS' works through",
		},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			got := findings(c.file, c.content)
			switch {
			case c.want == "" && got != "":
				t.Errorf("%s\n%s\nfalse alarm: %s", c.file, c.content, got)
			case c.want != "" && !strings.Contains(got, c.want):
				t.Errorf("%s\n%s\ngot %q, want in it %q", c.file, c.content, got, c.want)
			}
		})
	}
}

func TestTopLevel(t *testing.T) {
	t.Parallel()
	whole := append([]string{".ci/run", ".gitignore"}, topEntries()...)
	if found := checkTop(whole); len(found) > 0 {
		t.Errorf("false alarm: %v", found)
	}
	if found := checkTop(append(whole, "docs/a.md", "docs/b.md")); len(found) != 1 {
		t.Errorf("an extra folder: %v", found)
	}
	if found := checkTop(whole[:len(whole)-1]); len(found) != 1 {
		t.Errorf("a missing folder: %v", found)
	}
}
