// Package suite holds scenarios: the suites that plimsoll brings, those a user writes in the same YAML, and any fio job
// file taken as a scenario of its own. It knows targets, the stated expectations on a result.
package suite

import (
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Suite is an ordered list of scenarios; they run in that order.
type Suite struct {
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Source      string        `json:"source"`   // "built in" or the file it was read from
	Cooldown    time.Duration `json:"cooldown"` // pause between scenarios
	Scenarios   []Scenario    `json:"scenarios"`
}

// Scenario is one fio workload.
type Scenario struct {
	ID    int           `json:"id"`
	Name  string        `json:"name"`
	Title string        `json:"title,omitempty"`
	Why   string        `json:"why,omitempty"` // what it measures, one sentence
	Role  topology.Role `json:"role"`
	Phase string        `json:"phase,omitempty"`
	// Size of the region each job works on; the role's file is as large as the largest of its scenarios.
	Size    units.Bytes   `json:"size,omitempty"`
	Runtime time.Duration `json:"runtime,omitempty"`
	Ramp    time.Duration `json:"ramp,omitempty"`
	// Job is the job file that runs, one [section] unless it came from a file. plimsoll adds the options that place,
	// time and observe it; everything else is as the author wrote it.
	Job     fio.JobFile `json:"job"`
	Targets []Target    `json:"targets,omitempty"`
	// AsIs is true for a job file from elsewhere: files, sizes and times are its own.
	AsIs bool `json:"as_is,omitempty"`
}

// Target is a stated expectation, such as "write.sync.p99 < 3ms" or "total.bw >= 0.95 * ceiling".
type Target struct {
	Text string `json:"text"`
	// Metric is the left side: read|write|trim|total, then iops, bw, or clat|slat|lat|sync with mean, max or pNN.
	Metric string `json:"metric"`
	Op     string `json:"op"` // < <= > >=
	// Limit is the right side in the metric's base unit (1/s, bytes/s, ns), or a factor of the ceiling.
	Limit     float64 `json:"limit"`
	OfCeiling bool    `json:"of_ceiling,omitempty"`
}
