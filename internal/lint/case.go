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

	// Own are options that a fio in the same tree defines and no released fio has, by the file that does.
	Own map[string]string

	// Asked is what the installed fio said of jobs that are written out (--installed); it wins over
	// the table. May be nil.
	Asked map[*fio.JobFile]fio.Asked

	badValues map[fio.Option]bool // see refusedValues

	jobs   []*lintJob                  // see lintJobs
	byFile map[*script.File][]*lintJob // see jobsOf; set with jobs
	// sequential is the first job of a document that writes a file in sequence, see filled.
	sequential map[filledFile]*lintJob
	drawn      map[filledBy]int          // see draws
	queued     map[place]bool            // see usedElsewhere
	starts     map[*script.File]*started // see starters; set with jobs
	replaced   map[string]bool           // see replacedWords
	strangers  map[*script.File][]string // see strange
	sections   []written                 // see texts
	documents  map[*script.File]*document
}

// takes says whether the fio that was asked took what the table refuses. What a run alone refuses
// was not asked.
func (c *Case) takes(w written, r fio.Refusal) bool {
	a, asked := c.Asked[w.job.File]
	_, refused := a.Refused[r.Option.String()]
	return asked && a.Whole && !refused && !r.InRun
}
