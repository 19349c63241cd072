package bench

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/workload"
)

// form is what a scenario is made from, as far as flags are concerned. A command line's own forms are known
// from its words and stand with the flags; these are known when the suite was read.
type form string

const (
	ofSuite    form = "a scenario of a suite"
	ofJobs     form = "a scenario of several jobs"
	ofDemand   form = "a demand file's job"
	ofPostgres form = "a scenario of PostgreSQL"
	ofJobFile  form = "a job file"
)

func formOf(c *suite.Scenario) form {
	switch {
	case c.Kind() == suite.OfServer:
		return ofPostgres
	case c.Demand != nil:
		return ofDemand
	case c.AsIs:
		return ofJobFile
	case len(c.Job.Sections) > 1:
		return ofJobs
	}
	return ofSuite
}

// read says which forms read a flag, and why the others do not.
type read struct {
	by  []form
	why string
}

// readers are the flags that not every form reads. A flag that is not here concerns the run as a
// whole: its paths, its storage, its rounds.
func readers() map[string]read {
	fios := []form{ofSuite, ofJobs, ofDemand, ofJobFile}
	database := read{[]form{ofPostgres}, "it is for the scenarios of PostgreSQL, as in plimsoll run pg"}
	all := map[string]read{
		"size":          {fios, "--pg-scale is the size of the data set"},
		"ramp":          {[]form{ofSuite, ofJobs, ofJobFile}, "its load begins at once"},
		"stop":          {[]form{ofSuite}, "its load changes as it goes on, and ends by itself"},
		"sustained":     {[]form{ofSuite}, "its load changes as it goes on, and ends by itself"},
		"fresh-extents": {[]form{ofSuite, ofJobs, ofDemand}, "it makes its files itself"},
	}
	for flag := range strings.FieldsSeq("pg-bin pg-user pg-scale pg-memory pg-clients pg-set quick") {
		all[flag] = database
	}
	return all
}

// unread refuses a flag that no scenario reads: one that is ignored without a word makes people
// believe in a measurement that was not made.
func (r Request) unread(s *suite.Suite) error {
	all := readers()
	for _, flag := range slices.Sorted(maps.Keys(all)) {
		if !r.Given(flag) || len(s.Scenarios) == 0 {
			continue
		}
		reads := func(c suite.Scenario) bool { return slices.Contains(all[flag].by, formOf(&c)) }
		if c := &s.Scenarios[0]; !slices.ContainsFunc(s.Scenarios, reads) {
			return input("--%s does not apply to %s, which is %s: %s", flag, c.Name, formOf(c), all[flag].why)
		}
	}
	return nil
}

// changes are the options that the request sets in every job of a scenario that has times, or
// sizes, of its own.
func (r Request) changes(c *suite.Scenario) []fio.Option {
	var set []fio.Option
	add := func(name, value string) { set = append(set, fio.Option{Name: name, Value: value}) }
	if r.Given("size") && c.AsIs {
		add("size", r.Size.Suffixed())
	}
	if r.Given("runtime") {
		add("runtime", workload.Time(r.Runtime))
		add("time_based", "1")
	}
	if r.Given("ramp") {
		add("ramp_time", workload.Time(r.Ramp))
	}
	return set
}

// change applies the request to a job file, or to several jobs: each job gets the options, in place
// of its own and of [global]'s. The title, which reports show, says so.
func (r Request) change(c *suite.Scenario) {
	set := r.changes(c)
	if len(set) == 0 {
		return
	}
	sections := slices.Clone(c.Job.Sections)
	c.Job.Sections = sections
	for i := range sections { // also of [global], whose filesize= would win over the size= of a job
		one := &sections[i]
		one.Options = slices.DeleteFunc(slices.Clone(one.Options), func(o fio.Option) bool {
			return slices.ContainsFunc(set, func(s fio.Option) bool {
				return s.Name == o.Name || s.Name == "runtime" && o.Name == "timeout" // its other name
			}) || r.Given("size") && c.AsIs && slices.Contains(strings.Fields("filesize file_size fill_device fill_fs"), o.Name)
		})
	}
	for _, i := range c.Job.Jobs() {
		sections[i].Options = append(sections[i].Options, set...)
	}
	if r.Given("size") && c.AsIs {
		c.Size = r.Size
	}
	if r.Given("runtime") {
		c.Runtime = r.Runtime
	}
	if r.Given("ramp") {
		c.Ramp = r.Ramp
	}
	words := make([]string, len(set))
	for i, o := range set {
		words[i] = o.Name + "=" + o.Value
	}
	c.Title = cmp.Or(c.Title, c.Name) + ", changed by flags: " + strings.Join(words, ", ")
}

// Changed says which job files are not run as they are written, a sentence each.
func (p Plan) Changed() []string {
	var all []string
	for i := range p.Suite.Scenarios {
		c := &p.Suite.Scenarios[i]
		if formOf(c) == ofJobFile && (c.Size > 0 || c.Runtime > 0 || c.Ramp > 0) {
			all = append(all, "the job file does not run as written: "+c.Title)
		}
	}
	return all
}
