package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unshown are keys that plimsoll writes itself: the lab in a guest, its presets, and workload record; - is none.
var unshown = []string{"scale", "shows", "at_least", "-"}

// A key of a user's YAML is its field's name in lower case where no tag says another: whoever renames the field renames
// the key in all files of all users. The page of the file has each of them.
func TestKeysAreThoseOfTheirPage(t *testing.T) {
	for file, page := range map[string]string{
		"topology/yaml.go": "plimsoll-yaml.md", "workload/yaml.go": "workload.md", "lab/spec.go": "lab.md",
	} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "../../internal/"+file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		words, keys := regexp.MustCompile(`\w+`).FindAllString(string(text), -1), 0
		ast.Inspect(parsed, func(n ast.Node) bool {
			f, ok := n.(*ast.Field)
			if !ok || len(f.Names) == 0 || !f.Names[0].IsExported() {
				return true
			}
			var tag reflect.StructTag
			if f.Tag != nil {
				tag = reflect.StructTag(strings.Trim(f.Tag.Value, "`"))
			}
			for _, name := range f.Names {
				key := cmp.Or(tag.Get("yaml"), strings.ToLower(name.Name))
				if keys++; !slices.Contains(append(words, unshown...), key) {
					t.Errorf("%s: docs/%s has no key %s", file, page, key)
				}
			}
			return true
		})
		if keys < 20 {
			t.Errorf("%s: %d keys", file, keys)
		}
	}
}
