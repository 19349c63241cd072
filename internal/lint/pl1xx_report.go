package lint

import (
	"strconv"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func manyReports(j *lintJob) *fault {
	if j.Jobs < 4 || j.flag("group_reporting", false) {
		return nil
	}
	return j.found("numjobs", "fio prints %d reports and no percentiles across all jobs.", j.Jobs)
}

func ratePerJob(j *lintJob) *fault {
	if j.Jobs < 2 || j.open("numjobs") {
		return nil
	}
	var sums []string
	add := func(on bool, each, all, what string) {
		if on {
			sums = append(sums, says("%s of %s, %s in total", each, what, all))
		}
	}
	n := float64(j.Jobs)
	add(j.Reads() && j.ReadRate > 0, j.ReadRate.String(), (j.ReadRate * units.Rate(n)).String(), "reads")
	add(j.Writes() && j.WriteRate > 0, j.WriteRate.String(), (j.WriteRate * units.Rate(n)).String(), "writes")
	add(j.Reads() && j.ReadIOPS > 0, j.ReadIOPS.String()+" IOPS", (j.ReadIOPS * units.IOPS(n)).String(), "reads")
	add(j.Writes() && j.WriteIOPS > 0, j.WriteIOPS.String()+" IOPS", (j.WriteIOPS * units.IOPS(n)).String(), "writes")
	if len(sums) == 0 {
		return nil
	}
	of := ""
	if len(j.src.File.Jobs()) > 1 {
		of = " of [" + text.Clean(j.sec.Name, 120) + "]"
	}
	f := j.found("rate rate_iops", "Each of the %d jobs%s may do %s.", j.Jobs, of, strings.Join(sums, "; "))
	f.Alike = j.verb()
	return f
}

// unused reports the jobs that have one of the options and are known not to use it, once for each place
// where one stands. An option of [global] that another job uses is left alone.
func (c *Case) unused(uses func(*lintJob) (used, known bool), report func(*lintJob), names ...string) {
	at := func(j *lintJob) place {
		line, col := j.at(names...)
		return place{j.src, line, col}
	}
	done := map[place]bool{}
	var idle []*lintJob
	for _, j := range c.jobs {
		if !j.given(names...) || j.partial {
			continue
		}
		if used, known := uses(j); used || !known {
			done[at(j)] = done[at(j)] || used
		} else {
			idle = append(idle, j)
		}
	}
	for _, j := range idle {
		if !done[at(j)] {
			done[at(j)] = true
			report(j)
		}
	}
}

func mixIgnored(c *Case, report reporter) {
	mixes := func(j *lintJob) (used, known bool) {
		mode := j.mode()
		return mode == "rw" || mode == "readwrite" || mode == "randrw", !j.open("rw") && !j.agrees()
	}
	c.unused(mixes, func(j *lintJob) {
		share := "rwmixread"
		if !j.given(share) {
			share = "rwmixwrite"
		}
		report(*j.found(share, "%s does not mix: %s has no effect.", j.setting("rw", "read"), j.setting(share, "")))
	}, "rwmixread", "rwmixwrite")
}

func syncsNothing(c *Case, report reporter) {
	syncs := func(j *lintJob) (used, known bool) {
		asked := func(name string) bool {
			n, err := strconv.Atoi(j.value(name))
			return err == nil && n > 0
		}
		known = j.given("rw") && !j.open("rw", "fsync", "fdatasync") && (asked("fsync") || asked("fdatasync"))
		return j.Writes(), known
	}
	c.unused(syncs, func(j *lintJob) {
		report(*j.found("fsync fdatasync", "%s writes nothing, so nothing is ever synced.", j.setting("rw", "read")))
	}, "fsync", "fdatasync")
}

// agrees says whether the share of reads is what the direction does anyway, or is not known.
func (j *lintJob) agrees() bool {
	for _, name := range []string{"rwmixread", "rwmixwrite"} {
		o, ok := j.last[name]
		if !ok {
			continue
		}
		share, err := fio.ParseSize(strings.TrimSuffix(strings.TrimSpace(o.Value), "%"), 1024)
		all := units.Bytes(100)
		if (name == "rwmixread") != j.Reads() {
			all = 0
		}
		if j.open(name) || err != nil || share == all {
			return true
		}
	}
	return false
}

// mode is the value of rw without what may stand behind its colon.
func (j *lintJob) mode() string {
	o, ok := j.last["rw"]
	if !ok {
		return "read"
	}
	v, _, _ := strings.Cut(strings.TrimSpace(o.Value), ":")
	return v
}

func omission(j *lintJob) *fault {
	limited := ""
	for _, name := range []string{"thinktime", "rate_iops", "rate"} {
		if o, ok := j.last[name]; ok && strings.Trim(o.Value, "0 ,") != "" {
			limited = name
		}
	}
	if limited == "" || j.value("io_submit_mode") == "offload" {
		return nil
	}
	return j.found(limited,
		"With %s, I/Os that a stall delays are issued late and timed only from then on: high percentiles come out too low.",
		limited)
}

func everyIO(j *lintJob) *fault {
	for _, name := range []string{"write_lat_log", "write_bw_log", "write_iops_log"} {
		if j.given(name) && !j.given("log_avg_msec", "log_hist_msec", "log_max_value") {
			return j.found(name, "%s without log_avg_msec keeps a line in memory for each I/O.", name)
		}
	}
	return nil
}
