// Package suite holds scenarios: the suites that plimsoll brings, those a user writes in the same
// YAML, and any fio job file taken as a scenario of its own. It knows thresholds, the stated
// expectations on a result.
package suite

import (
	"maps"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Suite is an ordered list of scenarios; they run in that order.
type Suite struct {
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Source      string        `json:"source"`   // "built in" or the file it was read from
	Cooldown    time.Duration `json:"cooldown"` // pause between scenarios
	Scenarios   []Scenario    `json:"scenarios"`
	Server      *Server       `json:"server,omitempty"` // of scenarios that are PostgreSQL's
	Repeat      *Repeat       `json:"repeat,omitempty"`
}

// Repeat is how often a suite is measured and what it is judged by, as the flags of plimsoll run of
// the same names have it. An empty value is the flag's default.
type Repeat struct {
	Rounds  string `json:"rounds,omitempty"`  // 5, or 5..20 with Until
	Until   string `json:"until,omitempty"`   // 3%, or steady
	Stop    string `json:"stop,omitempty"`    // 2%
	Order   string `json:"order,omitempty"`   // shuffle or file
	Budget  string `json:"budget,omitempty"`  // 45m
	Against string `json:"against,omitempty"` // last:10, a run, or a table of expected figures
}

// Flags are the values by the flag's name, without those that are not given.
func (r *Repeat) Flags() map[string]string {
	if r == nil {
		return nil
	}
	all := map[string]string{
		"rounds": r.Rounds, "until": r.Until, "stop": r.Stop, "order": r.Order, "budget": r.Budget, "against": r.Against,
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// FileUse says which files the jobs of a scenario work on.
type FileUse string

// What a suite may say, and what becomes of FilePerJob on a raw device.
const (
	SharedFile   FileUse = ""       // "shared" in YAML: one file of the role for all jobs
	FilePerJob   FileUse = "job"    // each job has a file of its own, as with fio's directory=
	RegionPerJob FileUse = "region" // each job has a part of the device of its own
)

// Scenario is one fio workload.
type Scenario struct {
	ID    int           `json:"id"`
	Name  string        `json:"name"`
	Title string        `json:"title,omitempty"`
	Why   string        `json:"why,omitempty"` // what it measures, one sentence
	Role  topology.Role `json:"role"`
	Phase string        `json:"phase,omitempty"`
	// Size of the region each job works on; the role's file is as large as the largest of its
	// scenarios.
	Size units.Bytes `json:"size,omitempty"`
	// Files says whether the jobs share the role's file or have one of Size each.
	Files   FileUse       `json:"files,omitempty"`
	Runtime time.Duration `json:"runtime,omitempty"`
	Ramp    time.Duration `json:"ramp,omitempty"`
	// Job is the job file that runs, one [section] unless it came from a file. plimsoll adds the
	// options that place, time and observe it; everything else is as the author wrote it.
	Job        fio.JobFile `json:"job"`
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Main is the figure that comparisons test, as ParseMain reads it; empty for IOPS, bandwidth or
	// latency by the work.
	Main string `json:"main,omitempty"`
	// Demand is what the job asks for, where a demand file describes it; Job then follows from it,
	// Size and Runtime.
	Demand *workload.Demand `json:"demand,omitempty"`
	// Postgres is what the scenario does with a database server; Job is then empty.
	Postgres *Postgres `json:"postgres,omitempty"`
	// AsIs is true for a job file from elsewhere: files, sizes and times are its own.
	AsIs bool `json:"as_is,omitempty"`
}

// Kind is what runs a scenario and measures its result.
type Kind string

// The kinds.
const (
	OfFio    Kind = "fio"
	OfServer Kind = "transactions" // of PostgreSQL, by pgbench
)

// Kind says what runs the scenario.
func (s *Scenario) Kind() Kind {
	if s.Postgres != nil {
		return OfServer
	}
	return OfFio
}

// Of lists the scenarios of a kind.
func (s *Suite) Of(kind Kind) []Scenario {
	return slices.DeleteFunc(slices.Clone(s.Scenarios), func(c Scenario) bool { return c.Kind() != kind })
}

// NeedsServer says whether any scenario is PostgreSQL's.
func (s *Suite) NeedsServer() bool { return len(s.Of(OfServer)) > 0 }
