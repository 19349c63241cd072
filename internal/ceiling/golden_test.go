package ceiling

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// machine builds a topology of n volumes of one type, both roles on one array.
func machine(t rapid.TB, n int, spec cloud.VolumeSpec, level topology.Level, chunk units.Bytes, instance string) *topology.Topology {
	t.Helper()
	f, err := cloud.VolumeLimits(spec)
	if err != nil {
		t.Fatal(err)
	}
	v := topology.Volume{
		Type: spec.Type, Size: spec.Size, Network: true, Sustained: f.Sustained, Burst: f.Burst,
		BurstIOs: f.BurstIOs, BurstBytes: f.BurstBytes, CountedIO: f.CountedIO, Merges: f.Merges,
		Origin: topology.Origin{Kind: topology.Catalogue, Where: f.String()},
	}
	top := &topology.Topology{Arrays: []topology.Array{{Name: "md0", Level: level, Chunk: chunk}}}
	for range n {
		top.Arrays[0].Volumes = append(top.Arrays[0].Volumes, v)
	}
	for _, role := range topology.Roles {
		top.Targets = append(top.Targets, topology.Target{Role: role, Array: "md0"})
	}
	if instance != "" {
		i, ok := cloud.InstanceLimits(instance)
		if !ok {
			t.Fatal(instance)
		}
		top.Instance = topology.Instance{
			Type: instance, Baseline: i.Baseline, Burst: i.Burst, BurstFor: i.BurstFor, BurstPer: i.BurstPer,
			Origin: topology.Origin{Kind: topology.Catalogue, Where: i.String()},
		}
	}
	return top
}

func load(rw string, bs units.Bytes, depth, jobs int) fio.Workload {
	w := fio.Workload{Name: rw, Engine: "libaio", Direct: true, Depth: depth, Jobs: jobs}
	switch rw {
	case "read", "randread":
		w.ReadShare, w.ReadBS = 1, bs
	case "write", "randwrite":
		w.WriteBS = bs
	case "randrw":
		w.ReadShare, w.ReadBS, w.WriteBS = 0.7, bs, bs
	}
	w.Sequential = rw == "read" || rw == "write"
	return w
}

func synced(w fio.Workload) fio.Workload { w.SyncEvery = 1; return w }

const (
	k = units.KiB
	m = units.MiB
)

var gp3 = cloud.VolumeSpec{Type: "gp3"}

// TestDesignTable holds the table of DESIGN 4.3. Measured are the seeds' figures: the ceiling must
// be within 2 % of each.
func TestDesignTable(t *testing.T) {
	data := machine(t, 8, gp3, topology.RAID10, 64*k, "c8g.2xlarge")
	wal := machine(t, 8, gp3, topology.RAID10, 256*k, "c8g.2xlarge")
	gp2 := machine(t, 4, cloud.VolumeSpec{Type: "gp2", Size: 3000 * units.GiB}, topology.RAID0, 64*k, "m5.12xlarge")
	io2 := cloud.VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 50001}
	for _, c := range []struct {
		name     string
		top      *topology.Topology
		load     fio.Workload
		latency  time.Duration
		iops     float64
		binding  string
		measured float64
		lasting  float64
		lasts    string
		next     string
	}{
		{"randread 8k", data, load("randread", 8*k, 64, 4), 0, 24000, "volume IOPS", 0, 12000, "instance IOPS", "instance IOPS (burst)"},
		{"randwrite 8k", data, load("randwrite", 8*k, 64, 4), 0, 12000, "volume IOPS", 12200, 6000, "instance IOPS", "instance IOPS (burst)"},
		{"randrw 70/30 8k", data, load("randrw", 8*k, 64, 4), 0, 18461.5, "volume IOPS", 18700, 9230.8, "instance IOPS", "instance IOPS (burst)"},
		{"read 1M", data, load("read", m, 16, 1), 0, 1000, "volume throughput", 1003, 298.023, "instance throughput", "instance throughput (burst)"},
		{"write 1M", data, load("write", m, 16, 1), 0, 500, "volume throughput", 509, 149.012, "instance throughput", "instance throughput (burst)"},
		{"write 32k fdatasync", wal, synced(load("write", 32*k, 32, 4)), 0, 16000, "volume throughput", 16200, 4768.4, "instance throughput", "instance throughput (burst)"},
		{"write 8k fdatasync QD1", wal, synced(load("write", 8*k, 1, 1)), 1858 * time.Microsecond, 538.2, "concurrency", 536, 538.2, "concurrency", "volume throughput"},
		{"randread 8k QD1", data, load("randread", 8*k, 1, 1), 589 * time.Microsecond, 1697.8, "concurrency", 1690, 1697.8, "concurrency", "volume IOPS"},
		{"randwrite 16k libaio", gp2, load("randwrite", 16*k, 32, 16), 0, 36000, "volume IOPS", 36155, 36000, "volume IOPS", "instance IOPS"},
		{"randwrite 16k psync", gp2, load("randwrite", 16*k, 1, 16), 600900, 26626.7, "concurrency", 26598, 26626.7, "concurrency", "volume IOPS"},
		{"c6a.xlarge", machine(t, 1, io2, topology.Single, 0, "c6a.xlarge"), load("randwrite", 16*k, 1, 16), 0, 40000, "instance IOPS (burst)", 40100, 6000, "instance IOPS", "volume IOPS"},
		{"m5a.xlarge", machine(t, 1, io2, topology.Single, 0, "m5a.xlarge"), load("randwrite", 16*k, 1, 16), 0, 16000, "instance IOPS (burst)", 16000, 6000, "instance IOPS", "instance throughput (burst)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Of(c.top, topology.Data, []fio.Workload{c.load})
			if c.latency > 0 {
				got = got.WithLatency(c.latency, c.latency, 0, topology.Origin{Kind: topology.Detected})
			}
			if !got.Known() {
				t.Fatal("not known")
			}
			b, s, n := got.Binding(), got.Sustained(), got.Next()
			if math.Abs(float64(b.IOPS)-c.iops) > 0.1 || b.Label() != c.binding {
				t.Errorf("binding %v by %s, want %v by %s", b.IOPS, b.Label(), c.iops, c.binding)
			}
			if math.Abs(float64(s.IOPS)-c.lasting) > 0.1 || s.Label() != c.lasts {
				t.Errorf("sustained %v by %s, want %v by %s", s.IOPS, s.Label(), c.lasting, c.lasts)
			}
			if n.Label() != c.next || n.IOPS < b.IOPS {
				t.Errorf("next %v by %s, want %s", n.IOPS, n.Label(), c.next)
			}
			if c.measured > 0 && math.Abs(c.measured/float64(b.IOPS)-1) > 0.02 {
				t.Errorf("measured %v is not within 2 %% of %v", c.measured, b.IOPS)
			}
			if d := float64(b.ReadIOPS+b.WriteIOPS-b.IOPS) / float64(b.IOPS); math.Abs(d) > 1e-9 {
				t.Errorf("reads and writes do not add up: %+v", b)
			}
			t.Logf("%s: %s", b.Label(), b.How)
		})
	}
	mixed := Of(data, topology.Data, []fio.Workload{load("randrw", 8*k, 64, 4)}).Binding()
	if got := fmt.Sprintf("%v = %v r + %v w", mixed.IOPS, mixed.ReadIOPS, mixed.WriteIOPS); got != "18,462 = 12,923 r + 5,538 w" {
		t.Error(got)
	}
	if want := "8 volumes × 3,000 IOPS ÷ 1.3 volume I/Os per I/O"; mixed.How != want {
		t.Errorf("how: %q, want %q", mixed.How, want)
	}
}

// The guide's machine falls from its burst to its sustained rate after 30 minutes.
func TestCourse(t *testing.T) {
	data := machine(t, 8, gp3, topology.RAID10, 64*k, "c8g.2xlarge")
	steps := Of(data, topology.Data, []fio.Workload{load("randread", 8*k, 64, 4)}).Course()
	if len(steps) != 2 || steps[0].Until != 30*time.Minute || steps[0].Bound.IOPS != 24000 || steps[1].Until != 0 || steps[1].Bound.IOPS != 12000 {
		t.Errorf("%+v", steps)
	}
	// 100 GiB gp2: 3,000 IOPS for 5.4M/(3000-300) = 2,000 s, then 300 (AWS's own example).
	one := machine(t, 1, cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB}, topology.Single, 0, "")
	steps = Of(one, topology.Data, []fio.Workload{load("randread", 16*k, 32, 1)}).Course()
	if len(steps) != 2 || steps[0].Until != 2000*time.Second || steps[0].Bound.IOPS != 3000 || steps[1].Bound.IOPS != 300 {
		t.Errorf("gp2: %+v", steps)
	}
	// The same read 64 KiB at a time is held to 128 MiB/s = 2,048 IOPS, so the credits last longer:
	// 5.4M/(2048-300) s.
	c := Of(one, topology.Data, []fio.Workload{load("randread", 64*k, 32, 1)})
	steps = c.Course()
	if want := time.Duration(math.Round(5.4e6/1748)) * time.Second; len(steps) != 2 || steps[0].Bound.IOPS != 2048 || steps[0].Until != want {
		t.Errorf("gp2 64k: want until %v, got %+v", want, steps)
	}
	// st1, 5 TiB: bursts at 500 MiB/s and drains 5 TiB at 300 MiB/s net: 17,476 s (facts,
	// worked_checks).
	st1 := machine(t, 1, cloud.VolumeSpec{Type: "st1", Size: 5 * units.TiB}, topology.Single, 0, "")
	steps = Of(st1, topology.Data, []fio.Workload{load("read", m, 16, 1)}).Course()
	if len(steps) != 2 || steps[0].Until != 17476*time.Second || steps[0].Bound.BW != 500*units.MiBPerSec || steps[1].Bound.BW != 200*units.MiBPerSec {
		t.Errorf("st1: %+v", steps)
	}
	// Random 16 KiB reads cost a 1 MiB credit each: 500 IOPS, then 200.
	steps = Of(st1, topology.Data, []fio.Workload{load("randread", 16*k, 16, 1)}).Course()
	if len(steps) != 2 || steps[0].Bound.IOPS != 500 || steps[1].Bound.IOPS != 200 || steps[0].Until != 17476*time.Second {
		t.Errorf("st1 random: %+v", steps)
	}
}

// Split factors of DESIGN 4.3 and of a real kernel (Hsuewei/Fio-8striped-NVMe, rounds 15 and 16; 16
// ramped 30 s before its 90 s).
func TestChunks(t *testing.T) {
	for _, c := range []struct {
		bs, chunk units.Bytes
		want      float64
	}{
		{28 * k, 64 * k, 1.375},
		{28 * k, 128 * k, 1.1875},
		{28 * k, 512 * k, 1.046875},
		{8 * k, 64 * k, 1},
		{m, 64 * k, 16},
		{64 * k, 64 * k, 1},
		{96 * k, 64 * k, 2},
		{4 * k, 0, 1},
		{100 * k, 64 * k, 2.5},
	} {
		if got := topology.Pieces(c.bs, c.chunk); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v on %v: %v, want %v", c.bs, c.chunk, got, c.want)
		}
	}
	for _, c := range []struct{ ios, issued float64 }{{8560869, 8194307}, {29929030, 21434824 * 120.0 / 90}} {
		if chunk, sure := InferChunk(28*k, c.ios, c.issued); chunk != 512*k || sure < 0.85 {
			t.Errorf("%v/%v: %v (%.2f), want 512KiB", c.ios, c.issued, chunk, sure)
		}
	}
	for _, c := range []struct{ bs, ios, issued float64 }{{28 * 1024, 1000, 1000}, {4096, 1200, 1000}, {0, 2, 1}, {28 * 1024, 5, 0}} {
		if chunk, sure := InferChunk(units.Bytes(c.bs), c.ios, c.issued); chunk != 0 || sure != 0 {
			t.Errorf("%+v: %v (%.2f), want nothing", c, chunk, sure)
		}
	}
	if _, sure := InferChunk(28*k, 1070, 1000); sure > 0.1 {
		t.Errorf("half-way between 256 and 512 KiB: confidence %.2f", sure)
	}
}
