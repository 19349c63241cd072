package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

var givenTwice = &rule{
	Code:     "PL138",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "an option is given twice in one section",
	When: "An option other than filename stands twice in one section or between two --name, or rwmixread and " +
		"rwmixwrite contradict each other there. An info: equal values, and direct and buffered that contradict.",
	Why: "fio takes the last one silently.",
	Seen: "size=64k with bs=4k and bs=16k is written in 4 I/Os. rwmixread=90 before rwmixwrite=90 did about 10 % " +
		"reads of 1,024 I/Os.",
	Fix:    "Keep the one that is meant.",
	Bad:    "[a]\nrw=randread\nbs=512k\niodepth=8\nbs=4k",
	Good:   "[a]\nrw=randread\niodepth=8\nbs=4k",
	Ignore: "When a script appends options that win on purpose.",
	Check: func(c *Case, report func(finding.Finding)) {
		for _, file := range c.Scripts {
			for k := range file.Jobs {
				if j := &file.Jobs[k]; !j.Partial {
					for _, s := range j.File.Sections {
						twice(file, j, s, report)
					}
				}
			}
		}
	},
}

func twice(file *script.File, j *script.Job, s fio.Section, report func(finding.Finding)) {
	if len(s.Options) < 2 || slices.ContainsFunc(s.Options, unmerged) {
		return
	}
	first := make(map[string]fio.Option, len(s.Options))
	for _, o := range s.Options {
		if o.File != "" || strings.Contains(o.Name, "$") {
			continue
		}
		name := fio.BuiltinOptions().Main(o.Name)
		if name == "filename" { // each adds a file
			continue
		}
		key := name
		if other, is := opposites[name]; is {
			key = other.of
		}
		old, had := first[key]
		first[key] = o
		if had && fio.BuiltinOptions().Main(old.Name) != name && opposites.agree(old, o) {
			continue
		}
		if !had || name == "name" || old.Line == o.Line && old.Col == o.Col { // words of one variable
			continue
		}
		if !stands(file, j, o) || !stands(file, j, old) { // a default of the script, which this command replaces
			continue
		}
		says := fmt.Sprintf("%s replaces %s of line %d", shown(o), shown(old), old.Line)
		if o.Name != old.Name && fio.BuiltinOptions().Main(old.Name) == name {
			says += fmt.Sprintf(": %s is another name of %s", old.Name, o.Name)
		}
		f := foundAt(file, o.Line, o.Col, says+".")
		if fio.BuiltinOptions().Main(old.Name) == name && same(o, old) {
			f.Severity, f.Message = finding.Info, fmt.Sprintf("%s stands in line %d already.", text.Clean(o.String(), 120),
				old.Line)
		}
		if key == "direct" && fio.BuiltinOptions().Main(old.Name) != name {
			f.Severity = finding.Info // buffered=0 is often written for none of the two
		}
		report(*f)
	}
}

// templated is what stands in the place of a value that a template fills in.
var templated = regexp.MustCompile(`\$\{_*\}`)

// shown is an option as it is written, but for what a template fills in.
func shown(o fio.Option) string {
	return templated.ReplaceAllString(text.Clean(o.String(), 120), "…")
}

// opposed are options by main name that say the same as another one, counted from the other end of whole.
type opposed map[string]struct {
	of    string
	whole uint64
}

var opposites = opposed{"rwmixwrite": {"rwmixread", 100}, "buffered": {"direct", 1}}

// agree says whether an option and its opposite do not contradict each other, or that is not known.
func (opposed opposed) agree(a, b fio.Option) bool {
	x, err := fio.ParseSize(a.Value, 1024)
	y, other := fio.ParseSize(b.Value, 1024)
	for _, o := range []fio.Option{a, b} {
		if pair, is := opposed[fio.BuiltinOptions().Main(o.Name)]; is {
			return err != nil || other != nil || uint64(x)+uint64(y) == pair.whole
		}
	}
	return false
}

// stands says whether an option is written where it is read, and does not come out of a variable.
func stands(file *script.File, j *script.Job, o fio.Option) bool {
	if j.Command && o.Line < j.Line {
		return false
	}
	line := []rune(file.Source(o.Line))
	return o.Col >= 1 && o.Col <= len(line) &&
		!strings.HasPrefix(strings.TrimLeft(string(line[o.Col-1:]), "\"'"), "$")
}

// same says whether two values mean the same: 60 and 1m of a time, 4k and 4096 of a size.
func same(a, b fio.Option) bool {
	x, y := strings.TrimSpace(a.Value), strings.TrimSpace(b.Value)
	if x == y {
		return a.Bare == b.Bare
	}
	x, y = eachAlike(x), eachAlike(y)
	if x == y {
		return true
	}
	if name := fio.BuiltinOptions().Main(a.Name); name == "runtime" || name == "ramp_time" || name == "startdelay" {
		s, err := fio.ParseTime(x, time.Second)
		t, other := fio.ParseTime(y, time.Second)
		return err == nil && other == nil && s == t
	}
	if s, err := fio.ParseSize(x, 1024); err == nil {
		if t, err := fio.ParseSize(y, 1024); err == nil && s == t {
			return true
		}
	}
	return false
}

// eachAlike is one value for a list that gives the three directions the same: 0,0,0 is 0.
func eachAlike(value string) string {
	parts := strings.Split(value, ",")
	if len(parts) == 3 && parts[0] == parts[1] && parts[1] == parts[2] {
		return parts[0]
	}
	return value
}

var together = &rule{
	Code:     "PL139",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "sections that write and read one file run at the same time",
	When: "One section only writes a file, a later one only reads it, and no stonewall, wait_for or " +
		"startdelay separates them. An info when both are time_based or not named after write and read.",
	Why:    "fio starts all sections at once: the reads compete with the writes and find unwritten blocks.",
	Seen:   "Both sections ran in group 0; with stonewall in groups 0 and 1.",
	Fix:    "Add stonewall to the section that reads.",
	Bad:    "[a]\nfilename=/data/f\nsize=10g\nrw=write\n[b]\nfilename=/data/f\nsize=10g\nrw=read",
	Good:   "[a]\nfilename=/data/f\nsize=10g\nrw=write\n[b]\nstonewall\nfilename=/data/f\nsize=10g\nrw=read",
	Ignore: "When readers next to writers are what you measure.",
	Check: func(c *Case, report func(finding.Finding)) {
		var in *script.Job
		writers := map[string]*lintJob{}
		for _, j := range c.jobs {
			if j.src != in {
				in, writers = j.src, map[string]*lintJob{}
			}
			if j.load.Stonewall || j.given("wait_for") || j.load.StartDelay > 0 {
				writers = map[string]*lintJob{}
			}
			name := j.load.Filename
			if j.partial || name == "" || j.open("filename") || len(j.devices()) > 0 || !j.measures() || j.open("rw") ||
				j.open("stonewall") || j.sectioned() {
				continue
			}
			w := writers[name]
			switch {
			case !j.load.Reads():
				writers[name] = j
			case !j.load.Writes() && w != nil:
				f := j.found(fmt.Sprintf("[%s] reads %s while [%s] writes it: no stonewall keeps them apart.",
					text.Clean(j.sec.Name, 60), text.Clean(name, 120), text.Clean(w.sec.Name, 60)), "rw")
				if by := map[string]bool{"rw": true}; j.load.TimeBased && w.load.TimeBased || !j.alone(by) || !w.alone(by) {
					f.Severity = finding.Info
				}
				report(*f)
			}
		}
	},
}

var oneName = &rule{
	Code:     "PL142",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "sections with one name write their logs to the same files",
	When: "Sections of a job file share a name and write a log without a name of its own, with " +
		"per_job_logs=0. Otherwise an info: fio numbers the logs, and the numbers do not identify the " +
		"sections.",
	Why:  "With per_job_logs=0 the section that ends last overwrites the other logs.",
	Seen: "2 sections of one name left 1 log.",
	Fix:  "Give each section a name of its own.",
	Bad: "[global]\nwrite_bw_log\nper_job_logs=0\nlog_avg_msec=1000\n[write-4k]\nname=write\nrw=write\n" +
		"[write-16k]\nname=write\nrw=write",
	Good:   "[global]\nwrite_bw_log\nlog_avg_msec=1000\n[write-4k]\nrw=write\n[write-16k]\nrw=write",
	Ignore: "When nobody reads the logs.",
	Check: func(c *Case, report func(finding.Finding)) {
		var in *script.Job
		names, reported := map[string]int{}, map[string]bool{}
		for _, j := range c.jobs {
			if j.src != in {
				in, names, reported = j.src, map[string]int{}, map[string]bool{}
			}
			logs := slices.ContainsFunc(
				[]string{"write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"},
				func(log string) bool {
					o, ok := j.last[log]
					return ok && (o.Bare || o.Value == "" || o.Value == "1")
				},
			)
			if j.src.Command || !logs || j.partial || unknown(j.sec.Name) {
				continue
			}
			if line := names[j.sec.Name]; line > 0 && !reported[j.sec.Name] {
				reported[j.sec.Name] = true
				f := j.found(fmt.Sprintf("This section and that of line %d are both named %q and write the same logs.", line,
					text.Clean(j.sec.Name, 60)), "name")
				if j.flag("per_job_logs", true) || j.open("per_job_logs") {
					f.Severity, f.Message = finding.Info, fmt.Sprintf(
						"This section and that of line %d are both named %q: only a number keeps their logs apart.", line,
						text.Clean(j.sec.Name, 60))
				}
				report(*f)
			}
			names[j.sec.Name] = j.sec.Line
		}
	},
}
