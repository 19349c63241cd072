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

// retired are words and phrases that the field has other terms for, each with what to write. They stay
// out of everything that users read: strings of the program, README, CHANGELOG, docs and suites.
var retired = []struct {
	pattern *regexp.Regexp
	write   string
}{
	{words(`mend(s|ed|ing)?`), "fix"},
	{words(`anew`), "again, or rebuild"},
	{words(`told`), "shown, reported"},
	{words(`(go(es)?|going|gone|went) on with`), "resume, continue"},
	{words(`what (it )?lasts`), "sustained"},
	{words(`(hold|held|holds) (it |them )?against`), "compare with"},
	{words(`(held|hold|holds) (it )?there`), "limited by"},
	{words(`leave[sd]? away|left away`), "omit"},
	{words(`(lay|lays|laid)[ -]out|laying out`), "prefill"},
	{words(`no longer than needs?`), "a plain sentence"},
	{words(`for ever`), "permanently, sustained"},
	{words(`unless (it )?(is )?said`), "default"},
	{words(`binds`), "limited by"},
	{words(`nobody (could|can) answer`), "there is no terminal"},
	{words(`log role`), "WAL role"},
	{words(`as it stands`), "unchanged"},
}

func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`)
}

// What users read uses the field's terms.
func TestRetiredWords(t *testing.T) {
	check := func(file string, line int, text string) {
		for _, r := range retired {
			if found := r.pattern.FindString(text); found != "" {
				t.Errorf("%s:%d: %q: write %s", file, line, found, r.write)
			}
		}
	}
	for _, root := range []string{"../../internal", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch {
			case strings.HasSuffix(path, ".yaml") && strings.Contains(path, "/builtin/"):
				checkLines(t, path, check)
			case strings.HasSuffix(path, "bundle/migrate.go"): // it names the fields of old schemas
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				checkStrings(t, path, check)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	findings, err := filepath.Glob("../../docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(append(pages, findings...), "../../README.md", "../../CHANGELOG.md") {
		checkLines(t, page, check)
	}
}

func checkLines(t *testing.T, path string, check func(string, int, string)) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		check(path, n, line)
	}
}

// checkStrings looks at the string literals of a Go file, which are what its users may read.
func checkStrings(t *testing.T, path string, check func(string, int, string)) {
	files := token.NewFileSet()
	src, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(src, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		check(path, files.Position(lit.Pos()).Line, text)
		return true
	})
}
