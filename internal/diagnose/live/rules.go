package live

import "plimsoll/internal/finding"

// Rules are the family PL9xx: what a machine at work shows.
func Rules() []*finding.Rule[*Facts] {
	all := pages()
	for _, r := range all {
		code := r.Code
		r.Since, r.Check = "0.2", func(f *Facts, report func(finding.Finding)) {
			for _, c := range Judge(f).Causes {
				if c.Code == code {
					report(c.Finding())
				}
			}
		}
	}
	return all
}

// Finding is a cause in the form that all commands print.
func (c Cause) Finding() finding.Finding {
	severity := finding.Warn
	if c.Elsewhere || c.Confidence == Possible {
		severity = finding.Info
	}
	return finding.Finding{
		Code: c.Code, Severity: severity, Title: c.Title, Subject: c.Subject, Message: c.Message, Evidence: c.Evidence,
		Commands: c.Next,
	}
}

func titleOf(code finding.Code) string {
	for _, r := range pages() {
		if r.Code == code {
			return r.Title
		}
	}
	return ""
}

func pages() []*finding.Rule[*Facts] {
	return []*finding.Rule[*Facts]{
		{
			Code: "PL901", Severity: finding.Warn, Title: "a volume is at the limit that it was bought with",
			When: "The storage is slow (on average at least 0.25 I/Os wait, and each takes more than 4 times its " +
				"usual time), and a volume does 93 % of its IOPS or throughput, counted as the provider counts " +
				"them.",
			Why:    "Everything above the limit waits in the volume's queue; more threads only lengthen it.",
			Fix:    "Ask for less, or buy more: plimsoll advise lists volumes that carry what the machine does.",
			Bad:    "nvme1n1: 3,000 IOPS, 22 waiting, 7.4 ms per I/O; gp3 with 3,000 IOPS",
			Good:   "nvme1n1: 1,900 IOPS, 1.2 waiting, 0.6 ms per I/O; gp3 with 3,000 IOPS",
			Ignore: "When a batch may take as long as it likes.",
		},
		{
			Code: "PL902", Severity: finding.Warn, Title: "a device does not answer",
			When: "A device has I/O in flight at every look (ten per second) and completes none for 0.95 s, or none for " +
				"15 % of the time in stalls of 0.3 s and more; a device-mapper device is suspended in more than 5 % of the " +
				"looks; a device is offline, or vanishes.",
			Why: "A device that completes nothing adds nothing to its statistics: iostat shows 0 ms.",
			Fix: "Read the kernel's log and the provider's status; replace a failed path or drive.",
			Bad: "nvme1n1: 4 in flight, 0 IOPS for 3.2 s", Good: "nvme1n1: 4 in flight, 800 IOPS",
			Ignore: "When a reset or a failover just then is over.",
		},
		{
			Code: "PL903", Severity: finding.Warn, Title: "the filesystem is frozen",
			When: "On average at least 0.3 tasks wait for a freeze (percpu_rwsem_wait, __percpu_down_read or " +
				"sb_start_write on their kernel stack; root only).",
			Why: "fsfreeze(8) stops all writes; a snapshot or backup agent that dies leaves the filesystem " +
				"frozen.",
			Fix: "Find who froze it; fsfreeze --unfreeze undoes it.",
			Bad: "# cat /proc/4711/stack\n[<0>] percpu_rwsem_wait\n[<0>] sb_start_write", Good: "no task waits there",
			Ignore: "When a snapshot of a second is taken on purpose.",
		},
		{
			Code: "PL904", Severity: finding.Warn, Title: "a control group is at its I/O limit",
			When: "A control group, plimsoll's own or another's, uses 90 % of its limit on a device of this path " +
				"(io.max, or blkio.throttle), and all who use the path are in it, or at least 0.3 tasks outside wait for the " +
				"filesystem's log, a lock or a page while the device is quick. The kernel counts whole I/Os in slices of " +
				"100 ms: a limit of 38 per second gives 30.",
			Why: "I/O above the limit waits before the device and is in no disk statistic: the device " +
				"looks idle.",
			Fix:    "Raise the limit, remove it (max), or spread the work over more time. Use multiples of 10.",
			Bad:    "io.max: 259:0 riops=max wiops=38; the group does 30 writes per second",
			Good:   "io.max: 259:0 riops=max wiops=500; the group does 30 writes per second",
			Ignore: "When the limit protects others and the group may wait.",
		},
		{
			Code: "PL905", Severity: finding.Warn, Title: "one member of an array gets most I/Os",
			When: "The storage is slow, a member does more than twice its peers' I/Os, and each takes at least twice as long.",
			Why: "An array is as fast as its busiest member. A small hot file, metadata, or a stride that matches " +
				"the stripe sends everything to one.",
			Fix: "Use a smaller chunk, spread the hot files, or align allocation groups (mkfs.xfs su and " +
				"sw).",
			Bad: "nvme1n1: 900 IOPS, its peers 120", Good: "nvme1n1: 310 IOPS, its peers 300",
			Ignore: "When the file is hot and fast enough.",
		},
		{
			Code: "PL906", Severity: finding.Warn, Title: "another program uses the storage",
			When: "The storage is slow or a task waits all the time; of at least two programs with files there, one takes " +
				"60 % of what the device does and twice as much as the second, by its I/Os and bytes together (one I/O as much " +
				"as 42 KiB, or as the volume's limits say); another asks for 10 % or waits all the time. Or 60 % of what the " +
				"disk of a partition does is not of that partition.",
			Why: "Programs on one device share its limit; the one with more I/Os in flight gets more.",
			Fix: "Give one of them a device of its own, run it at another time, or limit its control group (the " +
				"command is printed).",
			Bad: "backup asks for 84 MiB/s, postgres for 1.2 MiB/s", Good: "postgres asks for 1.2 MiB/s, nobody else",
			Ignore: "When that program is the one you care for.",
		},
		{
			Code: "PL907", Severity: finding.Warn, Title: "many small synced writes wait for the filesystem's log",
			When: "On average at least one task waits for the filesystem's log or a sync, 0.3 of them for the " +
				"log, and writes are of 32 KiB or less (root only).",
			Why: "Each fsync waits for the log to reach the device, and those of all programs wait for each other.",
			Fix: "Commit more at once (group commit), give the log a device of its own, or buy volumes " +
				"with lower latency.",
			Bad:    "12 processes that fsync each 4 KiB, 7.3 of them waiting for the log",
			Good:   "one fsync for each 100 records",
			Ignore: "When each commit has to be durable by itself.",
		},
		{
			Code: "PL908", Severity: finding.Warn, Title: "I/O waits in a layer of this machine",
			When: "The storage is slow, and an I/O of the path takes more than 2.5 times as long as in the " +
				"slowest volume below it.",
			Why: "The time passes in device-mapper, md or dm-crypt, not in the volumes: faster ones change " +
				"nothing.",
			Fix: "dm-crypt: no_read_workqueue, no_write_workqueue; thin pools and caches: look at their metadata " +
				"device; raise nr_requests where tasks wait for a place.",
			Bad: "dm-0: 33 ms per I/O, the volume below 0.7 ms", Good: "dm-0: 0.8 ms per I/O, the volume below 0.7 ms",
			Ignore: "When the layer is to slow down (dm-delay, a mirror that is being copied).",
		},
		{
			Code: "PL909", Severity: finding.Warn, Title: "a volume is slow with nothing that queues",
			When: "An I/O takes more than 4 times its usual time, and by more than this machine's own lateness " +
				"explains; at most 4 wait on a volume, and nothing else explains it. Or flushes take more than 10 times the " +
				"usual time of an I/O and twice as long as the writes, and at least 0.25 wait.",
			Why: "The volume is degraded, or its blocks are read for the first time after a restore from a " +
				"snapshot. A slow flush is a cache that is written out for each commit.",
			Fix: "plimsoll check --probe tells the two apart (PL320). For a first touch: plimsoll array warm. " +
				"Else ask the provider, or replace the volume.",
			Bad: "nvme1n1: 30 ms per I/O with 0.9 waiting, gp3 states 0.6 ms", Good: "nvme1n1: 0.7 ms per I/O with 0.9 waiting",
			Ignore: "When that latency is usual there: state it with --expect.",
		},
		{
			Code: "PL910", Severity: finding.Info, Title: "not the storage: processors",
			When: "Nothing of the storage explains it, and a CPU quota stops its users in 25 % of the periods in which they " +
				"run, or they wait for a processor 25 % of the time, or the " +
				"hypervisor takes more than 15 %, or an I/O looks slow on a machine whose timers are late.",
			Why: "A program that waits for a processor looks like one that waits for storage.",
			Fix: "Find what uses the processors, raise cpu.max of the control group, take a larger instance.",
			Bad: "postgres waits for a processor 61 % of the time", Good: "postgres waits for a processor 3 % of the time",
			Ignore: "When the machine is meant to be busy, and the wait is short.",
		},
		{
			Code: "PL911", Severity: finding.Info, Title: "not the storage: memory",
			When: "Nothing of the storage explains it, and all tasks wait for memory 10 % of the time while some " +
				"are in uninterruptible sleep, or more than 100 pages per second are swapped.",
			Why: "Pages that do not fit are read again and again; the I/O is an effect.",
			Fix: "Give the machine more memory, or its programs less to do.",
			Bad: "memory.full 34 %", Good: "memory.full 0 %",
			Ignore: "When a batch uses all memory for a while.",
		},
		{
			Code: "PL912", Severity: finding.Info, Title: "a limit that is not known",
			When: "As PL909, but more than 4 I/Os wait on a volume and all volumes are alike.",
			Why:  "A long queue on equal volumes looks like a limit, of the volumes or of the instance.",
			Fix:  "Name what was bought: --volumes and --instance, or plimsoll.yaml.",
			Bad:  "28 I/Os wait on each volume at 60 IOPS", Good: "the same with --volumes 4x60iops: PL901",
			Ignore: "When you want a long queue, as in a restore.",
		},
		{
			Code: "PL913", Severity: finding.Warn, Title: "the filesystem has become read-only",
			When: "The filesystem was mounted to be written to, and its own flag says read-only (ext4 since Linux 6.15: " +
				"emergency_ro, or shutdown).",
			Why: "Linux does this after an error of the device or of the filesystem's data: each write fails with EROFS.",
			Fix: "Read the kernel's log, save what can be read, unmount, repair or replace the device, then check the " +
				"filesystem. Never run fsck on a mounted filesystem.",
			Bad:    "36 28 8:16 / /data rw,relatime - ext4 /dev/sdb ro,errors=remount-ro",
			Good:   "36 28 8:16 / /data rw,relatime - ext4 /dev/sdb rw,errors=remount-ro",
			Ignore: "When somebody made the filesystem read-only on purpose, with the mount left as it was.",
		},
		{
			Code: "PL914", Severity: finding.Warn, Title: "discards take the device's time",
			When: "Discards (fstrim, or a filesystem mounted with discard) take more than 4 times the usual time of an " +
				"I/O, and at least 0.25 of them wait on average.",
			Why: "Many devices do other I/O only when a discard is over, or give discards a limit of their own.",
			Fix: "Trim at a quiet time, in parts (fstrim --offset, --length), and mount without the option discard.",
			Bad: "nvme1n1: 4.4 discards per second, 157 ms each", Good: "nvme1n1: 300 discards per second, 0.2 ms each",
			Ignore: "When it is once a week at night.",
		},
	}
}
