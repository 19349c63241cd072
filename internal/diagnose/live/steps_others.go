package live

import (
	"fmt"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What makes another program the cause.
const (
	otherShare    = 0.6                // of what is asked
	otherTimes    = 2.0                // the second's
	otherLeast    = float64(512 << 10) // bytes per second
	otherOfDevice = 0.2                // of what the device moves
	secondShare   = 0.02               // what makes the second a user …
	secondTasks   = 0.2                // … or that it waits …
	secondLeast   = float64(64 << 10)  // … or that it asks for so much while memory is written back
	oneWaits      = 1.0
	backTasks     = 0.5
	backDirty     = 0.5 // of the threshold from which the kernel writes back
	backTimes     = 4.0 // what programs ask for now
	backLeast     = float64(256 << 10)
)

// otherProgram is step 6: of several programs one asks for most.
func (v *view) otherProgram() *Cause {
	wait := v.tasks[telemetry.ForLog] + v.tasks[telemetry.ForIO] + v.tasks[telemetry.ForSync] +
		v.tasks[telemetry.ForPage] + v.tasks[telemetry.ForDirty]
	if !v.slow && wait < oneWaits || len(v.users) < 2 {
		return nil
	}
	a, b := &v.users[0], &v.users[1]
	moved := v.top.bytes()
	if a.bytes() < otherShare*v.asked || a.bytes() < otherTimes*b.bytes() || a.bytes() < otherLeast ||
		a.bytes() < otherOfDevice*moved ||
		b.bytes() < secondShare*min(v.asked, moved) && b.Waiting < secondTasks && !v.behindWriteBack(b) {
		return nil
	}
	how := "asks for"
	if a.For[telemetry.ForDirty] >= frozenTasks || v.f.Window.Memory.Dirty > v.f.Window.Memory.Background {
		how = "writes into memory, now being written back,"
	}
	return &Cause{
		Title: titleOf("PL906"), Confidence: Likely, Subject: a.Name,
		Message: fmt.Sprintf("Another program, %s, makes %s slow: it %s %s, %s of what is asked of %s.",
			a.Name, v.f.Path, how, units.Rate(a.bytes()), text.Percent(a.bytes()/v.asked), v.top.Name),
		Evidence: []finding.Evidence{
			{What: a.who(), Found: units.Rate(a.bytes()).String(), Where: "/proc/PID/io"},
			{What: b.who(), Found: units.Rate(b.bytes()).String(), Where: "/proc/PID/io"},
		},
		Next: []string{v.hold(a)},
	}
}

// behindWriteBack is whether a program asks for something while memory is written back: how many bytes
// another has put there says nothing of how many small I/Os wait behind them.
func (v *view) behindWriteBack(u *User) bool {
	m := v.f.Window.Memory
	return m.Background > 0 && m.Dirty > m.Background && u.bytes() >= secondLeast
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

// writeBack is step 6b: the kernel writes back what nobody asks for now.
func (v *view) writeBack() *Cause {
	if !v.slow && v.tasks[telemetry.ForWBT]+v.tasks[telemetry.ForTags]+v.tasks[telemetry.ForDirty] < backTasks {
		return nil
	}
	written := v.sum(func(l *device) float64 { return float64(l.did.WriteBytes) / l.span })
	m := v.f.Window.Memory
	if float64(m.Dirty) <= backDirty*float64(m.Background) || max(v.top.bytes(), written) <= backTimes*v.asked ||
		written <= backLeast {
		return nil
	}
	return &Cause{
		Code: "PL309", Title: "dirty memory is being written back", Confidence: Likely, Subject: v.top.Name,
		Message: fmt.Sprintf("Dirty memory makes %s slow: %s of it are being written back at %s; programs ask for %s now.",
			v.f.Path, m.Dirty, units.Rate(written), units.Rate(v.asked)),
		Evidence: []finding.Evidence{
			{
				What: "dirty and being written", Found: m.Dirty.String(),
				Expected: "below " + units.Bytes(backDirty*float64(m.Background)).String(), Where: "/proc/vmstat",
			},
			{
				What: "written to the volumes", Found: units.Rate(written).String(),
				Expected: units.Rate(v.asked).String() + " asked for", Where: "/proc/diskstats, /proc/PID/io",
			},
		},
		Next: []string{"grep -rH ^file_dirty --include=memory.stat /sys/fs/cgroup | sort -k2 -n | tail -5"},
	}
}

// dirtyLimit is step 15: tasks wait since too much of memory is dirty, and the device is not slow.
func (v *view) dirtyLimit() *Cause {
	n := v.tasks[telemetry.ForDirty]
	if v.slow || n < backTasks {
		return nil
	}
	return &Cause{
		Title: "tasks wait since too much of memory is dirty", Confidence: Likely, Subject: v.top.Name,
		Message: fmt.Sprintf("Too much dirty memory makes writes to %s wait: %s tasks wait for it to be written.",
			v.f.Path, units.Number(n)),
		Evidence: []finding.Evidence{{
			What: "tasks in balance_dirty_pages", Found: units.Number(n), Expected: "below 0.5", Where: "/proc/PID/stack",
		}},
		Next: []string{"sysctl vm.dirty_bytes vm.dirty_background_bytes vm.dirty_ratio", "plimsoll explain PL309"},
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
)

// memory is step 16: tasks wait for memory.
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

// processor is step 16: those who use the path wait for a processor.
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
	// What the message says comes first.
	switch {
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
	case v.slow:
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

// nearlyFull is step 17.
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
		add("PL316", e.Device, "the kernel's log: %s", text.Clean(e.Text, 120))
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
