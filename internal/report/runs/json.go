package runs

import (
	"encoding/json"
	"io"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
)

// Document is a report as JSON: the bundle whole, exactly as read. Times are in nanoseconds, sizes
// in bytes, rates in bytes per second. Scenarios carry results, ceilings with the measured latency
// in them, and verdicts.
type Document struct {
	Schema int `json:"schema_version"` // page.Schema
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
		Schema:    page.Schema,
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
