package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// directModule is a module that go.mod asks for itself.
var directModule = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`)

// Each direct module has a line on the page of dependencies, and what stands there under tests is not imported by
// product code, whose modules do not stand there.
func TestPageOfDependencies(t *testing.T) {
	page := read(t, "../../docs/dependencies.md")
	var product, tests string
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "| tests: ") {
			tests += line
		} else if strings.HasPrefix(line, "| `") {
			product += line
		}
	}
	modules := directModule.FindAllStringSubmatch(read(t, "../../go.mod"), -1)
	if len(modules) < 10 || tests == "" {
		t.Fatalf("%d modules, tests %q", len(modules), tests)
	}
	imported := productImports(t)
	for _, m := range modules {
		used := false
		for path := range imported {
			used = used || path == m[1] || strings.HasPrefix(path, m[1]+"/")
		}
		name := "`" + strings.TrimPrefix(m[1], "github.com/") + "`"
		want, other := product, tests
		if !used {
			want, other = tests, product
		}
		if !strings.Contains(want, name) || strings.Contains(other, name) {
			t.Errorf("docs/dependencies.md: %s, imported by product code: %v; it has no line of that kind", name, used)
		}
	}
}

// productImports are the packages that code beside tests imports.
func productImports(t *testing.T) map[string]bool {
	t.Helper()
	imported := map[string]bool{}
	for _, top := range []string{"../../internal", "."} {
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, s := range parsed.Imports {
				path, err := strconv.Unquote(s.Path.Value)
				if err != nil {
					return err
				}
				imported[path] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return imported
}
