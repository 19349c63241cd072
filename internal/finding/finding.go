// Package finding holds the rules: each looks at plain facts and reports what is wrong, with the numbers that show it and
// what to do. Rules are pure; lint, check and the verdict of a run all go through Judge.
package finding

import (
	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/script"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Code names a rule for ever: PL1xx the job, PL2xx the layout, PL3xx the host, PL4xx the measurement, PL5xx the verdict
// against ceilings, PL6xx the cloud.
type Code string

// Severity orders findings.
type Severity string

// The severities. Invalid: the measurement itself is not to be trusted.
const (
	Info    Severity = "info"
	Warn    Severity = "warning"
	Fail    Severity = "error"
	Invalid Severity = "invalid"
)

// Finding is one numbered, evidenced diagnosis.
type Finding struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Subject  string   `json:"subject"` // what it is about: a scenario, an array, a device, file:line:col
	// Scenarios are the IDs it concerns; empty for the machine as a whole.
	Scenarios []int `json:"scenarios,omitempty"`
	// Says is the diagnosis in one sentence with its numbers; the title stands for the rule, this for the case.
	Says     string     `json:"says"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Why      string     `json:"why,omitempty"`
	// Fix says what to do; Commands mend it when typed.
	Fix      string   `json:"fix,omitempty"`
	Commands []string `json:"commands,omitempty"`
	// Settings are those of the commands that plimsoll tune makes by itself.
	Settings []Setting `json:"settings,omitempty"`
	// Line and Col place a lint finding in its file.
	Line int `json:"line,omitempty"`
	Col  int `json:"col,omitempty"`
	// Edits mend the text where that is certain; they are what lint --fix applies.
	Edits []Edit `json:"edits,omitempty"`
}

// Edit replaces Old, which stands at a line and column (in characters, from 1), by New.
type Edit struct {
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Evidence is a number, what it should be, and where it was read.
type Evidence struct {
	What   string `json:"what"`
	Found  string `json:"found"`
	Wanted string `json:"wanted,omitempty"`
	Where  string `json:"where,omitempty"`
}

// Case is everything that rules may look at. Parts that are not known are nil or empty, and rules that need them are silent.
type Case struct {
	Topology *topology.Topology
	// Host is what was read of the machine around the storage, Look what its devices did while nothing was measured.
	Host *host.Facts
	Look []telemetry.DeviceUse
	Runs []Measurement
	// Scripts are the documents to lint. Fio is what the fio that runs their jobs knows; nil stands for the built-in table.
	Scripts []*script.File
	Fio     *fio.OptionTable
	// Chunk is that of the array the jobs run on, Memory the machine's and Free what the target has left; 0 for not known.
	Chunk, Memory, Free units.Bytes

	lint    []*lintJob // see lintJobs
	layouts map[*script.File]*layout
}

// Measurement is one scenario with what it could reach and what it did. Ceiling and Result may be nil.
type Measurement struct {
	Scenario suite.Scenario
	Ceiling  *ceiling.Ceiling
	Result   *result.Result
	Targets  []TargetResult
	// EBS is what the statistics pages of volumes and local EC2 drives counted during the run, after less before
	// (cloud.EBSStats.Minus), by kernel name, for those that could be asked.
	EBS map[string]cloud.EBSStats
}

// TargetResult is a target held against a result.
type TargetResult struct {
	suite.Target
	Measured float64 `json:"measured"`
	Limit    float64 `json:"limit_value"` // with the ceiling's factor applied
	Met      bool    `json:"met"`
	// Skipped says why it could not be evaluated: the ceiling is unknown, the direction was not measured.
	Skipped string `json:"skipped,omitempty"`
}

// Verdict of a scenario or a run.
type Verdict string

// The verdicts, best first; a worse one beats a better one.
const (
	Pass       Verdict = "pass"
	WarnedPass Verdict = "warn"
	Failed     Verdict = "fail"
	NotTrusted Verdict = "invalid"
)

// Rule is one diagnosis. Its page (docs/findings/CODE.md) is generated from these texts.
type Rule struct {
	Code     Code
	Since    string
	Severity Severity
	Title    string
	When     string // when it fires: what is compared with what, and where the threshold comes from; may be empty
	Why      string // why it matters
	Fix      string // what to do
	Bad      string // an example that fires
	Good     string // the same, mended
	Ignore   string // when to ignore it
	// After names rules whose finding on the same subject explains this one away.
	After []Code
	Check func(c *Case, report func(Finding))
}
