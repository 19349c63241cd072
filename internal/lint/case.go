// Package lint holds the rules on text: fio jobs and storage commands in job files, scripts and
// Markdown (PL1xx).
package lint

import (
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/units"
)

type rule = finding.Rule[*Case]

// Case is what the rules look at. Parts that are not known are nil or zero, and rules that need
// them are silent.
type Case struct {
	// Scripts are the documents to lint. Fio is what the fio that runs their jobs knows; nil stands
	// for the built-in table.
	Scripts []*script.File
	Fio     *fio.OptionTable
	// Chunk is that of the array the jobs run on, Memory the machine's and Free what the path has
	// left; 0 for not known.
	Chunk, Memory, Free units.Bytes

	jobs      []*lintJob            // see lintJobs
	plugin    map[*fio.JobFile]bool // whether an engine of the job file is not fio's own
	documents map[*script.File]*document
}
