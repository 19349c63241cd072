package live

import (
	"cmp"
	"slices"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

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
		return cause(Certain, e.Device, "I/O of %s fails: the kernel logged %s of %s (%s).", v.Path, text.Plural(e.Count,
			string(e.Kind)), e.Device, text.Clean(e.Text, 90)).
			saw(string(e.Kind)+" of "+e.Device, e.Count, "none", "/dev/kmsg").
			try("dmesg --ctime | tail -50; stop what writes to "+text.ShellQuote(where)+", and save what can be read",
				"no fsck while it is mounted: unmount it, replace or repair "+text.ShellQuote(e.Device)+", then check it")
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
		"Nothing can be written below %s: %s was mounted for writing, and the kernel made it read-only.", v.Path,
		v.Mount).
		saw("filesystem", "read-only", "as it was mounted", "/proc/self/mountinfo").
		try("dmesg --ctime | grep -i -e "+text.ShellQuote(v.top.Name)+" -e ext4 -e xfs   # what the error was",
			"no fsck and no remount while it is mounted: unmount it, then check it")
	if v.Failed != "" {
		c.Title = "the filesystem has failed"
		c.say("The filesystem of %s has failed: even looking at it fails: %s.", v.Path,
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
		try("df " + how + " " + text.ShellQuote(v.Mount) + "; delete what can go, or grow the filesystem")
}

// discards are trimmed blocks, for which the device takes its time.
func (v *view) discards() *Cause {
	d := v.top.discards()
	if d.Waiting < slowQueue || float64(d.Wait) <= v.limit+v.late {
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
		try("systemctl list-timers fstrim.timer   # fstrim at a quiet time, or in parts (--offset, --length)",
			"mount without the discard option")
}

// flushLimit is the time, ns, from which a flush is slow.
func (v *view) flushLimit() float64 { return flushTimes * v.limit }

// flushing is the leaf whose flushes are slow, more than its writes are; nil for none.
func (v *view) flushing() *device {
	for _, l := range v.leaves {
		f := l.flushes()
		if f.Waiting >= slowQueue && float64(f.Wait) > v.flushLimit()+v.late &&
			float64(f.Wait) > flushAsWrite*float64(l.writes().Wait) {
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
	return cause(Likely, l.Name, "Flushes of %s make %s slow: %s each, %s per second; its writes by themselves take %s.",
		l.Name, v.Path, f.Wait, units.Number(float64(f.IOPS)), w.Wait).
		saw("time of a flush", f.Wait, "at most "+latency(v.flushLimit()), diskstats(l.Name)).
		try("drives whose cache is safe without power, or volumes that promise a latency for synced writes",
			"fewer commits (group commit); measure it: plimsoll run db --only 1")
}
