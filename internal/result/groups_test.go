package result

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

func near(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Abs(b) }

// TestVerifyIsAPhase: fio first writes and then reads back what it wrote. The rates of the two are
// not added (ux.md D2: 53,768 IOPS were reported where 8,192 I/Os took 1.010 s).
func TestVerifyIsAPhase(t *testing.T) {
	docs := record(t, "--ioengine=libaio", "--direct=1", "--rw=randwrite", "--bs=4k", "--size=4m", "--verify=crc32c")
	section := docs[0].Jobs[0].Options.Section("t")
	w, err := fio.WorkloadOf("t", section)
	if err != nil {
		t.Fatal(err)
	}
	b := &Builder{}
	for _, d := range docs {
		b.Add(d)
	}
	r := &Result{Workloads: []fio.Workload{w}}
	b.Finish(r, nil)
	read, write := r.Total.Read, r.Total.Write
	if read.N != 1024 || write.N != 1024 {
		t.Fatalf("%d reads, %d writes", read.N, write.N)
	}
	took := read.Runtime + write.Runtime
	sum := r.Sum()
	if r.Measured != took || sum.Window != took || !sum.Apart {
		t.Errorf("measured %s, window %s: reads took %s, writes %s", r.Measured, sum.Window, read.Runtime, write.Runtime)
	}
	if want := 2048 / took.Seconds(); !near(r.IOPS.Center, want, 0.01) || !near(float64(sum.IOPS), want, 0.01) {
		t.Errorf("%.0f IOPS, want %.0f: 2,048 I/Os in %s", r.IOPS.Center, want, took)
	}
	if r.Depth.Little > 1.05 {
		t.Errorf("%.2f I/Os in flight, of a job that keeps one", r.Depth.Little)
	}
}

// logging is what fio prints each second of the logging job: 1,280 writes per second for 30 s, and
// 1,023 reads per second from the tenth second to the fifteenth, one reporting group.
func logging() []*fio.Output {
	var docs []*fio.Output
	start := time.Unix(1_700_000_000, 0)
	for s := 1; s <= 30; s++ {
		reads := min(max(s-10, 0), 5)
		j := fio.Job{Name: "steady_write", Runtime: time.Duration(s) * time.Second}
		j.Write = fio.Direction{N: uint64(1280 * s), Bytes: units.Bytes(1280*s) * 64 * units.KiB, Runtime: j.Runtime, IOPS: 1280, BW: 1280 * 65536}
		if reads > 0 {
			run := time.Duration(reads) * time.Second
			j.Read = fio.Direction{N: uint64(1023 * reads), Bytes: units.Bytes(1023*reads) * 256 * units.KiB, Runtime: run, IOPS: 1023, BW: 1023 * 262144}
		}
		docs = append(docs, &fio.Output{Time: start.Add(j.Runtime), Jobs: []fio.Job{j}})
	}
	return docs
}

// TestStepProfile: reads of 5 s inside 30 s of writes (seeds.md wrong 4: "the mean of 2,301 IOPS is
// known to ±17.6 % only", where every second was flat and 43,515 I/Os took 30 s).
func TestStepProfile(t *testing.T) {
	docs := logging()
	b := &Builder{Start: docs[0].Time.Add(-time.Second)}
	for _, d := range docs {
		b.Add(d)
	}
	r := &Result{Workloads: []fio.Workload{
		{Name: "steady_write", Runtime: 30 * time.Second, TimeBased: true},
		{Name: "burst_read", ReadShare: 1, StartDelay: 10 * time.Second, Runtime: 5 * time.Second, TimeBased: true},
	}}
	b.Finish(r, nil)
	want := (30*1280 + 5*1023) / 30.0
	if sum := r.Sum(); !near(float64(sum.IOPS), want, 0.001) || sum.Window != 30*time.Second || !sum.Apart {
		t.Errorf("%+v, want %.0f IOPS over 30 s", sum, want)
	}
	if !near(r.IOPS.Center, want, 0.001) || r.IOPS.Rel() > 0.05 {
		t.Errorf("%.0f IOPS ± %.1f %%, of a job of which each second was flat; want %.0f", r.IOPS.Center, 100*r.IOPS.Rel(), want)
	}
	if r.Total.Read.IOPS != 1023 || r.Total.Read.Runtime != 5*time.Second {
		t.Errorf("reads %+v", r.Total.Read)
	}
}

// TestGroupsAtOnce: groups that new_group makes run at the same time. Each is a part of its own,
// and their total is of one window.
func TestGroupsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	docs := record(t, "--ioengine=null", "--size=1g", "--rw=read", "--bs=4k", "--rate_iops=1000", "--time_based", "--runtime=2", "--numjobs=2", "--group_reporting",
		"--name=b", "--new_group", "--ioengine=null", "--size=1g", "--rw=write", "--bs=4k", "--rate_iops=300", "--time_based", "--runtime=2")
	r := build(docs, time.Now())
	if len(r.Parts) != 2 || r.Parts[0].Name != "t" || r.Parts[1].Name != "b" || r.Parts[0].Group == r.Parts[1].Group {
		t.Fatalf("parts %+v", r.Parts)
	}
	// What fio did in all: a busy machine does less than the rates that were asked for.
	rows := docs[len(docs)-1].Jobs
	read, write := rows[0].Read, rows[1].Write
	if read.N == 0 || write.N == 0 || read.N < 2*write.N {
		t.Fatalf("fio read %d and wrote %d times", read.N, write.N)
	}
	reads, writes := float64(read.N)/read.Runtime.Seconds(), float64(write.N)/write.Runtime.Seconds()
	if a, b := r.Parts[0].Total.Read.IOPS, r.Parts[1].Total.Write.IOPS; !near(float64(a), reads, 0.02) || !near(float64(b), writes, 0.02) {
		t.Errorf("%s and %s IOPS, want %.0f and %.0f", a, b, reads, writes)
	}
	window := max(read.Runtime, write.Runtime).Seconds()
	if sum := r.Sum(); !near(float64(sum.IOPS), float64(read.N+write.N)/window, 0.02) || !near(sum.Window.Seconds(), window, 0.02) {
		t.Errorf("total %+v, want %d I/Os over %.2f s", sum, read.N+write.N, window)
	}
}

// TestHostsAreParts: of fio --client, each host stands below the total.
func TestHostsAreParts(t *testing.T) {
	row := func(host string, iops units.IOPS) fio.Job {
		return fio.Job{Name: "j", Host: host, Count: 1, Runtime: time.Second, Read: fio.Direction{N: uint64(iops), IOPS: iops, Runtime: time.Second}}
	}
	r := &Result{}
	FromOutput(r, &fio.Output{Jobs: []fio.Job{row("a", 1000), row("b", 1000), row("c", 100)}})
	if len(r.Parts) != 3 || r.Parts[2].Name != "c" || r.Parts[2].Total.Read.IOPS != 100 || r.Sum().IOPS != 2100 {
		t.Errorf("%+v: %+v", r.Sum(), r.Parts)
	}
}

// TestNoIntervalFromNothing: of a run of some seconds no interval is known, and nothing looks like
// one of no width (ux.md D4).
func TestNoIntervalFromNothing(t *testing.T) {
	docs := logging()[:3]
	b := &Builder{Start: docs[0].Time.Add(-time.Second)}
	for _, d := range docs {
		b.Add(d)
	}
	r := &Result{}
	b.Finish(r, nil)
	if r.IOPS.HasInterval() || r.IOPS.None != "3 s only" {
		t.Errorf("%+v, of 3 s", r.IOPS)
	}
	written, err := json.Marshal(r.IOPS)
	if err != nil || !strings.Contains(string(written), `"lo":null,"hi":null`) {
		t.Errorf("%s, %v", written, err)
	}
	var back stats.Estimate
	if err := json.Unmarshal(written, &back); err != nil || back.Center != r.IOPS.Center || back.HasInterval() {
		t.Errorf("%+v, %v", back, err)
	}
}
