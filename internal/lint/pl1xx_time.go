package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/units"
)

func endless(j *lintJob) *fault {
	if !j.TimeBased || j.open("time_based", "runtime") || j.Runtime > 0 {
		return nil
	}
	if o, given := j.last["runtime"]; given {
		if d, err := fio.ParseTime(o.Value, time.Second); err != nil || d > 0 {
			return nil // 10min is 10 µs, which end the job: PL128 says so, or PL102 where fio refuses it
		}
	}
	f := j.found("time_based",
		"time_based has no effect without runtime: the job ends as soon as it has transferred its size.")
	return lessen(f, !j.src.Command) // who starts the file may give it: fio --runtime=60 x.fio
}

// shortRun is where a minute's warm-up no longer weighs: below it PL109 speaks.
const shortRun = 5 * time.Minute

func noRamp(j *lintJob) *fault {
	if !j.TimeBased || j.Runtime == 0 || j.Runtime >= shortRun || j.flag("ramp_time", false) || j.open("ramp_time") {
		return nil
	}
	return j.found("runtime", "A run of %s without ramp_time includes the warm-up.", j.Runtime)
}

var (
	instanceName = regexp.MustCompile(
		`(?i)\b[a-z]{1,3}[0-9][a-z0-9-]*\.(?:nano|micro|small|medium|large|[0-9]*xlarge|metal(?:-[0-9]+xl)?)\b`,
	)
	creditTypes  = []string{cloud.GP2, cloud.ST1, cloud.SC1}
	creditVolume = regexp.MustCompile(`\b(?:` + strings.Join(creditTypes, "|") + `)\b(?:\s+[0-9]+\s*(?:GiB|GB))?`)
	volumeSize   = regexp.MustCompile(`[0-9]{3,}`)
)

// bursting are the instance types that a document names whose EBS limits burst.
func bursting(f *script.File) []cloud.InstanceFacts {
	var types []cloud.InstanceFacts
	for _, name := range f.Match(instanceName, "large", "medium", "small", "micro", "nano", "metal") {
		facts, ok := cloud.InstanceLimits(strings.ToLower(name))
		known := slices.ContainsFunc(types, func(t cloud.InstanceFacts) bool { return t.Type == facts.Type })
		if ok && !known && facts.Baseline.IOPS > 0 && facts.Burst.IOPS > facts.Baseline.IOPS {
			types = append(types, facts)
		}
	}
	return types
}

func shortForBurst(j *lintJob) *fault {
	const burst = 30 * time.Minute
	if j.Runtime == 0 || j.Runtime >= burst {
		return nil
	}
	var f *fault
	steepest := units.IOPS(0)
	l := j.of.documents[j.file]
	for _, facts := range l.bursting {
		name := facts.Type
		if f == nil {
			f = j.found("runtime", "")
		}
		if fall := facts.Burst.IOPS / facts.Baseline.IOPS; fall > steepest {
			steepest = fall
			f.Message = says("A run of %s ends before a burst does: a %s does %s IOPS on EBS for 30 minutes a day and sustains "+
				"%s IOPS.", j.Runtime, name, facts.Burst.IOPS, facts.Baseline.IOPS)
		}
		*f = f.Saw(name+" on EBS", says("%s IOPS, %s for 30 minutes a day; %s IOPS, %s sustained", facts.Burst.IOPS,
			facts.Burst.Rate.SI(), facts.Baseline.IOPS, facts.Baseline.Rate.SI()), "", facts.String())
	}
	if f != nil {
		return f
	}
	for _, name := range l.credits {
		if n, _ := strconv.Atoi(volumeSize.FindString(name)); n >= 1000 {
			return nil // gp2 of that size lives on its baseline
		}
	}
	if len(l.credits) > 0 {
		return j.found("runtime", "A run of %s ends before a %s volume's credits run out.", j.Runtime, l.credits[0][:3])
	}
	return nil
}

func repeatedRandom(j *lintJob) *fault {
	if j.Sequential || j.flag("randrepeat", true) && j.given("allrandrepeat") || !j.flag("randrepeat", true) ||
		j.given("randseed") {
		return nil
	}
	loops, _ := strconv.Atoi(j.last["loops"].Value)
	switch {
	case loops > 1:
		return j.found("loops", "All %d loops visit the same blocks in the same order (randrepeat=1 is fio's default).",
			loops)
	case j.src.Loop && !j.varies("bs", "filename", "directory", "size", "name"):
		return j.found("rw",
			"Each round of the loop visits the same blocks in the same order (randrepeat=1 is fio's default).")
	}
	return nil
}

// reference is a variable in a value.
var reference = regexp.MustCompile(`\$\{?(\w+)`)

// varies says whether a value of a command has the variable of a loop around it in it.
func (j *lintJob) varies(options ...string) bool {
	for _, o := range options {
		value := j.last[o].Value
		if o == "name" {
			value = j.sec.Name
		}
		for _, m := range reference.FindAllStringSubmatch(value, -1) {
			if _, of := j.src.Varies[m[1]]; of {
				return true
			}
		}
	}
	return false
}

// units64 counts jobs where bytes are multiplied.
func units64(n int) units.Bytes { return units.Bytes(max(n, 0)) }

func rateBySmallest(j *lintJob) *fault {
	read, write := j.HeldIOPS()
	var parts []string
	add := func(asked, held units.IOPS, what string) {
		if asked > 0 && held < asked {
			parts = append(parts, says("%s of the %s %s IOPS", held, asked, what))
		}
	}
	add(j.ReadIOPS, read, "read")
	add(j.WriteIOPS, write, "write")
	if len(parts) == 0 {
		return nil
	}
	return j.found("rate_iops", "fio limits the job to its rate times the smallest block: to %s that it asks for.",
		strings.Join(parts, " and "))
}

func rateWithPauses(j *lintJob) *fault {
	limited := j.Reads() && (j.ReadRate > 0 || j.ReadIOPS > 0) || j.Writes() && (j.WriteRate > 0 || j.WriteIOPS > 0)
	if j.ThinkTime == 0 || !limited || j.flag("rate_ignore_thinktime", false) ||
		j.open("rate_ignore_thinktime") {
		return nil
	}
	return j.found("rate rate_iops thinktime",
		"After each thinktime fio catches up with the rate: the load comes in bursts, not at a steady rate with "+
			"pauses.")
}

func rampAboveRun(j *lintJob) *fault {
	if j.Runtime == 0 || j.Ramp <= j.Runtime || j.open("runtime", "ramp_time") {
		return nil
	}
	f := j.found("ramp_time", "The job warms up for %s and measures for only %s.", j.Ramp, j.Runtime)
	const swapped = 10
	return lessen(f, j.Ramp < swapped*j.Runtime)
}

func loopsWithTime(j *lintJob) *fault {
	once := slices.Contains([]string{"", "0", "1"}, j.value("loops"))
	if once || !j.TimeBased || j.Runtime == 0 {
		return nil
	}
	return j.found("loops", "The job ends after %s, whatever %s says.", j.Runtime,
		j.setting("loops", ""))
}
