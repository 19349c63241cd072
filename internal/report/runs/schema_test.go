package runs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
)

// The schemas of what is printed of a run and of a fleet run, and that of fleet.json; internal/cli
// generates them from the types.
const (
	schemaFile      = "../../../docs/schema/report.schema.json"
	fleetSchemaFile = "../../../docs/schema/fleet.schema.json"
	fleetFileSchema = "../../../docs/schema/fleet-file.schema.json"
)

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
		doc.(map[string]any)["additionalProperties"] = false
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
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(render(t, page.JSON, b, page.Options{Details: true})))
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
