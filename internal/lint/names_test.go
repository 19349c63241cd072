package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/script"
)

// TestOptionNamesAreFios holds the names by which rules ask for options against fio's table: one that is
// misspelt, or another name of an option, would silently be "not given".
func TestOptionNamesAreFios(t *testing.T) {
	asked := []string{"open", "given", "anyOpen", "anyGiven", "flag", "setting", "found", "at"}
	isProduct := func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }
	set := token.NewFileSet()
	packages, err := parser.ParseDir(set, ".", isProduct, 0) //nolint:staticcheck // one folder without build tags
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]token.Pos{}
	note := func(e ast.Expr) {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			text, _ := strconv.Unquote(l.Value)
			for name := range strings.FieldsSeq(text) {
				names[name] = l.Pos()
			}
		}
	}
	for _, p := range packages {
		ast.Inspect(p, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				of, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || !slices.Contains(asked, of.Sel.Name) {
					break
				}
				args := n.Args
				switch of.Sel.Name {
				case "found", "flag", "setting":
					args = args[:1]
				}
				for _, a := range args {
					note(a)
				}
			case *ast.IndexExpr:
				if of, ok := n.X.(*ast.SelectorExpr); ok && of.Sel.Name == "last" {
					note(n.Index)
				}
			}
			return true
		})
	}
	for _, name := range slices.Concat(syncOptions, shapes, writtenNames[1:]) {
		names[name] = token.NoPos
	}
	if len(names) < 70 {
		t.Fatalf("%d names were found in the rules", len(names))
	}
	table := fio.BuiltinOptions()
	for name, at := range names {
		if main := table.Main(name); main != name {
			t.Errorf("%s: the rules ask for %q, which fio calls %q", set.Position(at), name, main)
		} else if _, known := table.Lookup(name); !known {
			t.Errorf("%s: fio has no option %q", set.Position(at), name)
		}
	}
}

// TestReadonlyDestroysNothing: fio refuses such a command (PL102), so no device is written (PL113).
func TestReadonlyDestroysNothing(t *testing.T) {
	const writes = "fio --readonly --name=a --filename=/dev/sdz --rw=write --size=1g --direct=1\n"
	codes := func(text string) (all []string) {
		for _, f := range Judge(NewCase(Case{Scripts: []*script.File{script.CommandText(text, script.Options{})}})).Found {
			all = append(all, string(f.Code))
		}
		return all
	}
	if got := codes(writes); !slices.Contains(got, "PL102") || slices.Contains(got, "PL113") {
		t.Errorf("with --readonly: %v", got)
	}
	if got := codes(strings.Replace(writes, "--readonly ", "", 1)); !slices.Contains(got, "PL113") {
		t.Errorf("without: %v", got)
	}
}
