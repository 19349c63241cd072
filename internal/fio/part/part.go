// Package part names the parts of an output of fio's that a paste may lack, and holds what one import lacks.
package part

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Part is something that a whole output of fio's holds and that a paste of it may lack. A rule names the
// parts that it needs.
type Part string

// The parts, as they are named where they are missing.
const (
	Head      Part = "head"            // what the jobs were to do: a header line, a command, a job file
	Command   Part = "command"         // all their options, such as direct and the runtime
	AllJobs   Part = "all jobs"        // a row of each job
	AllSides  Part = "both directions" // of a mix
	Count     Part = "count of jobs"   // that a row is of
	Latencies Part = "latencies"       // of each direction that ran
	Tail      Part = "tail"            // percentiles up to the last
	Ending    Part = "end"             // of a row, or of the output
	DiskStats Part = "disk statistics"
)

// Missing is what an import lacks of a whole output.
type Missing struct {
	Parts []Part `json:"parts,omitempty"`
	// Jobs of Of jobs have a row; 0 of 0 where that is not known.
	Jobs int `json:"jobs,omitempty"`
	Of   int `json:"of,omitempty"`
	// Side is the direction of which nothing is there.
	Side string `json:"side,omitempty"`
	// After is the last percentile that is there, in 0..100.
	After float64 `json:"after,omitempty"`
}

// Add notes that parts are missing.
func (m *Missing) Add(parts ...Part) {
	for _, p := range parts {
		if !slices.Contains(m.Parts, p) {
			m.Parts = append(m.Parts, p)
		}
	}
}

// Has says whether one of the parts is missing.
func (m Missing) Has(parts ...Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return slices.Contains(m.Parts, p) })
}

// String says what is missing in one line: "1 of 4 jobs; no job options, no disk statistics".
func (m Missing) String() string {
	var of, no []string
	for _, p := range []Part{AllJobs, AllSides, Head, Command, Count, Latencies, Tail, Ending, DiskStats} {
		switch {
		case !m.Has(p) || (p == Command || p == Count) && m.Has(Head):
		case p == AllJobs && m.Of > 1:
			of = append(of, fmt.Sprintf("%d of %d jobs", m.Jobs, m.Of))
		case p == AllJobs:
			of = append(of, "not all of its jobs")
		case p == AllSides:
			no = append(no, "no "+m.Side+"s")
		case p == Head:
			no = append(no, "no job options")
		case p == Tail:
			no = append(no, "no percentiles above p"+strconv.FormatFloat(m.After, 'f', -1, 64))
		default:
			no = append(no, "no "+string(p))
		}
	}
	if len(no) > 0 {
		of = append(of, strings.Join(no, ", "))
	}
	return strings.Join(of, "; ")
}
