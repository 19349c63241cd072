package lint

import (
	"path"
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
		name := mainName(o)
		if name == "filename" { // each adds a file
			continue
		}
		key := name
		if other, is := opposites[name]; is {
			key = other.of
		}
		old, had := first[key]
		first[key] = o
		oneOption := mainName(old) == name
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
			f.Severity, f.Message = finding.Info, says("%s is already on line %d.", o,
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
		if pair, is := opposed[mainName(o)]; is {
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
	if name := mainName(a); name == "runtime" || name == "ramp_time" || name == "startdelay" {
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
			if j.partial || name == "" || j.open("filename") || len(j.devices()) > 0 || !j.measures() || j.open("rw",
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
				f := j.found("name", "This section and the one on line %d are both named %q and write the same logs.", line, name)
				if j.flag("per_job_logs", true) || j.open("per_job_logs") {
					f.Severity, f.Message = finding.Info, says(
						"This section and the one on line %d are both named %q: only a number keeps their logs apart.", line, name)
				}
				report(*f)
			}
			names[name] = j.sec.Line
		}
	}
}

func verifyShared(j *lintJob) *fault {
	if !j.VerifyOn || !j.Writes() || !j.SharedFile || j.Jobs < 2 || j.OffsetIncrement > 0 || !j.measures() ||
		j.flag("verify_only", false) || !j.flag("do_verify", true) || j.given("offset_align") ||
		j.open("verify", "rw", "filename", "numjobs", "offset_increment", "do_verify") {
		return nil
	}
	switch j.value("verify") {
	case "pattern", "null", "0": // the same in each copy's blocks, or nothing
		return nil
	}
	f := j.found("numjobs verify", "%s write and verify the same blocks of one file: each finds what the others wrote.",
		text.Plural(j.Jobs, "job"))
	return lessen(f, j.Sequential && !j.Reads())
}

func verifiesNothing(j *lintJob) *fault {
	if j.given("verify", "verify_pattern") || j.open("verify", "verify_only", "do_verify") {
		return nil
	}
	switch {
	case j.flag("verify_only", false) && j.Writes():
		return j.found("verify_only",
			"verify_only without verify: fio counts writes that it does not make, and checks nothing.")
	case j.flag("verify_only", false):
		return j.found("verify_only", "verify_only without verify: the job reads, and checks nothing.")
	case j.flag("do_verify", false):
		return j.found("do_verify", "do_verify without verify: nothing is read back.")
	}
	return nil
}

func writtenTwice(c *Case, report reporter) {
	for jobs := range c.sources() {
		writers := map[string][]*lintJob{}
		for _, j := range jobs {
			if j.waits() {
				copied(writers, report)
			}
			own, has := j.own.Get("filename")
			if !has || j.partial || !j.Writes() || j.open("rw", "filename") || j.given("offset",
				"offset_increment") || !j.measures() || j.file.Functional() || j.sectioned() {
				continue
			}
			writers[own] = append(writers[own], j)
		}
		copied(writers, report)
	}
}

// copied reports the sections, of those that run together, that write the file of another one in
// its way while other files have fewer writers: where each file has as many, they are meant. It
// leaves none behind.
func copied(writers map[string][]*lintJob, report reporter) {
	least := 0
	for _, all := range writers {
		if least == 0 || len(all) < least {
			least = len(all)
		}
	}
	for own, all := range writers {
		for k := 1; k < len(all) && len(all) > least; k++ {
			if j, before := all[k], all[k-1]; before.mode() == j.mode() && before.bs() == j.bs() {
				report(*j.found("filename", "[%s] writes %s as [%s] does, at the same time.", j.sec.Name, own, before.sec.Name))
			}
		}
	}
	clear(writers)
}

// waits says whether something keeps a section apart from those before it.
func (j *lintJob) waits() bool {
	return j.Stonewall || j.given("wait_for") || j.StartDelay > 0 || j.open("stonewall", "startdelay")
}

// shapes are the options by which the sections of a series differ.
var shapes = strings.Fields(`rw bs iodepth numjobs name rwmixread rwmixwrite description bsrange bssplit group_reporting
	new_group write_bw_log write_lat_log write_iops_log`)

func series(c *Case, report reporter) {
	for jobs := range c.sources() {
		if f := seriesOf(jobs); f != nil {
			report(*f)
		}
	}
}

// seriesOf judges the sections of one job file.
func seriesOf(jobs []*lintJob) *fault {
	if len(jobs) < 2 || jobs[0].partial || len(jobs[0].src.Passed) > 0 || jobs[0].sectioned() {
		return nil
	}
	differ := map[string]bool{}
	first := jobs[0]
	for k, j := range jobs {
		if k > 0 && j.waits() || j.tests() || !j.measures() || j.Filename != first.Filename ||
			j.Directory != first.Directory || j.open("filename", "rw") || len(j.own.Options) == 0 ||
			j.ThinkTime > 0 || j.ReadRate+j.WriteRate > 0 || j.ReadIOPS+j.WriteIOPS > 0 ||
			j.given("flow") {
			return nil
		}
		for _, o := range j.own.Options {
			name := mainName(o)
			if _, known := fio.BuiltinOptions().Lookup(o.Name); !known {
				continue // fio refuses it, of which PL102 speaks
			}
			if !slices.Contains(shapes, name) && first.last[name].Value != o.Value {
				return nil
			}
			if old, had := first.last[name]; name != "name" && (!had || old.Value != o.Value) {
				differ[name] = true
			}
		}
	}
	if first.Filename == "" && slices.ContainsFunc(jobs, func(j *lintJob) bool { return !j.named(differ) }) {
		return nil // files of their own, which may be meant to be used together
	}
	var by []string
	for _, name := range []string{"rw", "bs", "iodepth", "numjobs"} {
		if differ[name] {
			by = append(by, name)
		}
	}
	if len(by) == 0 || len(by) > 1 && !differ["rw"] {
		return nil
	}
	message := says("%d tests that differ in %s run at the same time: nothing makes one wait for another.",
		len(jobs), strings.Join(by, " and "))
	if first.Stonewall {
		message = says("%d tests that differ in %s run at the same time: the stonewall of [%s] has nothing before it to "+
			"wait for.", len(jobs), strings.Join(by, " and "), first.sec.Name)
	}
	f := jobs[1].found("", "%s", message)
	own := !slices.ContainsFunc(jobs, func(j *lintJob) bool { return !j.alone(differ) })
	switch {
	case len(jobs) == 2 && readsWhatIsWritten(jobs[0], jobs[1]):
		return nil // PL139
	case len(jobs) == 2 && !first.Stonewall:
		f.Severity = finding.Info // two loads side by side are a load
	case len(jobs) > 2 && differ["rw"] && !own:
		f.Severity = finding.Info // readers, writers and a log side by side are a load
	}
	return f
}

// readsWhatIsWritten says whether PL139 speaks of two sections: one reads the file that the other writes.
func readsWhatIsWritten(a, b *lintJob) bool {
	return a.Filename != "" && len(a.devices()) == 0 && !a.Reads() && !b.Writes()
}

// agents are those who read and write together.
var agents = regexp.MustCompile(`(?i)readers?\b|writers?\b|worker|client|user`)

// alone says whether a section is named as a test that runs by itself, and is not reported as one of
// the groups of a load.
func (j *lintJob) alone(differ map[string]bool) bool {
	return j.named(differ) && !agents.MatchString(j.sec.Name) && !j.given("new_group")
}

// ofDirection are words in the names of sections that stand for what a job does.
var ofDirection = regexp.MustCompile(`(?i)read|write|rand|seq|rw|mix|trim`)

// named says whether a section is named after what sets it apart, as the tests of a series are.
func (j *lintJob) named(differ map[string]bool) bool {
	for _, name := range []string{"iodepth", "bs", "numjobs"} {
		value := strings.TrimRight(strings.ToLower(j.value(name)), "kmbi")
		if differ[name] && value != "" && strings.Contains(j.sec.Name, value) {
			return true
		}
	}
	return differ["rw"] && ofDirection.MatchString(j.sec.Name)
}

func replayed(j *lintJob) *fault {
	if !j.given("read_iolog") || j.open("ioengine") || j.file.Functional() {
		return nil
	}
	switch {
	case j.Jobs > 1 && !j.open("numjobs") && !strings.Contains(j.value("read_iolog"), ":"):
		f := j.found("numjobs", "Each of the %d jobs replays the whole log.", j.Jobs)
		f.Severity = finding.Warn
		f.Fix = "Drop numjobs, or give each job a log: read_iolog=a:b."
		return f
	case j.flag("replay_no_stall", false):
		return j.found("replay_no_stall", "With replay_no_stall fio issues the I/Os of the log without their pauses.")
	case fio.Synchronous(j.Engine):
		return j.found("read_iolog", "%s replays the log one I/O at a time, whatever it had in flight.",
			j.setting("ioengine", fio.DefaultEngine))
	}
	return nil
}

// logName is a name that says that a job stands for a database's log.
var logName = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:wal|redo|redolog|binlog|xlog)(?:[^a-z]|$)`)

func neverSynced(j *lintJob) *fault {
	named := logName.MatchString(j.sec.Name) || logName.MatchString(path.Base(j.Filename))
	if !named || !j.Sequential || !j.Writes() || j.Reads() || j.forcesOut() || j.open("rw") || len(j.src.Passed) > 0 ||
		j.src.File == nil {
		return nil
	}
	f := j.found("rw", "[%s] is named after a database log, but never syncs: no write has to be durable.", j.sec.Name)
	return lessen(f, j.Direct || j.open("direct") || j.completed()) // some databases write their log so
}
