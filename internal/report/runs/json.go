package runs

import (
	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
)

// Document is a report as JSON: the bundle whole. The names of fields end with their units. Scenarios
// carry results, ceilings with the measured latency in them, and verdicts.
type Document struct {
	// Outcome is READY, READY WITH WARNINGS, NOT READY, MEASURED, MEASURED WITH WARNINGS or INVALID
	// for a finished run, else running or interrupted.
	Outcome   string
	Run       bundle.Run
	Scenarios []bundle.Scenario
	Findings  []finding.Finding
	// Damaged names files of the run that are missing or are not those that were written; absent
	// when all are whole.
	Damaged []string `json:"damaged,omitempty"`
}

// document is the report of a bundle.
func document(b *bundle.Bundle) Document {
	return Document{
		Outcome:   b.Run.Outcome(),
		Run:       b.Run,
		Scenarios: append([]bundle.Scenario{}, b.Scenarios...),
		Findings:  append([]finding.Finding{}, b.Findings...),
		Damaged:   b.Damaged,
	}
}
