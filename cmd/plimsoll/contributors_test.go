package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// guides are the pages for those who change plimsoll.
var guides = []string{"../../docs/architecture.md", "../../CONTRIBUTING.md", "../../SECURITY.md"}

var (
	inCode     = regexp.MustCompile("(?s)```.*?```|`[^`]+`")
	aPath      = regexp.MustCompile(`\b(?:cmd|internal|scripts|docs|testdata)/[\w./-]*\w`)
	aTarget    = regexp.MustCompile(`\bmake ([a-z][a-z-]*)`)
	aTest      = regexp.MustCompile(`go test \./([\w/]+)( -update)?(?: -run '?(\w+))?`)
	aName      = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w+)`)
	ofTheHouse = regexp.MustCompile(`(?m)^[a-z ]{9}([a-z]+)  `)
)

// TestPagesOfContributors: paths, packages, targets, tests, flags and exported names that the pages
// for contributors give are there.
func TestPagesOfContributors(t *testing.T) {
	makefile := read(t, "../../Makefile")
	for _, page := range guides {
		for _, code := range inCode.FindAllString(read(t, page), -1) {
			for _, path := range aPath.FindAllString(code, -1) {
				if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
					t.Errorf("%s: %s is not there", page, path)
				}
			}
			for _, m := range aTarget.FindAllStringSubmatch(code, -1) {
				if !strings.Contains(makefile, "\n"+m[1]+":") {
					t.Errorf("%s: the Makefile has no target %s", page, m[1])
				}
			}
			for _, m := range aTest.FindAllStringSubmatch(code, -1) {
				tests := sources(t, m[1], "*_test.go")
				if m[2] != "" && !strings.Contains(tests, `flag.Bool("update"`) {
					t.Errorf("%s: the tests of %s have no flag -update", page, m[1])
				}
				if m[3] != "" && m[3] != "TestName" && !strings.Contains(tests, "\nfunc "+m[3]) {
					t.Errorf("%s: %s has no test %s", page, m[1], m[3])
				}
			}
			for _, m := range aName.FindAllStringSubmatch(code, -1) {
				if room := "../../internal/" + m[1]; isDir(room) && !exports(t, room, m[2]) {
					t.Errorf("%s: %s has no %s", page, m[1], m[2])
				}
			}
		}
	}
}

// TestDrawingOfTheHouse: the rooms in the drawing are those that TestRoomsKeepTheirPlaces holds, from
// top to bottom.
func TestDrawingOfTheHouse(t *testing.T) {
	_, drawing, _ := strings.Cut(read(t, guides[0]), "## The house\n\n```")
	drawing, _, _ = strings.Cut(drawing, "```")
	var drawn []string
	for _, m := range ofTheHouse.FindAllStringSubmatch(drawing, -1) {
		drawn = append(drawn, m[1])
	}
	rank := ranks(floors)
	for room := range rank {
		if !slices.Contains(drawn, room) {
			t.Errorf("%s is not drawn", room)
		}
	}
	for i, room := range drawn {
		if rank[room] == 0 {
			t.Errorf("%s is drawn, and there is no such room", room)
		}
		if i > 0 && rank[room] > rank[drawn[i-1]] {
			t.Errorf("%s is drawn below %s, and stands above it", room, drawn[i-1])
		}
	}
}

// A room of more than 30 files, or 4,500 lines, tests apart, has inner walls.
func TestRoomsHaveWalls(t *testing.T) {
	const mostFiles, mostLines = 30, 4500
	rooms, err := filepath.Glob("../../internal/*")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob("../../internal/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(rooms, parts...) {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
		lines := 0
		for _, f := range files {
			lines += strings.Count(read(t, f), "\n")
		}
		if room, _ := filepath.Rel("../../internal", dir); len(files) > mostFiles || lines > mostLines {
			t.Errorf("internal/%s has %d files and %d lines: at most %d and %d; divide it", room, len(files), lines, mostFiles, mostLines)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// sources is the text of the files of a package.
func sources(t *testing.T, dir, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		all.WriteString(read(t, f))
	}
	return all.String()
}

// exports says whether a package declares an exported name, or a type a method of that name.
func exports(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, d := range src.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.FuncDecl:
					found = found || x.Name.Name == name
					return false
				case *ast.TypeSpec:
					found = found || x.Name.Name == name
				case *ast.ValueSpec:
					found = found || slices.ContainsFunc(x.Names, func(id *ast.Ident) bool { return id.Name == name })
				}
				return true
			})
		}
		if found {
			return true
		}
	}
	return false
}
