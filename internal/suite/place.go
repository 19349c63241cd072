package suite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/workload"
)

// Place returns the job file that runs: the scenario's own options and those that place and time
// it. A job file from elsewhere (AsIs) keeps its files and times; file is then the directory for
// jobs that name neither a directory nor whole paths. With FilePerJob file is the directory of the
// jobs' files. Without a file nothing is placed.
func (s Scenario) Place(file string) fio.JobFile {
	global := fio.Section{Name: "global"}
	job := fio.JobFile{Name: s.Job.Name}
	switch {
	case s.Kind() == OfServer: // nothing of fio's
	case s.Demand != nil:
		job.Sections = s.asked(file).Sections
	case s.AsIs:
		job.Sections = s.named(file)
	case len(s.Job.Sections) > 1:
		if file != "" {
			global.Set("filename", fioPath(file))
		}
		global.Set("size", s.Size.Suffixed())
		global.Set("allow_file_create", "0")
		job.Sections = append([]fio.Section{global}, s.Job.Sections...)
	default:
		one := fio.Section{Name: s.Job.Sections[0].Name}
		switch {
		case file == "":
		case s.Files == FilePerJob:
			one.Set("directory", fioPath(file))
			one.Set("filename_format", JobFileFormat)
		default:
			one.Set("filename", fioPath(file))
		}
		one.Set("size", s.Size.Suffixed())
		if s.Files == RegionPerJob {
			one.Set("offset_increment", s.Size.Suffixed())
		}
		one.Set("time_based", "")
		one.Set("runtime", workload.Time(s.Runtime))
		if s.Ramp > 0 {
			one.Set("ramp_time", workload.Time(s.Ramp))
		}
		one.Options = append(one.Options, s.Job.Sections[0].Options...)
		one.Set("group_reporting", "")
		one.Set("allow_file_create", "0") // the file is prefilled; a missing one is an error, not a new sparse file
		job.Sections = []fio.Section{one}
	}
	return job
}

// named are the sections of a job file from elsewhere, each job with the names of all its files behind its directory:
// fio joins a name with the directory= that it has read by then, on a command line and in [global] with none yet.
func (s Scenario) named(file string) []fio.Section {
	sections := slices.Clone(s.Job.Sections)
	for i, eff := range s.Job.EachJob() {
		dirs, rest := apart(sections[i].Options, "directory")
		if file != "" && Directory(eff) == "" && !slices.ContainsFunc(Files(eff), filepath.IsAbs) {
			dirs = append([]fio.Option{{Name: "directory", Value: fioPath(file)}}, dirs...)
		}
		names, _ := apart(eff.Options, "filename")
		_, rest = apart(rest, "filename")
		sections[i].Options = slices.Concat(dirs, names, rest)
	}
	for i := range sections {
		if sections[i].Global() {
			_, sections[i].Options = apart(sections[i].Options, "filename")
		}
	}
	return sections
}

// apart are the options of a name, and the others.
func apart(options []fio.Option, name string) (its, others []fio.Option) {
	for _, o := range options {
		if o.Name == name {
			its = append(its, o)
		} else {
			others = append(others, o)
		}
	}
	return its, others
}

// JobFileFormat is how fio names the files of FilePerJob: job.0, job.1 and so on, in every
// scenario, so that all of them work on the same files.
const JobFileFormat = "job.$jobnum"

// Places is how many files, or regions of a device, the scenario's jobs have of their own; 0 when
// they share one.
func (s Scenario) Places() int {
	if s.Files == SharedFile {
		return 0
	}
	loads, err := s.Workloads()
	if err != nil || len(loads) == 0 {
		return 1
	}
	return max(loads[0].Jobs, 1)
}

// Files are the paths of filename= in a job section as it takes effect.
func Files(section fio.Section) []string { return fio.Workload{Filename: section.Filename()}.Files() }

// Directory is the directory= of a job section as it takes effect, empty when there is none.
func Directory(section fio.Section) string {
	dir, _ := section.Get("directory")
	return dir
}

// Outside are the paths that a job file from elsewhere names itself: whole paths of files, and
// directories.
func (s Scenario) Outside() (paths []string) {
	if !s.AsIs {
		return nil
	}
	for _, eff := range s.Job.EachJob() {
		if dir := Directory(eff); dir != "" {
			paths = append(paths, fio.Workload{Filename: dir}.Files()...) // a list of them is written like one of files
			continue
		}
		for _, name := range Files(eff) {
			if filepath.IsAbs(name) {
				paths = append(paths, name)
			}
		}
	}
	return paths
}

// On places the jobs of a job file from elsewhere that name no file on a raw device. Jobs of a
// suite that have files of their own get regions of the device instead.
func (s Scenario) On(device string) Scenario {
	if s.Files == FilePerJob {
		s.Files = RegionPerJob
	}
	if !s.AsIs {
		return s
	}
	s.Job.Sections = slices.Clone(s.Job.Sections)
	for i, eff := range s.Job.EachJob() {
		if section := &s.Job.Sections[i]; Directory(eff) == "" && len(Files(eff)) == 0 {
			own := fio.Option{Name: "filename", Value: fioPath(device)}
			section.Options = append([]fio.Option{own}, section.Options...)
		}
	}
	return s
}

// fioPath escapes the colon, which separates several files in filename=.
func fioPath(name string) string { return strings.ReplaceAll(name, ":", `\:`) }

// Workloads is what the scenario's jobs ask for, one entry a job section, before they are placed:
// the file that plimsoll chooses has no name, and is one for all jobs unless each has its own.
func (s Scenario) Workloads() ([]fio.Workload, error) {
	loads, err := s.WorkloadsOn("")
	for i := range loads {
		loads[i].SharedFile = loads[i].SharedFile || !s.AsIs && s.Files != FilePerJob
	}
	return loads, err
}

// WorkloadsOn is what the scenario's jobs ask for on a file, placed there as Place does.
func (s Scenario) WorkloadsOn(file string) (loads []fio.Workload, err error) {
	job := s.Place(file)
	for _, section := range job.EachJob() {
		w, err := fio.WorkloadOf(section.Name, section)
		if err != nil {
			where := s.Name
			if s.AsIs {
				where = s.Job.Name
			}
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		loads = append(loads, w)
	}
	return loads, nil
}

// Duration is how long the scenario takes in fio: the sum over stonewalled groups of the longest
// job. 0 when a job ends by size and not by time.
func Duration(loads []fio.Workload) time.Duration {
	var sum, group time.Duration
	for _, w := range loads {
		if w.Runtime == 0 {
			return 0
		}
		if w.Stonewall {
			sum, group = sum+group, 0
		}
		group = max(group, w.StartDelay+w.Ramp+w.Runtime)
	}
	return sum + group
}

// Window is the part of Duration that is measured: ramps and start delays are not.
func Window(loads []fio.Workload) time.Duration {
	unramped := make([]fio.Workload, len(loads))
	for i, w := range loads {
		w.Ramp, w.StartDelay = 0, 0
		unramped[i] = w
	}
	return Duration(unramped)
}

// Writes says whether any job of the scenario changes what is on the device.
func Writes(loads []fio.Workload) bool {
	return slices.ContainsFunc(loads, func(w fio.Workload) bool { return w.ReadShare < 1 || w.Mixed })
}
