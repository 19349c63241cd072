package fio

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// Phases are the indexes of the job sections that run at the same time, phase by phase: a section
// with stonewall waits until all sections before it have ended. A file in which a job waits for a
// single other one (wait_for) or ends all others (exitall) is one phase, because its parts cannot
// run by themselves.
func (f *JobFile) Phases() (phases [][]int) {
	for i, job := range f.EachJob() {
		r := newOptionReader(job)
		if _, tied := r.value("wait_for"); tied || r.flag("exitall") || r.flag("exit_what") {
			return [][]int{f.Jobs()}
		}
		if len(phases) == 0 || r.flag("stonewall") {
			phases = append(phases, nil)
		}
		phases[len(phases)-1] = append(phases[len(phases)-1], i)
	}
	return phases
}

// Only is the job file with these job sections and the global sections before the last of them.
func (f *JobFile) Only(jobs []int) JobFile {
	part := *f
	part.Sections = nil
	for i, s := range f.Sections[:slices.Max(jobs)+1] {
		if s.Global() || slices.Contains(jobs, i) {
			part.Sections = append(part.Sections, s)
		}
	}
	return part
}

// phaseOf numbers the phases that rows ran in, from 0. fio counts a group for each stonewall and
// each new_group, and only the first of them waits for what runs before it. Time has settled it
// where the jobs' options are known. fio's JSON leaves out options without a value, as these two
// are, so two things tell groups that ran at the same time: starts (job_start, fio 3.36) before the
// end of the group before, and less time since fio began (elapsed, the same in all rows) than the
// groups' runtimes add up to.
func phaseOf(jobs []Job, global Options) []int {
	list := make([]int, len(jobs))
	if !slices.ContainsFunc(jobs, func(j Job) bool { return j.Phase == 0 }) {
		for i, j := range jobs {
			list[i] = j.Phase - 1
		}
		return startedApart(list, jobs, global)
	}
	var groups [][]Job
	at := map[int]int{} // index in groups
	for i, j := range jobs {
		g, known := at[j.Group]
		if !known {
			g = len(groups)
			at[j.Group] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], j)
		list[i] = g
	}
	phases := make([]int, len(groups))
	crowded := crowded(groups)
	for g := 1; g < len(groups); g++ {
		phases[g] = phases[g-1]
		if !crowded && !beside(groups[g][0].Options, global) && !overlap(groups[g-1], groups[g]) {
			phases[g]++
		}
	}
	for i := range list {
		list[i] = phases[list[i]]
	}
	return startedApart(list, jobs, global)
}

// startedApart takes the rows of a phase apart whose starts (job_start, fio 3.36) show that one began
// when another had ended, as wait_for makes them, in one group: what never ran together is not added.
// A startdelay is a plan of one load over time, whose rates are over all of it (Time), the clones of
// numjobs are one job, and hosts have clocks of their own.
func startedApart(list []int, jobs []Job, global Options) []int {
	order := make([]int, len(jobs))
	for i, j := range jobs {
		if j.Start.IsZero() || j.Host != "" || j.Delay > 0 || j.Options["startdelay"] != "" || global["startdelay"] != "" {
			return list
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[a], list[b]), jobs[a].Start.Compare(jobs[b].Start))
	})
	parts := make([]int, len(jobs))
	n := 0
	var end time.Time
	for k, i := range order {
		if k > 0 {
			before := order[k-1]
			if list[i] != list[before] || jobs[i].Name != jobs[before].Name && !jobs[i].Start.Before(end) {
				n++
				end = time.Time{}
			}
		}
		parts[i] = n
		if until := jobs[i].Start.Add(jobs[i].ramp(global) + jobs[i].Span()); until.After(end) {
			end = until
		}
	}
	return parts
}

// ramp is the time between a row's start and its first figure.
func (j *Job) ramp(global Options) time.Duration {
	v, _ := inherited("ramp_time", j.Options, global)
	ramp, _ := ParseTime(v, time.Second) // 0 of none
	return ramp
}

// inherited is an option of a job's own, else that of all.
func inherited(name string, own, global Options) (value string, given bool) {
	if value, given = own[name]; !given {
		value, given = global[name]
	}
	return value, given
}

// crowded says that groups of these runtimes had no time to run one after the other.
func crowded(groups [][]Job) bool {
	var sum, elapsed time.Duration
	for _, g := range groups {
		var longest time.Duration
		for _, j := range g {
			longest, elapsed = max(longest, j.Runtime), max(elapsed, j.Elapsed)
		}
		sum += longest
	}
	return elapsed > 0 && elapsed < sum
}

// overlap says that b began before a had ended, as far as starts are known.
func overlap(a, b []Job) bool {
	for _, j := range b {
		if j.Start.IsZero() {
			return false
		}
		for _, before := range a {
			if !before.Start.IsZero() && j.Start.Before(before.Start.Add(before.Runtime)) {
				return true
			}
		}
	}
	return false
}

// settlePhases numbers the phases of rows whose jobs are all known by name.
func settlePhases(rows []Job, loads []Workload) {
	named := map[string]int{}
	for i, w := range slices.Backward(loads) {
		named[w.Name] = i
	}
	groups := map[int]int{}
	phase := 0
	for i := range rows {
		at, known := named[rows[i].Name]
		if !known {
			for k := range rows {
				rows[k].Phase = 0
			}
			return
		}
		if _, known := groups[rows[i].Group]; !known {
			if w := loads[at]; phase == 0 || !w.NewGroup || w.Stonewall {
				phase++
			}
			groups[rows[i].Group] = phase
		}
		rows[i].Phase = groups[rows[i].Group]
	}
}

func beside(own, global Options) bool {
	on := func(name string) bool {
		v, given := inherited(name, own, global)
		return given && v != "0"
	}
	return on("new_group") && !on("stonewall")
}

// Phases takes an output apart whose jobs ran one after another, as stonewall makes them: rates of
// different times do not add up. The statistics of the disks are those of all phases.
func (o *Output) Phases() []*Output {
	if o.AllClients != nil || slices.ContainsFunc(o.Jobs, func(j Job) bool { return j.Group < 0 }) {
		return []*Output{o}
	}
	numbers := phaseOf(o.Jobs, o.Global)
	if len(numbers) == 0 || slices.Max(numbers) == 0 {
		return []*Output{o}
	}
	parts := make([]*Output, slices.Max(numbers)+1)
	for n := range parts {
		parts[n] = o.phase(n, numbers)
	}
	return parts
}

func (o *Output) phase(n int, numbers []int) *Output {
	p := *o
	if n > 0 {
		p.Unread, p.Messages, p.AllClients, p.Progress = nil, nil, nil, 0
	}
	p.Jobs, p.Groups, p.Doubts = nil, nil, nil
	groups := map[int]bool{}
	for i, j := range o.Jobs {
		if numbers[i] == n {
			p.Jobs = append(p.Jobs, j)
			groups[j.Group] = true
		}
	}
	for _, g := range o.Groups {
		if groups[g.ID] {
			p.Groups = append(p.Groups, g)
		}
	}
	for _, d := range o.Doubts {
		of := slices.IndexFunc(o.Jobs, func(j Job) bool { return j.Name != "" && strings.HasPrefix(d, j.Name+": ") })
		if of < 0 && n == 0 || of >= 0 && numbers[of] == n {
			p.Doubts = append(p.Doubts, d)
		}
	}
	p.Phase = n + 1
	return &p
}

// PlaceMixed gives what unified_rw_reporting adds up a direction, so that it counts in sums: the
// one that the job asked for, else reads.
func (o *Output) PlaceMixed() {
	for i := range o.Jobs {
		j := &o.Jobs[i]
		if j.Mixed == nil || j.IOs() > 0 {
			continue
		}
		asked := strings.TrimPrefix(cmp.Or(j.Options["rw"], o.Global["rw"]), "rand")
		at := slices.Index(DirectionNames[:3], asked)
		if at < 0 {
			at = 0
			o.Doubt("%s: fio reported reads and writes as one (unified_rw_reporting); the sum stands as reads", j.Name)
		}
		*j.Directions()[at] = *j.Mixed
	}
}

// Time works out when the rows ran, from what their jobs were asked to do (loads; the rows' own
// options where there is none of that name): the window that a row's directions cover together, and
// its start after the others.
//
// fio times each direction apart. A job that only writes and has reads besides verified what it
// wrote: first it wrote, then it read (fio.c: do_verify follows do_io, and the time of each is
// added to its direction). A reporting group of several sections runs as long as the section that
// ends last.
func Time(rows []Job, global Options, loads []Workload) {
	settlePhases(rows, loads)
	named := nameLoads(loads)
	perGroup := map[int]int{}
	for _, j := range rows {
		perGroup[j.Group]++
	}
	for i := range rows {
		j := &rows[i]
		of := loadsOf(j, global, named, perGroup[j.Group] == 1 && len(perGroup) == 1)
		j.Window, j.Delay = j.Runtime, 0
		if len(of) == 0 {
			continue
		}
		writesOnly := !slices.ContainsFunc(of, Workload.Reads)
		if writesOnly && j.Read.Runtime > 0 && j.Write.Runtime > 0 {
			j.Window = j.Read.Runtime + j.Write.Runtime
		}
		if len(of) == 1 {
			j.Delay = of[0].StartDelay
			continue
		}
		j.Window = max(j.Window, sectionsWindow(j, of))
	}
}

// CountIOs works out how many I/Os rows made of which only bytes are known, as where an output is
// quoted in part: bytes by the block size that the jobs asked for, where that is one size. It
// returns the names of directions that it counted.
func CountIOs(rows []Job, global Options, loads []Workload) (counted []string) {
	named := nameLoads(loads)
	for i := range rows {
		sizes, _ := sizesOf(&rows[i], global, named, len(rows) == 1)
		for at, d := range rows[i].Directions() {
			size := sizes[at]
			if size == 0 || d.N > 0 || d.IOPS > 0 || d.Bytes == 0 || d.Runtime <= 0 {
				continue
			}
			d.N = uint64((d.Bytes + size/2) / size)
			d.IOPS = units.IOPS(float64(d.N) / d.Runtime.Seconds())
			counted = append(counted, DirectionNames[at]+"s")
		}
	}
	return counted
}

// Align sets the counts of I/Os in a document that fio printed while it ran to bytes by block size,
// where the blocks of a direction have one size. fio notes bytes and runtimes first, waits until
// each of its jobs has come by, and reads the counts then (stat.c, __show_running_run_stats), so
// that they hold what was done meanwhile. Of synced writes at a cap in the lab, the standard
// deviation from second to second was 0.4 to 1.8 % by counts and 0.07 to 0.6 % by bytes. Counts
// without bytes and without a runtime are those of a ramp and stay: they show where the ramp ends.
func Align(rows []Job, global Options, loads []Workload) {
	named := nameLoads(loads)
	for i := range rows {
		sizes, mean := sizesOf(&rows[i], global, named, len(rows) == 1)
		for at, d := range rows[i].Directions() {
			inRamp := d.Bytes == 0 && d.Runtime == 0
			if size := sizes[at]; size > 0 && !mean[at] && !inRamp && d.Bytes%size == 0 {
				d.N = min(d.N, uint64(d.Bytes/size))
			}
		}
	}
}

// sizesOf are the sizes of the blocks of a row's directions, 0 where jobs have different ones or it is not
// known; mean says that blocks of several sizes have it on average.
func sizesOf(j *Job, global Options, loads namedLoads, alone bool) (sizes [3]units.Bytes, mean [3]bool) {
	var differ [3]bool
	for _, w := range loadsOf(j, global, loads, alone) {
		for d, size := range []units.Bytes{w.ReadBS, w.WriteBS, w.TrimBS} {
			differ[d] = differ[d] || size > 0 && sizes[d] > 0 && sizes[d] != size
			sizes[d] = max(sizes[d], size)
		}
		mean[0], mean[1] = mean[0] || w.ReadLeast > 0, mean[1] || w.WriteLeast > 0
	}
	for d := range sizes {
		if differ[d] {
			sizes[d] = 0
		}
	}
	return sizes, mean
}

// sectionsWindow is how long the sections of one row cover: each direction ran at most its runtime,
// and began when its section did.
func sectionsWindow(j *Job, of []Workload) time.Duration {
	var end time.Duration
	begin := of[0].StartDelay
	for _, w := range of {
		var run time.Duration
		if w.Reads() {
			run = j.Read.Runtime
		}
		if w.Writes() {
			run = max(run, j.Write.Runtime)
		}
		if w.Runtime > 0 {
			run = min(run, w.Runtime)
		}
		begin = min(begin, w.StartDelay)
		end = max(end, w.StartDelay+run)
	}
	return end - begin
}

// namedLoads are workloads, and those of each name: an output may have ten thousands of rows.
type namedLoads struct {
	all   []Workload
	named map[string][]Workload
}

func nameLoads(loads []Workload) namedLoads {
	n := namedLoads{loads, map[string][]Workload{}}
	for _, w := range loads {
		n.named[w.Name] = append(n.named[w.Name], w)
	}
	return n
}

// loadsOf are the workloads of a row: those of its name, all where the row stands for the only
// group, else what its own options say.
func loadsOf(j *Job, global Options, loads namedLoads, alone bool) []Workload {
	if alone && len(loads.all) > 0 {
		return loads.all
	}
	of := loads.named[j.Name]
	if len(of) > 0 || len(j.Options)+len(global) == 0 {
		return of
	}
	options := Merged(global, j.Options)
	if options["rw"]+options["readwrite"] == "" {
		return nil
	}
	w, err := WorkloadOf(j.Name, options.Section(j.Name))
	if err != nil {
		return nil
	}
	return []Workload{w}
}

// Section is the job section that has these options.
func (o Options) Section(name string) Section {
	s := Section{Name: name}
	for _, key := range slices.Sorted(maps.Keys(o)) {
		s.Set(key, o[key])
	}
	return s
}
