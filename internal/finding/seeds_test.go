package finding

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// imported builds a run from fio's own text, as import does: what ran is told by the job file or command line above it.
func imported(t *testing.T, id int, file string, ws ...fio.Workload) Measurement {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "seeds", file+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	outs, err := fio.ReadText(f)
	if err != nil || len(outs) == 0 {
		t.Fatalf("%s: %d outputs, %v", file, len(outs), err)
	}
	r := &result.Result{ID: id, Name: file, State: result.Done, Source: file, Workloads: ws}
	for _, o := range outs {
		r.Jobs = append(r.Jobs, o.Jobs...)
		r.Disks = append(r.Disks, o.Disks...)
	}
	r.Total = fio.MergeJobs(r.Jobs)
	if len(r.Jobs) == 1 {
		r.Total.Buckets = r.Jobs[0].Buckets
	}
	for _, o := range outs { // a status group without its jobs gives bandwidth and time
		for _, g := range o.Groups {
			if r.Total.Read.N+r.Total.Write.N > 0 {
				break
			}
			r.Total.Read = fio.Direction{Bytes: g.Directions["READ"].Bytes, BW: g.Directions["READ"].BW, Runtime: g.Directions["READ"].MaxRun}
			r.Total.Write = fio.Direction{Bytes: g.Directions["WRITE"].Bytes, BW: g.Directions["WRITE"].BW, Runtime: g.Directions["WRITE"].MaxRun}
		}
	}
	for _, d := range []fio.Direction{r.Total.Read, r.Total.Write} {
		r.Measured = max(r.Measured, d.Runtime)
	}
	return Measurement{Scenario: suite.Scenario{ID: id, Name: file}, Result: r}
}

// seedCases are the seeds' own data, imported from fio's text or, where only a table was printed, built from its figures.
func seedCases(t *testing.T) []labelled {
	striped := func(ramp time.Duration) fio.Workload {
		w := random(1, 28*units.KiB, 8, 32)
		w.Ramp = ramp
		if ramp > 0 {
			w.Runtime = 90 * time.Second
		}
		return w
	}
	p4510s := on("", array("md0", topology.RAID0, 512*units.KiB, 4, p4510()))
	for i, n := range []string{"nvme0n1", "nvme2n1", "nvme4n1", "nvme6n1"} {
		p4510s.Arrays[0].Volumes[i].Device = n
	}
	reads := bounds(limit(ceiling.VolumeRate, 4*3000e6/(28*1024)/ceiling.Pieces(28*units.KiB, 512*units.KiB), 28*units.KiB))
	declared := func(m Measurement, c *ceiling.Ceiling) Measurement { m.Ceiling = c; return m }

	deep := func(read float64) fio.Workload { return for180(random(read, 16*units.KiB, 16, 32)) }
	flat := func(read float64) fio.Workload { return for180(random(read, 16*units.KiB, 16, 1)) }
	gp2 := topology.Volume{
		Type: "gp2", Network: true, Size: 3000 * units.GiB,
		Sustained: topology.Limits{IOPS: 9000, Rate: 250 * units.MiBPerSec},
	}
	four := bounds(limit(ceiling.VolumeIOPS, 36000, 16*units.KiB), limit(ceiling.InstanceIOPS, 40000, 16*units.KiB))
	raid0 := []Measurement{
		declared(imported(t, 1, "raid0-write-deep", deep(0)), four), declared(imported(t, 2, "raid0-write-psync", flat(0)), four),
		declared(imported(t, 3, "raid0-read-deep", deep(1)), four), declared(imported(t, 4, "raid0-read-psync", flat(1)), four),
	}
	// facts/ec2-ebs-limits.csv: IOPS and MB/s, baseline and burst; the burst lasts 30 minutes a day.
	xlarge := func(sustained, most float64) *ceiling.Ceiling {
		return bounds(
			limit(ceiling.InstanceIOPS, sustained, 16*units.KiB), burstOf(limit(ceiling.InstanceIOPS, most, 16*units.KiB), 30*time.Minute),
			limit(ceiling.VolumeIOPS, 50000, 16*units.KiB),
		)
	}
	io2 := array("nvme1n1", topology.Single, 0, 1, topology.Volume{Type: "io2", Network: true, Sustained: topology.Limits{IOPS: 50000}})
	// read.txt of that repository gives these two as fio printed them.
	read := func(iops, ms float64) Measurement {
		return measured(1, flat(1), runFor(180*time.Second), took(iops, 0, ms), withCeiling(xlarge(6000, 40000)))
	}
	logging := []fio.Workload{
		{Name: "steady_write", Engine: "libaio", Direct: true, Sequential: true, WriteBS: 64 * units.KiB, Jobs: 16, Depth: 64, ReadRate: 16 * units.MiBPerSec, WriteRate: 5 * units.MiBPerSec, TimeBased: true, Runtime: 30 * time.Second},
		{Name: "burst_read", Engine: "libaio", Direct: true, Sequential: true, ReadShare: 1, ReadBS: 256 * units.KiB, Jobs: 16, Depth: 64, ReadRate: 16 * units.MiBPerSec, WriteRate: 5 * units.MiBPerSec, TimeBased: true, Runtime: 5 * time.Second, StartDelay: 10 * time.Second},
	}
	mounts := p4510Mounts()

	return []labelled{
		{"striped round 16, drives declared", Case{p4510s, []Measurement{declared(imported(t, 16, "striped-16", striped(30*time.Second)), reads)}}, "PL401 PL206", "PL204"},
		{"striped round 16, as imported", Case{nil, []Measurement{imported(t, 16, "striped-16", striped(30*time.Second))}}, "PL401 PL206", "PL204"},
		{"striped round 15, drives declared", Case{p4510s, []Measurement{declared(imported(t, 15, "striped-15", striped(0)), reads)}}, "PL503 PL206", "PL404"},
		{"striped round 15, as imported", Case{nil, []Measurement{imported(t, 15, "striped-15", striped(0))}}, "PL206", "PL404"},
		{"striped, as mounted", Case{mounts, nil}, "PL207 PL203 PL208", ""},
		{"raid0 of gp2, all four runs", Case{on("m5.12xlarge", array("md0", topology.RAID0, 64*units.KiB, 4, gp2)), raid0}, "PL204 PL501 PL502", "PL404"},
		{"raid0 of gp2, deep writes as imported", Case{nil, []Measurement{imported(t, 1, "raid0-write-deep", deep(0))}}, "PL204", "PL404"},
		{"raid0 of gp2, psync writes as imported", Case{nil, []Measurement{imported(t, 2, "raid0-write-psync", flat(0))}}, "PL501", ""},
		{"c6a.xlarge, writes", Case{on("c6a.xlarge", io2), []Measurement{declared(imported(t, 1, "ebs-c6a", flat(0)), xlarge(6000, 40000))}}, "PL601 PL505", ""},
		{"m6a.xlarge, writes", Case{on("m6a.xlarge", io2), []Measurement{declared(imported(t, 1, "ebs-m6a", flat(0)), xlarge(6000, 40000))}}, "PL601 PL505", ""},
		{"r6a.xlarge, writes", Case{on("r6a.xlarge", io2), []Measurement{declared(imported(t, 1, "ebs-r6a", flat(0)), xlarge(6000, 40000))}}, "PL601 PL505", ""},
		{"m5a.xlarge, writes", Case{on("m5a.xlarge", io2), []Measurement{declared(imported(t, 1, "ebs-m5a", flat(0)), xlarge(6000, 16000))}}, "PL601 PL505", ""},
		{"c6a.xlarge, reads of 37.1k", Case{on("c6a.xlarge", io2), []Measurement{read(37100, 0.43)}}, "PL501 PL601", ""},
		{"m6a.xlarge, reads of 33.4k", Case{on("m6a.xlarge", io2), []Measurement{read(33400, 0.48)}}, "PL501 PL601", ""},
		{"the guide, all ten", guide(), "PL408 PL501 PL502 PL506 PL601", ""},
		{"logging application on io2", Case{nil, []Measurement{imported(t, 1, "logging-io2", logging...)}}, "PL417 PL504", ""},
		{"logging application on gp3", Case{nil, []Measurement{imported(t, 2, "logging-gp3", logging...)}}, "PL417 PL504", ""},
	}
}

// p4510Mounts is the striped seed's layout: both mount lines name md0, sw=8 on four drives, discard.
func p4510Mounts() *topology.Topology {
	t := on("", array("md0", topology.RAID0, 64*units.KiB, 4, p4510()), array("md1", topology.RAID0, 64*units.KiB, 4, p4510()))
	for i, point := range []string{"/opt/fio/t0", "/opt/fio/t1"} {
		t.Targets[i].Path, t.Targets[i].Device, t.Targets[i].Array = point, "md0", "md0"
		t.Targets[i].Mount = &block.Mount{
			Point: point, Device: "md0", Source: "/dev/md0", FS: "xfs", Root: "/", Options: []string{"noatime", "nodiratime", "discard"},
			Geometry: block.Geometry{Known: true, BlockSize: 4 * units.KiB, StripeUnit: 64 * units.KiB, StripeWide: 512 * units.KiB},
		}
	}
	return t
}

// guide is disk-benchmark-guide.md: its ten results on two RAID10 of eight gp3 and a c8g.2xlarge.
func guide() Case {
	top := on("c8g.2xlarge", array("md0", topology.RAID10, 64*units.KiB, 8, gp3()), array("md1", topology.RAID10, 256*units.KiB, 8, gp3()))
	seq := func(read float64, bs units.Bytes, jobs, depth, sync int) fio.Workload {
		w := random(read, bs, jobs, depth)
		w.Sequential, w.SyncEvery = true, sync
		return w
	}
	c := func(bs units.Bytes, volumes float64, kind ceiling.Kind) *ceiling.Ceiling {
		return bounds(
			limit(kind, volumes, bs),
			limit(ceiling.InstanceIOPS, 12000, bs), burstOf(limit(ceiling.InstanceIOPS, 40000, bs), 30*time.Minute),
			limit(ceiling.InstanceRate, 312.5e6/float64(bs), bs), burstOf(limit(ceiling.InstanceRate, 1250e6/float64(bs), bs), 30*time.Minute),
		)
	}
	mix := random(0.7, 8*units.KiB, 4, 64)
	mixSync := random(0.7, 8*units.KiB, 4, 32)
	mixSync.SyncEvery = 1
	const k8, k32 = 8 * units.KiB, 32 * units.KiB
	all := []Measurement{
		measured(1, seq(0, k8, 1, 1, 1), took(0, 536, 1.858), withCeiling(c(k8, 16000, ceiling.VolumeIOPS)), wal, inPhase("latency")),
		measured(2, mix, took(13100, 5600, 13.7), withCeiling(c(k8, 18462, ceiling.VolumeIOPS))),
		measured(3, random(1, k8, 1, 1), took(1690, 0, 0.589), withCeiling(c(k8, 24000, ceiling.VolumeIOPS)), inPhase("latency")),
		measured(4, seq(1, units.MiB, 1, 16, 0), took(1003, 0, 15.96), withCeiling(c(units.MiB, 1000, ceiling.VolumeRate))),
		measured(5, seq(0, units.MiB, 1, 16, 0), took(0, 508, 31.5), withCeiling(c(units.MiB, 500, ceiling.VolumeRate)), wal),
		measured(6, seq(0, k32, 4, 32, 1), took(0, 16200, 7.9), withCeiling(c(k32, 16000, ceiling.VolumeRate)), wal),
		measured(7, seq(0, units.MiB, 1, 16, 0), took(0, 509, 31.4), withCeiling(c(units.MiB, 500, ceiling.VolumeRate))),
		measured(8, random(0, k8, 4, 64), took(0, 12200, 21), withCeiling(c(k8, 12000, ceiling.VolumeIOPS))),
		measured(9, mixSync, took(13100, 5600, 6.8), withCeiling(c(k8, 18462, ceiling.VolumeIOPS))),
		measured(10, seq(1, units.MiB, 1, 8, 0), took(1003, 0, 7.98), withCeiling(c(units.MiB, 1000, ceiling.VolumeRate)), wal),
	}
	return Case{top, all}
}
