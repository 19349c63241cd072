package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

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
	secondTasks   = 0.9 // … or that it waits all the time, and not for the log alone, as a mere logger …
	secondLeast   = float64(64 << 10)
	secondWaits   = 0.2 // … or, behind what is written back, that it asks for secondLeast or waits so much
	oneWaits      = 1.0
	backTasks     = 0.4
	backTimes     = 4.0 // what programs ask for now
	backLeast     = float64(256 << 10)
	parentShare   = 0.5
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
	if v.typical == rotatesTypical && !v.stated {
		return float64(units.MiB)
	}
	return 42 * float64(units.KiB)
}

// written is whether a program's tasks wait for its own dirty memory to be written.
func (u *User) written() float64 { return u.For[telemetry.ForWBT] + u.For[telemetry.ForDirty] }

// divide estimates what each program takes of the device, of its reads and of its writes apart. A task that
// sleeps in an I/O has one in flight; the others are of programs whose memory is written back or that wait for a
// place in the queue, else of those that wait for none (asynchronous I/O), by their bytes. By Little's law I/Os per
// second follow, and with the bytes what they cost.
func (v *view) divide() (all float64) {
	read := v.top.reads()
	for _, u := range v.users {
		u.held, u.ios = 0, 0
	}
	for _, one := range []struct {
		full, ios float64
		part      func(*User) float64 // of what a program asks for
	}{
		{read.Waiting, float64(read.IOPS), func(u *User) float64 { return float64(u.Read) }},
		{
			v.top.waiting() - read.Waiting, float64(v.top.writes().IOPS),
			func(u *User) float64 { return float64(u.Write) },
		},
	} {
		share := func(u *User) float64 { // of its tasks that wait
			if u.bytes() == 0 {
				return one.full / max(v.top.waiting(), 1e-9)
			}
			return one.part(u) / u.bytes()
		}
		held := func(u *User) float64 {
			n := u.For[telemetry.ForIO] + u.For[telemetry.ForPage] + u.For[telemetry.ForOther] + u.For[telemetry.ForSync]
			return n * share(u)
		}
		weights := []func(*User) float64{
			func(u *User) float64 {
				if n := u.written() + u.For[telemetry.ForTags]; n >= secondWaits {
					return n * share(u)
				}
				return 0
			},
			func(u *User) float64 {
				if u.Waiting >= backTasks {
					return 0
				}
				return one.part(u)
			},
			one.part,
		}
		total := v.sumUsers(held)
		sum, weight := 0.0, weights[0]
		for _, weight = range weights {
			if sum = v.sumUsers(weight); sum > 0 {
				break
			}
		}
		for _, u := range v.users {
			n := held(u) * min(1, one.full/max(total, 1e-9))
			if sum > 0 {
				n += max(0, one.full-total) * weight(u) / sum
			}
			u.held, u.ios = u.held+n, u.ios+one.ios*n/max(one.full, 1e-9)
		}
	}
	all = v.giveBack() / v.pivot()
	for _, u := range v.users {
		u.cost = u.ios + u.moves()/v.pivot()
		all += u.cost
	}
	return all
}

// giveBack gives what is written beyond what is asked for now to those whose memory is written: to programs whose
// tasks wait for that, secondWaits of them at least. It returns what is nobody's, bytes per second.
func (v *view) giveBack() (nobodys float64) {
	waits := func(u *User) float64 { return u.written() + u.For[telemetry.ForSync] }
	asked := v.sumUsers(func(u *User) float64 { return float64(u.Write) })
	more, sum := max(0, float64(v.top.did.WriteBytes)/v.span-asked), v.sumUsers(waits)
	if sum < secondWaits {
		return more
	}
	for _, u := range v.users {
		u.back = more * waits(u) / sum
	}
	return 0
}

func (v *view) sumUsers(of func(*User) float64) (sum float64) {
	for _, u := range v.users {
		sum += of(u)
	}
	return sum
}

// otherProgram is one of several programs that takes most of what is scarce: of what I/Os cost, or of the bytes and of
// the time of all I/Os (the geometric mean of both shares: who has little of either is not it).
func (v *view) otherProgram() *Cause {
	if len(v.users) < 2 {
		return nil
	}
	all := v.divide()
	moved, held := v.sumUsers((*User).moves), v.sumUsers(func(u *User) float64 { return u.held })
	by, what, share := slices.Clone(v.users), "", 0.0
	for _, scarce := range []struct {
		what string
		of   func(*User) float64
	}{
		{"all I/O on %s", func(u *User) float64 { return u.cost / all }},
		{
			"the bytes and the I/O time on %s",
			func(u *User) float64 { return math.Sqrt(u.moves() / max(moved, 1) * u.held / max(held, 1e-9)) },
		},
	} {
		slices.SortStableFunc(by, func(a, b *User) int { return cmp.Compare(scarce.of(b), scarce.of(a)) })
		if share = scarce.of(by[0]); share >= otherShare && share >= otherTimes*scarce.of(by[1]) {
			what = scarce.what
			break
		}
	}
	a, b := by[0], by[1]
	wait := 0.0 // of the others
	for _, u := range by[1:] {
		wait += u.For[telemetry.ForLog] + u.For[telemetry.ForIO] + u.For[telemetry.ForSync] + u.For[telemetry.ForPage] +
			u.For[telemetry.ForDirty]
	}
	full := v.slow && max(v.volumeUse(), v.instanceShare().of) >= atLimit // was counted, whatever the lateness
	back := a.written() >= secondWaits || v.Window.Memory.Dirty > v.Window.Memory.Background
	if what == "" || !v.proven && !full && wait < oneWaits ||
		!slices.ContainsFunc(by[1:], func(u *User) bool {
			return u.Waiting-u.For[telemetry.ForLog]-u.For[telemetry.ForSync] >= secondTasks ||
				u.bytes() >= secondShare*v.asked || u.cost >= secondShare*all ||
				back && (u.bytes() >= secondLeast || u.Waiting >= secondWaits)
		}) || a.written() < secondWaits && a.moves() < otherOfDevice*v.top.bytes() && a.ios < otherOfDevice*v.top.iops() {
		return nil
	}
	if l := v.fullest(); l != nil && a.Group == l.Group { // it is held as it is meant to be
		return nil
	}
	v.other = share
	how := fmt.Sprintf("does about %s IOPS (%s)", units.Number(a.ios), units.Rate(a.bytes()))
	if back {
		how = fmt.Sprintf("writes to memory, which is written back at %s", units.Rate(v.written()))
	}
	ended, next := "", v.hold(a)
	if a.ended {
		ended, next = " and has ended", "when it runs again: "+next
	}
	c := cause(Likely, a.Name, "Another program, %s, makes %s slow: it %s, %v of "+what+"%s.", a.Name, v.Path, how,
		v.other, v.top.Name, ended)
	c.Next = []string{next}
	for _, u := range []*User{a, b} {
		c.saw(u.who(), fmt.Sprintf("%s, about %s IOPS, %s in flight", units.Rate(u.bytes()), units.Number(u.ios),
			units.Number(u.held)), "", "/proc/PID/io, /proc/PID/stack, by Little's law")
	}
	return c
}

// written is what the volumes are written to, bytes per second.
func (v *view) written() float64 {
	return v.sum(func(l *device) float64 { return float64(l.did.WriteBytes) / l.span })
}

// beside is what else lies on the disk of a partition or of a simple logical volume.
func (v *view) beside() *Cause {
	disk := v.leaves[0]
	if disk == v.top || !v.proven || len(v.leaves) > 1 || slices.ContainsFunc(v.all, func(d *device) bool {
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
	for _, p := range v.Window.Processes {
		if p.Beside {
			names = text.Once(names, p.Name)
		}
	}
	who, next := "the program is unknown", finding.Shell("lsblk %s; iotop -oba -n3   # who that is", "/dev/"+disk.Name)
	if len(names) > 0 {
		who = text.Some(names, mostNamed) + " has files there"
		next = "a disk of its own for one of them, or a limit: plimsoll explain PL906"
	}
	c := cause(Likely, disk.Name,
		"Other data on %s makes %s slow: %s of its %s IOPS and %s of its %s do not belong to %s; %s.",
		disk.Name, v.Path, units.Number(ios), units.Number(disk.iops()), units.Rate(bytes), units.Rate(disk.bytes()),
		v.top.Name, who).
		saw(disk.Name, units.Number(disk.iops())+" IOPS", "near "+units.Number(v.top.iops())+", as "+v.top.Name,
			diskstats(disk.Name)).
		saw("I/Os that wait", units.Number(disk.waiting()), "", diskstats(disk.Name))
	c.Next = []string{next}
	return c
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
	what, property, throttle := "wbps", "Write", "write_bps"
	if u.Read > u.Write {
		what, property, throttle = "rbps", "Read", "read_bps"
	}
	if u.Group == "" {
		return finding.Shell("put %s into a control group of its own, and limit it there (systemd-run --scope -p "+
			"IO"+property+"BandwidthMax=…)", u.Name)
	}
	l := topology.GroupLimit{Number: v.diskNumber(), What: what, Version: u.version}
	l.File = "/sys/fs/cgroup" + u.Group + "/io.max"
	if u.version == 1 {
		l.File = "/sys/fs/cgroup/blkio" + u.Group + "/blkio.throttle." + throttle + "_device"
	}
	return limitLine(l, max(float64(units.MiB), v.top.bytes()/2)) + "   # limits it"
}

// diskNumber is the number of the topmost device that is no partition: limits are of whole devices.
func (v *view) diskNumber() string {
	for _, d := range v.all {
		if d.Kind != "partition" {
			return d.Number
		}
	}
	return v.top.Number
}

// parentOf is who else writes most of so many bytes per second, nil for nobody: what programs did that ended is counted
// of whoever started them, a script that has no file open on the path. It is sure where one of them was seen on the
// path; else it may as well write elsewhere.
func (v *view) parentOf(written float64) (p *telemetry.Process, sure bool) {
	all := v.Window.Processes // the one that asks for most first
	i := slices.IndexFunc(all, func(p telemetry.Process) bool {
		return !p.Uses && !p.Kernel && float64(p.Write) >= parentShare*written
	})
	if i < 0 {
		return nil, false
	}
	return &all[i], slices.ContainsFunc(all, func(c telemetry.Process) bool { return c.Uses && c.Parent == all[i].PID })
}

// writeBack is dirty memory that the kernel writes: tasks wait for that, or the device is slow of what nobody
// asks for now, for more of it is in memory than a second's worth.
func (v *view) writeBack() *Cause {
	throttled, written := v.sumUsers((*User).written), v.written()
	parent, sure := v.parentOf(written)
	ended := v.proven && max(v.top.bytes(), written) > backTimes*v.asked &&
		(float64(v.Window.Memory.Dirty) >= written || parent != nil)
	if written < backLeast || throttled < backTasks && !ended {
		return nil
	}
	subject, who := v.top.Name, "data that no running program is writing now"
	if sure {
		subject, who = parent.Name, "as much as "+parent.Name+" writes by programs that have ended, with no file open here,"
	}
	if throttled >= backTasks {
		writer := slices.MaxFunc(v.users, func(a, b *User) int { return cmp.Compare(a.written(), b.written()) })
		subject = writer.Name
		who = fmt.Sprintf("data that %s wrote and waits for (%s tasks)", writer.who(), units.Number(throttled))
	}
	c := cause(Likely, subject, "Dirty pages make %s slow: %s is being written back at %s; programs ask for %s now.",
		v.Path, who, units.Rate(written), units.Rate(v.asked))
	if parent != nil && !sure {
		c.saw(parent.Name+", with no file open here", "writes "+parent.Write.String(), "",
			"/proc/PID/io; it may write elsewhere")
	}
	return c.
		saw("tasks that wait for it", units.Number(throttled), "below 0.4", "/proc/PID/stack").
		saw("dirty and being written", v.Window.Memory.Dirty, "", "/proc/vmstat").
		try("grep -rH ^file_dirty --include=memory.stat /sys/fs/cgroup | sort -k2 -n | tail -5   # whose it is").
		try("smaller portions: sysctl vm.dirty_bytes vm.dirty_background_bytes; checkpoints spread over more time")
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
	w := v.Window
	full := 0.0
	if w.Pressure != nil {
		full = w.Pressure.MemoryFull
	}
	if !(full >= memoryFull && v.waiters >= memoryTasks) && w.Memory.Swap <= swapPages {
		return nil
	}
	return cause(Likely, "memory",
		"The storage of %s is not the cause: this machine lacks memory (%v of the time all tasks wait for it, %s pages a "+
			"second are swapped).", v.Path, full, units.Number(w.Memory.Swap)).
		saw("all tasks wait for memory", full, "below "+text.Percent(memoryFull), "/proc/pressure/memory").
		saw("pages swapped per second", units.Number(w.Memory.Swap), "below 100", "/proc/vmstat").
		try("ps aux --sort=-rss | head")
}

// processor is what those who use the path wait for, or what keeps the machine from telling.
func (v *view) processor() *Cause {
	w, queue := v.Window, v.queue
	some := 0.0
	if w.Pressure != nil {
		some = w.Pressure.CPUSome
	}
	c := cause(Likely, "CPU", "")
	const isNot = "The storage of %s is not the cause"
	say := func(format string, args ...any) { c.say(format, append([]any{v.Path}, args...)...) }
	first := 0 // of the evidence: what the message says
	const waits, steal, threads, late = 0, 1, 2, 3
	quota, share := v.quota()
	switch {
	case quota != nil:
		c.Subject = quota.Group
		say(isNot+": a CPU quota stops %s in %v of the periods in which it runs.", nameOf(quota.Group), share)
		return c.saw("periods throttled", share, "below "+text.Percent(quotaShare), quota.Dir+"/cpu.stat").
			saw("stood still", quota.Stopped, "", quota.Dir+"/cpu.stat").
			try("raise cpu.max (cpu.cfs_quota_us) of %s", quota.Dir)
	case queue >= cpuWait:
		say(isNot+": its programs wait for a processor %v of the time.", queue)
		if queue > 1 {
			say(isNot+": %s threads of its programs wait for a processor on average.", units.Number(queue))
		}
		first = threads
	case w.CPU.Steal > cpuSteal:
		say(isNot+": the hypervisor takes %v of the processors.", w.CPU.Steal)
		first = steal
	case v.slow && !v.proven:
		say("The storage of %s cannot be blamed: %s per I/O, but this machine's own timers fire %s late.",
			v.top.wait(), units.LatencyOf(w.LateMean))
		if first = late; v.turns {
			say("The storage of %s cannot be blamed: %s per I/O, but %s needs threads to complete one, and this machine's "+
				"processors are never idle.", v.top.wait(), v.top.Name)
			first = waits
		}
	case some >= cpuSome && w.CPU.Idle < cpuIdle:
		c.Confidence = Possible
		say(isNot + "; this machine's processors are never idle.")
		c.saw("the processors are idle", w.CPU.Idle, "at least "+text.Percent(cpuIdle), "/proc/stat")
		first = waits
	default:
		return nil
	}
	shown := new(Cause).saw("some task waits for a processor", some, "", "/proc/pressure/cpu").
		saw("steal", w.CPU.Steal, "below "+text.Percent(cpuSteal), "/proc/stat").
		saw("threads of one program that wait for a processor", units.Number(queue), "below "+units.Number(cpuWait),
			"/proc/PID/task/*/schedstat").
		saw("plimsoll's own timers fired late by", units.LatencyOf(w.LateMean), "", "the mean of 100 ms ticks").
		Evidence
	c.Evidence = slices.Concat(c.Evidence, shown[first:first+1], shown[:first], shown[first+1:])
	return c.try("top -b -n1 | head -15")
}

// quota is the limit of processor time that holds a user of the path back most, and for which share of the
// time in which it runs; nil for none.
func (v *view) quota() (held *topology.Quota, most float64) {
	for i := range v.Quotas {
		q := &v.Quotas[i]
		users := slices.ContainsFunc(v.Window.Processes, func(p telemetry.Process) bool {
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
	if v.Free < 0 || v.Free >= fullBelow {
		return nil
	}
	return cause(Possible, v.Mount,
		"Nothing is wrong with the storage below %s except that only %v of the filesystem is free.", v.Path,
		v.Free).
		saw("free", v.Free, "at least "+text.Percent(fullBelow), "statfs(2)").
		try("df -h %s", v.Mount)
}

// also is what is worth knowing and is never the first cause.
func (v *view) also() []Also {
	var all []Also
	add := func(code finding.Code, subject, format string, args ...any) {
		all = append(all, Also{code, subject, finding.Says(format, args...)})
	}
	for _, d := range v.all {
		if s := d.did.Sync; s != nil && s.Degraded > 0 {
			add("PL201", d.Name, "%s is degraded: %s missing", d.Name, text.Plural(s.Degraded, "member"))
		}
	}
	if d, share := v.syncing(); d != nil && !v.has("PL202") {
		add("PL202", d.Name, "%s of %s takes %v of the members' bytes", d.did.Sync.Action, d.Name, share)
	}
	for _, l := range v.leaves {
		if strings.HasPrefix(l.Name, "nvme") && l.Scheduler != "" && l.Scheduler != "none" {
			add("PL302", l.Name, "%s has the scheduler %s; a flash drive needs none", l.Name, l.Scheduler)
			break
		}
	}
	for _, e := range v.Log {
		if v.has("PL316") && v.fails(e) {
			continue
		}
		ago := ""
		if v.Now > 0 && e.Last > 0 {
			ago = ", " + text.Duration((v.Now - e.Last).Round(time.Second)) + " ago"
		}
		add("PL316", e.Device, "the kernel's log%s: %s", ago, text.Clean(e.Text, 120))
	}
	if l := v.fullest(); l != nil && !v.has("PL904") {
		add("PL904", l.Group, "%s is held to its limit, %s, and nobody outside waits for it", nameOf(l.Group),
			amount(l.What, l.Limit))
	}
	if d := v.top.did; d.Stalled > 0 && !v.has("PL902") {
		add("PL902", v.top.Name, "%s completed nothing for %s of %s, at most %s at a time", v.top.Name,
			d.Stalled, v.Window.Span, d.Longest)
	}
	const noLimitSays = "%s %s times the %s stated for it: that is not its limit"
	if full := v.instanceShare(); full.of >= noLimit {
		typ := cmp.Or(v.Instance.Type, "instance")
		add("PL912", typ, noLimitSays, typ+": "+full.who+" do", units.Number(full.of), full.limit)
	}
	for _, l := range v.leaves {
		if share, what, _ := v.volumeShare(l); share >= noLimit {
			add("PL912", l.Name, noLimitSays, l.Name+" does", units.Number(share), what)
			break
		}
	}
	if v.Free >= 0 && v.Free < fullBelow && !v.has("PL317") {
		add("PL317", v.Mount, "only %v of the filesystem is free", v.Free)
	}
	return all
}

// has is whether a cause of one of the codes was found.
func (v *view) has(codes ...finding.Code) bool {
	return slices.ContainsFunc(v.causes, func(c Cause) bool { return slices.Contains(codes, c.Code) })
}
