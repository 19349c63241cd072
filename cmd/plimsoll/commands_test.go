package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// typedCommand is the beginning of a command in a text of the program, which is not about who made something: what
// follows is typed.
var (
	typedCommand = regexp.MustCompile(`(?:^|[ (:;])plimsoll [a-z]+(?: [a-z]+)?(?: [^;:.,()"]*)?$`)
	madeBy       = regexp.MustCompile(
		`\b(?:by|tell what|old:) plimsoll [a-z ]*(?:--capture )?(?:on|from|for|needs|ioengine=)[ =]*$|plimsoll (?:needs|cannot tell|array warm loads)`)
)

// verb is a verb of a format with the number of its argument where it has one.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0]*[0-9.*]*[a-zA-Z%]`)

// quoting are the functions of which what is typed may consist: they quote each word.
var quoting = map[string]bool{"ShellQuote": true, "ShellLine": true, "Destroying": true}

// plain are the expressions that need no quotes behind a command, and why.
var plain = map[string]string{
	"array_teardown.go: w.Array": array, "layouts.go: w.Array": array, "adopt.go: j.Array": array,
	"apply.go: w.Array": array,
	"plan.go: w.Array":  array, "replace.go: d.Name": array, "replace.go: w.Array": array, "trial.go: w.Array": array,
	"fleet.go: code": "it matched PL and three digits", "next.go: code[1]": "it matched PL and three digits",
	"next.go: b.Run.Topology.Instance.Example()": "one of the program's examples",
	"steps_members.go: v.Instance.Example()":     "one of the program's examples",
}

// shells are the functions that quote each string which they are given, as finding.Shell does.
var shells = map[string]bool{"Run": true, "Shell": true, "try": true}

const array = "an array has its name by records.NameOK: letters, digits, dots, hyphens and underscores"

// A command that is printed to be typed quotes whatever is no word of the program: each text that ends in the middle of
// a command of plimsoll's goes on with a literal or with what text.ShellQuote or text.ShellLine return.
func TestCommandsToBeTypedQuoteEachWord(t *testing.T) {
	used, seen := map[string]bool{}, 0
	check := func(at token.Position, text string, e ast.Expr, src []byte, files *token.FileSet) {
		if !typedCommand.MatchString(text) || madeBy.MatchString(text) {
			return
		}
		seen++
		for {
			p, ok := e.(*ast.ParenExpr)
			if !ok {
				break
			}
			e = p.X
		}
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			return
		}
		if call, ok := e.(*ast.CallExpr); ok {
			name := ""
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				name = f.Sel.Name
			case *ast.Ident:
				name = f.Name
			}
			if quoting[name] {
				return
			}
		}
		what := string(src[files.Position(e.Pos()).Offset:files.Position(e.End()).Offset])
		key := filepath.Base(at.Filename) + ": " + what
		if plain[key] == "" {
			t.Errorf("%s:%d: %q goes on with %s, which is not quoted (text.ShellQuote)", at.Filename, at.Line, text, what)
		}
		used[key] = true
	}
	err := filepath.WalkDir("../../internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.ADD {
					if left, ok := lastLiteral(n.X); ok {
						check(files.Position(n.Pos()), left, n.Y, src, files)
					}
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && shells[f.Sel.Name] && len(n.Args) > 0 {
					seen++
					return true
				}
				for i, arg := range n.Args {
					format, ok := wholeLiteral(arg)
					if !ok || !strings.Contains(format, "plimsoll ") {
						continue
					}
					next := i + 1
					for _, at := range verb.FindAllStringSubmatchIndex(format, -1) {
						if strings.HasSuffix(format[at[0]:at[1]], "%") {
							continue
						}
						which := next
						if at[2] >= 0 {
							k, _ := strconv.Atoi(format[at[2]:at[3]])
							which = i + k
						}
						next = which + 1
						if which < len(n.Args) && !strings.HasSuffix(format[at[0]:at[1]], "d") {
							check(files.Position(n.Pos()), format[:at[0]], n.Args[which], src, files)
						}
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range plain {
		if !used[key] {
			t.Errorf("%s: is not there any more", key)
		}
	}
	if t.Logf("%d places", seen); seen < 20 {
		t.Errorf("%d places: the test does not find them", seen)
	}
}

// wholeLiteral is the value of a string literal, or of several that are put together.
func wholeLiteral(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, ok1 := wholeLiteral(e.X)
		b, ok2 := wholeLiteral(e.Y)
		return a + b, ok1 && ok2 && e.Op == token.ADD
	}
	return "", false
}

// lastLiteral is the text at the right end of what is put together.
func lastLiteral(e ast.Expr) (string, bool) {
	if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
		e = b.Y
	}
	return wholeLiteral(e)
}
