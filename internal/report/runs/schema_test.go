package runs

import (
	"bytes"
	cmpor "cmp"
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

const schemaFile = "../../../docs/schema/report.schema.json"

// fleetSchemaFile is that of fleet.json.
const fleetSchemaFile = "../../../docs/schema/fleet.schema.json"

// schemaOf works a JSON Schema out from Go types, with their comments as descriptions.
type schemaOf struct {
	defs     map[string]any
	comments map[string]string // "room.Type" and "room.Type.Field"
}

var (
	textual = reflect.TypeFor[encoding.TextMarshaler]()
	jsoning = reflect.TypeFor[json.Marshaler]()
)

func (s *schemaOf) of(t reflect.Type) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "description": "nanoseconds"}
	case reflect.TypeFor[units.Bytes]():
		return map[string]any{"type": "integer", "minimum": 0, "description": "bytes"}
	case reflect.TypeFor[units.Rate]():
		return map[string]any{"type": "number", "minimum": 0, "description": "bytes per second"}
	case reflect.TypeFor[units.IOPS]():
		return map[string]any{"type": "number", "minimum": 0, "description": "I/O operations per second"}
	case reflect.TypeFor[units.Latency]():
		return map[string]any{"type": "number", "description": "nanoseconds"}
	case reflect.TypeFor[suite.Threshold]():
		return map[string]any{"type": "string", "description": "a threshold such as write.sync.p99 < 3ms"}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{}
	case reflect.TypeFor[fio.Hist]():
		pair := map[string]any{"type": "array", "prefixItems": []any{
			map[string]any{"type": "integer", "minimum": 0, "maximum": fio.HistBins - 1}, map[string]any{"type": "integer", "minimum": 1},
		}, "items": false, "minItems": 2}
		return map[string]any{"type": "array", "items": pair, "description": "[bin, count] of each of fio's latency bins that is not empty"}
	}
	name := path.Base(t.PkgPath()) + "." + t.Name()
	if t == reflect.TypeFor[stats.Estimate]() {
		if _, ok := s.defs[name]; !ok {
			o := s.object(t, name)
			for _, bound := range []string{"lo", "hi"} {
				o["properties"].(map[string]any)[bound] = map[string]any{"type": []any{"number", "null"}, "description": "null where there is no interval"}
			}
			s.defs[name] = o
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	if t.Kind() != reflect.Pointer && (t.Implements(textual) || t.Implements(jsoning)) {
		panic(name + " writes its own JSON: say here what it is")
	}
	switch t.Kind() { //nolint:exhaustive // a report has no other kinds; the default says so
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		// nil slices are null
		return map[string]any{"type": []any{"array", "null"}, "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": []any{"object", "null"}, "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if _, ok := s.defs[name]; !ok {
			s.defs[name] = nil // a type may hold itself
			s.defs[name] = s.object(t, name)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	panic("no schema for " + t.String())
}

func (s *schemaOf) object(t reflect.Type, name string) map[string]any {
	properties, required := map[string]any{}, []any{}
	s.fields(t, properties, &required)
	o := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	if c := s.comments[name]; c != "" {
		o["description"] = c
	}
	return o
}

// fields adds those of a struct and of what it embeds. As in encoding/json an outer field hides an
// inner one of its JSON name, and not of its Go name.
func (s *schemaOf) fields(t reflect.Type, properties map[string]any, required *[]any) {
	var embedded []reflect.Type
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			embedded = append(embedded, f.Type)
			continue
		}
		key := cmpor.Or(tag, f.Name)
		if _, hidden := properties[key]; hidden || !f.IsExported() || tag == "-" {
			continue
		}
		p := s.of(f.Type)
		if c := s.comments[path.Base(t.PkgPath())+"."+t.Name()+"."+f.Name]; c != "" {
			if unit, ok := p["description"].(string); ok {
				c += " (" + unit + ")"
			}
			p["description"] = c
		}
		properties[key] = p
		if !strings.Contains(options, "omit") {
			*required = append(*required, key)
		}
	}
	for _, e := range embedded {
		s.fields(e, properties, required)
	}
}

// readComments takes the comments of all types of the rooms.
func readComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		phrase := func(groups ...*ast.CommentGroup) string {
			var parts []string
			for _, g := range groups {
				if s := strings.Join(strings.Fields(g.Text()), " "); s != "" {
					parts = append(parts, s)
				}
			}
			return strings.Join(parts, " ")
		}
		ast.Inspect(src, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok {
				return true
			}
			for _, spec := range decl.Specs {
				typ, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				name := src.Name.Name + "." + typ.Name.Name
				all[name] = phrase(decl.Doc, typ.Doc)
				if body, ok := typ.Type.(*ast.StructType); ok {
					for _, f := range body.Fields.List {
						for _, id := range f.Names {
							all[name+"."+id.Name] = phrase(f.Doc, f.Comment)
						}
					}
				}
			}
			return true
		})
	}
	return all
}

func generateSchema(t *testing.T, of reflect.Type, file, title string) []byte {
	t.Helper()
	s := &schemaOf{defs: map[string]any{}, comments: readComments(t)}
	root := s.of(of)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://plimsoll.invalid/schema/" + filepath.Base(file)
	root["title"] = title
	root["$comment"] = "Generated from the Go types by go test ./internal/report/runs -run Schema -update. Fields may be added within a schema version; readers pass over those they do not know."
	root["$defs"] = s.defs
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSchemaIsCurrent(t *testing.T) {
	current := func(file string, of reflect.Type, title string) {
		t.Helper()
		got := generateSchema(t, of, file, title)
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("a type of the report changed; run go test ./internal/report/runs -run Schema -update and read the difference:\n%s", d)
		}
	}
	current(schemaFile, reflect.TypeFor[Document](), "plimsoll report, schema 1")
	current(fleetSchemaFile, reflect.TypeFor[bundle.Fleet](), "plimsoll fleet.json, schema 1")
}

// compile reads the published schema. strict forbids what it does not name, which readers must not:
// so a test sees a field that the schema forgot.
func compile(t *testing.T, file string, strict bool) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if strict {
		for _, d := range doc.(map[string]any)["$defs"].(map[string]any) {
			d.(map[string]any)["additionalProperties"] = false
		}
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJSONFollowsItsSchema(t *testing.T) {
	strict := compile(t, schemaFile, true)
	for name, b := range map[string]*bundle.Bundle{"synthetic": synthetic(5), "hostile": hostile(), "recorded": recorded(t), "empty": {}} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(render(t, page.JSON, b, page.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		if err := strict.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	loose := compile(t, schemaFile, false)
	for bad, phrase := range map[string]string{
		"no schema": `{"outcome":"READY","run":{},"scenarios":[],"findings":[]}`, "a list": `[]`, "a word for a number": `{"schema":"1"}`,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(phrase))
		if err != nil {
			t.Fatal(err)
		}
		if loose.Validate(doc) == nil {
			t.Errorf("the schema lets %s pass", bad)
		}
	}
}
