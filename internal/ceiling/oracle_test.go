package ceiling_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The volumes of AWS, by its pages (general-purpose.html, hdd-vols.html, provisioned-iops.html).

func gp2(gibs float64) oVolume {
	v := oVolume{name: fmt.Sprintf("gp2 %v", gibs), network: true, merges: true, unit: 256 * kib, size: int64(gibs) * gib}
	v.iops, v.rate = min(max(3*gibs, 100), 16000), float64(250*mib)
	if gibs <= 170 {
		v.rate = float64(128 * mib)
	}
	if v.iops < 3000 {
		v.burstIOPS, v.credits = 3000, 5.4e6
	}
	return v
}

func ssd(iops, mibs float64) oVolume {
	return oVolume{
		name: fmt.Sprintf("ssd %v/%v", iops, mibs), network: true, merges: true, unit: 256 * kib, size: 500 * gib,
		iops: iops, rate: mibs * float64(mib),
	}
}

func st1(tibs float64) oVolume {
	v := oVolume{name: fmt.Sprintf("st1 %v", tibs), network: true, merges: true, hdd: true, unit: mib, size: int64(tibs * 1024 * float64(gib))}
	v.rate, v.burstRate = min(40*tibs, 500)*float64(mib), min(250*tibs, 500)*float64(mib)
	if v.burstRate > v.rate {
		v.credits = float64(v.size)
	}
	return v
}

func drive(r *rand.Rand) oVolume {
	return oVolume{
		name: "drive", size: 1000 * gib, readIOPS: float64(100000 + r.IntN(600000)), writeIOPS: float64(50000 + r.IntN(200000)),
		readRate: float64(1000+r.IntN(3000)) * 1e6, writeRate: float64(500+r.IntN(2500)) * 1e6, shared: r.IntN(2) == 0,
	}
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func anyVolume(r *rand.Rand, family int) oVolume {
	switch family {
	case 0:
		return gp2(float64(20 + r.IntN(900)))
	case 1:
		return ssd(float64(3000+r.IntN(13000)), float64(125+r.IntN(875)))
	case 2:
		return st1(float64(1+r.IntN(11)) / 2)
	}
	return drive(r)
}

// anyCase draws a layout and a job.
func anyCase(r *rand.Rand) *oCase {
	c := &oCase{}
	a := &c.array
	a.level = pick(r, "single", "raid0", "raid0", "raid1", "raid10", "raid10", "raid10", "raid5", "raid5", "raid6", "linear")
	a.chunk = int64(4*kib) << r.IntN(9)
	if a.level == "raid5" || a.level == "raid6" {
		a.chunk = int64(16*kib) << r.IntN(6)
	}
	n := 1
	switch a.level {
	case "raid0":
		n = 2 + r.IntN(7)
	case "raid1":
		n = 2 + r.IntN(2)
		a.copies = n
	case "raid10":
		n, a.copies, a.layout = pick(r, 4, 4, 5, 6, 8), 2, pick(r, "near", "near", "far", "offset")
		if n == 6 && r.IntN(2) == 0 {
			a.copies = 3
		}
	case "raid5":
		n = 3 + r.IntN(6)
	case "raid6":
		n = 4 + r.IntN(6)
	case "linear":
		n = 2 + r.IntN(3)
	}
	family := pick(r, 0, 0, 0, 1, 1, 2, 3)
	one, unlike := anyVolume(r, family), r.IntN(4) == 0
	for i := range n {
		v := one
		if unlike && i > 0 && family != 3 {
			v = anyVolume(r, pick(r, family, family, min(family, 1)))
			v.size = one.size
		}
		a.vols = append(a.vols, v)
	}
	if one.hdd { // the families do not mix: they count differently
		for i := range a.vols {
			if !a.vols[i].hdd {
				a.vols[i] = one
			}
		}
	}
	if one.network && r.IntN(3) > 0 {
		base := float64(2000 + r.IntN(10000))
		c.instance = &oInstance{iops: base, rate: base * float64(20+r.IntN(60)) * 1000}
		if r.IntN(3) > 0 {
			c.instance.seconds = 1800
			c.instance.burstIOPS, c.instance.burstRate = base*(1.5+2*r.Float64()), c.instance.rate*(1.5+2*r.Float64())
		}
	}
	for range 1 + r.IntN(5)/3 {
		s := anySection(r, a)
		for s.approximate(a) {
			s = anySection(r, a)
		}
		c.sections = append(c.sections, s)
	}
	for i := range c.sections {
		c.sections[i].region = c.sections[0].region
	}
	return c
}

// approximate says that docs/ceiling.md calls the ceiling of such a stream an approximation: how far
// a volume merges what reaches it out of order.
func (s oSection) approximate(a *oArray) bool {
	if !s.sequential || a.level != "raid10" || !a.vols[0].merges {
		return false
	}
	most := int64(0)
	for _, b := range []oBlocks{s.read, s.write} {
		for _, x := range b.sizes {
			most = max(most, x.bytes)
		}
	}
	if a.layout == "offset" && s.readShare == 0 {
		return true
	}
	return a.layout == "near" && s.jobs*s.depth == 1 && s.readShare > 0 && most > a.chunk*int64(len(a.vols)/a.copies)
}

func anyBlocks(r *rand.Rand) oBlocks {
	var b oBlocks
	switch r.IntN(5) {
	case 0: // bssplit
		first := 10 + r.IntN(80)
		small := int64(pick(r, 4, 8, 16)) * kib
		b.sizes = []oSize{{small, float64(first) / 100}, {small << (1 + r.IntN(6)), float64(100-first) / 100}}
		b.align = small
	case 1: // bsrange, of whole multiples
		small, n := int64(pick(r, 4, 8, 16))*kib, int64(2+r.IntN(7))
		for i := range n {
			b.sizes = append(b.sizes, oSize{small * (i + 1), 1 / float64(n)})
		}
		b.align = small
	default:
		bs := int64(pick(r, 4, 8, 16, 28, 32, 34*2, 48, 64, 96, 128, 256, 300, 512, 1024)) * kib
		b = oBlocks{[]oSize{{bs, 1}}, bs}
		if r.IntN(10) == 0 {
			b.align = bs * int64(pick(r, 2, 3))
		}
	}
	return b
}

func anySection(r *rand.Rand, a *oArray) oSection {
	s := oSection{jobs: 1 + r.IntN(4), depth: int(1) << (2 + r.IntN(6))}
	switch r.IntN(8) {
	case 0, 1, 2:
		s.readShare, s.read = 1, anyBlocks(r)
	case 3, 4, 5:
		s.write = anyBlocks(r)
	default:
		s.readShare, s.read, s.write = float64(5+r.IntN(90))/100, anyBlocks(r), anyBlocks(r)
	}
	if r.IntN(4) == 0 && s.readShare*(1-s.readShare) == 0 && a.level != "linear" {
		s.sequential = true
		for _, b := range []*oBlocks{&s.read, &s.write} {
			if len(b.sizes) > 0 {
				*b = oBlocks{b.sizes, b.sizes[0].bytes}
			}
		}
		s.synced = s.readShare == 0 && r.IntN(2) == 0
	}
	if r.IntN(5) == 0 {
		s.jobs, s.depth = 1, 1
	}
	switch r.IntN(6) {
	case 0:
		s.rateIOPS = [2]float64{float64(100 + r.IntN(3000)), float64(100 + r.IntN(3000))}
	case 1:
		s.rate = [2]float64{float64(int64(1+r.IntN(50)) * mib), float64(int64(1+r.IntN(50)) * mib)}
	case 2:
		s.rateIOPS = [2]float64{float64(100 + r.IntN(1000)), 0}
	}
	for d, b := range []oBlocks{s.read, s.write} {
		if len(b.sizes) == 0 {
			s.rate[d], s.rateIOPS[d] = 0, 0
		}
	}
	total := int64(0)
	for _, v := range a.vols {
		total += v.size
	}
	if a.level == "linear" {
		s.region = total / 100 * int64(20+r.IntN(80)) / gib * gib
	} else {
		s.region = 64 * gib
	}
	return s
}

// job is the case's job as a file of fio.
func (c *oCase) job() string {
	var b strings.Builder
	b.WriteString("[global]\nioengine=libaio\ndirect=1\nfilename=/dev/md0\n")
	for i, s := range c.sections {
		fmt.Fprintf(&b, "[s%d]\nnumjobs=%d\niodepth=%d\nsize=%d\n", i, s.jobs, s.depth, s.region)
		rw := map[bool]string{true: "", false: "rand"}[s.sequential]
		switch s.readShare {
		case 1:
			fmt.Fprintf(&b, "rw=%sread\n", rw)
		case 0:
			fmt.Fprintf(&b, "rw=%swrite\n", rw)
		default:
			fmt.Fprintf(&b, "rw=%srw\nrwmixread=%.0f\n", rw, s.readShare*100)
		}
		if s.synced {
			b.WriteString("fdatasync=1\n")
		}
		b.WriteString("bssplit=" + s.read.text() + "," + s.write.text() + "\n")
		if !s.sequential {
			fmt.Fprintf(&b, "blockalign=%d,%d\n", max(s.read.align, 512), max(s.write.align, 512))
		}
		for name, v := range map[string][2]float64{"rate": s.rate, "rate_iops": s.rateIOPS} {
			if v != [2]float64{} {
				b.WriteString(name + "=" + rateText(v[0]) + "," + rateText(v[1]) + "\n")
			}
		}
	}
	return b.String()
}

func rateText(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

func (b oBlocks) text() string {
	if len(b.sizes) == 0 {
		return ""
	}
	var parts []string
	for _, s := range b.sizes {
		parts = append(parts, fmt.Sprintf("%d/%v", s.bytes, s.share*100))
	}
	return strings.Join(parts, ":")
}

// topology is the layout as package ceiling takes it.
func (c *oCase) topology() *topology.Topology {
	a := topology.Array{Name: "md0", Level: topology.Level(c.array.level), Copies: c.array.copies, Chunk: units.Bytes(c.array.chunk)}
	if c.array.layout != "near" && a.Level == topology.RAID10 {
		a.Near, a.Offset = 1, c.array.layout == "offset"
	}
	if !a.Level.Striped() {
		a.Chunk = 0
	}
	for _, v := range c.array.vols {
		one := topology.Volume{
			Type: "custom", Size: units.Bytes(v.size), Network: v.network, CountedIO: units.Bytes(v.unit), Merges: v.merges,
			Sustained: topology.Limits{
				IOPS: units.IOPS(v.iops), Rate: units.Rate(v.rate), ReadIOPS: units.IOPS(v.readIOPS), WriteIOPS: units.IOPS(v.writeIOPS),
				ReadRate: units.Rate(v.readRate), WriteRate: units.Rate(v.writeRate),
			},
			Burst: topology.Limits{IOPS: units.IOPS(v.burstIOPS), Rate: units.Rate(v.burstRate)}, BurstIOs: v.credits,
		}
		if v.shared {
			one.Sustained = one.Sustained.OfDrive()
		}
		if v.hdd { // as package cloud states them
			one.Type, one.BurstIOs, one.BurstBytes = "st1", 0, units.Bytes(v.credits)
			one.Sustained.IOPS, one.Burst.IOPS = units.IOPS(v.rate/float64(v.unit)), units.IOPS(v.burstRate/float64(v.unit))
			if one.Burst.Rate <= one.Sustained.Rate {
				one.Burst = topology.Limits{}
			}
		}
		a.Volumes = append(a.Volumes, one)
	}
	t := &topology.Topology{Arrays: []topology.Array{a}, Targets: []topology.Target{{Role: topology.Data, Path: "/dev/md0", Array: "md0"}}}
	if i := c.instance; i != nil {
		t.Instance = topology.Instance{
			Type: "machine", Baseline: topology.Limits{IOPS: units.IOPS(i.iops), Rate: units.Rate(i.rate)},
			Burst:    topology.Limits{IOPS: units.IOPS(i.burstIOPS), Rate: units.Rate(i.burstRate)},
			BurstFor: time.Duration(i.seconds) * time.Second,
		}
		if i.cloud != "" {
			c.cloudTopology(t)
		}
	}
	return t
}

func (c *oCase) workloads(t *testing.T) []fio.Workload {
	t.Helper()
	f, err := fio.ParseJobFile("oracle.fio", []byte(c.job()), fio.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []fio.Workload
	for _, s := range f.EachJob() {
		w, err := fio.WorkloadOf(s.Name, s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

func (c *oCase) String() string {
	var vols []string
	for _, v := range c.array.vols {
		vols = append(vols, v.name)
	}
	return fmt.Sprintf("%s %s copies %d chunk %d KiB [%s]\ninstance %+v\n%s", c.array.level, c.array.layout, c.array.copies,
		c.array.chunk/kib, strings.Join(vols, ", "), c.instance, c.job())
}

// kindOf is the area of a case, by which failures are counted.
func (c *oCase) kindOf(phases int) string {
	mixed, rates, seq := false, false, ""
	for _, s := range c.sections {
		mixed = mixed || len(s.read.sizes) > 1 || len(s.write.sizes) > 1 || s.read.align+s.write.align > 0 && false
		rates = rates || s.rate != [2]float64{} || s.rateIOPS != [2]float64{}
		if s.sequential {
			seq = " seq"
		}
	}
	out := c.array.level + c.array.layout + seq
	if mixed {
		out += " mixed"
	}
	if rates {
		out += " rates"
	}
	if phases > 2 {
		out += " 3 phases"
	}
	return out
}

const oracleIOs = 100_000

// differs says where the ceiling's course is not the oracle's; empty where they agree within 1 %.
func (c *oCase) differs(t *testing.T) (what string, phases int) {
	t.Helper()
	want := merged(c.run(c.buckets(c.costs(oracleIOs))))
	course := ceiling.Of(c.topology(), topology.Data, c.workloads(t)).Course()
	var got []ceiling.Step
	for _, s := range course {
		if n := len(got); n > 0 && s.Bound.IOPS > got[n-1].Bound.IOPS*0.99 {
			got[n-1].Until = s.Until
			continue
		}
		got = append(got, s)
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d phases, the oracle has %d: %s", len(got), len(want), show(got, want)), len(want)
	}
	off := func(x, y, by float64) bool { return math.Abs(x/y-1) > by }
	for i, p := range want {
		b := got[i].Bound
		switch {
		case off(float64(b.IOPS), p.iops, 0.01) || off(float64(b.BW), p.bw, 0.01):
			return fmt.Sprintf("phase %d: %s", i+1, show(got, want)), len(want)
		case p.until > 0 && off(got[i].Until.Seconds(), p.until, 0.01*p.strain):
			return fmt.Sprintf("phase %d ends: %s", i+1, show(got, want)), len(want)
		case p.near[string(b.Kind)] < 0.99:
			return fmt.Sprintf("phase %d is limited by %v, not %s: %s", i+1, p.near, b.Kind, show(got, want)), len(want)
		}
	}
	return "", len(want)
}

func show(got []ceiling.Step, want []phase) string {
	var b strings.Builder
	for _, s := range got {
		fmt.Fprintf(&b, "\n  ceiling %.1f IOPS %.2f MB/s until %v by %s: %s", float64(s.Bound.IOPS), float64(s.Bound.BW)/1e6, s.Until, s.Bound.Label(), s.Bound.How)
	}
	for _, p := range want {
		fmt.Fprintf(&b, "\n  oracle  %.1f IOPS %.2f MB/s until %.0f s by %v", p.iops, p.bw/1e6, p.until, p.near)
	}
	return b.String()
}

// oracleCases are the first seed and the number of random cases: few, or as many as PLIMSOLL_ORACLE says, from
// PLIMSOLL_SEED on.
func oracleCases(few int) (from, n int) {
	from, _ = strconv.Atoi(os.Getenv("PLIMSOLL_SEED"))
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_ORACLE")); err == nil {
		return from, n
	}
	return from, few
}

// TestOracle tries random cases: 60 here, as many as PLIMSOLL_ORACLE says in make bench.
func TestOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	wrong, counts := 0, map[string][2]int{}
	from, n := oracleCases(60)
	byPhases := map[int]int{}
	for seed := range n {
		c := anyCase(rand.New(rand.NewPCG(uint64(from+seed), 26)))
		what, phases := c.differs(t)
		byPhases[phases]++
		k := c.kindOf(phases)
		v := counts[k]
		v[1]++
		if what != "" {
			v[0]++
			wrong++
			if wrong <= 8 {
				t.Errorf("seed %d: %s\n%v", from+seed, what, c)
			}
		}
		counts[k] = v
	}
	t.Logf("%d of %d cases differ; by phases %v", wrong, n, byPhases)
	for k, v := range counts {
		if v[0] > 0 {
			t.Logf("%s: %d of %d", k, v[0], v[1])
		}
	}
}
