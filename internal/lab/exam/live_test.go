package exam

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Situation is one thing that is true of a machine at work, and how it is made.
type Situation struct {
	Name  string `json:"name"`
	Truth string `json:"truth"` // a key of the right answers
	Path  string `json:"path"`
	// Layout declares what the volumes of the path were bought with, for plimsoll why.
	Layout string `json:"layout"`
	App    string `json:"app"`              // arguments of fio, the application
	Before string `json:"before,omitempty"` // run before it begins
	Beside string `json:"beside,omitempty"` // what else runs meanwhile
	After  string `json:"after,omitempty"`  // puts back what Before did
	Group  int    `json:"group,omitempty"`  // I/Os per second that the application's control group may do
	Warm   int    `json:"warm,omitempty"`   // seconds more until it has taken effect
}

// Live is a machine of the lab with its situations in random order.
type Live struct {
	Seed       uint64      `json:"seed"`
	Ratio      float64     `json:"ratio"` // of the slow member's rate to its peers'
	Lab        string      `json:"lab"`
	Situations []Situation `json:"situations"`
}

// liveSeed are the figures that a seed chooses.
type liveSeed struct {
	*rand.Rand
	leaf, instance, cap, base, touch, slow int // IOPS; ms
	ratio                                  float64
	level                                  int // of the array with a slow member
	depth                                  int
	block, fs, chunk                       string
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// GenerateLive makes the machine of a seed: volumes' rates and latencies, the level, the filesystem,
// the slow member's ratio, the application's depth, block, direction and pace vary with it.
func GenerateLive(seed uint64) Live {
	r := rand.New(rand.NewPCG(seed, 0x77687921))
	s := liveSeed{
		Rand: r, leaf: one(r, 60, 75, 90), instance: one(r, 380, 420), cap: one(r, 200, 240), base: one(r, 15, 20, 30),
		touch: one(r, 15, 25, 40), slow: one(r, 15, 20, 30), ratio: one(r, 0.2, 0.3, 0.4, 0.5), level: one(r, 0, 10),
		depth: one(r, 8, 16, 32), block: one(r, "4k", "8k", "16k"), fs: one(r, "xfs", "ext4"), chunk: one(r, "64", "128", "256"),
	}
	m := Live{Seed: seed, Ratio: s.ratio, Lab: s.lab(), Situations: s.situations()}
	r.Shuffle(len(m.Situations), func(i, j int) {
		m.Situations[i], m.Situations[j] = m.Situations[j], m.Situations[i]
	})
	return m
}

func (s *liveSeed) lab() string {
	quick := fmt.Sprintf("{read: %s, write: %s, jitter: 0.2}", one(s.Rand, "0.4ms", "0.6ms", "1.0ms"), one(s.Rand, "1.0ms", "1.5ms"))
	makeFS := map[string]string{
		"xfs": "mkfs.xfs -q -K", "ext4": "mkfs.ext4 -q -F -E nodiscard,lazy_itable_init=0,lazy_journal_init=0",
	}[s.fs]
	clean := "--assume-clean "
	if s.level == 0 {
		clean = ""
	}
	return fmt.Sprintf(`description: live exam, seed
scale: 1
instance: {iops: %[1]d}
volumes:
  - {name: h, count: 4, size: 512MiB, iops: %[2]d, throughput: 20MiB/s, latency: %[3]s}
  - {name: s, count: 3, size: 256MiB, iops: %[2]d, throughput: 20MiB/s, latency: %[3]s}
  - {name: w, count: 1, size: 256MiB, iops: %[4]d, throughput: 20MiB/s, latency: %[3]s}
  - {name: b, count: 2, size: 256MiB, iops: %[5]d, throughput: 20MiB/s, burst: {iops: 150, credits: 100}, latency: %[3]s}
  - {name: c, count: 4, size: 256MiB, iops: %[6]d, throughput: 50MiB/s, latency: %[3]s}
  - {name: f, count: 1, size: 2GiB, iops: 300, throughput: 50MiB/s, latency: %[3]s, first_touch: %[7]dms}
  - {name: d, count: 1, size: 1GiB, iops: 300, throughput: 50MiB/s, latency: {read: %[8]dms, write: %[8]dms, jitter: 0.3}}
  - {name: t, count: 1, size: 256MiB, latency: {read: %[9]dms, write: 3000ms}}
  - {name: k, count: 1, size: 256MiB, iops: 300, throughput: 50MiB/s, latency: %[3]s}
  - {name: z, count: 1, size: 256MiB, iops: 700, throughput: 50MiB/s, latency: {read: 10ms, write: 10ms, jitter: 0.1}}
setup:
  - mdadm --create /dev/md/h --run --level=10 --chunk=%[10]s --raid-devices=4 --assume-clean --homehost=any --name=h "${h[@]}"
  - mdadm --create /dev/md/s --run --level=%[11]d --chunk=%[10]s --raid-devices=4 %[12]s--homehost=any --name=s "${s[0]}" "${w[0]}" "${s[1]}" "${s[2]}"
  - mdadm --create /dev/md/b --run --level=0 --chunk=%[10]s --raid-devices=2 --homehost=any --name=b "${b[@]}"
  - mdadm --create /dev/md/c --run --level=0 --chunk=%[10]s --raid-devices=4 --homehost=any --name=c "${c[@]}"
  - udevadm settle; mkdir -p /h /s /b /c; %[13]s /dev/md/h && mount -o noatime /dev/md/h /h
  - for x in s b c; do mkfs.xfs -q -K /dev/md/$x 2>/dev/null || mkfs.ext4 -q -F /dev/md/$x; mount -o noatime /dev/md/$x /$x; done
  - for x in h s b c; do fio --name=p --filename=/$x/f --size=96m --rw=write --bs=1m --direct=1 --output=/dev/null; done
`, s.instance, s.leaf, quick, int(float64(s.leaf)*s.ratio), s.base, s.cap, s.touch, s.slow, one(s.Rand, 2500, 4000), s.chunk,
		s.level, clean, makeFS)
}

// bought is the layout of n volumes as they were bought, 2 ms per I/O being usual.
func (s *liveSeed) bought(n, iops, burst int) string {
	more := ""
	if burst > 0 {
		more = fmt.Sprintf(", burst_iops: %d, burst_credits: 100", burst)
	}
	usual := "2ms"
	if iops == 700 {
		usual = "10ms"
	}
	return fmt.Sprintf("instance: {type: lab, baseline: {iops: %d}}\narrays:\n  - name: a\n    role: data\n    volumes:\n"+
		"      - {count: %d, iops: %d%s, read_latency: %s, write_latency: %s}\n", s.instance, n, iops, more, usual, usual)
}

// direction is what the application does.
func (s *liveSeed) direction() string { return one(s.Rand, "randwrite", "randread", "randrw") }

// app are fio's arguments of an application with a pace.
func (s *liveSeed) app(file, rw string, pace float64, depth int, more string) string {
	rate := fmt.Sprint(int(pace))
	if rw == "randrw" {
		rate = fmt.Sprintf("%d,%d", int(pace/2), int(pace/2))
	}
	size := "--size=96m "
	if !strings.HasSuffix(file, "/f") {
		size = ""
	}
	engine := "libaio"
	if strings.Contains(more, "psync") {
		engine, more = "psync", strings.ReplaceAll(more, "psync", "")
	}
	return fmt.Sprintf("--filename=%s %s--rw=%s --bs=%s --direct=1 --ioengine=%s --iodepth=%d --rate_iops=%s %s", file, size, rw,
		s.block, engine, depth, rate, more)
}

// situations are those of the specification's table (specs/why.md §7), in its order, and the fourth healthy one of §5.1.
func (s *liveSeed) situations() []Situation {
	sound := float64(2 * s.leaf) // writes per second that the sound RAID10 gives
	half := func() float64 { return sound * (0.4 + 0.15*s.Float64()) }
	h4, raw := s.bought(4, s.leaf, 0), s.bought(1, 300, 0)
	resync := one(s.Rand, "check", "repair")
	const syncing = "echo %s > /sys/block/$(basename $(readlink -f /dev/md/h))/md/sync_action; "
	slowLoad := 4 * float64(s.leaf)
	slowRW := s.direction()
	if s.level == 10 {
		slowLoad, slowRW = sound, "randwrite"
	}
	pace := sound * 0.5
	full := one(s.Rand, 1, 3)
	all := []Situation{
		{Name: "healthy-busy", Truth: "healthy", Path: "/h", Layout: h4, App: s.app("/h/f", s.direction(), half(), s.depth, "")},
		{Name: "healthy-idle", Truth: "healthy", Path: "/h", Layout: h4, App: s.app("/h/f", s.direction(), float64(one(s.Rand, 3, 10)), s.depth, "")},
		{
			Name: "cgroup-loose", Truth: "healthy", Path: "/h", Layout: h4, App: s.app("/h/f", one(s.Rand, "randwrite", "randread"), pace, s.depth, ""),
			Group: int(pace * (1.5 + 0.5*s.Float64())),
		},
		{
			Name: "cgroup", Truth: "cgroup", Path: "/h", Layout: h4, App: s.app("/h/f", one(s.Rand, "randwrite", "randread"), pace, s.depth, ""),
			Group: int(pace * (0.3 + 0.4*s.Float64())),
		},
		{
			Name: "resync", Truth: "resync", Path: "/h", Layout: h4, App: s.app("/h/f", s.direction(), pace, s.depth, ""),
			Before: "echo 200000 > /proc/sys/dev/raid/speed_limit_max; echo 200000 > /proc/sys/dev/raid/speed_limit_min; " + fmt.Sprintf(syncing, resync),
			After:  fmt.Sprintf(syncing, "idle"),
		},
		{
			Name: "neighbour-buffered", Truth: "neighbour", Path: "/h", Layout: h4, App: s.app("/h/f", one(s.Rand, "randwrite", "randread"), pace, s.depth, ""),
			Beside: fmt.Sprintf("while :; do dd if=/dev/zero of=/h/nb bs=1M count=%d conv=notrunc 2>/dev/null; done", one(s.Rand, 250, 400)),
			After:  "rm -f /h/nb; sync; ",
		},
		{
			Name: "fsync-storm", Truth: "fsync-storm", Path: "/h", Layout: h4, App: s.app("/h/f", "randwrite", sound*0.4, s.depth, "psync --fdatasync=1"),
			Beside: fmt.Sprintf("exec /root/etl --name=etl --directory=/h --size=8m --rw=randwrite --bs=4k --ioengine=psync --fsync=1 "+
				"--numjobs=%d --time_based --runtime=60 --output=/dev/null", one(s.Rand, 6, 12)), After: "rm -f /h/etl.*; ",
		},
		{
			Name: "host-queue", Truth: "host-queue", Path: "$z", Layout: s.bought(1, 700, 0), App: s.app("$z", "randread", 600, 64, ""),
			Before: "q=/sys/block/$(basename $z)/queue; echo mq-deadline > $q/scheduler; echo 4 > $q/nr_requests; ",
		},
		{
			Name: "cpu", Truth: "cpu", Path: "/h", Layout: h4, App: s.app("/h/f", one(s.Rand, "randwrite", "randread"), pace, s.depth, "psync"),
			Beside: "for i in 1 2 3 4; do (while :; do :; done) & done; wait",
		},
		{
			Name: "nearly-full", Truth: "nearly-full", Path: "/h", Layout: h4, App: s.app("/h/f", s.direction(), sound*0.4, s.depth, ""),
			Before: fmt.Sprintf("a=$(df -k /h | awk 'NR==2{print $4}'); t=$(df -k /h | awk 'NR==2{print $2}'); fallocate -l $((a-t*%d/100))k /h/full; ", full),
			After:  "rm -f /h/full; ",
		},
		{
			Name: "slow-member", Truth: "slow-member", Path: "/s", Layout: h4,
			App: s.app("/s/f", slowRW, slowLoad*(0.55+0.15*s.Float64()), max(s.depth, 16), ""),
		},
		{
			Name: "burst-spent", Truth: "burst-spent", Path: "/b", Layout: s.bought(2, s.base, 150), App: s.app("/b/f", s.direction(), 150*(0.6+0.4*s.Float64()), s.depth, ""),
			Warm: 6, // until 100 credits are spent at 25 to 55 a second
		},
		{
			Name: "instance-cap", Truth: "instance-cap", Path: "/c", Layout: s.bought(4, s.cap, 0),
			App: s.app("/c/f", s.direction(), float64(s.instance)*(1.15+0.25*s.Float64()), 64, ""),
		},
		{Name: "first-touch", Truth: "slow-volume", Path: "$f", Layout: raw, App: s.app("$f", "randread", 30, 2, "")},
		{Name: "slow-volume", Truth: "slow-volume", Path: "$d", Layout: raw, App: s.app("$d", s.direction(), 30, 2, "")},
		{Name: "stall", Truth: "stall", Path: "$t", Layout: raw, App: s.app("$t", s.direction(), 100, 4, "")},
		{
			Name: "dm-layer", Truth: "host-queue", Path: "/dev/mapper/st", Layout: raw, App: s.app("/dev/mapper/st", s.direction(), 60, s.depth, ""),
			Before: fmt.Sprintf("n=$(blockdev --getsz $k); dmsetup create st --table \"0 $n delay $k 0 %d\"; ", one(s.Rand, 25, 40)),
			After:  "dmsetup remove st; ",
		},
		{
			Name: "frozen", Truth: "frozen", Path: "/h", Layout: h4, App: s.app("/h/f", "randwrite", sound*0.3, s.depth, "psync --direct=0 --fsync=4"),
			Beside: "while :; do sleep 1.5; fsfreeze -f /h; sleep 2; fsfreeze -u /h; done", After: "fsfreeze -u /h; ",
		},
		{Name: "over-limit", Truth: "volume-limit", Path: "/h", Layout: h4, App: s.app("/h/f", s.direction(), sound*2.4, 32, "")},
		{ // nothing of it is written while anybody looks: dirty pages wait 30 s
			Name: "memory-writer", Truth: "healthy", Path: "/h", Layout: h4, App: s.app("/h/f", s.direction(), half(), s.depth, ""),
			Beside: "while :; do dd if=/dev/zero of=/h/nb bs=1M count=4 conv=notrunc 2>/dev/null; sleep 0.5; done", After: "rm -f /h/nb; ",
		},
	}
	return slices.Clip(all)
}

// Only leaves the situations of one truth, all where it is empty: more healthy machines are wanted than
// come with the faults.
func (m Live) Only(truth string) Live {
	if truth != "" {
		m.Situations = slices.DeleteFunc(slices.Clone(m.Situations), func(x Situation) bool { return x.Truth != truth })
	}
	return m
}

// Script makes a situation, watches it for 5 s and puts back what it did. Facts are kept in
// live/NAME.json. The next one begins when nothing waits to be written.
func (x Situation) Script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cd /root; mkdir -p live; cat > live.yaml <<'EOF'\n%sEOF\n%s\n", x.Layout, x.Before)
	enter := ""
	if x.Group > 0 {
		enter = "echo $BASHPID > /sys/fs/cgroup/app/inner/cgroup.procs; "
		fmt.Fprintf(&b, `[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup
echo +io > /sys/fs/cgroup/cgroup.subtree_control; mkdir -p /sys/fs/cgroup/app/inner; echo +io > /sys/fs/cgroup/app/cgroup.subtree_control
m=$(mountpoint -d /h); echo "$m riops=%[1]d wiops=%[1]d" > /sys/fs/cgroup/app/io.max
`, x.Group)
	}
	fmt.Fprintf(&b, "(%sexec fio --name=app %s --thread --time_based --runtime=90 --output=/dev/null) & a=$!\n"+
		// A situation that has not begun is none: on a busy host fio takes seconds to start.
		"n=0; until awk '/^(read|write)_bytes/ && $2 > 0 {f=1} END{exit !f}' /proc/$a/io || [ $n = 120 ]; do sleep 0.25; n=$((n+1)); done\nsleep 1.5\n",
		enter, x.App)
	if x.Beside != "" {
		fmt.Fprintf(&b, "[ -e etl ] || cp $(command -v fio) etl\ncat > beside.sh <<'EOF'\n%s\nEOF\n"+
			"setsid bash beside.sh >/dev/null 2>&1 </dev/null & b=$!\n", x.Beside)
	}
	fmt.Fprintf(&b, "sleep %d\nplimsoll why %s --topology live.yaml --save live/%s.json || :\nkill -INT $a\n", 2+x.Warm, x.Path, x.Name)
	if x.Beside != "" {
		b.WriteString("kill -9 -- -$b\nfor p in /proc/[0-9]*; do [ \"$(cat $p/comm 2>/dev/null)\" = etl ] && kill -9 ${p#/proc/}; done\n")
	}
	if x.Name == "frozen" {
		b.WriteString("fsfreeze -u /h 2>/dev/null\n")
	}
	fmt.Fprintf(&b, "wait $a 2>/dev/null\n%s\n", x.After)
	if x.Group > 0 {
		b.WriteString("echo \"$m riops=max wiops=max\" > /sys/fs/cgroup/app/io.max\n")
	}
	b.WriteString("n=0; until [ $(awk '/^nr_(dirty|writeback) /{n+=$2} END{print n}' /proc/vmstat) -lt 256 ] || [ $n = 120 ]; do sleep 0.5; n=$((n+1)); done\n")
	return b.String()
}
