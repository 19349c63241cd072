package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Fields of JSON are added; what a script reads stays, with its type (docs/compatibility.md). A
// release that takes one away says so in the changelog under its own version, by schema and field.
func TestSchemasKeepWhatTheLastReleaseHas(t *testing.T) {
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", "../.."}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	tag := git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
	if tag == "" {
		t.Skip("NO RELEASE: no tag v* is reachable, so there are no schemas to compare with")
	}
	names := strings.Fields(git("ls-tree", "--name-only", tag, "docs/schema/"))
	if len(names) == 0 {
		t.Fatalf("%s has no schemas", tag)
	}
	changes := read(t, "../../CHANGELOG.md")
	for _, name := range names {
		now := read(t, "../../"+name)
		for _, field := range lost(t, git("show", tag+":"+name), now) {
			if announced := path.Base(name) + " " + field; !strings.Contains(changes, announced) {
				t.Errorf("%s of %s: %s is gone or of another type, and CHANGELOG.md does not say %q", name, tag, field, announced)
			}
		}
	}
}

// lost are the fields of a schema that a later one does not have with the same type.
func lost(t *testing.T, before, after string) []string {
	t.Helper()
	var old, now any
	for text, into := range map[string]*any{before: &old, after: &now} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	var fields []string
	compare(old, now, "", &fields)
	slices.Sort(fields)
	return fields
}

func compare(old, now any, at string, fields *[]string) {
	was, ok := old.(map[string]any)
	if !ok {
		return
	}
	is, ok := now.(map[string]any)
	if !ok || was["type"] != nil && !reflect.DeepEqual(was["type"], is["type"]) {
		*fields = append(*fields, at)
		return
	}
	for _, group := range []string{"properties", "$defs"} {
		then, _ := was[group].(map[string]any)
		later, _ := is[group].(map[string]any)
		for name, schema := range then {
			compare(schema, later[name], strings.TrimPrefix(fmt.Sprintf("%s.%s", at, name), "."), fields)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if was[key] != nil {
			compare(was[key], is[key], at+"[]", fields)
		}
	}
}

func TestLostFieldsAreFound(t *testing.T) {
	const before = `{"$defs": {"row": {"type": "object", "properties": {"iops": {"type": "number"}, "name": {"type": "string"}}}},
		"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}}}`
	for after, want := range map[string][]string{
		before: nil,
		strings.Replace(before, `"a":`, `"b": {"type": "string"}, "a":`, 1): nil,
		strings.Replace(before, `"a":`, `"b":`, 1):                          {"rows[].a"},
		strings.Replace(before, `"integer"`, `"string"`, 1):                 {"rows[].a"},
		strings.Replace(before, `"iops"`, `"rate"`, 1):                      {"row.iops"},
		`{"type": "array"}`: {""},
	} {
		if got := lost(t, before, after); !slices.Equal(got, want) {
			t.Errorf("lost %q, want %q, in\n%s", got, want, after)
		}
	}
}
