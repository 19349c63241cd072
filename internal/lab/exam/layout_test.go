package exam

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// carried is how many IOPS the volumes of a machine do together after their rates are scaled: a
// tenth of what an emulated machine can, so that several run next to each other.
const carried = 800

// layout is how a machine's volumes are combined, and what is done to them.
type layout struct {
	r       *rand.Rand
	level   string // raid0, raid1, raid10, raid5, lvm
	members int
	chunk   int // KiB
	scale   float64
	iops    int // that a volume is declared to do
	does    int // that a sound one does
	writes  bool
	bs      string
	volume  string // of lab.yaml, without its iops
}

// newLayout draws a layout on which all faults of a machine cost what is known: a slow member costs
// reads of a mirror what md's choice of the mirror makes of it, for example, and writes its share.
func newLayout(m *Machine, r *rand.Rand) *layout {
	l := &layout{r: r, bs: "8k", chunk: pick(r, 16, 64, 128, 256), writes: r.IntN(2) == 0}
	levels := []string{"raid0", "raid10", "lvm", "raid5", "raid1"}
	switch {
	case m.hasAny(WrongLevel):
		levels, l.writes = []string{"raid10"}, true
	case m.hasAny(WrongChunk):
		levels, l.writes, l.bs, l.chunk = []string{"raid0"}, false, "28k", 16
	case m.hasAny(Degraded):
		levels, l.writes = []string{"raid10", "raid5", "raid1"}, false
	case m.hasAny(Resync):
		levels, l.writes = []string{"raid10", "raid5", "raid1"}, false
	case m.hasAny(Misaligned):
		levels = []string{"raid0", "raid10"}
	case m.hasAny(WrongSUSW):
		levels = []string{"raid0", "raid10", "lvm"}
	}
	l.level = pick(r, levels...)
	mirrored := l.level == "raid10" || l.level == "raid1"
	if m.hasAny(SlowMember, MemberLoad) && mirrored {
		l.writes = true
	}
	if l.level == "raid5" {
		l.writes = false // how many volume I/Os a write costs depends on the stripe cache
	}
	if m.hasAny(Unwritten) {
		l.writes = false
	}
	switch l.level {
	case "raid1":
		l.members = 2
	case "raid10":
		l.members = pick(r, 4, 4, 6)
	case "raid5":
		l.members = pick(r, 3, 4, 5)
	default:
		l.members = pick(r, 2, 3, 4, 4, 6)
	}
	l.iops = pick(r, 3000, 4000, 6000)
	l.scale = math.Round(1000*carried/float64(l.iops*l.members)) / 1000
	l.volume = "throughput: 125MiB/s, latency: {read: 0.5ms, write: 1.5ms}" // gp3
	if r.IntN(3) == 0 {
		l.volume = "throughput: 500MiB/s, latency: {read: 0.25ms, write: 0.5ms}" // io2
	}
	return l
}

// write makes the machine's files, and sets what each fault costs.
func (l *layout) write(m *Machine) {
	var b strings.Builder
	fmt.Fprintf(&b, "description: exam %d\nscale: %g\n", m.Seed, l.scale)
	names := l.volumes(m, &b)
	fmt.Fprintf(&b, "arrays:\n  - {name: data, role: [data, wal], volumes: [%s]}\nsetup:\n", names)
	for _, line := range l.setup(m) {
		fmt.Fprintf(&b, "  - %s\n", line)
	}
	m.Lab = b.String()
	l.load(m)
	op := "reads"
	if l.writes {
		op = "writes"
	}
	m.Name = fmt.Sprintf("seed %d: %s of %d, %d KiB chunks, %s", m.Seed, l.level, l.members, l.chunk, op)
}

// group is a line of lab.yaml's volumes.
func group(name string, count, iops int, rest string) string {
	return fmt.Sprintf("  - {name: %s, count: %d, iops: %d, %s}\n", name, count, iops, rest)
}

// volumes writes lab.yaml's instance and volumes, and returns the names of those in the array.
func (l *layout) volumes(m *Machine, b *strings.Builder) (names string) {
	l.does = l.iops
	rest, sold, count := l.volume, ", sold_as: data", l.members
	if m.has(Volatile) != nil {
		rest += ", cache: volatile"
	}
	if f := m.has(BurstNearEnd); f != nil {
		// Spent in the ramp, or within the measurement.
		sustained, seconds := pick(l.r, 300, 600, 1500), pick(l.r, 3, 8)
		rest += fmt.Sprintf(", burst: {iops: %d, credits: %d}", l.iops, seconds*(l.iops-sustained))
		l.does, f.Factor = sustained, float64(sustained)/float64(l.iops)
		if seconds > 3 { // a part of the measurement has the burst
			f.Factor, f.Least = 0, f.Factor
		}
	}
	if f := m.has(WrongLimits); f != nil {
		f.Factor = severe(l.r, 0.2)
		l.does = int(f.Factor * float64(l.iops))
		rest, sold = rest+", sold_as: paper", ""
	}
	for _, k := range []Kind{InstanceCap, HiddenCap} {
		if f := m.has(k); f != nil {
			f.Factor = severe(l.r, 0.2)
			fmt.Fprintf(b, "instance: {iops: %d, throughput: 2000MB/s}\n", int(f.Factor*float64(l.members*l.iops)))
		}
	}
	b.WriteString("volumes:\n")
	names = "data"
	slow := ""
	if f := m.has(SlowMember); f != nil {
		f.Factor = severe(l.r, 0.25)
		slow = group("slow", 1, int(f.Factor*float64(l.does)), rest+sold)
		names, count = "data, slow", count-1
	}
	b.WriteString(group("data", count, l.does, rest) + slow)
	if m.has(WrongLimits) != nil {
		b.WriteString(group("paper", 1, l.iops, "size: 64MiB, "+l.volume))
	}
	return names
}

// setup are the commands that make the array and its filesystem.
func (l *layout) setup(m *Machine) []string {
	members, one := `"${data[@]}"`, `"${data[1]}"`
	if m.has(SlowMember) != nil {
		members += ` "${slow[0]}"`
	}
	var lines []string
	if m.has(Misaligned) != nil {
		lines = append(lines,
			fmt.Sprintf("for d in %s; do sgdisk -a 1 -n 1:2049:0 -t 1:fd00 $d || exit; done", members),
			"sleep 0.5; udevadm settle")
		members, one = `"${data[@]/%/p1}"`, `"${data[1]}p1"`
		if m.has(SlowMember) != nil {
			members += ` "${slow[0]}p1"`
		}
	}
	device := "/dev/md/data"
	switch l.level {
	case "lvm":
		device = "/dev/vg/data"
		lines = append(lines, fmt.Sprintf(
			"vgcreate -q vg %s && lvcreate -q -Wn -i %d -I %dk -l 100%%FREE -n data vg", members, l.members, l.chunk))
	default:
		lines = append(lines, l.create(m, members))
	}
	if m.has(Scheduler) != nil {
		lines = append(lines, `for d in "${data[@]}"; do echo mq-deadline > /sys/block/${d#/dev/}/queue/scheduler; done`)
	}
	geometry := ""
	if m.has(WrongSUSW) != nil {
		geometry = fmt.Sprintf("-d su=%dk,sw=%d ", 2*l.chunk, l.members+1)
	}
	lines = append(lines, fmt.Sprintf("udevadm settle; mkfs.xfs -q -f -K %s-l su=32k -L DATA %s && "+
		"mount -o noatime %s /data", geometry, device, device))
	if m.has(Degraded) != nil {
		lines = append(lines, "mdadm --fail /dev/md/data "+one)
	}
	if m.has(Unwritten) != nil {
		lines = append(lines, "fallocate -l 256M /data/unwritten.0; sync")
	}
	return lines
}

// create is the md array.
func (l *layout) create(m *Machine, members string) string {
	flags, before := "", ""
	if l.level != "raid1" {
		flags = fmt.Sprintf("--chunk=%d ", l.chunk)
	}
	switch {
	case m.has(Resync) != nil:
		before = "echo 5000 > /proc/sys/dev/raid/speed_limit_max; echo 5000 > /proc/sys/dev/raid/speed_limit_min; "
		flags += "--force " // a new RAID5 resyncs instead of recovering a spare
	case l.level != "raid0":
		flags += "--assume-clean "
	}
	return fmt.Sprintf("%smdadm --create /dev/md/data --run --level=%s %s--raid-devices=%d --homehost=any "+
		"--name=data %s", before, l.level, flags, l.members, members)
}

// inFlight is how many I/Os each of a scenario's two jobs keeps outstanding for each member: so
// many that random spread leaves none of them idle.
const inFlight = 5

// load writes what runs in the machine: the suite, what runs meanwhile, and what is declared wrong.
func (l *layout) load(m *Machine) {
	rw := "randread"
	if l.writes {
		rw = "randwrite"
	}
	m.Suite = fmt.Sprintf(`name: exam
cooldown: 0s
runtime: 15s
ramp: 3s
scenarios:
  - id: 1
    name: %s
    role: data
    size: %dMiB
    fio: {ioengine: libaio, direct: 1, rw: %s, bs: %s, iodepth: %d, numjobs: 2}
`, rw, 16*l.members, rw, l.bs, inFlight*l.members)
	if m.has(Unwritten) != nil {
		m.Job = "[read]\nfilename=/data/unwritten.0\nrw=randread\nbs=8k\ndirect=1\nioengine=libaio\n" +
			"iodepth=16\ntime_based\nruntime=15\n"
	}
	if f := m.has(MemberLoad); f != nil {
		victim, does := "data", float64(l.does)
		if slow := m.has(SlowMember); slow != nil {
			victim, does = "slow", slow.Factor*does
		}
		f.Factor = severe(l.r, 0.4)
		// A rate within the volume's, and deep enough to get it: what is left is the array's.
		m.Before = fmt.Sprintf("fio --name=other --filename=${%s[0]} --readonly --rw=randread --bs=8k --direct=1 "+
			"--ioengine=libaio --iodepth=256 --rate_iops=%d --time_based --runtime=600", victim, int((1-f.Factor)*does*l.scale))
	}
	if f := m.has(CPUTaken); f != nil {
		f.Factor = 0
		m.Before = "for i in $(seq $(nproc)); do nice -n -10 sha1sum /dev/zero & done; wait"
	}
	if f := m.has(Resync); f != nil {
		f.Factor = 0
	}
	if f := m.has(Degraded); f != nil {
		f.Factor = 0.5 // the mirror of the lost member, or its peers in RAID5, have twice the reads
	}
	if f := m.has(WrongChunk); f != nil {
		// Pieces of 28 KiB on 128 KiB, and on 16 KiB, where two on one member reach it as one.
		f.Factor = 1.1875 / min(2.5, float64(l.members))
		m.Edit = "sed -i 's/^- name: data$/&\\n  level: raid0\\n  chunk: 128KiB/' plimsoll.yaml\n"
	}
	if f := m.has(WrongLevel); f != nil {
		f.Factor = 0.5
		m.Edit = "sed -i 's/^- name: data$/&\\n  level: raid0/' plimsoll.yaml\n"
	}
	if m.has(HiddenCap) != nil {
		m.Edit += "sed -i '/^instance:/,/^[a-z]/{/^instance:/d;/^ /d}' plimsoll.yaml\n"
	}
}
