package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

func verifyShared(j *lintJob) *fault {
	if !j.VerifyOn || !j.Writes() || !j.SharedFile || j.Jobs < 2 || j.OffsetIncrement > 0 || !j.measures() ||
		j.flag("verify_only", false) || !j.flag("do_verify", true) || j.given("offset_align") ||
		j.anyOpen("verify", "rw", "filename", "numjobs", "offset_increment", "do_verify") {
		return nil
	}
	switch strings.TrimSpace(j.last["verify"].Value) {
	case "pattern", "null", "0": // the same in each copy's blocks, or nothing
		return nil
	}
	f := j.found("numjobs verify", "%s write and verify the same blocks of one file: each finds those of the others.",
		text.Plural(j.Jobs, "job"))
	return lessen(f, j.Sequential && !j.Reads())
}

func verifiesNothing(j *lintJob) *fault {
	if j.anyGiven("verify", "verify_pattern") || j.anyOpen("verify", "verify_only", "do_verify") {
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
			if !has || j.partial || !j.Writes() || j.anyOpen("rw", "filename") || j.anyGiven("offset",
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
	return j.Stonewall || j.given("wait_for") || j.StartDelay > 0 || j.anyOpen("stonewall", "startdelay")
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
			j.Directory != first.Directory || j.anyOpen("filename", "rw") || len(j.own.Options) == 0 ||
			j.ThinkTime > 0 || j.ReadRate+j.WriteRate > 0 || j.ReadIOPS+j.WriteIOPS > 0 ||
			j.given("flow") {
			return nil
		}
		for _, o := range j.own.Options {
			name := fio.BuiltinOptions().Main(o.Name)
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
	message := says("%d tests that differ in %s run at the same time: nothing makes one wait for the other.",
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
		value := strings.TrimRight(strings.ToLower(strings.TrimSpace(j.last[name].Value)), "kmbi")
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
	case j.Jobs > 1 && !j.open("numjobs") && !strings.Contains(j.last["read_iolog"].Value, ":"):
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
	f := j.found("rw", "[%s] is named after a log, but never syncs: no write has to be durable.", j.sec.Name)
	return lessen(f, j.Direct || j.open("direct") || j.completed()) // some databases write their log so
}
