// Package exam makes machines at random whose faults are known, and marks what plimsoll found on
// them.
package exam

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"plimsoll/internal/finding"
)

// Kind is a fault that can be built in.
type Kind string

// The faults.
const (
	SlowMember   Kind = "slow member"
	InstanceCap  Kind = "instance cap"
	BurstNearEnd Kind = "burst near its end"
	Degraded     Kind = "degraded array"
	Resync       Kind = "resync"
	Misaligned   Kind = "misaligned partitions"
	WrongSUSW    Kind = "wrong su/sw"
	Unwritten    Kind = "unwritten files"
	Volatile     Kind = "volatile cache"
	MemberLoad   Kind = "other load on a member"
	CPUTaken     Kind = "CPU taken"
	WrongLimits  Kind = "limits declared too high"
)

// Fault is one built into a machine.
type Fault struct {
	Kind Kind `json:"kind"`
	// Factor is what it leaves of the ceiling of deep random reads, worked out from how it was
	// built; 1 where it costs them nothing.
	Factor float64 `json:"factor"`
}

// Machine is a layout of volumes with its faults, as a lab.yaml and what to run in it.
type Machine struct {
	Seed   uint64  `json:"seed"`
	Name   string  `json:"name"`
	Faults []Fault `json:"faults,omitempty"`
	Lab    string  `json:"lab"`
	// Before is started in the guest before the suite and runs beside it; Job replaces the suite.
	Before string `json:"before,omitempty"`
	Job    string `json:"job,omitempty"`
}

// answers are what names a fault: codes of findings, and causes of an account.
var answers = map[Kind]struct {
	codes  []finding.Code
	causes []finding.Cause
}{
	SlowMember:   {[]finding.Code{"PL204"}, []finding.Cause{finding.SlowMember}},
	InstanceCap:  {[]finding.Code{"PL505"}, []finding.Cause{finding.Instance}},
	BurstNearEnd: {[]finding.Code{"PL405", "PL406", "PL605"}, []finding.Cause{finding.BurstSpent}},
	Degraded:     {[]finding.Code{"PL201"}, nil},
	Resync:       {[]finding.Code{"PL202"}, []finding.Cause{finding.Rebuild}},
	Misaligned:   {[]finding.Code{"PL205"}, nil},
	WrongSUSW:    {[]finding.Code{"PL203"}, nil},
	Unwritten:    {[]finding.Code{"PL401"}, nil},
	Volatile:     {[]finding.Code{"PL209"}, nil},
	MemberLoad:   {[]finding.Code{"PL412", "PL315"}, []finding.Cause{finding.OtherLoad}},
	CPUTaken:     {[]finding.Code{"PL409", "PL410"}, []finding.Cause{finding.CPU}},
	WrongLimits:  {nil, []finding.Cause{finding.Unexplained}},
}

// Kinds are all faults, in a fixed order.
func Kinds() []Kind {
	return []Kind{
		SlowMember,
		InstanceCap,
		BurstNearEnd,
		Degraded,
		Resync,
		Misaligned,
		WrongSUSW,
		Unwritten,
		Volatile,
		MemberLoad,
		CPUTaken,
		WrongLimits,
	}
}

// alone are faults that replace what the others need (the suite, the volumes' type, the array's
// state) or hide what they cost.
var alone = map[Kind]bool{
	InstanceCap:  true,
	BurstNearEnd: true,
	Unwritten:    true,
	Resync:       true,
	Degraded:     true,
	Misaligned:   true,
}

// scale shrinks rates to what an emulated machine can carry.
const scale = 0.1

// Generate makes the machine of a seed: a third are healthy, a third have one fault, a third two.
func Generate(seed uint64) Machine {
	r := rand.New(rand.NewPCG(seed, 0x706c696d))
	m := Machine{Seed: seed}
	kinds := Kinds()
	for want := r.IntN(3); len(m.Faults) < want; {
		k := kinds[r.IntN(len(kinds))]
		if len(m.Faults) > 0 && (alone[k] || alone[m.Faults[0].Kind] || m.Faults[0].Kind == k) {
			if alone[m.Faults[0].Kind] {
				break
			}
			continue
		}
		m.Faults = append(m.Faults, Fault{Kind: k, Factor: 1})
	}
	m.build(r)
	return m
}

func (m *Machine) has(k Kind) *Fault {
	for i := range m.Faults {
		if m.Faults[i].Kind == k {
			return &m.Faults[i]
		}
	}
	return nil
}

// build writes the lab.yaml of the faults with random layout and severity. RAID10 balances reads
// between mirrors, so what a fault costs is known beforehand only on RAID0, which faults of members
// therefore get.
func (m *Machine) build(r *rand.Rand) {
	level, n := 10, []int{4, 8}[r.IntN(2)]
	if m.has(SlowMember) != nil || m.has(MemberLoad) != nil || m.has(BurstNearEnd) != nil || m.has(Misaligned) != nil ||
		r.IntN(3) == 0 {
		level, n = 0, []int{2, 4, 8}[r.IntN(3)]
	}
	if m.has(Degraded) != nil || m.has(Resync) != nil {
		level, n = 10, []int{4, 8}[r.IntN(2)]
	}
	chunk := []int{64, 128, 256}[r.IntN(3)]
	iops := []int{3000, 4000, 6000}[r.IntN(3)]
	severe := func() float64 { return []float64{0.25, 0.4, 0.55, 0.7}[r.IntN(4)] }
	does, sold := iops, "data" // what a volume does, and whose limits a slow one is declared to have
	if f := m.has(WrongLimits); f != nil {
		f.Factor, sold = severe(), "paper"
		does = int(f.Factor * float64(iops))
	}
	volume := fmt.Sprintf("iops: %d, throughput: 125MiB/s, latency: {read: 0.5ms, write: 1.5ms}", iops)
	members, extra, volumes := `"${data[@]}"`, "", "data"
	var after []string
	count := n
	for i := range m.Faults {
		f := &m.Faults[i]
		switch f.Kind { //nolint:exhaustive // the others change no volume
		case SlowMember:
			f.Factor = severe()
			count--
			extra += fmt.Sprintf(
				"  - {name: slow, iops: %d, throughput: 125MiB/s, latency: {read: 0.5ms, write: 1.5ms}, sold_as: %s}\n",
				int(f.Factor*float64(does)),
				sold,
			)
			members, volumes = `"${data[@]}" "${slow[0]}"`, "data, slow"
		case WrongLimits:
			volume = strings.Replace(
				volume,
				fmt.Sprintf("iops: %d", iops),
				fmt.Sprintf("iops: %d", does),
				1,
			) + ", sold_as: paper"
			extra += fmt.Sprintf(
				"  - {name: paper, size: 64MiB, iops: %d, throughput: 125MiB/s, "+
					"latency: {read: 0.5ms, write: 1.5ms}}\n",
				iops,
			)
		case Volatile:
			volume += ", cache: volatile"
		case MemberLoad: // a rate within the volume's: what is left of it is the stripe's
			f.Factor = severe()
			m.Before = fmt.Sprintf(
				"fio --name=other --filename=${data[0]} --readonly --rw=randread --bs=8k --direct=1 "+
					"--ioengine=libaio --iodepth=16 --rate_iops=%d --time_based --runtime=600",
				int((1-f.Factor)*float64(does)*scale),
			)
		case CPUTaken:
			m.Before = "for i in $(seq $(nproc)); do nice -n -5 sha1sum /dev/zero & done; wait"
		case BurstNearEnd:
			volume = "iops: 300, throughput: 128MiB/s, burst: {iops: 3000, credits: 30000}, latency: {read: " +
				"0.5ms, write: 1ms}"
		case Degraded:
			after = append(after, `mdadm --fail /dev/md/data "${data[1]}"`)
		case Unwritten:
			after = append(after, "fallocate -l 256M /data/unwritten.0; sync")
			m.Job = "[read]\nfilename=/data/unwritten.0\nrw=randread\nbs=8k\ndirect=1\nioengine=libaio\n" +
				"iodepth=16\ntime_based\nruntime=12\n"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "description: exam %d\nscale: %g\n", m.Seed, scale)
	if m.has(InstanceCap) != nil {
		fmt.Fprintf(&b, "instance: {iops: %d, throughput: 250MB/s}\n", int(0.4*float64(n*iops)))
	}
	fmt.Fprintf(&b, "volumes:\n  - {name: data, count: %d, %s}\n%s", count, volume, extra)
	fmt.Fprintf(&b, "arrays:\n  - {name: data, role: [data, wal], volumes: [%s]}\nsetup:\n", volumes)
	clean := "--assume-clean "
	if m.has(Resync) != nil {
		clean = ""
		b.WriteString(
			"  - echo 5000 > /proc/sys/dev/raid/speed_limit_max; echo 5000 > /proc/sys/dev/raid/speed_limit_min\n",
		)
	}
	if level == 0 {
		clean = ""
	}
	if m.has(Misaligned) != nil {
		b.WriteString(
			"  - for d in \"${data[@]}\"; do sgdisk -a 1 -n 1:2049:0 -t 1:fd00 $d || exit; done\n  - sleep 0.5; " +
				"udevadm settle\n",
		)
		members = `"${data[@]/%/p1}"`
	}
	fmt.Fprintf(
		&b,
		"  - mdadm --create /dev/md/data --run --level=%d --chunk=%d --raid-devices=%d %s--homehost=any "+
			"--name=data %s\n",
		level,
		chunk,
		n,
		clean,
		members,
	)
	geometry := ""
	if m.has(WrongSUSW) != nil {
		geometry = fmt.Sprintf("-d su=%dk,sw=3 ", 2*chunk)
	}
	fmt.Fprintf(
		&b,
		"  - udevadm settle; mkfs.xfs -q -K %s-l su=32k -L DATA /dev/md/data && mount -o noatime /dev/md/data /data\n",
		geometry,
	)
	for _, line := range after {
		fmt.Fprintf(&b, "  - %s\n", line)
	}
	m.Lab = b.String()
	m.Name = fmt.Sprintf("seed %d: raid%d of %d, %d KiB chunks", m.Seed, level, n, chunk)
}
