package ceiling_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// addBucket adds an allowance of what some devices use.
type addBucket func(kind string, base, burst, credits float64, timed bool, of func(usage, oVolume) float64, devs ...int)

// machine adds the allowances of a machine of Azure or Google, by the tables of docs/clouds.md: which
// path each read and each write of a volume takes.
func (c *oCase) machine(add addBucket) {
	var all []int
	for dev, v := range c.array.vols {
		if v.network {
			all = append(all, dev)
		}
	}
	i := c.instance
	own := map[string]bool{}
	for _, cp := range i.caps {
		own[cp.typ] = true
	}
	// What passes the host: not what its cache serves, and not of types that have a limit of their own.
	// Writes that the cache takes are passed on in the long run.
	path := func(u usage, v oVolume, of func(usage) (read, write float64)) float64 {
		read, write := of(u)
		switch {
		case own[v.typ] && v.typ != "":
			return 0
		case v.cache != "":
			return write
		}
		return read + write
	}
	ios := func(u usage) (float64, float64) { return u.readIOs, u.writeIOs }
	bytes := func(u usage) (float64, float64) { return u.readBytes, u.writeBytes }
	burst := func(base, top float64) float64 { return (top - base) * i.seconds }
	add("instance IOPS", i.iops, i.burstIOPS, burst(i.iops, i.burstIOPS), false, func(u usage, v oVolume) float64 { return path(u, v, ios) }, all...)
	add("instance throughput", i.rate, i.burstRate, burst(i.rate, i.burstRate), false, func(u usage, v oVolume) float64 { return path(u, v, bytes) }, all...)
	for _, cp := range i.caps {
		kind := "instance"
		meant := func(v oVolume) bool { return v.typ == cp.typ }
		if cp.typ == "" {
			kind, meant = "host cache", func(v oVolume) bool { return v.cache != "" }
		}
		limit := func(what string, base, top float64, of func(usage) float64) {
			add(kind+" "+what, base, top, burst(base, top), false, func(u usage, v oVolume) float64 {
				if !meant(v) {
					return 0
				}
				return of(u)
			}, all...)
		}
		if cp.readIOPS > 0 {
			continue // see pool
		}
		limit("IOPS", cp.iops, cp.burstIOPS, func(u usage) float64 { return u.readIOs + u.writeIOs })
		limit("throughput", cp.rate, 0, func(u usage) float64 { return u.readBytes + u.writeBytes })
	}
	c.pool(add)
}

// pools are Google's Persistent Disk by facts/clouds/ceilings.md, Google 1 and 2: read and write IOPS and
// MiB/s of a machine with so many GiB of a type, and whether reads and writes share the MiB/s as they
// share the IOPS.
var pools = map[string]func(gibs float64) (read, write, mibs float64, shared bool){
	"gcp-pd-balanced": func(g float64) (float64, float64, float64, bool) { return 3000 + 6*g, 3000 + 6*g, 140 + 0.28*g, false },
	"gcp-pd-ssd": func(g float64) (float64, float64, float64, bool) {
		return 6000 + 30*g, 6000 + 30*g, 240 + 0.48*g, false
	},
	"gcp-pd-standard": func(g float64) (float64, float64, float64, bool) {
		return max(0.75*g, 75), max(1.5*g, 150), max(0.12*g, 12), true
	},
}

// pool adds what the Persistent Disks of the machine have together.
func (c *oCase) pool(add addBucket) {
	var devs []int
	gibs, typ := 0.0, ""
	for dev, v := range c.array.vols {
		if v.pooled {
			devs, typ = append(devs, dev), v.typ
			gibs += float64(v.size / gib)
		}
	}
	if len(devs) == 0 {
		return
	}
	read, write, mibs, shared := pools[typ](gibs)
	one := func(kind string, read, write, readRate, writeRate float64) {
		add(kind+" IOPS", 1, 0, 0, false, func(u usage, _ oVolume) float64 { return u.readIOs/read + u.writeIOs/write }, devs...)
		if shared {
			add(kind+" throughput", 1, 0, 0, false, func(u usage, _ oVolume) float64 { return u.readBytes/readRate + u.writeBytes/writeRate }, devs...)
			return
		}
		add(kind+" throughput", readRate, 0, 0, false, func(u usage, _ oVolume) float64 { return u.readBytes }, devs...)
		add(kind+" throughput", writeRate, 0, 0, false, func(u usage, _ oVolume) float64 { return u.writeBytes }, devs...)
	}
	one("volume", read, write, mibs*float64(mib), mibs*float64(mib))
	for _, cp := range c.instance.caps { // the machine's, by direction, share in the same way
		one("instance", cp.readIOPS, cp.writeIOPS, cp.readRate, cp.writeRate)
	}
}

// anyCloud draws a layout of a cloud's volumes, a machine and a job.
func anyCloud(r *rand.Rand, vendor string) *oCase {
	c := &oCase{}
	a := &c.array
	a.level, a.chunk, a.layout = pick(r, "single", "raid0", "raid0", "raid10"), int64(16*kib)<<r.IntN(6), "near"
	n := map[string]int{"single": 1, "raid0": 2 + r.IntN(5), "raid10": 4}[a.level]
	if a.level == "raid10" {
		a.copies = 2
	}
	base := float64(2000 + r.IntN(15000))
	in := &oInstance{cloud: vendor, iops: base, rate: base * float64(10+r.IntN(40)) * 1000, seconds: 1800, byCredits: true}
	c.instance = in
	one := oVolume{name: "premium", network: true, unit: 256 * kib, size: 512 * gib, iops: 2300, rate: 150e6, burstIOPS: 3500, credits: 1200 * 1800}
	kind := r.IntN(3)
	if vendor == "Google Cloud" {
		in.iops, in.rate, in.seconds = 0, 0, 0
		kind = 3 + r.IntN(3)/2
	}
	switch kind {
	case 0: // plain, with a burst of the machine
		in.burstIOPS, in.burstRate = base*(1.2+2*r.Float64()), in.rate*(1.2+2*r.Float64())
	case 1: // some volumes cached
		one.cache = pick(r, "readonly", "readwrite")
		in.burstIOPS = base * (1.2 + r.Float64())
		in.caps = []oCap{{iops: base * (0.5 + r.Float64()), rate: in.rate * (0.3 + r.Float64())}}
	case 2: // a type with a limit of its own
		one = oVolume{name: "v2", typ: "v2", network: true, size: 512 * gib, iops: float64(3000 + r.IntN(20000)), rate: float64(125+r.IntN(800)) * 1e6}
		in.caps = []oCap{{typ: "v2", iops: base * 1.3, rate: in.rate * 1.2, burstIOPS: base * (1.5 + r.Float64())}}
	case 3: // a pool, and limits by direction
		typ := pick(r, "gcp-pd-balanced", "gcp-pd-ssd", "gcp-pd-standard")
		one = oVolume{name: typ, typ: typ, network: true, pooled: true, size: int64(10+r.IntN(2000)) * gib}
		rate := base * float64(8000+r.IntN(40000))
		in.caps = []oCap{{typ: typ, readIOPS: base, writeIOPS: base * (0.3 + r.Float64()), readRate: rate}}
		in.caps[0].writeRate = rate * pick(r, 1, 0.85, 0.75, 0.5, 0.33) // less where egress or replication bounds writes
	case 4: // volumes that were ordered with figures, and a limit on reads and writes together
		one = oVolume{
			name: "hyperdisk", typ: "hd", network: true, size: 512 * gib, iops: float64(3000 + r.IntN(20000)),
			rate: float64(140+r.IntN(800)) * float64(mib),
		}
		in.caps = []oCap{{typ: "hd", iops: base * 1.3, rate: base * float64(10000+r.IntN(200000))}}
	}
	for i := range n {
		v := one
		if v.cache != "" && i%2 == 1 && a.level == "raid0" {
			v.cache = ""
		}
		a.vols = append(a.vols, v)
	}
	s := anySection(r, a)
	for s.sequential {
		s = anySection(r, a)
	}
	c.sections = append(c.sections, s)
	return c
}

// cloudTopology adds to a case's topology what package topology has of such a machine.
func (c *oCase) cloudTopology(t *topology.Topology) {
	i := c.instance
	t.Instance.Cloud, t.Instance.BurstFor = i.cloud, time.Duration(i.seconds)*time.Second
	if i.byCredits {
		t.Instance.BurstRule = cloud.ByCredits
	}
	for _, cp := range i.caps {
		one := cloud.Cap{Name: cp.typ, Types: []string{cp.typ}, Cache: cp.typ == "", Burst: cloud.Limits{IOPS: units.IOPS(cp.burstIOPS)}}
		one.Baseline = cloud.Limits{
			IOPS: units.IOPS(cp.iops), Rate: units.Rate(cp.rate), ReadIOPS: units.IOPS(cp.readIOPS), WriteIOPS: units.IOPS(cp.writeIOPS),
			ReadRate: units.Rate(cp.readRate), WriteRate: units.Rate(cp.writeRate),
		}
		if cp.readIOPS > 0 { // as package cloud states them
			one.Baseline.SharedIOPS = cloud.Stated
			if cp.typ == "gcp-pd-standard" {
				one.Baseline.SharedRate = cloud.Stated
			}
		}
		t.Instance.Caps = append(t.Instance.Caps, one)
	}
	pool, typ := units.Bytes(0), ""
	vols := t.Arrays[0].Volumes
	for j, v := range c.array.vols {
		vols[j].Type, vols[j].Pooled, vols[j].Caching = v.typ, v.pooled, cloud.Caching(v.cache)
		if v.pooled {
			pool, typ = pool+units.Bytes(v.size), v.typ
		}
	}
	if pool > 0 {
		f, _ := cloud.VolumeLimits(cloud.VolumeSpec{Type: typ, Size: pool})
		t.Instance.Pools = []topology.Pool{{Type: typ, Size: pool, Limits: f.Sustained}}
	}
}

// TestOracleOfClouds is TestOracle with the rules of Azure and Google Cloud: 12 cases of each here, as many as
// PLIMSOLL_ORACLE says in make bench.
func TestOracleOfClouds(t *testing.T) {
	from, n := oracleCases(12)
	for _, vendor := range []string{"Azure", "Google Cloud"} {
		wrong, phases, kinds, writes := 0, map[int]int{}, map[string]int{}, 0
		for seed := range n {
			c := anyCloud(rand.New(rand.NewPCG(uint64(from+seed), 31)), vendor)
			what, many := c.differs(t)
			phases[many]++
			kinds[fmt.Sprint(c.array.vols[0].name, " ", c.array.vols[0].cache)]++
			b := ceiling.Of(c.topology(), topology.Data, c.workloads(t)).Binding()
			if b != nil && b.Kind == ceiling.InstanceRate && c.sections[0].readShare < 1 {
				writes++
			}
			if what != "" {
				if wrong++; wrong <= 5 {
					t.Errorf("seed %d: %s\n%v", from+seed, what, c)
				}
			}
		}
		t.Logf("%s: %d of %d cases differ; by phases %v; %v; the machine's throughput limits %d that write", vendor, wrong, n, phases, kinds, writes)
		if vendor == "Azure" && phases[2]+phases[3]+phases[4] == 0 || len(kinds) < 3 || writes == 0 {
			t.Errorf("the cases are too much alike: %v, %v, %d", phases, kinds, writes)
		}
	}
}
