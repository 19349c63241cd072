// Package lint holds the rules on text: fio jobs and storage commands in job files, scripts and
// Markdown (PL1xx).
//
//	documents -> script.Parse -> jobs as the shell would start them, and storage commands
//	for each rule, for each job: what fio would do of the options as they are given
//	    refused by the table of this fio's version -> an error, with an exact edit where only one word is meant
//	    accepted, and another measurement than meant -> a warning, proven by an experiment
//	comments in place and settings of the tree silence findings; a baseline leaves known ones out
//
// An option is judged by fio's own tables (package fio) and never by a list of ours. A job that is only a part
// of one (Job.Partial), or whose words a shell decides, is judged by what stands there: what is not known
// silences the rules that need it. All work is linear in the text, since the text may be hostile.
package lint

import (
	"iter"
	"slices"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/units"
)

type (
	rule     = finding.Rule[*Case]
	fault    = finding.Finding
	reporter = func(fault)
	check    = func(*lintJob) *fault // of one job; nil where it is in order
)

// Case is what the rules look at. Parts that are not known are nil or zero, and rules that need
// them are silent.
type Case struct {
	// Scripts are the documents to lint. Fio is what the fio that runs their jobs knows; nil stands
	// for the built-in table.
	Scripts []*script.File
	Fio     *fio.OptionTable
	// Chunk is that of the array the jobs run on, and Memory the machine's; 0 for not known.
	Chunk, Memory units.Bytes

	// Own are options that a fio in the same tree defines and no released fio has, by the file that does.
	Own map[string]string

	known
}

// known is what rules share of a case, worked out before the first of them.
type known struct {
	replaced  map[string]bool           // words that a script puts others in the place of, see filledIn
	sections  []written                 // all of the scripts' jobs, as fio judges them
	badValues map[fio.Option]bool       // which fio refuses: what they are meant to be is not known
	strangers map[*script.File][]string // options that no fio knows, none of whose names is near
	starts    map[*script.File]*started // see starters
	jobs      []*lintJob
	byFile    map[*script.File][]*lintJob
	// sequential is the first job of a document that writes a file in sequence.
	sequential map[filledFile]*lintJob
	// drawn is how many times the sections of a job file that leave holes draw as many blocks as the devices of one
	// of them have, queued the options that a job with a queue uses.
	drawn     map[filledBy]int
	queued    map[place]bool
	documents map[*script.File]*document
}

// NewCase is a case with all that its rules share.
func NewCase(given Case) *Case {
	c := &given
	c.known = known{
		replaced: replacedBy(c.Scripts), starts: c.starters(),
		badValues: map[fio.Option]bool{}, strangers: map[*script.File][]string{},
		byFile: map[*script.File][]*lintJob{}, documents: map[*script.File]*document{},
		sequential: map[filledFile]*lintJob{}, drawn: map[filledBy]int{}, queued: map[place]bool{},
	}
	for file, j := range c.commands() {
		c.read(file, j)
	}
	for _, f := range c.Scripts {
		before := len(c.jobs)
		for s := range f.Jobs {
			src := &f.Jobs[s]
			for i, section := range src.File.EachJob() {
				j := c.newLintJob(f, src, i, section)
				j.rounds = j.eachRound(i)
				c.add(j)
			}
			if c.nameless(*src) { // what it is to do is judged all the same
				c.add(c.newLintJob(f, src, 0, src.File.Sections[0]))
			}
		}
		c.byFile[f] = c.jobs[before:len(c.jobs):len(c.jobs)]
		c.documents[f] = documentOf(f, c.byFile[f])
	}
	return c
}

// commands are the jobs as they stand in the documents: each command and each job file, with its document.
func (c *Case) commands() iter.Seq2[*script.File, *script.Job] {
	return func(yield func(*script.File, *script.Job) bool) {
		for _, file := range c.Scripts {
			for i := range file.Jobs {
				if !yield(file, &file.Jobs[i]) {
					return
				}
			}
		}
	}
}

// read lets fio's table judge the sections of a job.
func (c *Case) read(file *script.File, j *script.Job) {
	for _, w := range c.textsOf(file, j) {
		w.refusals = c.table().Refusals(w.JobText)
		c.sections = append(c.sections, w)
		for _, r := range w.refusals {
			name := r.Option.Name
			switch {
			case r.Kind == fio.RefusedValue && r.Option.Pad == "": // without its blank it is plain
				c.badValues[r.Option] = true
			case r.Kind == fio.RefusedName && r.Near == "" && r.Says == "" && len(name) > 1 &&
				optionForm.MatchString(name) && !slices.Contains(c.strangers[file], name):
				c.strangers[file] = append(c.strangers[file], name)
			}
		}
	}
}

// sources are the jobs of each job file or command, in order.
func (c *Case) sources() iter.Seq[[]*lintJob] {
	return func(yield func([]*lintJob) bool) {
		for from, to := 0, 0; from < len(c.jobs); from = to {
			for to = from; to < len(c.jobs) && c.jobs[to].src == c.jobs[from].src; {
				to++
			}
			if !yield(c.jobs[from:to]) {
				return
			}
		}
	}
}

// add notes a job.
func (c *Case) add(j *lintJob) {
	c.jobs = append(c.jobs, j)
	if depth := j.last["iodepth"]; j.open("ioengine") || !fio.Synchronous(j.Engine) {
		c.queued[place{j.src, depth.Line, depth.Col}] = true
	}
	if j.leavesHoles() {
		c.drawn[filledBy{j.src, j.Filename}] += max(j.Jobs, 1) * j.passes()
	}
	at := filledFile{j.file, j.Filename}
	if c.sequential[at] == nil && j.Sequential && j.Writes() {
		c.sequential[at] = j
	}
}
