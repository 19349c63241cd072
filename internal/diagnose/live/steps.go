package live

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Thresholds of the proofs, set on seeds 3 to 5 of the live exam's first form.
const (
	stallLeast     = 950 * time.Millisecond // without a completion while I/O is in flight
	stopShare      = 0.15                   // of the time in stalls of 0.3 s and more: it stops and goes
	stopTimes      = 20.0                   // the time between two completions is a stall
	stopLate       = 3                      // times the latest of plimsoll's own timers
	stallBelow     = 0.5                    // in flight in its leaves: an upper layer's own stall
	suspendedShare = 0.05
	frozenTasks    = 0.3
	groupUse       = 0.9  // of what a limit really gives
	outsideShare   = 0.05 // of what is asked of the path
	heldTasks      = 0.3
	heldBackTasks  = 0.6 // of a group wait, …
	heldAtDevice   = 0.2 // … of whose I/Os no more is at the device, …
	heldUse        = 0.3 // … while so much of the limit is used
	resyncShare    = 0.3 // of the leaves' bytes
	resyncMore     = 0.5 // the same where an I/O takes twice its usual time
	syncTasks      = 1.0 // waiting for the log or a sync …
	logTasks       = 0.3 // … of them for the log
	syncShare      = 0.4 // of what the device does: else they wait behind others
	smallWrite     = 32 * units.KiB
)

func diskstats(name string) string { return "/proc/diskstats, " + name }

// noAnswer is a device that has I/O in flight and completes none, or is said to be gone.
func (v *view) noAnswer() *Cause {
	below := v.sum(func(l *device) float64 { return l.did.InFlight })
	for _, d := range slices.Backward(v.all) {
		c := cause(Certain, d.Name, "%s vanished while plimsoll was watching.", d.Name)
		longest := d.did.Longest
		switch {
		case d.State != "" && d.State != "running" && d.State != "live":
			c.say("%s of %s is %s.", d.Name, v.Path, d.State)
			c.saw("state", d.State, "running, or live", "/sys/class/block/"+d.Name+"/device/state")
		case d.did.Gone:
			c.saw("device", "gone", "", diskstats(d.Name))
		case d.did.Suspended > suspendedShare:
			share := d.did.Suspended
			c.say("%s is suspended %v of the time and holds %s up.", d.Name, share, v.Path)
			c.saw("suspended", share, "never", "dm/suspended of "+d.Name)
			c.Next = []string{"dmsetup info " + d.Name, "have it resumed by whoever suspended it: dmsetup resume"}
		case d.did.Longest >= stallLeast && (d.Leaf() || below < stallBelow) && !v.gaveAll(d):
			c.say("%s does not answer: %s had I/O in flight and completed none for %s.", d.Name, v.itself(d), longest)
			c.saw(withoutAny, longest, "below 0.95 s", diskstats(d.Name))
		case d.Leaf() && v.stopsAndGoes(d) && !v.gaveAll(d):
			c.say("%s stalls repeatedly and holds %s up: for %s of %s it completed nothing.", d.Name, v.Path,
				d.did.Stalled, v.Window.Span)
			c.saw(withoutAny, longest, "below 0.3 s", diskstats(d.Name)).Confidence = Likely
		default:
			continue
		}
		if c.Next == nil {
			c.try("dmesg --ctime | tail -50").try("the provider's status page, the drive's cable or path")
		}
		return c.saw("in such times", text.Duration(d.did.Stalled)+" of "+text.Duration(v.Window.Span), "",
			diskstats(d.Name))
	}
	return nil
}

const withoutAny = "longest time without a completion"

// stopsAndGoes is whether a device stood still again and again, far longer than between two completions and
// than this machine's timers were late.
func (v *view) stopsAndGoes(d *device) bool {
	each := d.span / max(d.ios(), 1)
	return d.did.Stalled.Seconds() >= stopShare*d.span && d.did.Longest.Seconds() >= stopTimes*each &&
		d.did.Longest >= stopLate*v.Window.LateMost
}

// gaveAll is whether a volume did all that it was bought with, so that no time was lost in which it
// completed nothing: at its limit a gap is the turn of other I/Os, or of what its credits had done ahead.
func (v *view) gaveAll(d *device) bool {
	share, _, _ := v.volumeShare(d)
	return share >= atLimit || d.atBaseline()
}

func (v *view) itself(d *device) string {
	if d == v.top {
		return "it"
	}
	return "it, below " + v.Path + ","
}

// frozen is a filesystem that somebody froze: tasks wait for it.
func (v *view) frozen() *Cause {
	n := v.tasks[telemetry.ForFrozen]
	if n < frozenTasks {
		return nil
	}
	where := cmp.Or(v.Mount, v.Path)
	return cause(Certain, where, "The filesystem of %s is frozen: %s tasks wait for it to be thawed.", v.Path,
		units.Number(n)).
		saw("tasks that wait for the freeze", units.Number(n), "none", "/proc/PID/stack").
		try("find who takes a snapshot (fsfreeze, a backup agent)").try("fsfreeze --unfreeze %s", where)
}

// groupLimit is a control group at its limit for which somebody waits: all who use the path are in it, or it
// holds what those outside wait for, such as the filesystem's log. A group that is held to its limit while
// everybody else gets what he asks is as intended.
func (v *view) groupLimit() *Cause {
	l := v.fullest()
	if l == nil {
		return nil
	}
	outside, held := v.outside(l)
	how := Certain
	switch {
	case !outside:
	case held < heldTasks || v.slow:
		return nil
	default:
		how = Likely
	}
	limit, used := amount(l.What, l.Limit), amount(l.What, l.Used)
	c := cause(how, l.Group, "A control group's limit makes %s slow: %s is allowed %s, and does %s.", v.Path,
		nameOf(l.Group), limit, used).
		saw("limit", limit, "", l.File+" on "+l.Device).
		saw("used", used, finding.Says("below %v of what the limit gives", v.groupUse()), l.File)
	c.Next = []string{limitLine(*l, 2*l.Limit) + "   # raises it"}
	if outside {
		c.saw("tasks outside the group that wait for the log, a lock or a page", units.Number(held), "none",
			"/proc/PID/stack")
	}
	if e := l.Effective(); e < l.Limit {
		c.saw("what the limit gives", amount(l.What, e), limit, "whole I/Os in slices of 100 ms")
	}
	return c
}

// outside is whether programs of the path outside a limited group ask for enough to count, and how many of
// their tasks wait for what the group may hold.
func (v *view) outside(l *topology.GroupLimit) (counts bool, held float64) {
	var asked, waited float64
	for _, p := range v.Window.Processes {
		if !p.Uses || l.Group == "/" || p.Group == l.Group || strings.HasPrefix(p.Group, l.Group+"/") {
			continue
		}
		asked, waited = asked+float64(p.Read+p.Write), waited+p.Waiting
		for _, what := range []string{telemetry.ForLog, telemetry.ForSync, telemetry.ForInodeLock, telemetry.ForPage} {
			held += p.For[what]
		}
	}
	return asked >= outsideShare*v.asked && asked > 0 || waited >= heldTasks, held
}

// amount prints a figure of a control group's limit.
func amount(what string, v float64) string {
	switch what {
	case "riops":
		return units.Number(v) + " reads per second"
	case "wiops":
		return units.Number(v) + " writes per second"
	case "rbps":
		return units.Rate(v).String() + " of reads"
	}
	return units.Rate(v).String() + " of writes"
}

// groupUse is the share of what a limit gives from which it is reached. blk-throttle gives in slices of
// 100 ms, so that a window sees up to one slice less than its time.
func (v *view) groupUse() float64 {
	const slice = 100 * time.Millisecond
	if v.Window == nil || v.Window.Span <= slice {
		return groupUse
	}
	return groupUse * float64(v.Window.Span-slice) / float64(v.Window.Span)
}

// fullest is the limit of which the most is used, nil where none is reached.
func (v *view) fullest() *topology.GroupLimit {
	var most *topology.GroupLimit
	for i := range v.Groups {
		l := &v.Groups[i]
		if l.Limit > 0 && (l.Used >= v.groupUse()*l.Effective() || v.heldBack(l)) &&
			(most == nil || l.Used/l.Limit > most.Used/most.Limit) {
			most = l
		}
	}
	return most
}

// heldBack is whether tasks of a group wait for I/O that is not at the device: blk-throttle lets one that asks for
// an I/O at a time wait out its slices, and gives it far less than the limit.
func (v *view) heldBack(l *topology.GroupLimit) bool {
	wait := 0.0
	for _, p := range v.Window.Processes {
		if p.Uses && p.Group == l.Group {
			wait += p.For[telemetry.ForIO] + p.For[telemetry.ForOther] + p.For[telemetry.ForPage] + p.For[telemetry.ForThrottle]
		}
	}
	return wait >= heldBackTasks && v.top.waiting() <= heldAtDevice*wait && l.Used >= heldUse*l.Limit
}

func nameOf(group string) string {
	if group == "/" {
		return "the outermost group"
	}
	return path.Base(group)
}

// limitLine is the shell line that sets a limit of a control group.
func limitLine(l topology.GroupLimit, value float64) string {
	set := fmt.Sprintf("%s %s=%d", l.Number, l.What, int64(value))
	if l.Version == 1 {
		set = fmt.Sprintf("%s %d", l.Number, int64(value))
	}
	return finding.Shell("echo %s > %s", set, l.File)
}

// resync is md that copies or checks in the background.
func (v *view) resync() *Cause {
	d, share := v.syncing()
	if d == nil {
		return nil
	}
	w := v.top.wait()
	twice := v.top.waiting() >= slowQueue && w > 2*v.typical && share >= resyncMore
	if !(v.slow && share >= resyncShare) && !twice {
		return nil
	}
	s := d.did.Sync
	c := cause(Likely, d.Name, "A %s makes %s slow: %s per member on %s, %v of what the members move.",
		cmp.Or(actionNames[s.Action], s.Action), v.Path, s.Speed, d.Name, share).
		saw("action", s.Action, "idle", "md/sync_action of "+d.Name).
		saw("share of the members' bytes", share, "below "+text.Percent(resyncShare),
			"md/sync_speed, /proc/diskstats").
		try("echo 5000 > /proc/sys/dev/raid/speed_limit_max")
	if s.Left > 0 && s.Size > 0 && s.Speed > 0 {
		left := time.Duration(s.Left * float64(s.Size) / float64(s.Speed) * float64(time.Second))
		slowed := time.Duration(s.Left * float64(s.Size) / (5000 * 1024) * float64(time.Second))
		c.Next[0] += finding.Says("   # then %s for the rest, not %s", slowed, left)
	}
	return c
}

// actionNames are what md does in a word, where that is not md's own.
var actionNames = map[string]string{"recover": "rebuild", "repair": "check (repair)"}

// syncing is the array that copies or checks something, and the share of the leaves' bytes that this
// takes.
func (v *view) syncing() (*device, float64) {
	bytes := v.sum((*device).bytes)
	for _, d := range v.all {
		if s := d.did.Sync; s != nil && !slices.Contains([]string{"", "idle", "frozen"}, s.Action) {
			return d, min(1, float64(s.Speed)*float64(len(v.leavesBelow(d)))/max(bytes, 1))
		}
	}
	return nil, 0
}

func (v *view) leavesBelow(d *device) (found []*device) {
	below := []string{d.Name}
	for i := 0; i < len(below); i++ {
		for _, o := range v.all {
			if o.Name != below[i] {
				continue
			}
			if o.Leaf() {
				found = append(found, o)
			}
			for _, u := range o.Under {
				below = text.Once(below, u)
			}
		}
	}
	return found
}

// syncers is the share of what the device does that those take whose tasks wait for the log or a sync.
func (v *view) syncers() float64 {
	all := v.divide()
	if all == 0 {
		return 1
	}
	return v.sumUsers(func(u *User) float64 {
		if u.For[telemetry.ForLog]+u.For[telemetry.ForSync] < secondWaits {
			return 0
		}
		return u.cost
	}) / all
}

// syncedWrites are small writes, each followed by a sync, wait for the filesystem's log.
func (v *view) syncedWrites() *Cause {
	log, sync := v.tasks[telemetry.ForLog], v.tasks[telemetry.ForSync]
	if log+sync < syncTasks || log < logTasks || v.top.writeSize() > smallWrite || v.has("PL909") ||
		v.syncers() < syncShare {
		return nil
	}
	who := slices.MaxFunc(v.users, func(a, b *User) int {
		return cmp.Compare(a.For[telemetry.ForLog], b.For[telemetry.ForLog])
	})
	return cause(Likely, who.Name, "Small synced writes by %s make %s slow: %s tasks wait for the filesystem's log.",
		who.Name, v.Path, units.Number(log+sync)).
		saw("tasks that wait for the log", units.Number(log), "below 0.3", "/proc/PID/stack").
		saw("tasks that wait for a sync", units.Number(sync), "", "/proc/PID/stack").
		saw("writes", fmt.Sprintf("%s per second of %s", units.Number(float64(v.top.writes().IOPS)), v.top.writeSize()), "",
			diskstats(v.top.Name)).
		try("fewer commits in %s (group commit, one fsync per batch)", who.Name).
		try("or volumes with more IOPS: plimsoll advise")
}

const (
	justNow   = time.Second      // before a look: what failed earlier may be over, or have been another's of that name …
	atRest    = 10 * time.Second // … but where nobody asks for anything since, who asked may have failed of it
	fullBytes = units.MiB        // free: no room for one write of an application
	// flushTimes the usual time of an I/O a flush usually takes: a drive writes its cache out.
	flushTimes   = 2.5
	flushAsWrite = 2.0 // times a write's own time: else both are slow
)

// errors are failed I/Os and errors of the filesystem that the kernel logged in the look or just before.
func (v *view) errors() *Cause {
	for _, e := range v.Log {
		if !v.fails(e) {
			continue
		}
		where := cmp.Or(v.Mount, v.Path)
		return cause(Certain, e.Device, "I/O on %s fails: the kernel logged %s on %s (%s).", v.Path, text.Plural(e.Count,
			string(e.Kind)), e.Device, text.Clean(e.Text, 90)).
			saw(string(e.Kind)+" of "+e.Device, e.Count, "none", "/dev/kmsg").
			try("dmesg --ctime | tail -50; stop what writes to %s, and save what can be read", where).
			try("no fsck while it is mounted: unmount it, replace or repair %s, then check it", e.Device)
	}
	return nil
}

// fails is whether an event of the kernel's log means that I/O of the path fails now: an error of one member
// of a redundant array is made good by the others.
func (v *view) fails(e host.Event) bool {
	before := justNow
	if v.top.ios()+float64(v.top.did.Flushes)+v.top.did.InFlight+v.waiters == 0 {
		before = atRest
	}
	if e.Kind != host.IOError && e.Kind != host.FSError || v.Now > 0 && e.Last < v.Now-v.Window.Span-before {
		return false
	}
	redundant := slices.ContainsFunc(v.all, func(d *device) bool {
		return slices.Contains([]string{"raid1", "raid4", "raid5", "raid6", "raid10"}, d.Level)
	})
	leaf := slices.ContainsFunc(v.leaves, func(l *device) bool { return l.Name == e.Device })
	return !redundant || !leaf
}

// readOnly is a filesystem that was mounted to be written to and is read-only.
func (v *view) readOnly() *Cause {
	if !v.ReadOnly && v.Failed == "" {
		return nil
	}
	c := cause(Certain, v.Mount,
		"Nothing can be written below %s: %s was mounted read-write, but the kernel made it read-only.", v.Path,
		v.Mount).
		saw("filesystem", "read-only", "as it was mounted", "/proc/self/mountinfo").
		try("dmesg --ctime | grep -i -e %s -e ext4 -e xfs   # what the error was", v.top.Name).
		try("no fsck and no remount while it is mounted: unmount it, then check it")
	if v.Failed != "" {
		c.Title = "the filesystem has failed"
		c.say("The filesystem of %s has failed; even looking at it fails: %s.", v.Path,
			text.Clean(v.Failed, 90))
		c.Evidence[0] = finding.Evidence{What: "statx(2)", Found: text.Clean(v.Failed, 90), Expected: "no error"}
	}
	return c
}

// full is a filesystem on which a write that needs a block, or a file that needs an inode, fails.
func (v *view) full() *Cause {
	what, how := "block", "-h"
	switch {
	case v.Free == 0 || v.Free > 0 && v.FreeBytes > 0 && v.FreeBytes < fullBytes:
	case v.Inodes >= 1:
		what, how = "inode", "-i"
	default:
		return nil
	}
	return cause(Certain, v.Mount, "%s is full: no %s is free, and whatever needs one fails (ENOSPC).", v.Mount, what).
		saw("free "+what+"s", "none", "at least "+text.Percent(fullBelow), "statfs(2)").
		try("df %s %s; delete what can go, or grow the filesystem", how, v.Mount)
}

// discards are trimmed blocks, for which the device takes its time.
func (v *view) discards() *Cause {
	d := v.top.discards()
	if d.Waiting < slowQueue || d.Wait <= v.limit+v.late {
		return nil
	}
	who := "the filesystem (its discard option), or a program that has ended"
	if slices.ContainsFunc(v.users, func(u *User) bool { return u.Name == "fstrim" }) {
		who = "fstrim"
	}
	return cause(Likely, v.top.Name, "Discards make %s slow: %s per second take %s each, and others wait behind them.",
		v.Path, units.Number(float64(d.IOPS)), d.Wait).
		saw("discards that wait", units.Number(d.Waiting), "below 0.25", diskstats(v.top.Name)).
		saw("who asks for them", who, "", "/proc/PID/fd").
		try("systemctl list-timers fstrim.timer   # fstrim at a quiet time, or in parts (--offset, --length)").
		try("mount without the discard option")
}

// flushLimit is the time from which a flush is slow.
func (v *view) flushLimit() units.Latency { return flushTimes * v.limit }

// flushing is the leaf whose flushes are slow, more than its writes are; nil for none.
func (v *view) flushing() *device {
	for _, l := range v.leaves {
		f := l.flushes()
		if f.Waiting >= slowQueue && f.Wait > v.flushLimit()+v.late && f.Wait > flushAsWrite*l.writes().Wait {
			return l
		}
	}
	return nil
}

// slowFlush is a device that is quick but for its flushes.
func (v *view) slowFlush() *Cause {
	l := v.flushing()
	if l == nil {
		return nil
	}
	f, w := l.flushes(), l.writes()
	return cause(Likely, l.Name, "Flushes of %s make %s slow: %s each, %s per second; writes alone take %s.",
		l.Name, v.Path, f.Wait, units.Number(float64(f.IOPS)), w.Wait).
		saw("time of a flush", f.Wait, "at most "+v.flushLimit().String(), diskstats(l.Name)).
		try("drives whose cache survives a power cut, or volumes that promise a latency for synced writes").
		try("fewer commits (group commit); measure it: plimsoll run db --only 1")
}
