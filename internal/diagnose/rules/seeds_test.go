package rules

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// excerpt is an output of a document: one by its place, or all below a heading.
type excerpt struct {
	document string
	at       int
	title    string
}

const (
	instances = "ebs-across-instances.md"
	striping  = "raid0-4xgp2-m5.12xlarge.md"
	using     = "workload-to-jobfile.md"
)

var excerpts = map[string]excerpt{
	"ebs-c6a": {instances, 0, ""}, "ebs-m6a": {instances, 1, ""}, "ebs-r6a": {instances, 2, ""}, "ebs-m5a": {instances, 3, ""},
	"raid0-write-deep": {striping, 0, ""}, "raid0-write-psync": {striping, 1, ""},
	"raid0-read-deep": {striping, 2, ""}, "raid0-read-psync": {striping, 3, ""},
	"striped-15": {"MS-28k-r-r-15.log", 0, ""}, "striped-16": {"MS-28k-r-r-16.log", 0, ""},
	"logging-io2": {using, 0, "nvme1"}, "logging-gp3": {using, 0, "nvme2"},
}

// imported builds a run from fio's own text, as import does: what ran is stated by the job file or
// command line above it.
func imported(t testing.TB, id int, file string, ws ...fio.Workload) diagnose.Measurement {
	t.Helper()
	from := excerpts[file]
	text, err := os.Open(filepath.Join("../../../testdata/seeds", from.document))
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close() //nolint:errcheck // only read
	outs, err := output.Read(from.document, text)
	if err != nil {
		t.Fatal(err)
	}
	if from.title != "" {
		outs = slices.DeleteFunc(outs, func(o *fio.Output) bool { return strings.TrimSuffix(o.Title, ":") != from.title })
	} else {
		outs = outs[from.at : from.at+1]
	}
	if len(outs) == 0 {
		t.Fatalf("%s: nothing found", file)
	}
	r := &result.Result{ID: id, Name: file, State: result.Done, Source: file, Workloads: ws}
	for _, o := range outs {
		r.Jobs = append(r.Jobs, o.Jobs...)
		r.Disks = append(r.Disks, o.Disks...)
	}
	r.Total = (&fio.Output{Jobs: r.Jobs}).Total()
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
	return diagnose.Measurement{Scenario: suite.Scenario{ID: id, Name: file}, Result: r}
}

// declared is the topology that flags of `plimsoll ceiling` make, both roles on one array.
func declared(t testing.TB, volumes, level, chunk, instance string) *topology.Topology {
	t.Helper()
	d, err := topology.FromFlags(volumes, level, chunk, instance)
	if err != nil {
		t.Fatal(err)
	}
	top, err := topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// under gives runs the ceilings that a bundle gives them, and makes a case of them.
func under(top *topology.Topology, runs ...diagnose.Measurement) diagnose.Case {
	for i, m := range runs {
		role := cmp.Or(m.Scenario.Role, topology.Data)
		volumes := len(top.Array(top.For(role).Array).Volumes)
		c := ceiling.Of(top, role, m.Workloads).Measured(m.Result, volumes)
		runs[i].Ceiling = &c
		runs[i].Scenario.Role = role
	}
	return diagnose.Case{Topology: top, Runs: runs}
}

// seedCases are the seeds' own data, imported from fio's text or, where only a table was printed,
// built from its figures, under the ceilings of the catalogue.
func seedCases(t testing.TB) []labelled {
	striped := func(ramp time.Duration) fio.Workload {
		w := random(1, 28*units.KiB, 8, 32)
		w.Ramp = ramp
		if ramp > 0 {
			w.Runtime = 90 * time.Second
		}
		return w
	}
	drives := func() *topology.Topology {
		top := on("", array("md0", topology.RAID0, 512*units.KiB, 4, p4510()))
		for i, n := range []string{"nvme0n1", "nvme2n1", "nvme4n1", "nvme6n1"} {
			top.Arrays[0].Volumes[i].Device = n
		}
		return top
	}
	deep := func(read float64) fio.Workload { return for180(random(read, 16*units.KiB, 16, 32)) }
	flat := func(read float64) fio.Workload { return for180(random(read, 16*units.KiB, 16, 1)) }
	gp2 := declared(t, "4xgp2:3000GiB", "raid0", "64k", "m5.12xlarge")
	xlarge := func(instance string) *topology.Topology {
		return declared(t, "io2:100GiB:50001iops", "", "", instance)
	}
	// read.txt of that repository gives these two as fio printed them.
	read := func(iops, ms float64) diagnose.Measurement {
		return measured(1, flat(1), runFor(180*time.Second), took(iops, 0, ms))
	}
	logging := []fio.Workload{
		{
			Name: "steady_write", Engine: "libaio", Direct: true, Sequential: true, WriteBS: 64 * units.KiB, Jobs: 16, Depth: 64,
			ReadRate: 16 * units.MiBPerSec, WriteRate: 5 * units.MiBPerSec, TimeBased: true, Runtime: 30 * time.Second,
		},
		{
			Name: "burst_read", Engine: "libaio", Direct: true, Sequential: true, ReadShare: 1, ReadBS: 256 * units.KiB, Jobs: 16, Depth: 64,
			ReadRate: 16 * units.MiBPerSec, WriteRate: 5 * units.MiBPerSec, TimeBased: true, Runtime: 5 * time.Second, StartDelay: 10 * time.Second,
		},
	}
	asImported := func(m ...diagnose.Measurement) diagnose.Case {
		return diagnose.Case{Topology: &topology.Topology{}, Runs: m}
	}
	return []labelled{
		{"striped round 16, drives declared", under(drives(), imported(t, 16, "striped-16", striped(30*time.Second))), "PL401 PL206", "PL204"},
		{"striped round 16, as imported", asImported(imported(t, 16, "striped-16", striped(30*time.Second))), "PL401 PL206", "PL204"},
		{"striped round 15, drives declared", under(drives(), imported(t, 15, "striped-15", striped(0))), "PL503 PL206", "PL404"},
		{"striped round 15, as imported", asImported(imported(t, 15, "striped-15", striped(0))), "PL206", "PL404"},
		{"striped, as mounted", diagnose.Case{Topology: p4510Mounts()}, "PL207 PL203 PL208", ""},
		{"raid0 of gp2, all four runs", under(gp2, imported(t, 1, "raid0-write-deep", deep(0)), imported(t, 2, "raid0-write-psync", flat(0)),
			imported(t, 3, "raid0-read-deep", deep(1)), imported(t, 4, "raid0-read-psync", flat(1))), "PL501 PL502", "PL404 PL204"}, // it gives all that was paid for: PL204 is an info
		{"raid0 of gp2, deep writes as imported", asImported(imported(t, 1, "raid0-write-deep", deep(0))), "PL204", "PL404"},
		{"raid0 of gp2, psync writes as imported", asImported(imported(t, 2, "raid0-write-psync", flat(0))), "PL501", ""},
		{"c6a.xlarge, writes", under(xlarge("c6a.xlarge"), imported(t, 1, "ebs-c6a", flat(0))), "PL601 PL505", ""},
		{"m6a.xlarge, writes", under(xlarge("m6a.xlarge"), imported(t, 1, "ebs-m6a", flat(0))), "PL601 PL505", ""},
		{"r6a.xlarge, writes", under(xlarge("r6a.xlarge"), imported(t, 1, "ebs-r6a", flat(0))), "PL601 PL505", ""},
		{"m5a.xlarge, writes", under(xlarge("m5a.xlarge"), imported(t, 1, "ebs-m5a", flat(0))), "PL601 PL505", ""},
		// Runs that outlast the burst of 30 min: 40,000 to the end cannot be, and a mean of 28,667 is 30 min of 40,000 and
		// 15 of 6,000, in a closed loop too.
		{"c6a.xlarge, 45 min at the burst", under(xlarge("c6a.xlarge"), measured(1, flat(0), runFor(45*time.Minute),
			took(0, 40000, 0.4))), "PL601 PL505", ""},
		{"c6a.xlarge, 45 min across its end", under(xlarge("c6a.xlarge"), measured(1, flat(0), runFor(45*time.Minute),
			took(0, 28667, 0.558))), "PL503", "PL501"},
		{"c6a.xlarge, 45 min across its end, deep", under(xlarge("c6a.xlarge"), measured(1, deep(0), runFor(45*time.Minute),
			took(0, 28667, 17.9))), "PL503", ""},
		{"c6a.xlarge, reads of 37.1k", under(xlarge("c6a.xlarge"), read(37100, 0.43)), "PL501 PL601", ""},
		{"m6a.xlarge, reads of 33.4k", under(xlarge("m6a.xlarge"), read(33400, 0.48)), "PL501 PL601", ""},
		{"the guide, all ten", guide(t), "PL408 PL501 PL502 PL506 PL601", ""},
		{"logging application on io2", asImported(imported(t, 1, "logging-io2", logging...)), "PL417 PL504", ""},
		{"logging application on gp3", asImported(imported(t, 2, "logging-gp3", logging...)), "PL417 PL504", ""},
	}
}

// p4510Mounts is the striped seed's layout: both mount lines name md0, sw=8 on four drives,
// discard.
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
func guide(t testing.TB) diagnose.Case {
	top := declared(t, "8xgp3", "raid10", "64k", "c8g.2xlarge")
	walArray := top.Arrays[0]
	top.Arrays[0].Name, walArray.Name, walArray.Chunk = "md0", "md1", 256*units.KiB
	top.Arrays = append(top.Arrays, walArray)
	for i := range top.Targets {
		top.Targets[i].Array = map[topology.Role]string{topology.Data: "md0", topology.WAL: "md1"}[top.Targets[i].Role]
	}
	const k8, k32 = 8 * units.KiB, 32 * units.KiB
	seq := func(read float64, bs units.Bytes, jobs, depth, sync int) fio.Workload {
		w := random(read, bs, jobs, depth)
		w.Sequential, w.SyncEvery = true, sync
		return w
	}
	mixSync := random(0.7, k8, 4, 32)
	mixSync.SyncEvery = 1
	return under(top,
		measured(1, seq(0, k8, 1, 1, 1), took(0, 536, 1.858), wal, inPhase("latency")),
		measured(2, random(0.7, k8, 4, 64), took(13100, 5600, 13.7)),
		measured(3, random(1, k8, 1, 1), took(1690, 0, 0.589), inPhase("latency")),
		measured(4, seq(1, units.MiB, 1, 16, 0), took(1003, 0, 15.96)),
		measured(5, seq(0, units.MiB, 1, 16, 0), took(0, 508, 31.5), wal),
		measured(6, seq(0, k32, 4, 32, 1), took(0, 16200, 7.9), wal),
		measured(7, seq(0, units.MiB, 1, 16, 0), took(0, 509, 31.4)),
		measured(8, random(0, k8, 4, 64), took(0, 12200, 21)),
		measured(9, mixSync, took(13100, 5600, 6.8)),
		measured(10, seq(1, units.MiB, 1, 8, 0), took(1003, 0, 7.98), wal),
	)
}
