package lint

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
)

func givenTwice(c *Case, report reporter) {
	for file, j := range c.commands() {
		if !j.Partial {
			for _, s := range j.File.Sections {
				twice(file, j, s, report)
			}
		}
	}
}

func twice(file *script.File, j *script.Job, s fio.Section, report reporter) {
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
		oneOption := fio.BuiltinOptions().Main(old.Name) == name
		if had && !oneOption && opposites.agree(old, o) {
			continue
		}
		if !had || name == "name" || old.Line == o.Line && old.Col == o.Col { // words of one variable
			continue
		}
		if !stands(file, j, o) || !stands(file, j, old) { // a default of the script, which this command replaces
			continue
		}
		replaces := says("%s replaces %s of line %d", shown(o), shown(old), old.Line)
		if o.Name != old.Name && oneOption {
			replaces += says(": %s is another name for %s", old.Name, o.Name)
		}
		f := foundAt(file, o.Line, o.Col, "%s.", replaces)
		if oneOption && same(o, old) {
			f.Severity, f.Message = finding.Info, says("%s is already in line %d.", o,
				old.Line)
		}
		if key == "direct" && !oneOption {
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
	rest := file.From(o.Line, o.Col)
	return rest != "" && !strings.HasPrefix(strings.TrimLeft(rest, "\"'"), "$")
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

func together(c *Case, report reporter) {
	for jobs := range c.sources() {
		writers := map[string]*lintJob{}
		for _, j := range jobs {
			if j.Stonewall || j.given("wait_for") || j.StartDelay > 0 {
				writers = map[string]*lintJob{}
			}
			name := j.Filename
			if j.partial || name == "" || j.open("filename") || len(j.devices()) > 0 || !j.measures() || j.anyOpen("rw",
				"stonewall") || j.sectioned() {
				continue
			}
			w := writers[name]
			switch {
			case !j.Reads():
				writers[name] = j
			case !j.Writes() && w != nil:
				f := j.found("rw", "[%s] reads %s while [%s] writes it: no stonewall keeps them apart.", j.sec.Name, name,
					w.sec.Name)
				if by := map[string]bool{"rw": true}; j.TimeBased && w.TimeBased || !j.alone(by) || !w.alone(by) {
					f.Severity = finding.Info
				}
				report(*f)
			}
		}
	}
}

func oneName(c *Case, report reporter) {
	for jobs := range c.sources() {
		names, reported := map[string]int{}, map[string]bool{}
		for _, j := range jobs {
			logs := slices.ContainsFunc(
				[]string{"write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"},
				func(log string) bool {
					o, ok := j.last[log]
					return ok && (o.Bare || o.Value == "" || o.Value == "1")
				},
			)
			name := j.sec.Name
			if j.src.Command || !logs || j.partial || unknown(name) {
				continue
			}
			if line := names[name]; line > 0 && !reported[name] {
				reported[name] = true
				f := j.found("name", "This section and that of line %d are both named %q and write the same logs.", line, name)
				if j.flag("per_job_logs", true) || j.open("per_job_logs") {
					f.Severity, f.Message = finding.Info, says(
						"This section and that of line %d are both named %q: only a number keeps their logs apart.", line, name)
				}
				report(*f)
			}
			names[name] = j.sec.Line
		}
	}
}
