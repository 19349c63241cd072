package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/command"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/fio/shell"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// loads works out what the jobs of an output asked for: from the job file that is named, that lies
// beside it or stands in the same document, from the command above it, and from what fio itself
// repeats of the options, which counts most.
func (f Found) loads(r *result.Result, o *fio.Output) {
	if o.Program != "" { // the fio jobs of the text are not its
		for _, row := range rowsByName(o.Jobs) {
			addWorkload(r, row.name, row.jobs, row.options, false, o)
		}
		return
	}
	job := f.Job
	if job == nil && f.Beside != nil {
		job = f.Beside(o)
	}
	if doc := f.Documents[o.Source]; job == nil && doc != nil {
		job = doc.job(o)
	}
	if job == nil {
		job = fromCommand(o.Command)
	}
	// fio repeats all options in its documents; a command may leave them to a job file that nobody
	// has.
	whole := (o.Format == fio.JSON || o.Format == fio.JSONPlus) && !o.Missing.Has(part.Head) ||
		job != nil && len(job.Files) == 0
	asked := optionsOf(job)
	if group := groupOf(job, o); group != nil { // a row for several sections, or a fragment without names
		for _, name := range group {
			addWorkload(r, name, 0, asked[name], whole, o)
		}
		return
	}
	for _, row := range rowsByName(o.Jobs) {
		for _, name := range slices.Sorted(maps.Keys(row.others)) {
			addWorkload(r, name, 0, fio.Merged(row.others[name], asked[name]), whole && asked[name] != nil, o)
			row.jobs = max(row.jobs-1, 1)
		}
		options := fio.Merged(asked[row.name], o.Global, row.options)
		addWorkload(r, row.name, row.jobs, options, whole && (job == nil || asked[row.name] != nil), o)
	}
}

// sameJob is all rows of one job: fio prints one a host, and without group_reporting one for each
// of its numjobs.
type sameJob struct {
	name    string
	jobs    int // 0 when the rows do not tell, and numjobs does
	options fio.Options
	others  map[string]fio.Options // jobs that the row reports with it
}

func rowsByName(jobs []fio.Job) (list []sameJob) {
	hosts, rows, known := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, j := range jobs {
		hosts[j.Host] = true
		rows[j.Name]++
	}
	for _, j := range jobs {
		at, listed := known[j.Name]
		if !listed {
			at = len(list)
			known[j.Name] = at
			list = append(list, sameJob{name: j.Name, options: j.Options, others: j.Others})
		}
		switch {
		case j.Count > 0:
			list[at].jobs += j.Count
		case rows[j.Name] > len(hosts): // a row each
			list[at].jobs++
		case len(hosts) > 1: // one row per host
			w, err := fio.WorkloadOf(j.Name, j.Options.Section(j.Name))
			if err == nil {
				list[at].jobs += max(w.Jobs, 1)
			}
		}
	}
	return list
}

// groupOf names the sections of a job file that an output has a single row for: all of its first
// group. nil where rows and sections go by their names.
func groupOf(f *fio.JobFile, o *fio.Output) []string {
	if f == nil || len(o.Jobs) != 1 || len(f.Jobs()) == 0 {
		return nil
	}
	first := f.Phases()[0]
	names := namesOf(f, first)
	row := o.Jobs[0].Name
	if row == "" || row == allJobs || !slices.Contains(namesOf(f, f.Jobs()), row) && row == heading(o) {
		return names
	}
	if len(names) > 1 && row == names[0] {
		if _, grouped := f.Effective(first[0]).Get("group_reporting"); grouped {
			return names
		}
	}
	return nil
}

// namesOf are the names of sections.
func namesOf(f *fio.JobFile, sections []int) (names []string) {
	for _, i := range sections {
		names = append(names, f.Effective(i).Name)
	}
	return names
}

// addWorkload works out what a job asked for from the options that are known of it; whole says that
// these are all it had, so that what is not among them has fio's default.
func addWorkload(r *result.Result, name string, count int, options fio.Options, whole bool, o *fio.Output) {
	given := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { _, ok := options[name]; return ok })
	}
	if len(options) == 0 || o.Program == "" && !whole && !given("rw", "readwrite") { // what it did is not known
		return
	}
	if (o.Table || o.Program != "") && !given("bs", "blocksize", "bsrange", "bssplit") { // fio's default is not theirs
		return
	}
	w, err := fio.WorkloadOf(name, options.Section(name))
	if err != nil {
		r.Doubt("the options of %s do not read as a workload: %v", name, err)
		return
	}
	w.Jobs = max(w.Jobs, 1)
	if count > 0 {
		w.Jobs = count
	}
	if w.DepthAsked > 0 && !whole && !given("ioengine") { // which one it had is not known: one that keeps the depth
		w.Engine, w.Depth, w.DepthAsked = "", w.DepthAsked, 0
	}
	w.DepthOpen = !whole && !given("iodepth") && (!given("ioengine") || !fio.Synchronous(w.Engine))
	if !given("direct", "buffered") && !whole {
		why := ""
		if w.Direct, w.Buffered, why = wasDirect(o); fio.UsesPageCache(w.Engine) {
			r.Doubt("the output does not say whether %s used direct I/O; %s", name, why)
		}
	}
	if !whole && o.Program == "" {
		r.Lack(part.Missing{Parts: []part.Part{part.Command}})
	}
	r.Workloads = append(r.Workloads, w)
}

// wasDirect concludes from the figures whether an output's I/O was direct or buffered; where they
// do not tell it was neither, and nothing is concluded from it.
func wasDirect(o *fio.Output) (direct, buffered bool, why string) {
	switch {
	case slices.ContainsFunc(o.Jobs, submitted) && !inMemory(o):
		return false, true, "its I/Os were complete when their submission returned, as buffered ones are"
	case len(o.Disks) == 0:
		return false, false, "without disk statistics, this is not known"
	}
	switch times := counted(o); {
	case issued(o) == 0:
		return false, false, "without the count of its I/Os, disk statistics cannot show it"
	case times >= otherLoad:
		return false, false, fmt.Sprintf("its disk statistics count %s times the I/Os that fio made, so they do "+
			"not show it", units.Number(times))
	case times <= 0.9:
		return false, true, "its disk statistics count fewer I/Os than fio made, as with buffered I/O"
	}
	return true, false, "its disk statistics count about as many I/Os as fio made, as with direct I/O"
}

func submitted(j fio.Job) bool { return j.Read.Submitted() || j.Write.Submitted() }

// inMemory says that an output's device is memory: it completes what is submitted at once, too.
func inMemory(o *fio.Output) bool {
	return slices.ContainsFunc(o.Disks, func(d fio.Disk) bool {
		return strings.HasPrefix(d.Name, "pmem") || fio.InMemory(d.Name)
	})
}

// otherLoad is how many times fio's I/Os a device must have counted for others to have used it.
const otherLoad = 1.5

// counted is how many I/Os the top device of an output counted for each of fio's, 0 where fio made
// none.
func counted(o *fio.Output) float64 {
	n := issued(o)
	if n == 0 {
		return 0
	}
	return float64(o.Disks[0].Reads+o.Disks[0].Writes) / n
}

// issued is how many reads and writes the rows of an output count.
func issued(o *fio.Output) (n float64) {
	for _, j := range o.Jobs {
		n += float64(j.Read.N + j.Write.N)
	}
	return n
}

// fromCommand is the fio command line above an output, nil when there is none that reads as one:
// lint says what is wrong with it, and the figures stand without.
func fromCommand(line string) *fio.JobFile {
	words, err := shell.Split(line)
	if err != nil || len(words) == 0 {
		return nil
	}
	f, err := command.Parse(words)
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
	for _, section := range f.EachJob() {
		options := fio.Options{}
		for _, o := range section.Options {
			options[o.Name] = o.Value
		}
		jobs[section.Name] = options
	}
	return jobs
}

// planned is how long the jobs were to run, 0 where that is not known. fio's JSON leaves time_based
// out, as all options without a value: a job that did neither all of its size nor all of its time
// was stopped, and one that did more than its size was time_based.
func planned(r *result.Result, o *fio.Output) (longest time.Duration) {
	signal := slices.IndexFunc(o.Messages,
		func(m string) bool { return strings.HasPrefix(m, "fio: terminating on signal") })
	for _, w := range r.Workloads {
		if w.Runtime > 0 && (w.TimeBased || signal >= 0 || !endedBySize(r, w)) {
			longest = max(longest, w.Runtime)
		}
	}
	if signal >= 0 {
		r.Incomplete = append(r.Incomplete,
			fmt.Sprintf("fio was stopped before its time (%s).", strings.TrimPrefix(o.Messages[signal], "fio: terminating on ")))
	}
	if whole, ok := otherPlan(r, o, longest); ok {
		r.Doubt("the job in the text has a runtime of %s, but this run ended after %s, including its last I/Os: it "+
			"was started with another runtime", text.Duration(longest), text.Duration(whole))
		for i := range r.Workloads {
			r.Workloads[i].Runtime = min(r.Workloads[i].Runtime, whole)
		}
		return whole
	}
	return longest
}

const (
	// roundTime is what people's runtimes are multiples of; lateEnd how much later than that a run may
	// end, since it waits for the I/Os in flight.
	roundTime = 10 * time.Second
	lateEnd   = 500 * time.Millisecond
)

// otherPlan says that a run ended by another runtime than the one that a text around it gives: a run
// that is cut short ends at any moment, this one at a round time. What fio itself says of its options
// is not doubted.
func otherPlan(r *result.Result, o *fio.Output, plan time.Duration) (whole time.Duration, ok bool) {
	if len(o.Messages) > 0 || plan <= 0 || len(r.Jobs) == 0 {
		return 0, false
	}
	for _, j := range append([]fio.Job{{Options: o.Global}}, o.Jobs...) {
		if j.Options["runtime"] != "" || j.Options["timeout"] != "" || j.Error != 0 {
			return 0, false
		}
	}
	whole = r.Measured.Truncate(roundTime)
	slowest := max(r.Total.Read.Clat.Max, r.Total.Write.Clat.Max, r.Total.Read.Lat.Max, r.Total.Write.Lat.Max)
	late := min(lateEnd, slowest+10*time.Millisecond)
	return whole, whole > 0 && whole < plan*9/10 && r.Measured-whole <= late
}

// sizeReached is how near to its size a job that ended by it comes.
const sizeReached = 0.01

// endedBySize says that a job may have ended because its size was done.
func endedBySize(r *result.Result, w fio.Workload) bool {
	if w.Size == 0 || len(r.Workloads) > 1 {
		return true
	}
	for limit := range strings.FieldsSeq("io_size io_limit loops number_ios steadystate fill_device verify") {
		for _, j := range r.Jobs {
			if _, given := j.Options[limit]; given {
				return true
			}
		}
	}
	all := float64(w.Size) * float64(max(w.Jobs, 1))
	did := float64(r.Total.Read.Bytes + r.Total.Write.Bytes + r.Total.Trim.Bytes)
	return did > (1-sizeReached)*all && did < (1+sizeReached)*all
}
