package cli

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/internal/advise"
	"plimsoll/internal/bench"
	"plimsoll/internal/block"
	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/cli/array"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/job"
	machinecli "plimsoll/internal/cli/machine"
	"plimsoll/internal/cloud"
	"plimsoll/internal/compare"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/provision"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
	"plimsoll/internal/workload"
)

// kind is a kind of JSON that plimsoll prints or stores, with a value of its type.
type kind struct {
	name, about string
	value       any
	stored      bool
}

// schemaOf works a JSON Schema out from Go types, with their comments as descriptions.
type schemaOf struct {
	defs     map[string]any
	comments map[string]string // "room.Type" and "room.Type.Field"
	stored   bool              // a file of a run, whose names have no units
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
	case reflect.TypeFor[cloud.TierFacts](): // name, GiB, IOPS, MB/s, and of a burst IOPS and MB/s
		return map[string]any{"type": "array", "items": map[string]any{}}
	case reflect.TypeFor[json.RawMessage]():
		return map[string]any{}
	case reflect.TypeFor[fio.Hist]():
		pair := map[string]any{"type": "array", "prefixItems": []any{
			map[string]any{"type": "integer", "minimum": 0, "maximum": bins.Count - 1}, map[string]any{"type": "integer", "minimum": 1},
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
			o["properties"].(map[string]any)["center"] = map[string]any{"type": []any{"number", "null"}, "description": "null where nothing counts, n is 0"}
			s.defs[name] = o
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	if t.Kind() != reflect.Pointer && (t.Implements(textual) || t.Implements(jsoning)) {
		panic(name + " writes its own JSON: say here what it is")
	}
	switch t.Kind() { //nolint:exhaustive // a report has no other kinds; the default says so
	case reflect.Pointer:
		return nullable(s.of(t.Elem()))
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Interface:
		return map[string]any{}
	case reflect.Array:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Slice:
		// nil slices are null
		return map[string]any{"type": []any{"array", "null"}, "items": s.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": []any{"object", "null"}, "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		if t.Name() == "" {
			return s.object(t, "")
		}
		if _, ok := s.defs[name]; !ok {
			s.defs[name] = nil // a type may hold itself
			s.defs[name] = s.object(t, name)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	panic("no schema for " + t.String())
}

// nullable lets null stand for a value.
func nullable(of map[string]any) map[string]any {
	if kind, ok := of["type"].(string); ok {
		of["type"] = []any{kind, "null"}
		return of
	}
	if _, ok := of["$ref"]; ok {
		return map[string]any{"anyOf": []any{of, map[string]any{"type": "null"}}}
	}
	return of
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

// fields adds those of a struct and of what it embeds.
func (s *schemaOf) fields(t reflect.Type, properties map[string]any, required *[]any) {
	for _, f := range page.Fields(t) {
		name := f.Name
		if s.stored {
			name, _, _ = strings.Cut(f.Of.Tag.Get("json"), ",")
		}
		p := s.of(f.Of.Type)
		if c := s.comments[f.In+"."+f.Of.Name]; c != "" {
			if unit, ok := p["description"].(string); ok {
				c += " (" + unit + ")"
			}
			p["description"] = c
		}
		properties[name] = p
		if !f.Empty && !f.Zero && !f.Through {
			*required = append(*required, name)
		}
	}
}

// readComments takes the comments of all types of the rooms.
func readComments(t *testing.T) map[string]string {
	t.Helper()
	var files []string
	for _, level := range []string{"../*/*.go", "../*/*/*.go", "../*/*/*/*.go"} {
		found, err := filepath.Glob(level)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
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

func generateSchema(t *testing.T, comments map[string]string, k kind) []byte {
	t.Helper()
	s := &schemaOf{defs: map[string]any{}, comments: comments, stored: k.stored}
	of := reflect.TypeOf(k.value)
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	root := map[string]any{"type": "object", "properties": map[string]any{}}
	if of.Kind() == reflect.Struct {
		root = s.object(of, path.Base(of.PkgPath())+"."+of.Name())
	} else {
		root["properties"] = map[string]any{k.name: s.of(of)}
	}
	if !k.stored {
		p := root["properties"].(map[string]any)
		p["schema_version"], p["document"] = map[string]any{"const": page.Schema}, map[string]any{"const": k.name}
		if p["headline"] != nil {
			t.Errorf("%s has a field that stands where every document has its headline", k.name)
		}
		p["headline"] = s.of(reflect.TypeFor[page.Answer]())
		required, _ := root["required"].([]any)
		root["required"] = append([]any{"schema_version", "document", "headline"}, required...)
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://plimsoll.invalid/schema/" + k.name + ".schema.json"
	root["title"] = "plimsoll: " + k.about
	root["$comment"] = "Generated from the Go types by UPDATE=1 go test ./internal/cli -run Schema. Fields may be added within a schema version; readers pass over those they do not know."
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

// kinds are all JSON documents that plimsoll prints, and the files of a fleet run.
func kinds(t *testing.T) []kind {
	t.Helper()
	of := func(about string, d *page.Document) kind {
		return kind{name: d.Data.Name, about: about, value: d.Data.Value}
	}
	entry := func(about, name string) kind {
		d, ok := plans.CatalogEntry(name, time.Now())
		if !ok {
			t.Fatalf("the catalogue has no %q", name)
		}
		return of(about, d)
	}
	types, _, _ := plans.InstanceTable([]string{"c6a.xlarge", "m6a.xlarge"}, time.Now())
	return []kind{
		of("report of a run (run, report, import)", runs.Run(&bundle.Bundle{})),
		of("report of a fleet run", runs.Fleet(&bundle.Fleet{})),
		of("rounds of a fleet (fleet run --rounds)", runs.FleetRounds(nil)),
		of("list of runs (runs)", runs.List()),
		of("history of runs (runs --history)", runs.History(nil, nil)),
		of("results a row each (import --summary)", runs.Summary(nil)),
		of("sweep", runs.Swept(&compare.Swept{})),
		of("search for the highest load (sweep --most)", runs.Most(&bundle.Bundle{}, &compare.Most{})),
		of("comparison (compare, ab)", compared.Compare(&compare.Table{})),
		of("comparison with a baseline (--against)", compared.Against(&compare.Against{})),
		of("whether durable writes are fast enough for a program (import --for)", runs.Fit(nil, verdict.Profile{})),
		of("how far results meet a demand (compare --demand)", plans.Meets(&advise.Met{Demand: &workload.Demand{}})),
		of("check", machine.Check(nil, nil, nil, machinecli.Checked{})),
		of("members of arrays, alone and together (check --probe)", machine.Probe(nil, []machinecli.ProbeResult{})),
		of("check of several hosts (fleet check)", machine.FleetCheck(&bundle.FleetCheck{})),
		of("topology of a path (inspect)", machine.Inspect(&topology.Topology{})),
		of("disks of a machine (inspect --all)", machine.Disks(&topology.Inventory{})),
		{name: "why", about: "why the storage is slow (why)", value: &live.Answer{}},
		of("machines of the lab (lab list)", machine.Lab(nil)),
		of("volumes that were read (array warm)", machine.Warmed(nil, []array.WarmedVolume{})),
		of("ceilings (ceiling)", plans.Ceilings(&topology.Topology{}, "", nil, false)),
		of("ceilings by instance type (ceiling --instance A,B)", plans.OnTypes(nil, time.Now())),
		of("ceiling along axes (ceiling --sweep)", plans.Sweep(&topology.Topology{}, plans.Outlook{}, ceiling.Axes{}, nil)),
		of("ceilings by layout (ceiling --variant, ab --dry-run)",
			plans.Layouts([]plans.Foreseen{{Topology: &topology.Topology{}}})),
		of("limits of control groups (limits)", plans.Limits(&plans.Limited{Device: &block.Device{}}, false)),
		of("check of a claim (ceiling --claim)", plans.Claim(advise.ClaimVerdict{})),
		of("advice (advise)", plans.Advice(&advise.Advice{Demand: &workload.Demand{}}, false)),
		of("demand (workload)", plans.Demand(&workload.Demand{}, time.Millisecond, true)),
		of("commands of scenarios (suites SCENARIO)", plans.Jobs(nil)),
		of("suites", plans.Suites(nil)),
		of("findings of job files (lint)", plans.Lint(plans.Linted{})),
		of("rules (explain)", plans.Rules(nil, false, []job.RulePage{})),
		of("settings before and after (tune)", plans.Changes(nil)),
		of("plan of arrays (array plan)", plans.Plan(&provision.Plan{})),
		of("what teardown undoes (array teardown)", plans.Undo(nil)),
		of("differences from the declaration (array verify)", plans.Differences(&topology.Declaration{}, nil)),
		of("what would run (run --dry-run)", plans.DryRun(bench.Plan{})),
		entry("the catalogue (catalog)", ""),
		entry("a type of volume (catalog gp3)", "gp3"),
		entry("an instance type (catalog c6a.xlarge)", "c6a.xlarge"),
		entry("instance types of a family (catalog c6a)", "c6a"),
		entry("drives (catalog P5520)", "P5520"),
		of("instance types beside each other (catalog A B)", types),
		{name: "fleet-file", about: "fleet.json in the directory of a fleet run", value: bundle.Fleet{}, stored: true},
	}
}

func schemaFile(name string) string { return filepath.Join("../../docs/schema", name+".schema.json") }

// TestSchemasAreCurrent: docs/schema has what the types say, and nothing else.
func TestSchemasAreCurrent(t *testing.T) {
	comments, seen := readComments(t), []string{}
	for _, k := range kinds(t) {
		if k.name == "" || slices.Contains(seen, k.name) {
			t.Errorf("%s: a document without a name of its own: %q", k.about, k.name)
		}
		seen = append(seen, k.name)
		got := generateSchema(t, comments, k)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(schemaFile(k.name), got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(schemaFile(k.name))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("a type of %s changed; run UPDATE=1 go test ./internal/cli -run Schema and read the difference:\n%s", k.name, d)
		}
	}
	files, err := filepath.Glob(schemaFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".schema.json"); !slices.Contains(seen, name) {
			t.Errorf("%s is of no document", file)
		}
	}
	// Every document that the rooms of report make is in the list.
	made := regexp.MustCompile(`page\.New\("[a-z ]+", .*"([a-z_]+)", [^"\n]+\)`)
	sources, err := filepath.Glob("../report/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range sources {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range made.FindAllSubmatch(src, -1) {
			if !slices.Contains(seen, string(m[1])) {
				t.Errorf("%s prints %q, which has no schema", file, m[1])
			}
		}
	}
}

// TestNumbersOfSchemasSayTheirUnits: a field whose values are times, sizes or rates ends with the unit.
func TestNumbersOfSchemasSayTheirUnits(t *testing.T) {
	ends := map[string]string{"nanoseconds": "ns", "bytes": "bytes", "bytes per second": "bytes_per_s"}
	n := 0
	for _, k := range kinds(t) {
		if k.stored {
			continue
		}
		var schema struct {
			Defs map[string]struct {
				Properties map[string]struct {
					Type        any `json:"type"`
					Description string
				} `json:"properties"`
			} `json:"$defs"`
		}
		if err := json.Unmarshal(generateSchema(t, nil, k), &schema); err != nil {
			t.Fatal(err)
		}
		for def, d := range schema.Defs {
			for name, p := range d.Properties {
				if end := ends[p.Description]; end != "" {
					n++
					if name != end && !strings.HasSuffix(name, "_"+end) {
						t.Errorf("%s: %s.%s is in %s", k.name, def, name, p.Description)
					}
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d fields seen", n)
	}
}

// TestPrintedJSONFollowsItsSchema: the documents of real command lines, strictly: a field that the schema
// does not name is an error here.
func TestPrintedJSONFollowsItsSchema(t *testing.T) {
	schemas := map[string]*jsonschema.Schema{}
	for _, k := range kinds(t) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(generateSchema(t, nil, k)))
		if err != nil {
			t.Fatal(err)
		}
		doc.(map[string]any)["additionalProperties"] = false
		for _, d := range doc.(map[string]any)["$defs"].(map[string]any) {
			d.(map[string]any)["additionalProperties"] = false
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource(k.name+".json", doc); err != nil {
			t.Fatal(err)
		}
		if schemas[k.name], err = c.Compile(k.name + ".json"); err != nil {
			t.Fatal(err)
		}
	}
	inFlagFiles(t)
	seen, valued := map[string]bool{}, map[string]bool{}
	for _, line := range append(jsonLines(), "catalog c6a", "catalog P5520", "runs", "report", "compare a b", "compare a --against b") {
		name, value, err := printedKind(t, schemas, line+" --json")
		if err != nil {
			t.Errorf("plimsoll %s --json: %v", line, err)
		}
		seen[name], valued[name] = true, valued[name] || value
	}
	for _, name := range []string{"advice", "ceiling", "check", "claim", "demand", "demand_met", "findings", "report"} {
		if seen[name] && !valued[name] {
			t.Errorf("no document %q has a figure at headline.value", name)
		}
	}
	if len(seen) < 20 {
		t.Errorf("documents seen: %v", seen)
	}
}

// jsonLines are the lines of the walk over flags whose output is a document.
func jsonLines() []string {
	var all []string
	for _, l := range lines {
		if !strings.Contains(l.line, "--json") && !strings.Contains(l.line, "--format") && !strings.HasPrefix(l.line, "convert") &&
			!strings.Contains(l.line, "workload app.yaml --job") {
			all = append(all, l.line)
		}
	}
	return all
}

// printedKind runs a line and validates what it prints: the document's name, and whether its headline has a
// figure.
func printedKind(t *testing.T, schemas map[string]*jsonschema.Schema, line string) (name string, value bool, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	args, err := shell.Split(line)
	if err != nil {
		t.Fatal(err)
	}
	root := newRootCmd(&form.Env{Machine: sys.Host(), Version: Version, In: strings.NewReader(""), Out: &out, Err: &errs, Args: args})
	root.SetArgs(args)
	if err := root.ExecuteContext(t.Context()); form.ExitCode(err) == 2 || form.ExitCode(err) == 1 {
		return "", false, fmt.Errorf("exit %d: %w", form.ExitCode(err), err)
	}
	doc, err := jsonschema.UnmarshalJSON(&out)
	if err != nil {
		return "", false, err
	}
	name, _ = doc.(map[string]any)["document"].(string)
	if schemas[name] == nil {
		return name, false, fmt.Errorf("the document %q has no schema", name)
	}
	head, _ := doc.(map[string]any)["headline"].(map[string]any)
	if head["answer"] == "" {
		return name, false, fmt.Errorf("the headline of %q says nothing", name)
	}
	return name, head["value"] != nil, schemas[name].Validate(doc)
}
