package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
)

// Schema is the version of every JSON document that plimsoll prints. docs/schema/report.schema.json
// describes the report; fields may be added within a version.
const Schema = 2

// Document is a report as JSON: the bundle whole, exactly as read. Times are in nanoseconds, sizes
// in bytes, rates in bytes per second. Scenarios carry results, ceilings with the measured latency
// in them, and verdicts.
type Document struct {
	Schema int `json:"schema_version"` // Schema
	// Outcome is READY, READY WITH WARNINGS, NOT READY, MEASURED, MEASURED WITH WARNINGS or INVALID
	// for a finished run, else running or interrupted.
	Outcome   string            `json:"outcome"`
	Run       bundle.Run        `json:"run"`
	Scenarios []bundle.Scenario `json:"scenarios"`
	Findings  []finding.Finding `json:"findings"`
	// Damaged names files of the run that are missing or are not those that were written; absent
	// when all are whole.
	Damaged []string `json:"damaged,omitempty"`
}

func writeJSON(out io.Writer, b *bundle.Bundle) error {
	d := Document{
		Schema:    Schema,
		Outcome:   b.Run.Outcome(),
		Run:       b.Run,
		Scenarios: b.Scenarios,
		Findings:  b.Findings,
		Damaged:   b.Damaged,
	}
	if d.Scenarios == nil {
		d.Scenarios = []bundle.Scenario{}
	}
	if d.Findings == nil {
		d.Findings = []finding.Finding{}
	}
	return json.NewEncoder(
		out,
	).Encode(d) // without indentation, which would put each number of the histograms on a line
}

// WriteJSON prints v as a document of its own: an object with schema_version first. A list becomes
// the object's field name.
func WriteJSON(w io.Writer, name string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	switch {
	case bytes.Equal(body, []byte("null")): // an empty list
		body = fmt.Appendf(nil, "{%q:[]}", name)
	case body[0] != '{':
		body = fmt.Appendf(nil, "{%q:%s}", name, body)
	}
	fields := bytes.TrimPrefix(body, []byte("{"))
	comma := ","
	if bytes.Equal(fields, []byte("}")) {
		comma = ""
	}
	return encode(w, json.RawMessage(fmt.Sprintf(`{"schema_version":%d%s%s`, Schema, comma, fields)))
}

// encode prints v indented.
func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
