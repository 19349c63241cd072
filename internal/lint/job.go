package lint

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// lintJob is one job as rules look at it.
type lintJob struct {
	of   *Case
	file *script.File
	from *started // what other documents say of how the file is started; nil where none does
	src  *script.Job
	// sec holds the options in effect, own those of the job's own section. Options whose value is
	// not known ($BS) are in unknown and left out of load. When the job is partial, other options
	// may be set that are not seen.
	sec, own fio.Section
	unknown  map[string]bool
	partial  bool
	last     map[string]fio.Option // by fio's main name
	fio.Workload
	rounds []*lintJob // the job in the rounds of the loops around it
}

// looped are the options whose value in each round of a loop is judged.
var looped = strings.Fields("rw numjobs iodepth ioengine direct")

// eachRound is the job with each value that the document gives the variable of a loop.
func (j *lintJob) eachRound(i int) (rounds []*lintJob) {
	for _, name := range slices.Sorted(maps.Keys(j.src.Varies)) {
		refers := func(value string) bool { return value == "$"+name || value == "${"+name+"}" }
		if !slices.ContainsFunc(looped, func(option string) bool { return refers(j.last[option].Value) }) {
			continue
		}
		for _, value := range j.src.Varies[name] {
			section := fio.Section{Name: j.sec.Name, Line: j.sec.Line, Options: slices.Clone(j.sec.Options)}
			for k, o := range section.Options {
				if refers(o.Value) && slices.Contains(looped, mainName(o)) {
					section.Options[k].Value = value
				}
			}
			src := *j.src
			src.Varies, src.Loop = nil, false
			rounds = append(rounds, j.of.newLintJob(j.file, &src, i, section))
		}
	}
	return rounds
}

// all is the job in each round of the loops around it, and as it is written.
func (j *lintJob) all() []*lintJob { return append(slices.Clip(j.rounds), j) }

func (c *Case) newLintJob(f *script.File, src *script.Job, i int, section fio.Section) *lintJob {
	from := c.starts[f]
	j := &lintJob{
		of: c, file: f, from: from, src: src, sec: section, own: src.File.Sections[i],
		unknown: map[string]bool{}, last: map[string]fio.Option{}, partial: src.Partial,
	}
	for _, o := range src.Passed { // the job file's own come behind them
		j.unknown[mainName(o)] = true
	}
	if from != nil && !src.Command {
		for name := range from.passed {
			j.unknown[name] = true
		}
	}
	known := fio.Section{Name: j.sec.Name, Line: j.sec.Line}
	for _, o := range j.sec.Options {
		if strings.Contains(o.Name, "$") || !src.Command && !o.Bare && strings.TrimSpace(o.Value) == "" {
			j.partial = true // a template, of any number of options
			continue
		}
		name := mainName(o)
		j.last[name] = o
		open := c.filledIn(o) || c.badValues[o]
		j.unknown[name] = open || name == "filename" && j.unknown[name] // each adds a file
		if !open {
			known.Options = append(known.Options, o)
		}
	}
	if !j.given("filename", "directory") && !j.partial && !j.unknown["filename"] && isDevice(j.sec.Name) {
		// fio works on what has the job's name, where that is no regular file
		known.Options = append(known.Options, fio.Option{Name: "filename", Value: j.sec.Name})
	}
	j.Workload, _ = fio.WorkloadOf(j.sec.Name, known) // what of it can be read
	if !j.given("ioengine") && j.windows() {
		j.unknown["ioengine"] = true // windowsaio is the default there
	}
	return j
}

// driveLetter begins a path of Windows, whose colon fio wants escaped.
var driveLetter = regexp.MustCompile(`^[A-Za-z]\\?:|^\\\\[.?]\\`)

// windows says whether a job is for fio on Windows.
func (j *lintJob) windows() bool {
	return driveLetter.MatchString(j.last["filename"].Value) || driveLetter.MatchString(j.last["directory"].Value)
}

// prepares says whether the name of a job or of its script says that it makes the data that others
// work on.
func (j *lintJob) prepares() bool {
	return prepareName.MatchString(j.sec.Name) ||
		j.file.Kind != script.Markdown && prepareName.MatchString(path.Base(j.file.Name))
}

var prepareName = regexp.MustCompile(`(?i)fill|prep|pre-?cond|condition|lay-?out|creat|init|setup|warm`)

// sectioned says whether a command starts sections of the file by name, one at a time.
func (j *lintJob) sectioned() bool { return j.from != nil && j.from.alone && !j.src.Command }

// unknown says whether a value is filled in by a shell or a template.
func unknown(value string) bool { return strings.ContainsAny(value, "$`") }

// open says whether the value of one of the options is not known: it is a variable, or what may set it
// is not seen.
func (j *lintJob) open(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return j.unknown[name] || j.partial && !j.given(name)
	})
}

// given says whether one of the options is set.
func (j *lintJob) given(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, set := j.last[name]
		return set
	})
}

// value is an option's, without blanks around it; empty where it is not set.
func (j *lintJob) value(name string) string { return strings.TrimSpace(j.last[name].Value) }

// mainName is fio's own name of an option, which may have several.
func mainName(o fio.Option) string { return fio.BuiltinOptions().Main(o.Name) }

// flag reads an option that may stand bare; without it, it is otherwise.
func (j *lintJob) flag(name string, otherwise bool) bool {
	o, ok := j.last[name]
	if !ok {
		return otherwise
	}
	return o.Bare || strings.TrimSpace(o.Value) != "0"
}

// at is the place of the last of the options that is set, else of the job.
func (j *lintJob) at(names ...string) (line, col int) {
	line, col = j.sec.Line, 1
	if j.src.Command {
		line, col = j.src.Line, j.src.Col
	}
	for _, name := range slices.Backward(names) {
		if o, ok := j.last[name]; ok && o.File == "" && o.Line > 0 {
			return o.Line, o.Col
		}
	}
	return line, col
}

// found is a finding at the last of the options, named with blanks between them, that is set.
func (j *lintJob) found(at, format string, args ...any) *fault {
	line, col := j.at(strings.Fields(at)...)
	return foundAt(j.file, line, col, format, args...)
}

// lessen makes an info of a finding where the job may be meant as it is.
func lessen(f *fault, meant bool) *fault {
	if meant {
		f.Severity = finding.Info
	}
	return f
}

// longName is how much of a name or a value out of a document a sentence has.
const longName = 240

// says is a sentence about a document, with what comes from there cleaned.
func says(format string, args ...any) string {
	for i, a := range args {
		s, is := a.(string)
		if clean := text.Clean(s, longName); is && clean != strings.TrimSpace(s) {
			args[i] = clean
		}
	}
	return finding.Says(format, args...)
}

func foundAt(f *script.File, line, col int, format string, args ...any) *fault {
	return &fault{
		File: f.Name, Subject: fmt.Sprintf("%s:%d:%d", f.Name, line, col), Line: line, Col: col,
		Message: says(format, args...),
	}
}

// setting prints an option as set, "ioengine=psync" or "ioengine=psync (fio's default)".
func (j *lintJob) setting(name, otherwise string) string {
	if o, ok := j.last[name]; ok {
		return text.Clean(o.Name+"="+strings.TrimSpace(o.Value), 120)
	}
	return name + "=" + otherwise + " (fio's default)"
}

// verb is what the job does to its blocks.
func (j *lintJob) verb() string {
	switch {
	case j.TrimShare == 1:
		return "trim"
	case !j.Reads():
		return "write"
	case !j.Writes():
		return "read"
	}
	return "read and write"
}

// bs is the largest mean block size of the job's directions; 0 when it is not known (bs=0, which
// fio refuses).
func (j *lintJob) bs() units.Bytes { return max(j.ReadBS, j.WriteBS, j.TrimBS) }

// total is what all of the job's processes work on; 0 when not known.
func (j *lintJob) total() units.Bytes {
	if !j.given("size") && j.given("nrfiles") { // filesize= is of each of them
		files, err := fio.ParseSize(j.last["nrfiles"].Value, 1024)
		if err != nil || j.open("nrfiles", "filesize") || j.Jobs < 1 {
			return 0
		}
		return j.Size * files * units.Bytes(j.Jobs)
	}
	if j.Size == 0 || j.open("size", "numjobs") || j.Jobs < 1 {
		return 0
	}
	if j.SharedFile {
		return j.Size + j.OffsetIncrement*units.Bytes(j.Jobs-1)
	}
	return j.Size * units.Bytes(j.Jobs)
}

// measures says whether the job does I/O to a disk at all.
func (j *lintJob) measures() bool {
	return fio.MovesData(j.Engine)
}

var otherDevice = regexp.MustCompile(
	`^/dev/(?:null|zero|full|u?random|std(?:in|out|err)|tty.*|shm/.*|hugepages/.*|mqueue/.*|fd/.*|pts/.*|)$`,
)

// isDevice says whether a path is a block device by its name: any below /dev but the few that are
// none.
func isDevice(path string) bool {
	return strings.HasPrefix(path, "/dev/") && !otherDevice.MatchString(path)
}

// devices are the raw devices of filename=, those that are known.
func (j *lintJob) devices() []string {
	var devs []string
	for _, f := range j.Files() {
		if isDevice(f) {
			devs = append(devs, f)
		}
	}
	return devs
}

// eachJob makes a check of a job into one of a case. The same thing said of several jobs at one
// place is said once. Jobs of which not all options are seen are passed over: what is not set there
// may be set.
func eachJob(check check) func(*Case, reporter) {
	return anyJob(func(j *lintJob) *fault {
		if j.partial {
			return nil
		}
		return check(j)
	})
}

// measured is a check of jobs that measure storage.
func measured(check check) check {
	return judged(func(j *lintJob) *fault {
		if !j.measures() {
			return nil
		}
		return check(j)
	})
}

// judged is a check of jobs whose figures somebody reads: those that verify their data, and the jobs of functional
// tests, are there to find faults.
func judged(check check) check {
	return func(j *lintJob) *fault {
		if j.tests() {
			return nil
		}
		return check(j)
	}
}

// tests says whether the job looks for faults and measures nothing.
func (j *lintJob) tests() bool {
	return j.file.Functional() || j.from.functional() || j.discarded() || j.VerifyOn ||
		j.given("verify") && j.open("verify") ||
		j.flag("verify_only", false) ||
		j.given("verify_pattern")
}

// discarded says whether nobody sees the figures: such a command makes load for something else.
func (j *lintJob) discarded() bool {
	return j.src.Command && slices.ContainsFunc(j.src.File.Settings, func(o fio.Option) bool {
		return o.Name == "output" && o.Value == "/dev/null"
	})
}

// anyJob is eachJob for checks of what is set only.
func anyJob(check check) func(*Case, reporter) {
	return func(c *Case, report reporter) {
		type key struct{ subject, says string }
		seen := map[key]bool{}
		for _, j := range c.jobs {
			var f *fault
			for _, j := range j.all() {
				if f == nil {
					f = check(j)
				}
			}
			if f == nil || seen[key{f.Subject, f.Message}] {
				continue
			}
			seen[key{f.Subject, f.Message}] = true
			report(*f)
		}
	}
}
