package report

import (
	"encoding/json"
	"io"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
)

// Schema is the version of the JSON report. docs/schema/report.schema.json describes it; fields may be added within a version.
const Schema = 1

// Document is a report as JSON: the bundle whole, exactly as read. Times are in nanoseconds, sizes in bytes, rates in bytes per
// second. Scenarios carry results, ceilings with the measured latency in them, and verdicts.
type Document struct {
	Schema int `json:"schema"` // 1
	// Outcome is READY, READY WITH WARNINGS, NOT READY or INVALID for a finished run, else running or interrupted.
	Outcome   string            `json:"outcome"`
	Run       bundle.Run        `json:"run"`
	Scenarios []bundle.Scenario `json:"scenarios"`
	Findings  []finding.Finding `json:"findings"`
}

func writeJSON(out io.Writer, b *bundle.Bundle) error {
	d := Document{Schema: Schema, Outcome: b.Run.Outcome(), Run: b.Run, Scenarios: b.Scenarios, Findings: b.Findings}
	if d.Scenarios == nil {
		d.Scenarios = []bundle.Scenario{}
	}
	if d.Findings == nil {
		d.Findings = []finding.Finding{}
	}
	return json.NewEncoder(out).Encode(d) // without indentation, which would put each number of the histograms on a line
}
