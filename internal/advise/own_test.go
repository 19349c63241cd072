package advise

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// way is reads or writes.
type way struct{ iops, rate float64 }

// budget is what reads and writes may do: each its own, where shared of one budget, in throughput too where all is.
type budget struct {
	read, write way
	shared, all bool
}

// most is how many I/Os a second a budget lets through, of which so many are reads, each of bytes.
func (b budget) most(reads, bytes float64) float64 {
	one := func(read, write, each float64, shared bool) float64 {
		if read == 0 {
			return math.Inf(1)
		}
		if shared {
			return 1 / (each * (reads/read + (1-reads)/write))
		}
		return min(read/(each*reads), write/(each*(1-reads)))
	}
	return min(one(b.read.iops, b.write.iops, 1, b.shared), one(b.read.rate, b.write.rate, bytes, b.all))
}

// ownCloud is a cloud that was drawn: what its files say, computed here by the words of docs/clouds.md and by
// nothing of the product. of is what so many volumes of a size do.
type ownCloud struct {
	name     string
	files    map[string]string
	of       func(n, gibs float64, v cloud.VolumeSpec) budget
	machines []budget
	hour     []float64
	cost     func(gibs float64, v cloud.VolumeSpec) float64
	// A burst lasts until its I/Os are spent: the top of one volume, and how many.
	top, ios float64
	kind     string
}

// drawCloud draws one of each kind of volume and of machine in turn.
func drawCloud(k int) *ownCloud {
	r := rand.New(rand.NewPCG(uint64(k), 48))
	c := &ownCloud{name: fmt.Sprintf("own%d", k), files: map[string]string{}}
	typ := c.name + "-block"
	num := func(lo, hi int) float64 { return float64(lo + r.IntN(hi-lo)) }
	perGiB := num(2, 60)
	c.kind = []string{"sized", "ordered", "pool", "bursts"}[k%4]
	megabytes, unit, in := k%3 == 0, float64(units.MiBPerSec), "MiB/s"
	if megabytes {
		unit, in = float64(units.MBPerSec), "MB/s"
	}
	both := func(iops, rate float64, all bool) budget { return budget{way{iops, rate}, way{iops, rate}, true, all} }
	rule := ""
	gib, iopsUSD, rateUSD := num(2, 30)/100, num(1, 20)/1000, num(1, 60)/1000
	switch c.kind {
	case "sized":
		most, rate, rateGiB := num(5000, 60000), num(100, 900), num(1, 8)/10
		rule = fmt.Sprintf("sized: {iops_per_gib: %v, most_iops: %v, rate_per_gib: %v%s, rate: %v%s}", perGiB, most, rateGiB, in, rate, in)
		c.of = func(n, gibs float64, _ cloud.VolumeSpec) budget {
			return both(n*math.Floor(min(most, perGiB*gibs)+1e-9), n*unit*min(rate, rateGiB*gibs), true)
		}
	case "bursts":
		most, rate := num(5000, 20000), num(100, 900)
		c.top, c.ios = num(3000, 5000), num(1, 9)*1e6
		rule = fmt.Sprintf("sized: {iops_per_gib: %v, least_iops: 100, most_iops: %v, rate: %v%s, burst_iops: %v, burst_ios: %.0f}",
			perGiB, most, rate, in, c.top, c.ios)
		c.of = func(n, gibs float64, _ cloud.VolumeSpec) budget {
			return both(n*max(100, min(most, perGiB*gibs)), n*unit*rate, true)
		}
	case "ordered":
		most, rate := num(12000, 60000), num(300, 1200)
		rule = fmt.Sprintf("iops: {included: 3000, min: 3000, max: %v, per_gib: %v}\n  rate: {included: 125%s, min: 125%s, max: %v%s}",
			most, perGiB*10, in, in, rate, in)
		c.of = func(n, _ float64, v cloud.VolumeSpec) budget { return both(n*float64(v.IOPS), n*float64(v.Rate), true) }
	case "pool":
		base, rate, rateGiB, all := num(1000, 6000), num(100, 300), num(1, 8)/10, r.IntN(2) == 0
		writes := perGiB * (1 + float64(r.IntN(2)))
		rule = fmt.Sprintf("pool: {read_iops_per_gib: %v, write_iops_per_gib: %v, rate_per_gib: %v%s, iops: %v, rate: %v%s, shared_rate: %v}",
			perGiB, writes, rateGiB, in, base, rate, in, all)
		c.of = func(n, gibs float64, _ cloud.VolumeSpec) budget {
			mib := unit * (rate + rateGiB*n*gibs)
			return budget{way{base + perGiB*n*gibs, mib}, way{base + writes*n*gibs, mib}, true, all}
		}
	}
	c.cost = func(gibs float64, v cloud.VolumeSpec) float64 {
		return gib*gibs + iopsUSD*max(0, float64(v.IOPS)-3000) + rateUSD*max(0, float64(v.Rate)/unit-125)
	}
	c.files["volumes.yaml"] = fmt.Sprintf("- type: %s\n  name: Block\n  min_size: 10GiB\n  max_size: 8TiB\n  %s\n  source: drawn\n  as_of: 2026-11\n",
		typ, rule)
	per := map[bool]string{true: "MB/s-month", false: "MiB/s-month"}[megabytes]
	prices := "product,unit,above,usd,region,as_of,source\n" + fmt.Sprintf("%s,GiB-month,,%v,here,2026-11,drawn\n", typ, gib)
	if c.kind == "ordered" {
		prices += fmt.Sprintf("%s,IOPS-month,3000,%v,here,2026-11,drawn\n%s,%s,125,%v,here,2026-11,drawn\n", typ, iopsUSD, typ, per, rateUSD)
	}
	c.files["prices.csv"] = prices
	c.files["cloud.yaml"] = fmt.Sprintf("cloud: %s\nvendor: Vendor %s\nshort: %s\nmegabytes: %v\n", c.name, c.name, c.name, megabytes)
	c.files["machines.csv"], c.files["limits.csv"] = c.table(r, typ)
	return c
}

// table are four machines, each twice the one before and dearer, with limits of all volumes, of each direction, or
// of the type.
func (c *ownCloud) table(r *rand.Rand, typ string) (machines, limits string) {
	form := r.IntN(6)
	machines = "name,vcpus,memory_gib,arch,base_iops,base_mbs,base_read_iops,base_write_iops,disks,usd_hour,source,as_of\n"
	limits = "series,by,machine,type,read_iops,write_iops,read_mbs,write_mbs,shared,source,as_of\n"
	iops, rate, usd := 4000+r.IntN(8000), 200+r.IntN(800), 0.1+r.Float64()
	for i := range 4 {
		name := fmt.Sprintf("%s-m%d", c.name, i)
		b := budget{way{float64(iops), float64(rate) * 1e6}, way{float64(iops), float64(rate) * 1e6}, true, true}
		cells, share := fmt.Sprintf("%d,%d,,", iops, rate), ""
		switch form {
		case 1:
			b.write.iops, b.shared = math.Floor(float64(iops)*0.6), false
			cells = fmt.Sprintf(",%d,%d,%v", rate, iops, b.write.iops)
		case 2, 3, 4, 5:
			b.write = way{math.Floor(float64(iops) * 0.7), math.Floor(float64(rate)*0.5) * 1e6}
			b.shared, b.all = form == 3 || form == 4, form == 4
			share = []string{"", "iops", "all", "sum"}[form-2]
			cells = "1,1,,"
			limits += fmt.Sprintf("%s,machine,%s,%s,%d,%v,%d,%v,%s,drawn,2026-11\n", c.name, name, typ, iops, b.write.iops, rate, b.write.rate/1e6, share)
			if share == "sum" { // the reads' figures are those of both
				b = budget{b.read, b.read, true, true}
			}
		}
		machines += fmt.Sprintf("%s,%d,%d,x86_64,%s,16,%.4f,drawn,2026-11\n", name, 4<<i, 16<<i, cells, usd)
		c.machines, c.hour = append(c.machines, b), append(c.hour, math.Round(usd*1e4)/1e4)
		iops, rate, usd = iops*2, rate*2, usd*(1.5+r.Float64())
	}
	return machines, limits
}

// ownVar names the folder of a process that is started with clouds of its own.
const ownVar = "PLIMSOLL_TEST_OWN"

// TestOwnClouds draws clouds of a user's own, and holds ceilings, prices and advice on them against what was drawn.
// Which clouds there are is looked up once in a process, so that another one does it.
func TestOwnClouds(t *testing.T) {
	n := max(8, sampled(t, 40)/5)
	if os.Getenv(ownVar) != "" {
		ownClouds(t, firstSeed(), n)
		return
	}
	dir := t.TempDir()
	for k := range n {
		c := drawCloud(firstSeed() + k)
		if err := os.MkdirAll(filepath.Join(dir, cloud.Dir, c.name), 0o755); err != nil { //nolint:gosec // others may read it
			t.Fatal(err)
		}
		for name, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, cloud.Dir, c.name, name), []byte(text), 0o644); err != nil { //nolint:gosec // the same
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestOwnClouds$", "-test.v") //nolint:gosec // this test
	cmd.Dir, cmd.Env = dir, append(os.Environ(), ownVar+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func ownClouds(t *testing.T, from, n int) {
	if _, err := cloud.Own(); err != nil {
		t.Fatal(err)
	}
	ceilings, advices, kinds := 0, 0, map[string]int{}
	for k := range n {
		c := drawCloud(from + k)
		kinds[c.kind]++
		r := rand.New(rand.NewPCG(uint64(from+k), 49))
		for range 20 {
			ceilings++
			c.ceiling(t, r)
		}
		for range 5 {
			advices++
			c.advice(t, r)
		}
	}
	t.Logf("%d clouds (%v): %d ceilings, %d advices", n, kinds, ceilings, advices)
}

// volume is one of the cloud's volumes as it may be ordered.
func (c *ownCloud) volume(r *rand.Rand) (v cloud.VolumeSpec, flag string) {
	v = cloud.VolumeSpec{Type: c.name + "-block", Size: units.Bytes(100+r.IntN(4000)) * units.GiB}
	flag = fmt.Sprintf("%s %s", v.Type, v.Size.Arg())
	if t, _ := cloud.TypeNamed(v.Type); c.kind == "ordered" {
		v.IOPS = units.IOPS(3000 + r.IntN(7000))
		v.Rate = units.Rate(125+r.IntN(150)) * t.RateUnit()
		v.Size += 500 * units.GiB
		flag = fmt.Sprintf("%s %s %viops %s", v.Type, v.Size.Arg(), float64(v.IOPS), v.Rate.Arg())
	}
	return v, flag
}

func (c *ownCloud) ceiling(t *testing.T, r *rand.Rand) {
	t.Helper()
	n, machine, reads := 1+r.IntN(6), r.IntN(4), []float64{0, 0.3, 0.7, 1}[r.IntN(4)]
	bytes := float64(int(4) << r.IntN(5) << 10)
	v, flag := c.volume(r)
	level := "raid0"
	if n == 1 {
		level = ""
	}
	decl, err := topology.FromFlags(fmt.Sprintf("%dx %s", n, flag), level, "", fmt.Sprintf("%s-m%d", c.name, machine))
	if err != nil {
		t.Errorf("%s: %s: %v", c.name, flag, err)
		return
	}
	at, err := topology.FromDeclaration(decl)
	if err != nil {
		t.Errorf("%s: %s: %v", c.name, flag, err)
		return
	}
	w := fio.Workload{Name: "w", Engine: "libaio", Direct: true, ReadShare: reads, Jobs: 16, Depth: 256, Size: 50 * units.GiB}
	if reads > 0 {
		w.ReadBS = units.Bytes(bytes)
	}
	if reads < 1 {
		w.WriteBS = units.Bytes(bytes)
	}
	gibs := float64(v.Size / units.GiB)
	volumes, limit := c.of(float64(n), gibs, v), c.machines[machine].most(reads, bytes)
	want := min(volumes.most(reads, bytes), limit)
	got := ceiling.Of(at, topology.Data, []fio.Workload{w})
	what := fmt.Sprintf("%s (%s): %d x %s on machine %d, %g reads of %g bytes", c.name, c.kind, n, flag, machine, reads, bytes)
	if s := got.Sustained(); s == nil || math.Abs(float64(s.IOPS)/want-1) > 1e-3 {
		t.Errorf("%s: %+v, want %v", what, s, want)
		return
	}
	base := volumes.read.iops
	if c.top == 0 || c.top*float64(n) <= base {
		return
	}
	burst := min(budget{way{c.top * float64(n), volumes.read.rate}, way{c.top * float64(n), volumes.read.rate}, true, true}.most(reads, bytes), limit)
	if burst <= base*1.001 {
		return
	}
	course := got.Course()
	until := c.ios * float64(n) / (burst - base)
	if len(course) != 2 || math.Abs(float64(course[0].Bound.IOPS)/burst-1) > 1e-3 || math.Abs(course[0].Until.Seconds()/until-1) > 1e-2 {
		t.Errorf("%s: %+v, want %v for %v s", what, course, burst, until)
	}
}

func (c *ownCloud) advice(t *testing.T, rnd *rand.Rand) {
	t.Helper()
	r := randomDemand(rnd)
	r.Types, r.Cloud, r.Families, r.Older, r.VCPUs = []string{c.name + "-block"}, cloud.Named(c.name), nil, false, 0
	r.Demand.Durability.AFR, r.Prices = 0, nil
	what := fmt.Sprintf("%s (%s), %s, headroom %g", c.name, c.kind, r.Demand.YAML(), r.Headroom)
	a, err := Advise(r)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	r.Prices = r.Cloud.Prices()
	best, found := bruteElsewhere(r, bruteMachines(r))
	switch {
	case !found && len(a.Rows) == 0:
		return
	case found != (len(a.Rows) > 0):
		t.Errorf("%s: %d rows (%q), and brute force finds %v", what, len(a.Rows), a.Rejected, best)
		return
	}
	row := a.Rows[0]
	if row.Month > best.month {
		t.Errorf("%s: %+v at %v, and there is %v", what, row.Layout, row.Month, best)
	}
	tooSmallElsewhere(t, r, &row, what)
	l := row.Layout
	machine := 0
	if _, err := fmt.Sscanf(row.Type[strings.LastIndex(row.Type, "m")+1:], "%d", &machine); err != nil {
		t.Fatal(err)
	}
	month := float64(l.N)*c.cost(float64(l.Spec.Size)/float64(units.GiB), l.Spec) + c.hour[machine]*cloud.HoursPerMonth
	if math.Abs(float64(row.Month)/1e6-month) > 0.01 {
		t.Errorf("%s: %v a month, by its lists it is %.4f", what, row.Month, month)
	}
}
