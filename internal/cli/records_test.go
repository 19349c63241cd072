package cli

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/permit"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/result"
	"plimsoll/internal/tune"
)

// Each field of a record that holds text is in testdata/records.tsv, with what is done with it: it
// is only shown, or it is checked before anything follows from it, or it is believed because nobody
// but root or the caller could have written it. A new field is decided upon before it is there.
func TestEveryFieldOfARecordIsDecidedUpon(t *testing.T) {
	data, err := os.ReadFile("testdata/records.tsv")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		col := strings.Split(strings.TrimSpace(line), "\t")
		if len(col) < 2 || !slices.Contains([]string{"shown", "checked", "believed"}, col[1]) ||
			col[1] != "shown" && len(col) < 3 {
			t.Errorf("testdata/records.tsv: %q: want a field, shown, checked or believed, and by what", line)
			continue
		}
		listed[col[0]] = col[1]
	}
	seen := map[string]bool{}
	for name, record := range map[string]any{
		"run.json": bundle.Run{}, "result.json": result.Result{}, "fleet.json": bundle.Fleet{}, "ab.json": compare.AB{},
		"pg-server.json": permit.Server{}, "arrays/*.json": records.Work{}, "tune.json": tune.Record{},
	} {
		for _, field := range textFields(reflect.TypeOf(record)) {
			field = name + " " + field
			seen[field] = true
			if listed[field] == "" {
				t.Errorf("%s is not in testdata/records.tsv: is it only shown, and what if somebody else wrote it?", field)
			}
		}
	}
	for field := range listed {
		if !seen[field] {
			t.Errorf("testdata/records.tsv has %s, which there is not", field)
		}
	}
}

// textFields are the fields of a type that hold text of a record, each by its type and its name:
// what a type means does not depend on where it is.
func textFields(of reflect.Type) []string {
	var fields []string
	visited := map[reflect.Type]bool{}
	var visit func(t reflect.Type, at string)
	visit = func(t reflect.Type, at string) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			if t.Elem().Kind() == reflect.Uint8 {
				fields = append(fields, at)
				return
			}
			visit(t.Elem(), at)
		case reflect.Map:
			if t.Key().Kind() == reflect.String {
				fields = append(fields, at+" (key)")
			}
			visit(t.Elem(), at)
		case reflect.Interface, reflect.String:
			fields = append(fields, at)
		case reflect.Struct:
			if visited[t] || t.PkgPath() == "time" {
				return
			}
			visited[t] = true
			for f := range t.Fields() {
				if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == "-" || !f.IsExported() {
					continue
				}
				visit(f.Type, fmt.Sprintf("%s.%s", t, f.Name))
			}
		default: // numbers and truth values
		}
	}
	visit(of, of.String())
	slices.Sort(fields)
	return slices.Compact(fields)
}
