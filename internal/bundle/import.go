package bundle

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
)

// Import makes a bundle below out of outputs that someone else measured: each becomes a scenario with its result. run gives
// what is known beside them: topology, labels, tool, time. job, when not nil, is the job file that was measured: it says what the
// output does not.
func Import(out string, run Run, outputs []*fio.Output, job *fio.JobFile) (*Bundle, error) {
	outputs = JoinFragments(outputs)
	run.Ceilings = map[int]ceiling.Ceiling{}
	results := make([]*result.Result, len(outputs))
	for i, o := range outputs {
		s, r := scenarioOf(i+1, o, job)
		run.Suite.Scenarios = append(run.Suite.Scenarios, s)
		if c := ceiling.Of(&run.Topology, topology.Data, r.Workloads); c.Known() {
			run.Ceilings[s.ID] = c
		}
		results[i] = r
	}
	w, err := Create(out, run)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for i, s := range w.Run.Suite.Scenarios {
		dir, err := w.Begin(s)
		if err != nil {
			return nil, err
		}
		if err := w.Keep(s, dir, results[i]); err != nil {
			return nil, err
		}
	}
	return w.Finish(Finished, run.Created)
}

// JoinFragments makes one output of pieces of one run that were quoted apart under one heading, as articles do: the status groups and
// disk statistics here, the latency lines there. Groups without a job become one row, so that their figures are not lost.
func JoinFragments(outputs []*fio.Output) []*fio.Output {
	var kept []*fio.Output
	for _, o := range outputs {
		at := slices.IndexFunc(kept, func(k *fio.Output) bool {
			return o.Title != "" && sameHeading(k, o) && fragmentary(k) && fragmentary(o)
		})
		if at < 0 {
			copied := *o
			kept = append(kept, &copied)
			continue
		}
		k := kept[at]
		k.Jobs, k.Groups, k.Disks = append(k.Jobs, o.Jobs...), append(k.Groups, o.Groups...), append(k.Disks, o.Disks...)
		k.Unread, k.Doubts = append(k.Unread, o.Unread...), append(k.Doubts, o.Doubts...)
	}
	for _, k := range kept {
		if fragmentary(k) && len(k.Groups) > 0 {
			k.Jobs = withGroups(k.Jobs, k.Groups[0])
			k.Doubts = append(k.Doubts, "the output is quoted in part: bandwidth is that of its status group, and IOPS are not in it")
		}
	}
	return kept
}

func sameHeading(a, b *fio.Output) bool {
	return a.Source == b.Source && strings.TrimSuffix(a.Title, ":") == strings.TrimSuffix(b.Title, ":")
}

// fragmentary says that no row of o counts I/Os.
func fragmentary(o *fio.Output) bool {
	return !slices.ContainsFunc(o.Jobs, func(j fio.Job) bool { return j.Read.N+j.Write.N+j.Trim.N > 0 || j.Read.IOPS+j.Write.IOPS > 0 })
}

// withGroups puts the rates of a status group into the first row, or into a new one.
func withGroups(jobs []fio.Job, g fio.Group) []fio.Job {
	if len(jobs) == 0 {
		jobs = []fio.Job{{Name: "all jobs"}}
	}
	j := &jobs[0]
	for name, d := range map[string]*fio.Direction{"READ": &j.Read, "WRITE": &j.Write, "TRIM": &j.Trim} {
		if r, ok := g.Directions[name]; ok {
			d.Bytes, d.BW, d.Runtime = r.Bytes, r.BW, r.MaxRun
			j.Runtime = max(j.Runtime, r.MaxRun)
		}
	}
	return jobs
}

// scenarioOf names an imported output and works out what its jobs asked for.
func scenarioOf(id int, o *fio.Output, job *fio.JobFile) (suite.Scenario, *result.Result) {
	name := importName(o)
	s := suite.Scenario{ID: id, Name: name, Title: o.Title, Role: topology.Data, AsIs: true}
	r := &result.Result{ID: id, Name: name, Title: o.Title, Role: s.Role, State: result.Done, Start: o.Time, Source: o.Source}
	if job == nil {
		job = fromCommand(o.Command)
	}
	asked := optionsOf(job)
	named := false
	for _, j := range o.Jobs {
		options := fio.Options{}
		for _, from := range []fio.Options{asked[j.Name], o.Global, j.Options} {
			maps.Copy(options, from)
		}
		named = named || len(options) > 0
		addWorkload(r, j.Name, j.Count, options, o)
	}
	if !named { // a fragment does not name its jobs; the job file does
		for name, options := range asked {
			addWorkload(r, name, 0, options, o)
		}
	}
	s.Runtime = plannedTime(r.Workloads)
	result.FromOutput(r, o)
	r.Planned = s.Runtime
	if len(o.Jobs) == 0 {
		r.Invalidate("fio's output holds no job's result")
	}
	return s, r
}

func plannedTime(loads []fio.Workload) time.Duration {
	var longest time.Duration
	for _, w := range loads {
		if w.TimeBased {
			longest = max(longest, w.Runtime)
		}
	}
	return longest
}

// addWorkload works out what a job asked for from the options that are known of it.
func addWorkload(r *result.Result, name string, count int, options fio.Options, o *fio.Output) {
	if len(options) == 0 {
		return
	}
	section := fio.Section{Name: name}
	for key, value := range options {
		section.Options = append(section.Options, fio.Option{Name: key, Value: value, Bare: value == ""})
	}
	w, err := fio.WorkloadOf(name, section)
	if err != nil {
		r.Doubts = append(r.Doubts, fmt.Sprintf("the options of %s do not read as a workload: %v", name, err))
		return
	}
	w.Jobs = max(w.Jobs, 1)
	if count > 0 {
		w.Jobs = count
	}
	_, direct := options["direct"]
	_, buffered := options["buffered"]
	if !direct && !buffered && o.Format == fio.Text && o.Command == "" {
		w.Direct = reachedDevice(o)
		w.Buffered = !w.Direct
		r.Doubts = append(r.Doubts, fmt.Sprintf("the output does not say whether %s was direct; its disk statistics say %v", name, w.Direct))
	}
	r.Workloads = append(r.Workloads, w)
}

// reachedDevice says whether the I/Os of an output were seen by its top device, so that no cache answered them.
func reachedDevice(o *fio.Output) bool {
	var issued uint64
	for _, j := range o.Jobs {
		issued += j.Read.N + j.Write.N
	}
	return len(o.Disks) > 0 && issued > 0 && float64(o.Disks[0].Reads+o.Disks[0].Writes) > 0.9*float64(issued)
}

// fromCommand is the fio command line above an output, nil when there is none that reads as one: lint says what is wrong with it,
// and the figures stand without.
func fromCommand(line string) *fio.JobFile {
	words, err := fio.SplitShell(line)
	if err != nil || len(words) == 0 {
		return nil
	}
	f, err := fio.ParseCommandLine(words)
	if err != nil {
		return nil
	}
	return f
}

// optionsOf is what a job file gives each of its jobs; a name= inside a section counts.
func optionsOf(f *fio.JobFile) map[string]fio.Options {
	jobs := map[string]fio.Options{}
	if f == nil {
		return jobs
	}
	for _, i := range f.Jobs() {
		section := f.Effective(i)
		options := fio.Options{}
		for _, o := range section.Options {
			options[o.Name] = o.Value
		}
		name := section.Name
		if given := options["name"]; given != "" {
			name = given
		}
		jobs[name] = options
	}
	return jobs
}

// importName is the heading above an output, or its file, or its first job; one that can name a directory.
func importName(o *fio.Output) string {
	base := strings.TrimSuffix(filepath.Base(o.Source), filepath.Ext(o.Source))
	switch {
	case o.Title != "" && len(o.Title) <= 32:
		return slug(strings.TrimSuffix(o.Title, ":"))
	case base != "" && base != "." && base != "-":
		return slug(base)
	case len(o.Jobs) > 0:
		return slug(o.Jobs[0].Name)
	}
	return "output"
}
