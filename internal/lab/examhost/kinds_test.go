package examhost

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// situation is a kind of trouble, and a healthy twin that looks alike.
type situation struct {
	name string
	// right are the codes that name the cause; says is a part of the first line that it needs.
	right []finding.Code
	says  string
	parts []int64
	// make puts it in place on a drive with a filesystem, or its twin where sick is false; then it starts who
	// works there.
	make func(r *rig, sick bool)
}

const ms = time.Millisecond

// quick is how a sound volume behaves.
func (r *rig) quick() behaviour {
	d := func() time.Duration { return time.Duration(200+r.rng.IntN(500)) * time.Microsecond }
	return behaviour{delay: [kinds]time.Duration{d(), d(), d(), d()}}
}

// slower is quick with a time for one kind of operations, or a limit.
func (r *rig) slower(change func(*behaviour)) {
	b := r.quick()
	change(&b)
	r.drive.set(b)
}

func (r *rig) between(a, b int) int { return a + r.rng.IntN(b-a+1) }

// The applications: a database that reads and writes past the page cache, one of asynchronous I/O, a writer of
// a log, readers and backups.
func (r *rig) oltp(iops int) {
	r.fio("appdb", "--rw=randread --bs=8k --direct=1 --ioengine=psync --rate_iops=%d --filename=%s/data", iops, r.mount)
}

func (r *rig) async(depth, iops int) {
	r.fio("appdb", "--rw=randrw --bs=8k --direct=1 --ioengine=libaio --iodepth=%d --rate_iops=%d,%d --filename=%s/data", depth,
		iops/2, iops/2, r.mount)
}

func (r *rig) wal(iops int) {
	r.fio("appdb", "--rw=write --bs=8k --ioengine=psync --fdatasync=1 --overwrite=1 --rate_iops=%d --filename=%s/wal", iops, r.mount)
}

func (r *rig) writer(iops int) {
	r.fio("appdb", "--rw=randwrite --bs=8k --direct=1 --ioengine=psync --rate_iops=%d --filename=%s/data", iops, r.mount)
}

// logger appends and syncs now and then, as a program beside does.
func (r *rig) logger() {
	r.fio("logger", "--rw=write --bs=4k --ioengine=psync --fsync=1 --rate_iops=3 --filename=%s/log", r.mount)
}

// small is a group's limit that leaves a share of a pace.
func (r *rig) small(pace int) int { return pace * r.between(3, 6) / 10 / 10 * 10 }

func situations() []situation {
	storage := func(c ...finding.Code) []finding.Code { return c }
	failed := storage("PL316", "PL913", "PL902")
	neighbour := storage("PL906", "PL309")
	return []situation{
		{name: "eio-writes", right: failed, make: func(r *rig, sick bool) {
			r.wal(20)
			r.settle(1)
			r.slower(func(b *behaviour) { b.fail[writes], b.fail[flushes] = sick, sick })
		}},
		{name: "eio-reads", right: failed, make: func(r *rig, sick bool) {
			r.keep("appdb", "dd if=%s/data of=/dev/null bs=8k count=40 iflag=direct status=none; sleep 0.3", r.mount)
			r.slower(func(b *behaviour) { b.fail[reads] = sick })
		}},
		{name: "eio-journal", right: failed, make: func(r *rig, sick bool) {
			from, to := r.journal()
			r.keep("appdb", "echo x >> %s/log; sync %[1]s/log; sleep 0.2", r.mount)
			r.slower(func(b *behaviour) { b.fail[writes], b.from, b.to = sick, from, to })
		}},
		{name: "read-only", right: failed, make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			switch {
			case !sick: // it was asked for so
				r.do("mount -o remount,ro %s", r.mount)
			case r.fs == "ext4":
				r.do("mount -o remount,errors=remount-ro %s && echo because > /sys/fs/ext4/%s/trigger_fs_error", r.mount, r.drive.name)
			default:
				r.do("xfs_io -x -c 'shutdown -f' %s", r.mount)
			}
			r.keep("appdb", "dd if=%s/data of=/dev/null bs=8k count=40 iflag=direct status=none; sleep 0.3", r.mount)
		}},
		{name: "full-blocks", right: storage("PL317"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			if sick {
				r.do("fallocate -l $(($(stat -f -c '%%a * %%S' %s))) %[1]s/fill || dd if=/dev/zero of=%[1]s/fill2 bs=64k status=none; "+
					"dd if=/dev/zero of=%[1]s/fill3 bs=4k status=none; true", r.mount)
			}
			r.keep("appdb", "echo x >> %s/log%d; sleep 0.2", r.mount, 1)
		}},
		{name: "full-inodes", right: storage("PL317"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			if r.fs == "ext4" && sick {
				r.do("mkdir %s/many; cd %[1]s/many; seq 3000 | xargs touch 2>/dev/null; true", r.mount)
			} else if sick {
				r.skip("xfs makes inodes as it needs them")
			}
			r.oltp(20)
		}},
		{name: "gone", right: failed, make: func(r *rig, sick bool) {
			r.wal(20)
			r.oltp(20)
			r.settle(1)
			if r.drive.set(r.quick()); sick {
				r.slower(func(b *behaviour) { b.fail = [kinds]bool{true, true, true, true} })
			}
		}},
		{name: "hang", right: storage("PL902"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			r.async(8, 60)
			r.settle(1)
			if sick {
				r.drive.stop()
			}
		}},
		{name: "frozen", right: storage("PL903"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			r.logger()
			r.wal(10)
			r.settle(1)
			if sick {
				r.do("fsfreeze --freeze %s", r.mount)
				r.after(func() { _ = sh("fsfreeze --unfreeze " + r.mount) })
			}
		}},
		{name: "stops-and-goes", right: storage("PL902"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			r.fio("appdb", "--rw=randread --bs=8k --direct=1 --ioengine=libaio --iodepth=4 --rate_iops=300 --filename=%s/data", r.mount)
			long := time.Duration(r.between(400, 1500)) * ms
			if sick {
				r.beat(long, long, r.drive.stop, r.drive.resume)
			} else { // the application pauses
				r.beat(long, long, func() { _ = sh("pkill -STOP -P " + r.pids[0]) }, func() { _ = sh("pkill -CONT -P " + r.pids[0]) })
			}
		}},
		{name: "slow-reads", right: storage("PL909"), says: "ead", make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { r.set(&b.delay[reads], sick, 12, 60) })
			r.oltp(r.between(40, 80))
		}},
		{name: "slow-writes", right: storage("PL909"), says: "rit", make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { r.set(&b.delay[writes], sick, 12, 60) })
			r.writer(r.between(40, 80))
		}},
		{name: "slow-flushes", right: storage("PL909"), says: "Flushes", make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { r.set(&b.delay[flushes], sick, 25, 90) })
			r.wal(r.between(20, 40))
		}},
		{name: "claims-to-rotate", right: storage("PL909"), make: func(r *rig, sick bool) {
			r.do("echo 1 > /sys/block/%s/queue/rotational", r.drive.name)
			r.slower(func(b *behaviour) { r.set(&b.delay[reads], sick, 15, 28) })
			r.oltp(r.between(40, 60))
		}},
		{name: "known-iops", right: storage("PL901"), make: func(r *rig, sick bool) {
			limit := r.between(100, 200)
			r.bought(topology.Limits{IOPS: units.IOPS(limit)})
			r.slower(func(b *behaviour) { b.iops = float64(limit) })
			r.busy(sick, limit)
		}},
		{name: "known-bytes", right: storage("PL901"), make: func(r *rig, sick bool) {
			mib := r.between(8, 20)
			r.bought(topology.Limits{Rate: units.Rate(mib) * units.MiBPerSec})
			r.slower(func(b *behaviour) { b.bytes = float64(mib << 20) })
			rate := r.pace(sick, mib<<10)
			r.fio("appdb", "--rw=randread --bs=128k --direct=1 --ioengine=libaio --iodepth=16 --rate=%dk --filename=%s/data", rate, r.mount)
		}},
		{name: "unknown-limit", right: storage("PL912"), make: func(r *rig, sick bool) {
			limit := r.between(100, 200)
			r.slower(func(b *behaviour) { b.iops = float64(limit) })
			r.busy(sick, limit)
			if r.rng.IntN(2) == 0 {
				r.logger() // no victim of the only real program
			}
		}},
		{name: "neighbour-many-small", right: storage("PL906"), says: "backup", make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.iops = float64(r.between(150, 250)) })
			r.fio("appdb", "--rw=randread --bs=%dk --direct=1 --ioengine=psync --rate_iops=20 --filename=%s/data", 64<<r.rng.IntN(3), r.mount)
			rate := 1000
			if !sick {
				rate = 30
			}
			r.fio("backup", "--rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 --rate_iops=%d --filename=%s/other", rate, r.mount)
		}},
		{name: "neighbour-few-large", right: storage("PL906"), says: "backup", make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.bytes = float64(r.between(10, 30) << 20) })
			r.oltp(40)
			rate := "1g"
			if !sick {
				rate = "1m"
			}
			r.fio("backup", "--rw=read --bs=1m --direct=1 --ioengine=libaio --iodepth=4 --rate=%s --filename=%s/other", rate, r.mount)
		}},
		{name: "neighbour-page-cache", right: neighbour, make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.bytes = float64(r.between(10, 25) << 20) })
			r.oltp(40)
			kib := 150 << 10
			if !sick {
				kib = 64
			}
			r.keep("backup", "dd if=/dev/zero of=%s/copy bs=64K count=%d conv=fsync status=none; sleep 0.5", r.mount, kib/64)
		}},
		{name: "neighbour-ends", right: neighbour, make: func(r *rig, sick bool) { // what it wrote is synced, then it goes
			mib := r.between(8, 16)
			r.slower(func(b *behaviour) { b.bytes = float64(mib << 20) })
			r.oltp(40)
			if sick {
				r.start("backup", "/bin/sh", "-c", fmt.Sprintf("dd if=/dev/zero of=%s/copy bs=1M count=%d conv=fsync status=none", r.mount, 4*mib))
			}
		}},
		{name: "neighbour-stops", right: neighbour, make: func(r *rig, sick bool) { // it ends before the look does
			r.slower(func(b *behaviour) { b.iops = float64(r.between(120, 200)) })
			r.oltp(20)
			r.fio("backup", "--rw=randread --bs=8k --direct=1 --ioengine=libaio --iodepth=16 --rate_iops=%d --runtime=5 --filename=%s/other",
				r.pace(sick, 60), r.mount)
		}},
		{name: "neighbour-syncs", right: append(neighbour, "PL907"), says: "backup", make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.iops = float64(r.between(120, 200)) })
			r.oltp(20)
			jobs := 8
			if !sick {
				jobs = 1
			}
			r.fio("backup", "--rw=randwrite --bs=4k --ioengine=psync --sync=dsync --numjobs=%d --rate_iops=%d --filename=%s/other",
				jobs, r.pace(sick, 9), r.mount)
		}},
		{name: "cp", right: neighbour, make: func(r *rig, sick bool) { // on a machine of little memory
			r.slower(func(b *behaviour) { b.bytes = float64(r.between(10, 25) << 20) })
			r.littleDirty()
			r.oltp(40)
			r.do("head -c 100M /dev/urandom > %s/source", r.dir)
			if sick {
				r.start("cp", "/bin/sh", "-c", fmt.Sprintf("while :; do cp %s/source %s/copy; done", r.dir, r.mount))
			}
		}},
		{name: "small-files", right: append(neighbour, "PL907"), make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.iops = float64(r.between(80, 150)) })
			r.oltp(20)
			many, rest := 400, 0
			if !sick {
				many, rest = 3, 2
			}
			r.do("mkdir %s/tree && cd %[1]s/tree && for i in $(seq %d); do head -c 6000 /dev/urandom > $i; done", r.dir, many)
			r.keep("unpack", "cp -r %s/tree %s/tree; sync -f %[2]s; rm -r %[2]s/tree; sleep %d", r.dir, r.mount, rest)
		}},
		{name: "write-throttled", right: neighbour, says: "backup", make: func(r *rig, sick bool) {
			r.do("echo 500 > /sys/block/%s/queue/wbt_lat_usec", r.drive.name)
			r.slower(func(b *behaviour) { b.bytes = float64(r.between(10, 25) << 20) })
			r.oltp(20)
			r.logger()
			if sick {
				r.keep("backup", "exec 3>%s/copy; while :; do dd if=/dev/zero bs=1M count=20 conv=notrunc status=none >&3; sync %[1]s/copy; "+
					"exec 3>%[1]s/copy; done", r.mount)
			}
		}},
		{name: "checkpoints", right: storage("PL309", "PL907"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			r.postgres(6)
			rate := "-R 20"
			if sick {
				r.slower(func(b *behaviour) { b.bytes = float64(r.between(3, 6) << 20) })
				rate = ""
			}
			r.pg("pgbench", "-n -N -c 8 -T 60 %s", rate)
			if sick {
				r.keep("checkpoints", "psql -qh %s -U postgres -c checkpoint; sleep 0.5", r.dir)
			}
		}},
		{name: "swap", right: storage("PL911"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			r.do("f=%s/swap; fallocate -l 400M $f && chmod 600 $f && mkswap -q $f && swapon $f", r.dir)
			r.after(func() { _ = sh("swapoff " + r.dir + "/swap") })
			if sick {
				r.group = r.memory(40)
			}
			r.keep("appdb", "exec 3<%s/data; head -c 120M /dev/urandom | tail -c 110M > /dev/null; dd if=%[1]s/data of=/dev/null bs=8k "+
				"count=5 iflag=direct status=none", r.mount)
		}},
		{name: "cpu-hog", right: storage("PL910"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			for range r.pace(sick, 2) / 2 {
				r.start("hog", "/bin/sh", "-c", "while :; do :; done")
			}
			r.keep("appdb", "exec 3<%s/data; i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done; dd if=%[1]s/data of=/dev/null bs=8k count=1 iflag=direct status=none", r.mount)
		}},
		{name: "group-holds-journal", right: storage("PL904"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			mib, rest := r.between(1, 2), "0"
			if !sick {
				mib, rest = 300, "1"
			}
			r.group = r.limited("write_bps", mib<<20)
			r.keep("backup", "dd if=/dev/zero of=%s/copy bs=256K count=40 conv=fsync status=none; sleep %s", r.mount, rest)
			r.fio("appdb", "--rw=write --bs=4k --ioengine=psync --fsync=1 --file_append=1 --size=8m --rate_iops=20 --filename=%s/log", r.mount)
		}},
		{name: "group-reads", right: storage("PL904"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			limit := r.small(100)
			if !sick {
				limit = 300
			}
			r.group = r.limited("read_iops", limit)
			r.oltp(100)
		}},
		{name: "unknown-bytes", right: storage("PL912"), make: func(r *rig, sick bool) {
			mib := r.between(8, 20)
			r.slower(func(b *behaviour) { b.bytes = float64(mib << 20) })
			r.fio("appdb", "--rw=randread --bs=128k --direct=1 --ioengine=libaio --iodepth=16 --rate=%dk --filename=%s/data",
				r.pace(sick, mib<<10), r.mount)
		}},
		{name: "tails", right: storage("PL909"), make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) {
				if sick {
					b.tail, b.often = time.Duration(r.between(250, 400))*ms, 0.03
				}
			})
			r.oltp(r.between(50, 90))
		}},
		{name: "neighbour-beside", right: storage("PL906"), parts: []int64{200, 200}, make: func(r *rig, sick bool) {
			r.do("mkfs.ext4 -q -F /dev/%sp2 && mkdir -p %s2 && mount /dev/%[1]sp2 %[2]s2 && head -c 48M /dev/urandom > %[2]s2/other; sync -f %[2]s2", r.drive.name, r.mount)
			r.after(func() { _ = sh("umount " + r.mount + "2") })
			r.slower(func(b *behaviour) { b.iops = float64(r.between(90, 150)) })
			r.oltp(20)
			rate := 1000
			if !sick {
				rate = 10
			}
			r.fio("backup", "--rw=randread --bs=16k --direct=1 --ioengine=libaio --iodepth=16 --rate_iops=%d --filename=%s2/other", rate, r.mount)
		}},
		{name: "group-of-the-victim", right: storage("PL904"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			limit := r.small(100)
			if !sick {
				limit = 300
			}
			r.group = r.limited("write_iops", limit)
			r.writer(100)
		}},
		{name: "group-of-the-innocent", right: nil, make: func(r *rig, _ bool) { // healthy in both forms
			r.drive.set(r.quick())
			r.oltp(40)
			r.group = r.limited("write_bps", r.between(1, 3)<<20)
			r.fio("backup", "--rw=write --bs=256k --direct=1 --ioengine=psync --filename=%s/other", r.mount)
		}},
		{name: "cpu-quota", right: storage("PL910"), make: func(r *rig, sick bool) {
			r.drive.set(r.quick())
			r.cpu = r.quota(r.percent(sick, 5))
			r.keep("appdb", "exec 3<%s/data; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; dd if=%[1]s/data of=/dev/null bs=8k count=1 iflag=direct status=none", r.mount)
		}},
		{name: "dirty-limit", right: neighbour, make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.bytes = float64(r.between(8, 16) << 20) })
			if sick {
				r.littleDirty()
			}
			rate := "200m"
			if !sick {
				rate = "1m"
			}
			r.fio("appdb", "--rw=write --bs=256k --ioengine=psync --rate=%s --filename=%s/other", rate, r.mount)
		}},
		{name: "discards", right: storage("PL914"), make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { r.set(&b.delay[discards], sick, 100, 300) })
			r.oltp(30)
			// What was trimmed and not written since is not trimmed again.
			r.keep("trimmer", "fallocate -l 60M %[1]s/t; sync -f %[1]s; rm %[1]s/t; sync -f %[1]s; fstrim %[1]s; sleep 0.1", r.mount)
		}},
		{name: "short-queue", right: storage("PL303"), make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.delay[reads] = 12 * ms })
			depth := 32
			if sick {
				r.do("echo 4 > /sys/block/%s/queue/nr_requests", r.drive.name)
			} else {
				r.slower(func(*behaviour) {})
				depth = 2
			}
			r.fio("appdb", "--rw=randread --bs=8k --direct=1 --ioengine=libaio --iodepth=%d --filename=%s/data --rate_iops=%d", depth, r.mount, r.pace(sick, 200))
		}},
		{name: "fsync-storm", right: storage("PL907"), make: func(r *rig, sick bool) {
			r.slower(func(b *behaviour) { b.iops = float64(r.between(80, 200)) })
			jobs := 12
			if !sick {
				jobs = 1
			}
			r.fio("appdb", "--rw=write --bs=4k --ioengine=psync --fsync=1 --numjobs=%d --size=8m --file_append=1 --rate_iops=%d --directory=%s", jobs, r.pace(sick, 20), r.mount)
		}},
	}
}

// set makes a time long where the situation is sick.
func (r *rig) set(d *time.Duration, sick bool, from, to int) {
	if n := r.between(from, to); sick {
		*d = time.Duration(n) * ms
	}
}

// busy is an application of much more than a limit, or of one I/O at a time well below it.
func (r *rig) busy(sick bool, limit int) {
	if sick {
		r.async(16, 10*limit)
	} else {
		r.oltp(limit / 4)
	}
}

// pace is above a limit, or well below it.
func (r *rig) pace(sick bool, limit int) int {
	if sick {
		return 10 * limit
	}
	return max(1, limit/3)
}

func (r *rig) percent(sick bool, n int) int {
	if sick {
		return n
	}
	return 90
}

// journal is where the log of the filesystem lies.
func (r *rig) journal() (from, to int64) {
	if r.fs != "ext4" {
		r.skip("where xfs has its log is not looked up")
		return 0, 0
	}
	out, _ := exec.Command("debugfs", "-R", "stat <8>", "/dev/"+r.device).CombinedOutput()
	m := regexp.MustCompile(`\):(\d+)-(\d+)`).FindAllStringSubmatch(string(out), -1)
	if len(m) == 0 {
		r.skip("debugfs tells no journal")
		return 0, 0
	}
	a, _ := strconv.ParseInt(m[len(m)-1][1], 10, 64)
	b, _ := strconv.ParseInt(m[len(m)-1][2], 10, 64)
	size := int64(4096)
	if out, _ := exec.Command("stat", "-f", "-c", "%S", r.mount).Output(); len(out) > 1 {
		size, _ = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	}
	return a * size, (b + 1) * size
}

// limited makes a control group with a limit on the drive, and names it.
func (r *rig) limited(what string, n int) string {
	number, _ := os.ReadFile("/sys/block/" + r.drive.name + "/dev")
	dev := strings.TrimSpace(string(number))
	base, line := "/sys/fs/cgroup/blkio", fmt.Sprintf("%s %d", dev, n)
	file := "blkio.throttle." + what + "_device"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		base, file = "/sys/fs/cgroup", "io.max"
		line = fmt.Sprintf("%s %c%s=%d", dev, what[0], strings.SplitAfter(what, "_")[1], n)
	}
	return r.newGroup(base, file, line)
}

// quota makes a control group with a share of one processor.
func (r *rig) quota(percent int) string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return r.newGroup("/sys/fs/cgroup", "cpu.max", fmt.Sprintf("%d 100000", 1000*percent))
	}
	return r.newGroup("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", strconv.Itoa(1000*percent))
}

// memory makes a control group of so many MiB.
func (r *rig) memory(mib int) string {
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		return r.newGroup("/sys/fs/cgroup", "memory.max", strconv.Itoa(mib<<20))
	}
	return r.newGroup("/sys/fs/cgroup/memory", "memory.limit_in_bytes", strconv.Itoa(mib<<20))
}

// littleDirty lets the drive have as much dirty memory as a small machine gives it.
func (r *rig) littleDirty() {
	r.do("n=$(cat /sys/block/%s/dev); echo 1 > /sys/class/bdi/$n/strict_limit; echo %d > /sys/class/bdi/$n/max_bytes", r.drive.name, 16<<20)
}

// pg runs a program of PostgreSQL as its user, beside what else works there.
func (r *rig) pg(program, args string, values ...any) {
	line := fmt.Sprintf("%s -h %s -U postgres %s", program, r.dir, fmt.Sprintf(args, values...))
	r.start(program, "/bin/sh", "-c", "exec "+line+" postgres >/dev/null 2>&1")
}

// postgres starts a server on the mount, with a database of pgbench of so many times 15 MiB.
func (r *rig) postgres(scale int) {
	bin, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(bin) == 0 {
		r.skip("PostgreSQL is not installed")
		return
	}
	as := "setpriv --reuid=postgres --regid=postgres --clear-groups "
	at := bin[len(bin)-1]
	r.do("chmod 755 %[2]s %[1]s; rm -f %[1]s/wal %[1]s/other; install -d -o postgres %[1]s/pg %[2]s/run; chown postgres %[2]s; cd /; "+
		"%[3]s%[4]s/initdb -D %[1]s/pg -A trust -N >/dev/null", r.mount, r.dir, as, at)
	r.start("postmaster", "/bin/sh", "-c", fmt.Sprintf("exec %s%s/postgres -D %s/pg -k %s -c listen_addresses= -c shared_buffers=64MB "+
		"-c max_wal_size=64MB -c min_wal_size=32MB -c checkpoint_timeout=30s -c checkpoint_completion_target=0.1 2>/dev/null", as, at, r.mount, r.dir))
	r.do("for i in $(seq 50); do psql -qh %[1]s -U postgres -c 'select 1' >/dev/null 2>&1 && break; sleep 0.2; done; "+
		"%[2]s/pgbench -h %[1]s -U postgres -i -q -s %[3]d postgres 2>/dev/null", r.dir, at, scale)
}

func (r *rig) newGroup(base, file, line string) string {
	dir := filepath.Join(base, fmt.Sprintf("examhost-%d", os.Getpid()))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		r.skip(err.Error())
		return ""
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(line), 0o644); err != nil {
		r.skip(err.Error())
	}
	r.groups = append(r.groups, dir)
	r.leave("groups", strings.Join(r.groups, " "))
	r.after(func() { _ = sh("for i in 1 2 3 4 5; do rmdir " + dir + " && break; sleep 0.2; done") })
	return dir
}
