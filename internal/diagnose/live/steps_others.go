package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What makes another program the cause.
const (
	otherShare    = 0.6 // of what the device's I/Os cost
	otherTimes    = 2.0 // the second's
	otherOfDevice = 0.2 // of what the device moves, or of its I/Os
	secondShare   = 0.1 // what makes another a user who is held up …
	secondTasks   = 0.9 // … or that it waits all the time …
	secondLeast   = float64(64 << 10)
	secondWaits   = 0.2 // … or, behind what is written back, that it asks for secondLeast or waits so much
	oneWaits      = 1.0
	backTasks     = 0.4
	backTimes     = 4.0 // what programs ask for now
	backLeast     = float64(256 << 10)
)

// pivot is how many bytes cost a device as much as one more I/O: what its limits say, else what network
// volumes and flash are sold with (3,000 IOPS and 125 MiB/s), else what a head passes in the time of a seek.
func (v *view) pivot() float64 {
	l := v.leaves[0]
	if l.Volume != nil {
		if most := most(l.Volume); most.IOPS > 0 && most.Rate > 0 {
			return float64(most.Rate) / float64(most.IOPS)
		}
	}
	if v.typical == float64(rotatesTypical) && !v.stated {
		return float64(units.MiB)
	}
	return 42 * float64(units.KiB)
}

// written is whether a program's tasks wait for its own dirty memory to be written.
func (u *User) written() float64 { return u.For[telemetry.ForWBT] + u.For[telemetry.ForDirty] }

// divide estimates what each program takes of the device. A task that sleeps in an I/O has one in
// flight; the others are of programs whose memory is written back or that wait for a place in the
// queue, else of those that wait for none (asynchronous I/O), by their bytes. By Little's
// law I/Os per second follow, and with the bytes what they cost.
func (v *view) divide() (all float64) {
	held := func(u *User) float64 {
		return u.For[telemetry.ForIO] + u.For[telemetry.ForPage] + u.For[telemetry.ForOther] + u.For[telemetry.ForSync]
	}
	total, rest := 0.0, 0.0
	for i := range v.users {
		total += held(&v.users[i])
	}
	full := v.top.waiting()
	weights := []func(*User) float64{
		func(u *User) float64 {
			if n := u.written() + u.For[telemetry.ForTags]; n >= secondWaits {
				return n
			}
			return 0
		},
		func(u *User) float64 {
			if u.Waiting >= backTasks {
				return 0
			}
			return u.bytes()
		},
		func(u *User) float64 { return u.bytes() },
	}
	sum, weight := 0.0, weights[0]
	for _, weight = range weights {
		for i := range v.users {
			sum += weight(&v.users[i])
		}
		if sum > 0 {
			break
		}
	}
	rest = max(0, full-total)
	for i := range v.users {
		u := &v.users[i]
		u.held = held(u) * min(1, full/max(total, 1e-9))
		if sum > 0 {
			u.held += rest * weight(u) / sum
		}
		u.cost = v.top.iops()*u.held/max(full, 1e-9) + u.bytes()/v.pivot()
		all += u.cost
	}
	return all
}

// otherProgram is one of several programs that takes most of what is scarce.
func (v *view) otherProgram() *Cause {
	wait := v.tasks[telemetry.ForLog] + v.tasks[telemetry.ForIO] + v.tasks[telemetry.ForSync] +
		v.tasks[telemetry.ForPage] + v.tasks[telemetry.ForDirty]
	if !v.proven && wait < oneWaits || len(v.users) < 2 {
		return nil
	}
	all := v.divide()
	by := slices.Clone(v.users)
	slices.SortStableFunc(by, func(a, b User) int { return cmp.Compare(b.cost, a.cost) })
	a, b := &by[0], &by[1]
	ios := func(u *User) float64 { return v.top.iops() * u.held / max(v.top.waiting(), 1e-9) }
	back := a.written() >= secondWaits || v.f.Window.Memory.Dirty > v.f.Window.Memory.Background
	if a.cost < otherShare*all || a.cost < otherTimes*b.cost || !slices.ContainsFunc(by[1:], func(u User) bool {
		return u.Waiting >= secondTasks || u.bytes() >= secondShare*v.asked || u.cost >= secondShare*all ||
			back && (u.bytes() >= secondLeast || u.Waiting >= secondWaits)
	}) || a.written() < secondWaits && a.bytes() < otherOfDevice*v.top.bytes() && ios(a) < otherOfDevice*v.top.iops() {
		return nil
	}
	v.other = a.cost / all
	how := fmt.Sprintf("asks for %s in about %s I/Os per second", units.Rate(a.bytes()), units.Number(ios(a)))
	if back {
		how = fmt.Sprintf("writes into memory, which is written back at %s", units.Rate(v.written()))
	}
	seen := func(u *User) finding.Evidence {
		return finding.Evidence{
			What: u.who(), Found: fmt.Sprintf("%s, about %s IOPS, %s in flight", units.Rate(u.bytes()), units.Number(ios(u)),
				units.Number(u.held)), Where: "/proc/PID/io, /proc/PID/stack, by Little's law",
		}
	}
	return &Cause{
		Title: titleOf("PL906"), Confidence: Likely, Subject: a.Name,
		Message: fmt.Sprintf("Another program, %s, makes %s slow: it %s, %s of what %s does.",
			a.Name, v.f.Path, how, text.Percent(v.other), v.top.Name),
		Evidence: []finding.Evidence{seen(a), seen(b)},
		Next:     []string{v.hold(a)},
	}
}

// written is what the volumes are written to, bytes per second.
func (v *view) written() float64 {
	return v.sum(func(l *device) float64 { return float64(l.did.WriteBytes) / l.span })
}

// beside is what else lies on the disk of a partition or of a simple logical volume.
func (v *view) beside() *Cause {
	disk := v.leaves[0]
	if disk.top || !v.proven || len(v.leaves) > 1 || slices.ContainsFunc(v.all, func(d device) bool {
		return len(d.Under) > 1 || d.Level != "" && d.Level != "linear"
	}) {
		return nil
	}
	ios, bytes := disk.iops()-v.top.iops(), disk.bytes()-v.top.bytes()
	cost := func(ios, bytes float64) float64 { return ios + bytes/v.pivot() }
	v.other = cost(ios, bytes) / max(cost(disk.iops(), disk.bytes()), 1e-9)
	if v.other < otherShare {
		v.other = 0
		return nil
	}
	var names []string
	for i := range v.f.Window.Processes {
		if p := &v.f.Window.Processes[i]; p.Beside && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	who, next := "no program of it could be named", "lsblk /dev/"+disk.Name+"; iotop -oba -n3   # who that is"
	if len(names) > 0 {
		who = text.Some(names, mostNamed) + " has files there"
		next = "a disk of its own for one of them, or a limit: plimsoll explain PL906"
	}
	return &Cause{
		Title: "others use the same disk", Confidence: Likely, Subject: disk.Name,
		Message: fmt.Sprintf("What else lies on %s makes %s slow: %s of its %s IOPS and %s of its %s are not of %s; %s.",
			disk.Name, v.f.Path, units.Number(ios), units.Number(disk.iops()), units.Rate(bytes), units.Rate(disk.bytes()),
			v.top.Name, who),
		Evidence: []finding.Evidence{
			{
				What: disk.Name, Found: units.Number(disk.iops()) + " IOPS",
				Expected: "near " + units.Number(v.top.iops()) + ", as " + v.top.Name, Where: diskstats(disk.Name),
			},
			{What: "I/Os that wait", Found: units.Number(disk.waiting()), Where: diskstats(disk.Name)},
		},
		Next: []string{next},
	}
}

// who names a program and its unit.
func (u *User) who() string {
	if u.Unit == "" {
		return u.Name
	}
	return u.Name + " (" + u.Unit + ")"
}

// hold is the line that limits a program's control group to half of what the device moves now.
func (v *view) hold(u *User) string {
	what := "wbps"
	if u.Read > u.Write {
		what = "rbps"
	}
	if u.Group == "" {
		return fmt.Sprintf("put %s into a control group of its own, and limit it there (systemd-run --scope -p "+
			"IO%sBandwidthMax=…)", u.Name, map[string]string{"wbps": "Write", "rbps": "Read"}[what])
	}
	l := topology.GroupLimit{Number: v.diskNumber(), What: what, Version: u.version}
	l.File = "/sys/fs/cgroup" + u.Group + "/io.max"
	if u.version == 1 {
		l.File = "/sys/fs/cgroup/blkio" + u.Group + "/blkio.throttle." +
			map[string]string{"wbps": "write_bps", "rbps": "read_bps"}[what] + "_device"
	}
	return limitLine(l, max(float64(units.MiB), v.top.bytes()/2)) + "   # limits it"
}

// diskNumber is the number of the topmost device that is no partition: limits are of whole devices.
func (v *view) diskNumber() string {
	for i := range v.all {
		if v.all[i].Kind != "partition" {
			return v.all[i].Number
		}
	}
	return v.top.Number
}

// writeBack is dirty memory that the kernel writes: tasks wait for that, or the device is slow of what nobody
// asks for now, for more of it is in memory than a second's worth.
func (v *view) writeBack() *Cause {
	throttled, written := v.tasks[telemetry.ForWBT]+v.tasks[telemetry.ForDirty], v.written()
	ended := v.proven && max(v.top.bytes(), written) > backTimes*v.asked && float64(v.f.Window.Memory.Dirty) >= written
	if written < backLeast || throttled < backTasks && !ended {
		return nil
	}
	subject, who := v.top.Name, "what no running program asks for now"
	if throttled >= backTasks {
		writer := slices.MaxFunc(v.users, func(a, b User) int { return cmp.Compare(a.written(), b.written()) })
		subject = writer.Name
		who = fmt.Sprintf("what %s wrote, whose tasks wait for it (%s)", writer.who(), units.Number(throttled))
	}
	return &Cause{
		Title: "dirty memory is being written back", Confidence: Likely, Subject: subject,
		Message: fmt.Sprintf("Dirty memory makes %s slow: %s is written back at %s; programs ask for %s now.",
			v.f.Path, who, units.Rate(written), units.Rate(v.asked)),
		Evidence: []finding.Evidence{
			{What: "tasks that wait for it", Found: units.Number(throttled), Expected: "below 0.4", Where: "/proc/PID/stack"},
			{What: "dirty and being written", Found: v.f.Window.Memory.Dirty.String(), Where: "/proc/vmstat"},
		},
		Next: []string{
			"grep -rH ^file_dirty --include=memory.stat /sys/fs/cgroup | sort -k2 -n | tail -5   # whose it is",
			"smaller portions: sysctl vm.dirty_bytes vm.dirty_background_bytes; checkpoints spread over more time",
		},
	}
}

// Thresholds of what is not the storage.
const (
	memoryFull  = 0.1
	memoryTasks = 0.3
	swapPages   = 100.0 // a second
	cpuWait     = 0.25  // of the time, of those who use the path
	cpuSteal    = 0.15
	cpuSome     = 0.8 // machine-wide pressure …
	cpuIdle     = 0.05
	fullBelow   = 0.05
	quotaShare  = 0.25 // of the periods in which a group runs
)

// memory is what tasks wait for instead of storage.
func (v *view) memory() *Cause {
	w := v.f.Window
	full := 0.0
	if w.Pressure != nil {
		full = w.Pressure.MemoryFull
	}
	if !(full >= memoryFull && v.waiters >= memoryTasks) && w.Memory.Swap <= swapPages {
		return nil
	}
	return &Cause{
		Title: titleOf("PL911"), Confidence: Likely, Subject: "memory", Elsewhere: true,
		Message: fmt.Sprintf("The storage of %s is not the cause: this machine lacks memory (%s of the time all wait for "+
			"it, %s pages a second are swapped).", v.f.Path, text.Percent(full), units.Number(w.Memory.Swap)),
		Evidence: []finding.Evidence{
			{
				What: "all tasks wait for memory", Found: text.Percent(full), Expected: "below " + text.Percent(memoryFull),
				Where: "/proc/pressure/memory",
			},
			{What: "pages swapped per second", Found: units.Number(w.Memory.Swap), Expected: "below 100", Where: "/proc/vmstat"},
		},
		Next: []string{"ps aux --sort=-rss | head"},
	}
}

// processor is what those who use the path wait for, or what keeps the machine from telling.
func (v *view) processor() *Cause {
	w, queue := v.f.Window, v.runQueue()
	some := 0.0
	if w.Pressure != nil {
		some = w.Pressure.CPUSome
	}
	threads := finding.Evidence{
		What: "threads of one program that wait for a processor", Found: units.Number(queue),
		Expected: "below " + units.Number(cpuWait), Where: "/proc/PID/task/*/schedstat",
	}
	waits := finding.Evidence{
		What: "some task waits for a processor", Found: text.Percent(some), Where: "/proc/pressure/cpu",
	}
	steal := finding.Evidence{
		What: "steal", Found: text.Percent(w.CPU.Steal), Expected: "below " + text.Percent(cpuSteal), Where: "/proc/stat",
	}
	late := finding.Evidence{
		What: "plimsoll's own timers came late by", Found: units.LatencyOf(w.LateMean).String(),
		Where: "the mean of 100 ms ticks",
	}
	idle := finding.Evidence{
		What: "the processors are idle", Found: text.Percent(w.CPU.Idle), Expected: "at least " + text.Percent(cpuIdle),
		Where: "/proc/stat",
	}
	c := &Cause{Title: titleOf("PL910"), Confidence: Likely, Subject: "CPU", Elsewhere: true}
	quota, share := v.quota()
	// What the message says comes first.
	switch {
	case quota != nil:
		c.Subject = quota.Group
		c.Message = fmt.Sprintf("The storage of %s is not the cause: a CPU quota stops %s in %s of the "+
			"periods in which it runs.",
			v.f.Path, nameOf(quota.Group), text.Percent(share))
		c.Evidence = []finding.Evidence{{
			What: "periods throttled", Found: text.Percent(share), Expected: "below " + text.Percent(quotaShare),
			Where: quota.Dir + "/cpu.stat",
		}, {What: "stood still", Found: text.Duration(quota.Stopped), Where: quota.Dir + "/cpu.stat"}}
		c.Next = []string{"raise cpu.max (cpu.cfs_quota_us) of " + quota.Dir}
		return c
	case queue >= cpuWait:
		c.Message = fmt.Sprintf("The storage of %s is not the cause: those who use it wait for a processor %s of the time.",
			v.f.Path, text.Percent(queue))
		if queue > 1 {
			c.Message = fmt.Sprintf("The storage of %s is not the cause: %s threads of a program that uses it wait for a "+
				"processor at any moment.", v.f.Path, units.Number(queue))
		}
		c.Evidence = []finding.Evidence{threads, waits, steal, late}
	case w.CPU.Steal > cpuSteal:
		c.Message = fmt.Sprintf("The storage of %s is not the cause: the hypervisor takes %s of the processors.",
			v.f.Path, text.Percent(w.CPU.Steal))
		c.Evidence = []finding.Evidence{steal, waits, threads, late}
	case v.slow && !v.proven:
		c.Message = fmt.Sprintf("The storage of %s cannot be accused: %s per I/O, but this machine's own timers come "+
			"%s late.", v.f.Path, latency(v.top.wait()), units.LatencyOf(w.LateMean))
		c.Evidence = []finding.Evidence{late, waits, steal, threads}
	case some >= cpuSome && w.CPU.Idle < cpuIdle:
		c.Confidence = Possible
		c.Message = fmt.Sprintf("The storage of %s is not the cause; this machine's processors are never idle.", v.f.Path)
		c.Evidence = []finding.Evidence{idle, waits, steal, threads, late}
	default:
		return nil
	}
	c.Next = []string{"top -b -n1 | head -15", "cat /sys/fs/cgroup/*/cpu.max"}
	return c
}

// quota is the limit of processor time that holds a user of the path back most, and for which share of the
// time in which it runs; nil for none.
func (v *view) quota() (held *topology.Quota, most float64) {
	for i := range v.f.Quotas {
		q := &v.f.Quotas[i]
		users := slices.ContainsFunc(v.f.Window.Processes, func(p telemetry.Process) bool {
			return p.Uses && (p.CPUGroup == q.Group || strings.HasPrefix(p.CPUGroup, q.Group+"/"))
		})
		if share := q.Throttled / max(q.Periods, 1); users && share >= quotaShare && share > most {
			held, most = q, share
		}
	}
	return held, most
}

// nearlyFull is a filesystem that searches long for free blocks.
func (v *view) nearlyFull() *Cause {
	if v.f.Free < 0 || v.f.Free >= fullBelow {
		return nil
	}
	return &Cause{
		Title: "the filesystem is nearly full", Confidence: Possible, Subject: v.f.Mount, Elsewhere: true,
		Message: fmt.Sprintf("Nothing is wrong with the storage below %s but that only %s of the filesystem is free.",
			v.f.Path, text.Percent(v.f.Free)),
		Evidence: []finding.Evidence{{
			What: "free", Found: text.Percent(v.f.Free), Expected: "at least " + text.Percent(fullBelow), Where: "statfs(2)",
		}},
		Next: []string{"df -h " + text.ShellQuote(v.f.Mount)},
	}
}

// also is what is worth knowing and is never the first cause.
func (v *view) also() []Also {
	var all []Also
	add := func(code finding.Code, subject, format string, args ...any) {
		all = append(all, Also{code, subject, fmt.Sprintf(format, args...)})
	}
	for i := range v.all {
		if s := v.all[i].did.Sync; s != nil && s.Degraded > 0 {
			add("PL201", v.all[i].Name, "%s is degraded: %s missing", v.all[i].Name, text.Plural(s.Degraded, "member"))
		}
	}
	if d, share := v.syncing(); d != nil && !v.has("PL202") {
		add("PL202", d.Name, "%s of %s takes %s of the members' bytes", d.did.Sync.Action, d.Name, text.Percent(share))
	}
	for _, l := range v.leaves {
		if strings.HasPrefix(l.Name, "nvme") && l.Scheduler != "" && l.Scheduler != "none" {
			add("PL302", l.Name, "%s has the scheduler %s; a flash drive needs none", l.Name, l.Scheduler)
			break
		}
	}
	for _, e := range v.f.Log {
		if v.has("PL316") && v.fails(e) {
			continue
		}
		add("PL316", e.Device, "the kernel's log: %s", text.Clean(e.Text, 120))
	}
	if l := v.fullest(); l != nil && !v.has("PL904") {
		add("PL904", l.Group, "%s is held to its limit, %s, and nobody outside waits for it", nameOf(l.Group),
			amount(l.What, l.Limit))
	}
	if d := v.top.did; d.Stalled > 0 && !v.has("PL902") {
		add("PL902", v.top.Name, "%s completed nothing for %s of %s, at most %s at a time", v.top.Name,
			text.Duration(d.Stalled), text.Duration(v.f.Window.Span), text.Duration(d.Longest))
	}
	if v.f.Free >= 0 && v.f.Free < fullBelow && !v.has("PL317") {
		add("PL317", v.f.Mount, "only %s of the filesystem is free", text.Percent(v.f.Free))
	}
	return all
}

func (v *view) has(code finding.Code) bool {
	for _, c := range v.causes {
		if c.Code == code {
			return true
		}
	}
	return false
}
