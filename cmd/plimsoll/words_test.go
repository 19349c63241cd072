package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

type retiredWord struct {
	pattern *regexp.Regexp
	write   string
}

// retired are words and phrases that the field has other terms for, each with what to write. They stay
// out of everything that users read (strings of the program, README, CHANGELOG, docs and suites), and out of comments.
var retired = []retiredWord{
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
	{words(`in the mean`), "on average"},
	// "a" for "per": rates and shares of one thing.
	{words(`(IOPS|TPS|ms|µs|I/Os|commits|transactions|bytes|rounds|[KMG]iB(/s)?) an? ` + one), "per"},
	{regexp.MustCompile(`%(s|v|\.[0-9]f) an? ` + one + `\b`), "per"},
}

// one is what a rate or a share is of.
const one = `(I/O|request|second|sync|job|transaction|member|volume|host|side)`

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
			case strings.HasSuffix(path, ".yaml") && strings.Contains(path, "/builtin/"),
				strings.HasSuffix(path, "/cli/form/commands.txt"), strings.HasSuffix(path, "/cli/form/flags.tsv"):
				checkLines(t, path, check)
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

// What is an "a" for "per", and what is none.
func TestPerIsNotA(t *testing.T) {
	for text, want := range map[string]bool{
		"2 ms an I/O": true, "100 IOPS a job": true, "%s an I/O": true, "commits a second": true, "0.1 waiting in the mean": true,
		"2 ms per I/O": false, "$111.69 a month": false, "ten times a second": false, "reads a volume": false, "bytes a device sent": false,
	} {
		got := slices.ContainsFunc(retired, func(r retiredWord) bool { return r.pattern.MatchString(text) })
		if got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
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

// checkStrings looks at the string literals of a Go file, which are what its users may read, and at its comments.
func checkStrings(t *testing.T, path string, check func(string, int, string)) {
	files := token.NewFileSet()
	src, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range src.Comments {
		for _, c := range group.List {
			check(path, files.Position(c.Pos()).Line, c.Text)
		}
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
