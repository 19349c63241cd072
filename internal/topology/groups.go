package topology

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/sys"
)

// GroupLimit is one limit of a control group on one device, and how much of it was used.
type GroupLimit struct {
	Group  string `json:"group"` // path of the group below the mount of control groups
	File   string `json:"file"`  // where the limit is written
	Device string `json:"device"`
	Number string `json:"number"` // major:minor
	// What is limited: riops, wiops (I/Os), rbps or wbps (bytes), as io.max has it.
	What      string  `json:"what"`
	Limit     float64 `json:"limit_per_s"`
	Used      float64 `json:"used_per_s"`
	Processes int     `json:"processes"` // in the group itself
	Version   int     `json:"version"`   // of the control groups
}

// Effective is what a limit really gives: blk-throttle counts whole I/Os in slices of 100 ms
// (block/blk-throttle.c tg_within_iops_limit), so that 38 a second become 30.
func (l GroupLimit) Effective() float64 {
	if strings.HasSuffix(l.What, "iops") && l.Limit >= 10 {
		return min(l.Limit, 10*math.Floor(l.Limit/10)) // the product of what no float64 holds may be above it
	}
	return l.Limit
}

// Groups are the control groups of a machine with a limit on some devices: all that can be seen and
// not plimsoll's own alone, since another's limit makes that other wait.
type Groups struct {
	read   *sys.Reader
	names  map[string]string // of devices, by major:minor
	limits []GroupLimit
	before []tally
	dirs   []string // of the groups of version 1
	quotas []Quota  // with what they counted at the start
	seen   int
}

// mostGroups are looked at; a node of Kubernetes has a thousand.
const mostGroups = 10_000

// ReadGroups finds the limits on devices, given by name and number (major:minor).
func ReadGroups(r *sys.Reader, names map[string]string) *Groups {
	g := &Groups{read: r, names: names}
	for _, base := range version2Bases {
		if _, err := r.Read(base + "/cgroup.controllers"); err == nil {
			g.walk(base, "/", g.limitsOf)
			break
		}
	}
	g.walk(version1Base, "/", g.limitsOf)
	g.walk("sys/fs/cgroup/cpu", "/", g.quota)
	g.before = g.tallies()
	return g
}

// walk calls look for each group below base, the outermost first.
func (g *Groups) walk(base, group string, look func(base, group string)) {
	names, err := g.read.Names(path.Join(base, group))
	if err != nil {
		return
	}
	if g.seen++; g.seen > mostGroups {
		return
	}
	look(base, group)
	slices.Sort(names)
	for _, n := range names {
		// The files of a group have a dot in their names, the controllers' names before it; groups
		// may have dots, too, and then they are directories.
		if !isGroupFile(n) {
			g.walk(base, path.Join(group, n), look)
		}
	}
}

// groupFiles begin the names of a group's own files.
var groupFiles = strings.Fields(`
	cgroup. io. memory. cpu. cpuset. pids. hugetlb. rdma. misc. blkio. irq. dmem.`)

func isGroupFile(name string) bool {
	return name == "tasks" || name == "notify_on_release" || name == "release_agent" ||
		slices.ContainsFunc(groupFiles, func(p string) bool { return strings.HasPrefix(name, p) })
}

// limitFiles are where the limits of a group stand: io.max of version 2 (Documentation/admin-guide/cgroup-v2.rst),
// "8:16 rbps=2097152 wbps=max …", and of version 1 a file for each, "8:16 2097152".
var limitFiles = []struct{ file, what string }{
	{"io.max", ""},
	{"blkio.throttle.read_bps_device", "rbps"},
	{"blkio.throttle.write_bps_device", "wbps"},
	{"blkio.throttle.read_iops_device", "riops"},
	{"blkio.throttle.write_iops_device", "wiops"},
}

// written calls each for the limits that stand in the files of a group.
func written(text func(name string) string, base, group string, each func(GroupLimit)) {
	dir, files := path.Join(base, group), limitFiles[:1]
	if base == version1Base {
		files = limitFiles[1:]
	}
	for _, f := range files {
		file := path.Join(dir, f.file)
		for line := range strings.Lines(text(file)) {
			fields := strings.Fields(line)
			for i := 1; i < len(fields) && (f.what == "" || len(fields) == 2); i++ {
				l := GroupLimit{Group: group, File: "/" + file, Number: fields[0], What: f.what, Version: 1}
				value := fields[i]
				if f.what == "" {
					l.Version = 2
					l.What, value, _ = strings.Cut(value, "=")
				}
				known := slices.ContainsFunc(limitFiles[1:], func(k struct{ file, what string }) bool { return k.what == l.What })
				if n, err := strconv.ParseUint(value, 10, 63); err == nil && n > 0 && known {
					l.Limit = float64(n)
					each(l)
				}
			}
		}
	}
}

func (g *Groups) limitsOf(base, group string) {
	if base == version1Base {
		g.dirs = append(g.dirs, path.Join(base, group))
	} else {
		g.quota(base, group)
	}
	written(g.read.Text, base, group, func(l GroupLimit) {
		if l.Device = g.names[l.Number]; l.Device != "" {
			dir := path.Dir(strings.TrimPrefix(l.File, "/"))
			l.Processes = len(strings.Fields(g.read.Text(dir + "/cgroup.procs")))
			g.limits = append(g.limits, l)
		}
	})
}

// count is what a group of version 2 has used so far of what is limited.
func (g *Groups) count(l *GroupLimit) float64 {
	dir := path.Dir(strings.TrimPrefix(l.File, "/"))
	key := map[string]string{"rbps": "rbytes", "wbps": "wbytes", "riops": "rios", "wiops": "wios"}[l.What]
	for line := range strings.Lines(g.read.Text(dir + "/io.stat")) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != l.Number {
			continue
		}
		for _, f := range fields[1:] {
			if k, v, _ := strings.Cut(f, "="); k == key {
				return number(v)
			}
		}
	}
	return 0
}

func number(s string) float64 {
	n, _ := strconv.ParseUint(s, 10, 63)
	return float64(n)
}

// Quota is the limit of a control group's processor time, and how often it held the group back.
type Quota struct {
	Group string `json:"group"`
	Dir   string `json:"dir"`
	// Periods are those in which the group ran, Throttled those in which it used up its quota, Stopped how
	// long it then stood still (Documentation/scheduler/sched-bwc.rst).
	Periods   float64       `json:"periods"`
	Throttled float64       `json:"throttled"`
	Stopped   time.Duration `json:"stopped_ns"`
}

// quota keeps a group that has a limit of processor time: others count no periods.
func (g *Groups) quota(base, group string) {
	q := Quota{Group: group, Dir: "/" + path.Join(base, group)}
	for line := range strings.Lines(g.read.Text(path.Join(base, group, "cpu.stat"))) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch n := number(value); key {
		case "nr_periods":
			q.Periods = n
		case "nr_throttled":
			q.Throttled = n
		case "throttled_usec":
			q.Stopped = time.Duration(n) * time.Microsecond
		case "throttled_time":
			q.Stopped = time.Duration(n)
		}
	}
	if q.Periods > 0 {
		g.quotas = append(g.quotas, q)
	}
}

// Quotas are the limits of processor time that held a group back since ReadGroups.
func (g *Groups) Quotas() (held []Quota) {
	before := g.quotas
	for _, b := range before {
		g.quotas = nil
		g.quota(strings.TrimSuffix(strings.TrimPrefix(b.Dir, "/"), b.Group), b.Group)
		if len(g.quotas) == 1 && g.quotas[0].Throttled > b.Throttled {
			q := g.quotas[0]
			q.Periods, q.Throttled, q.Stopped = q.Periods-b.Periods, q.Throttled-b.Throttled, q.Stopped-b.Stopped
			held = append(held, q)
		}
	}
	g.quotas = before
	return held
}

// Any is whether a control group has a limit on one of the devices.
func (g *Groups) Any() bool { return len(g.limits) > 0 }

// Used are the limits with what was used of them since ReadGroups, in span.
func (g *Groups) Used(span time.Duration) []GroupLimit {
	all := slices.Clone(g.limits)
	if span <= 0 {
		return all
	}
	for i, now := range g.tallies() {
		all[i].Used = now.done(g.before[i]) / span.Seconds()
	}
	return all
}
