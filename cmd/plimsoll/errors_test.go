package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shownErrors are functions that look into an error's text to print it, and decide nothing by it.
var shownErrors = []string{
	"internal/bench/scenario.go firstLine",
	"internal/cli/form/errors.go Complain", // an error without a text has been printed
}

// What a program does is decided by an error's type or fields: its text is for people, and changes.
func TestNothingIsDecidedByAnErrorsText(t *testing.T) {
	asks := []string{
		"Contains", "ContainsAny", "ContainsRune", "HasPrefix", "HasSuffix", "EqualFold", "Index", "LastIndex", "Count",
		"Cut", "CutPrefix", "CutSuffix", "MatchString", "FindString", "FindStringSubmatch", "Compare",
	}
	var found []string
	err := filepath.WalkDir("../../internal", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || !decidesByText(f.Body, asks) {
				continue
			}
			at := strings.TrimPrefix(filepath.ToSlash(file), "../../") + " " + f.Name.Name
			found = append(found, at)
			if !slices.Contains(shownErrors, at) {
				t.Errorf("%s looks into an error's text: give the error a type or a field", at)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range shownErrors {
		if !slices.Contains(found, at) {
			t.Errorf("%s does not any more: take it off the list", at)
		}
	}
}

// decidesByText says that a function compares an error's text, or searches it, also by a variable that it was
// put into.
func decidesByText(body *ast.BlockStmt, asks []string) bool {
	texts, decides := map[string]bool{}, false
	isText := func(e ast.Expr) bool {
		if id, ok := e.(*ast.Ident); ok {
			return texts[id.Name]
		}
		call, ok := e.(*ast.CallExpr)
		if !ok || len(call.Args) > 0 {
			return false
		}
		s, ok := call.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Error"
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) != len(n.Rhs) {
				break
			}
			for i, e := range n.Rhs {
				if id, ok := n.Lhs[i].(*ast.Ident); ok && isText(e) {
					texts[id.Name] = true
				}
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			decides = decides || ok && slices.Contains(asks, s.Sel.Name) && slices.ContainsFunc(n.Args, isText)
		case *ast.BinaryExpr:
			decides = decides || (n.Op == token.EQL || n.Op == token.NEQ) && (isText(n.X) || isText(n.Y))
		case *ast.SwitchStmt:
			decides = decides || n.Tag != nil && isText(n.Tag)
		}
		return true
	})
	return decides
}

// An error's text is seen where it is asked directly and by a variable, and its wrapping is not.
func TestErrorsTextIsSeen(t *testing.T) {
	for body, want := range map[string]bool{
		`strings.Contains(err.Error(), "no")`:                           true,
		`why := err.Error(); return strings.HasPrefix(why, "no")`:       true,
		`if err.Error() == "" { return }`:                               true,
		`switch err.Error() { case "": }`:                               true,
		`re.MatchString(err.Error())`:                                   true,
		`print(err.Error()); strings.Contains(other, "no")`:             false,
		`why := other; strings.Contains(why, "no"); err.Error()`:        false,
		`note(text.Clean(err.Error(), 200))`:                            false,
		`line := strings.ReplaceAll(err.Error(), "\n", ", "); _ = line`: false,
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "", "package a\nfunc f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := decidesByText(parsed.Decls[0].(*ast.FuncDecl).Body, []string{"Contains", "HasPrefix", "MatchString"}); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
