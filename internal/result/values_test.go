package result

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

func TestKeyOfAWorkload(t *testing.T) {
	rates := func(depth int, iops units.IOPS, bw units.Rate, w ...fio.Workload) *Result {
		return &Result{
			Depth: Depth{Asked: depth}, Workloads: w,
			Total: fio.Job{Read: fio.Direction{N: 1, IOPS: iops, BW: bw, Runtime: time.Second}},
		}
	}
	printed := rates(1, 500, 500*8192) // an import, whose options nobody knows
	printed.Paced = true
	for name, c := range map[string]struct {
		r    *Result
		want Key
	}{
		"one at a time, as fio printed": {printed, ByIOPS},
		"nothing":                       {nil, ByIOPS},
		"one at a time":                 {rates(1, 500, 500*8192), ByLatency},
		"one at a time, of a megabyte":  {rates(1, 500, 500*1048576), ByLatency},
		"one at a time, held back":      {rates(1, 500, 500*8192, fio.Workload{}, fio.Workload{ReadIOPS: 500}), ByIOPS},
		"two at a time":                 {rates(2, 500, 500*8192), ByIOPS},
		"128 KiB":                       {rates(32, 500, 500*131072), ByBandwidth},
		"less than 128 KiB":             {rates(32, 500, 500*131071), ByIOPS},
		"bytes without I/Os":            {rates(32, 0, 1), ByBandwidth},
		"neither":                       {rates(32, 0, 0), ByIOPS},
		"128 KiB, held back, one alone": {rates(1, 500, 500*131072, fio.Workload{ThinkTime: 1}), ByBandwidth},
	} {
		if got := KeyOf(c.r); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, c := range []struct{ got, want string }{
		{ByBandwidth.Print(10, 500*units.MiBPerSec), "500 MiB/s"},
		{ByIOPS.Print(1200, 5), "1,200 IOPS"},
		{ByLatency.Print(500, 5), "2 ms"}, // 1 s / 500
		{ByLatency.Print(0, 5), "0 IOPS"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
	for _, c := range []struct {
		key           Key
		n, mostN      units.IOPS
		bw, most      units.Rate
		want          float64
		what          string
		_, _, _, _, _ struct{}
	}{
		{key: ByBandwidth, n: 1, mostN: 10, bw: 30, most: 40, want: 0.75, what: "bandwidth"},
		{key: ByBandwidth, n: 1, mostN: 10, bw: 30, want: 0.1, what: "bandwidth of no known limit"},
		{key: ByIOPS, n: 1, mostN: 4, bw: 30, most: 40, want: 0.25, what: "IOPS"},
		{key: ByLatency, n: 3, bw: 30, most: 40, want: 0, what: "nothing known"},
		{key: ByIOPS, n: 3, mostN: 1, want: 3, what: "a limit of one"},
	} {
		if got := c.key.Share(c.n, c.bw, c.mostN, c.most); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestPeak(t *testing.T) {
	var none *Postgres
	if none.Peak() != nil || (&Postgres{Steps: []PgStep{{TPS: 9}}}).Peak() != nil {
		t.Error("a peak of nothing")
	}
	p := &Postgres{Steps: []PgStep{
		{Clients: 1, Transactions: 1, TPS: 90}, {Clients: 8, Transactions: 1, TPS: 400}, {Clients: 16, Transactions: 1, TPS: 400}, {Clients: 32, TPS: 900},
	}}
	if got := p.Peak(); got.Clients != 8 {
		t.Errorf("%+v", got)
	}
}

func TestS(t *testing.T) {
	probe := func(write, sync units.Latency) SyncProbe { return SyncProbe{Write: write, Sync: sync} }
	for _, c := range []struct {
		before, after SyncProbe
		s             units.Latency
		apart         float64
	}{
		{probe(100, 900), probe(200, 1300), 1250, 0.5}, // (1000 + 1500)/2, 1500/1000 - 1
		{probe(200, 1300), probe(100, 900), 1250, 0.5},
		{probe(100, 900), SyncProbe{}, 1000, 0},
		{SyncProbe{}, probe(100, 900), 1000, 0},
		{SyncProbe{}, SyncProbe{}, 0, 0},
	} {
		p := &Postgres{Before: c.before, After: c.after}
		if s, apart := p.S(); s != c.s || apart != c.apart {
			t.Errorf("%+v: %v, %v apart; want %v, %v", p, s, apart, c.s, c.apart)
		}
	}
}

// 1,000 transactions in 10 s with 250 syncs: the server's 3 ms of CPU each are 3 s, less 250 times
// the CPU of a sync.
func TestCommitCPU(t *testing.T) {
	step := PgStep{Transactions: 1000, Syncs: 250, ServerCPU: 3 * time.Second, PgbenchCPU: time.Second}
	for _, c := range []struct {
		before, after units.Latency
		server        time.Duration
		pgbench       time.Duration
		both, longer  units.Latency
	}{
		{0, 0, 3 * time.Second, time.Second, 4e6, 3e6},
		{400e3, 0, 3 * time.Second, time.Second, 3.9e6, 2.9e6},       // 3 s - 250 * 0.4 ms = 2.9 s
		{400e3, 800e3, 3 * time.Second, time.Second, 3.85e6, 2.85e6}, // 250 * 0.6 ms
		{0, 800e3, 3 * time.Second, time.Second, 4e6, 3e6},
		{400e3, 400e3, 50 * time.Millisecond, time.Second, 1e6, 1e6}, // syncs used more than the server: nothing is left
		{0, 0, time.Second, 2 * time.Second, 3e6, 2e6},
	} {
		p := &Postgres{Before: SyncProbe{CPU: c.before}, After: SyncProbe{CPU: c.after}}
		s := step
		s.ServerCPU, s.PgbenchCPU = c.server, c.pgbench
		if both, longer := p.CommitCPU(&s); both != c.both || longer != c.longer {
			t.Errorf("%+v: %v and %v", c, both, longer)
		}
	}
	if both, longer := (&Postgres{}).CommitCPU(&PgStep{ServerCPU: time.Second}); both != 0 || longer != 0 {
		t.Errorf("no transaction: %v %v", both, longer)
	}
}

func TestFiguresOfATransaction(t *testing.T) {
	s := &PgStep{
		Measured: 10 * time.Second, Transactions: 2000, Syncs: 500, SyncTime: 4 * time.Second, WAL: 2000*300 + 1200, Images: 500,
		Reads: 3000, Writes: 1000, ServerCPU: 8 * time.Second, Hits: 900, Misses: 100,
		Waits: []WaitShare{{Event: "WALSync", Share: 0.5}, {Event: "CPU", Share: 0.25}, {Event: "DataFileRead", Share: 0.125}},
	}
	for what, c := range map[string][2]float64{
		"commits per sync": {s.CommitsPerSync(), 4},
		"a sync":           {float64(s.SyncMean()), 8e6},
		"sync busy":        {s.SyncBusy(), 0.4},
		"log":              {float64(s.WALPerTx()), 301}, // 300.6 rounded
		"images":           {s.ImagesPerTx(), 0.25},
		"I/Os":             {s.DeviceIOs(), 2},
		"reads":            {s.DeviceReads(), 1.5},
		"CPU":              {float64(s.CPUPerTx()), 4e6},
		"hits":             {s.HitShare(), 0.9},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
	by := (&PgStep{Waits: []WaitShare{
		{Event: "LWLock:LockManager", Share: 0.25},
		{Event: "IO:BufFileWrite", Share: 0.5},
		{Event: "IO:WALSync", Share: 0.125},
		{Event: "LWLock:WALWrite", Share: 0.0625},
		{Event: "IO:DataFileRead", Share: 0.0625},
	}}).ByKind()
	if by[RowLocks] != 0.25 || by[TempFiles] != 0.5 || by[LogSync] != 0.1875 || by[DataIO] != 0.0625 {
		t.Errorf("%v", by)
	}
	none := &PgStep{SyncTime: time.Second, WAL: 9, Images: 9, Reads: 9, ServerCPU: 9}
	if none.CommitsPerSync() != 0 || none.SyncMean() != 0 || none.SyncBusy() != 0 || none.WALPerTx() != 0 || none.DeviceIOs() != 0 || none.HitShare() != 0 {
		t.Errorf("%+v", none)
	}
	if got := (&PgStep{Measured: time.Second, SyncTime: 3 * time.Second}).SyncBusy(); got != 1 {
		t.Error(got)
	}
	if got := (&PgStep{Misses: 5}).HitShare(); got != 0 {
		t.Error(got)
	}
	if RecoverySeconds(300, 100) != 3*time.Second || RecoverySeconds(300, 0) != 0 || RecoverySeconds(2, 1) != 2*time.Second {
		t.Error("recovery")
	}
	// 1 MiB/s for 300 s, times 1 + 0.9.
	if got := LogForTimeout(1<<20, 300*time.Second); got != units.Bytes(570<<20) {
		t.Error(got)
	}
	p := &Postgres{Settings: []PgSetting{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}}
	if p.Setting("b") != "2" || p.Setting("c") != "" {
		t.Errorf("%+v", p)
	}
}

// Why fewer I/Os were in flight than the jobs may keep, by the first reason that holds.
func TestWhyDepth(t *testing.T) {
	load := func(change func(*fio.Workload)) []fio.Workload {
		w := fio.Workload{Depth: 8, Jobs: 1}
		change(&w)
		return []fio.Workload{w}
	}
	plain := load(func(*fio.Workload) {})
	synced := load(func(w *fio.Workload) { w.SyncEvery = 1 })
	single := load(func(w *fio.Workload) { w.SyncEvery, w.Depth = 1, 1 })
	minute := time.Minute
	cpu := fio.Job{CPU: fio.CPU{User: 0.25, System: 0.25}}
	syncs := func(n uint64) fio.Job { return fio.Job{Sync: fio.Sync{Lat: fio.Latency{N: n, Mean: 1e7}}} } // of 10 ms
	half := fio.Job{Runtime: minute, Read: fio.Direction{N: 1, Runtime: minute}, Write: fio.Direction{N: 1, Runtime: 56 * time.Second}}
	for name, c := range map[string]struct {
		r    Result
		d    Depth
		want string
	}{
		"as asked":                  {Result{Workloads: plain, Measured: minute}, Depth{Asked: 8, Little: 8}, ""},
		"4 % less":                  {Result{Workloads: plain, Measured: minute, Paced: true}, Depth{Asked: 100, Little: 96}, ""},
		"5 % less":                  {Result{Workloads: plain, Measured: minute, Paced: true}, Depth{Asked: 100, Little: 95}, "hold themselves back"},
		"4 % more":                  {Result{Workloads: plain, Measured: minute}, Depth{Asked: 100, Little: 104}, ""},
		"5 % more":                  {Result{Workloads: plain, Measured: minute}, Depth{Asked: 100, Little: 105}, "contradict each other"},
		"more, in half a second":    {Result{Workloads: plain, Measured: 500 * time.Millisecond}, Depth{Asked: 8, Little: 16}, "to the millisecond only"},
		"more, in a second":         {Result{Workloads: plain, Measured: time.Second}, Depth{Asked: 8, Little: 16}, "contradict each other"},
		"unknown":                   {Result{Workloads: plain, Measured: minute, Paced: true}, Depth{Asked: 8}, ""},
		"not asked":                 {Result{Workloads: plain, Measured: minute, Paced: true}, Depth{Little: 8}, ""},
		"not at the device":         {Result{Workloads: synced, Measured: minute}, Depth{Asked: 8, Little: 8, Device: 5.2}, "of the 8 I/Os that fio counts as in flight, only 5.2 were at the device"},
		"nearly at the device":      {Result{Workloads: synced, Measured: minute}, Depth{Asked: 6, Little: 6, Device: 4}, ""}, // 6/1.5
		"a device not watched":      {Result{Workloads: synced, Measured: minute}, Depth{Asked: 8, Little: 8}, ""},
		"one at a time, synced":     {Result{Workloads: single, Measured: minute}, Depth{Asked: 1, Little: 0.3, Device: 0.1}, "in which it has no other I/O in flight"},
		"deep without syncs":        {Result{Workloads: plain, Measured: minute}, Depth{Asked: 8, Little: 8, Device: 1}, ""},
		"a rate":                    {Result{Workloads: load(func(w *fio.Workload) { w.WriteIOPS = 9 }), Measured: minute}, Depth{Asked: 8, Little: 1}, "hold themselves back"},
		"a rate and syncs":          {Result{Workloads: load(func(w *fio.Workload) { w.WriteIOPS, w.SyncEvery = 9, 1 }), Measured: minute}, Depth{Asked: 8, Little: 1, Device: 1}, "hold themselves back"},
		"syncs that were measured":  {Result{Workloads: plain, Measured: minute, Total: syncs(4500)}, Depth{Asked: 8, Little: 1}, "waits in a sync"},
		"few syncs":                 {Result{Workloads: plain, Measured: minute, Total: syncs(2300)}, Depth{Asked: 8, Little: 1}, ""}, // 4.8 % of it
		"half a second":             {Result{Workloads: plain, Measured: 500 * time.Millisecond}, Depth{Asked: 8, Little: 1}, "the run took 500 ms"},
		"a second":                  {Result{Workloads: plain, Measured: time.Second}, Depth{Asked: 8, Little: 1}, ""},
		"a part of it":              {Result{Workloads: plain, Measured: minute, Total: half}, Depth{Asked: 8, Little: 1}, "not all jobs ran throughout"},
		"verified":                  {Result{Workloads: load(func(w *fio.Workload) { w.VerifyOn = true }), Measured: minute}, Depth{Asked: 8, Little: 1}, "verify what they read"},
		"its own work":              {Result{Workloads: plain, Measured: minute, Total: cpu}, Depth{Asked: 100, Little: 41}, "fio's own work took the rest of the time: 50"},
		"not enough of its work":    {Result{Workloads: plain, Measured: minute, Total: cpu}, Depth{Asked: 100, Little: 40}, ""},
		"nearly all without work":   {Result{Workloads: plain, Measured: minute, Total: fio.Job{CPU: fio.CPU{User: 0.05}}}, Depth{Asked: 100, Little: 90}, ""},
		"nearly all with some work": {Result{Workloads: plain, Measured: minute, Total: fio.Job{CPU: fio.CPU{System: 0.06}}}, Depth{Asked: 100, Little: 90}, "fio's own work"},
	} {
		if got := c.r.whyDepth(c.d); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A window of the last two of three seconds: their I/Os over their time.
func TestWindowOfSeconds(t *testing.T) {
	hist := func(v time.Duration, n uint64) *fio.Hist {
		h := &fio.Hist{}
		h.Add(v, n)
		return h
	}
	r := &Result{Seconds: []Second{
		{At: 1 * time.Second, Len: time.Second, Ramp: true, Read: Interval{N: 7, Bytes: 7}},
		{At: 2 * time.Second, Len: time.Second, Read: Interval{N: 100, Bytes: 1000, Hist: hist(1000, 100)}, Sync: hist(9000, 1)},
		{At: 3 * time.Second, Len: time.Second, Read: Interval{N: 200, Bytes: 3000, Hist: hist(100, 200)}, Sync: hist(500, 3)},
		{
			At: 5 * time.Second, Len: 2 * time.Second, Read: Interval{N: 400, Bytes: 3000, Hist: hist(400, 400)},
			Write: Interval{N: 30, Bytes: 60}, Trim: Interval{N: 3, Bytes: 9},
		},
	}}
	r.Window(2*time.Second, nil, time.Time{})
	if r.Measured != 3*time.Second || !r.Seconds[1].Ramp || r.Seconds[2].Ramp {
		t.Errorf("%s of %+v", r.Measured, r.Seconds)
	}
	read := r.Total.Read
	// 600 I/Os and 6,000 bytes in 3 s; (200*100 + 400*400)/600 = 300 ns, to the width of fio's bins.
	if read.N != 600 || read.Bytes != 6000 || read.IOPS != 200 || read.BW != 2000 || read.Runtime != 3*time.Second || !near(read.Clat.Mean, 300, 0.02) || read.Clat.N != 600 {
		t.Errorf("%+v", read)
	}
	if w, d := r.Total.Write, r.Total.Trim; w.IOPS != 10 || w.BW != 20 || d.IOPS != 1 || d.BW != 3 || w.Clat.Measured() {
		t.Errorf("%+v %+v", w, d)
	}
	if l := r.Total.Sync.Lat; l.N != 3 || !near(l.Mean, 500, 0.02) || l.Min > l.Max || !near(float64(l.Max), 500, 0.02) {
		t.Errorf("%+v", l)
	}
	was := *r
	r.Window(time.Minute, nil, time.Time{})
	if r.Measured != was.Measured || r.Total.Read.N != 600 {
		t.Error("a window without a second changed the figures")
	}
}

// Seconds of a whole: I/Os and bytes of all directions over the second's own length.
func TestRatesOfASecond(t *testing.T) {
	s := Second{Len: 500 * time.Millisecond, Read: Interval{N: 10, Bytes: 100}, Write: Interval{N: 20, Bytes: 300}, Trim: Interval{N: 5, Bytes: 50}}
	if s.IOPS() != 70 || s.BW() != 900 || (Second{Read: Interval{N: 1, Bytes: 1}}).IOPS() != 0 || (Second{Read: Interval{N: 1, Bytes: 1}}).BW() != 0 {
		t.Errorf("%v %v", s.IOPS(), s.BW())
	}
	r := &Result{Total: fio.Job{Read: fio.Direction{Bytes: 5}, Write: fio.Direction{Bytes: 7}, Trim: fio.Direction{Bytes: 100}}}
	if r.Bytes() != 12 {
		t.Error(r.Bytes())
	}
}

// 95 % of the window is throughout; less is apart.
func TestSumIsApart(t *testing.T) {
	for write, want := range map[time.Duration]bool{100 * time.Second: false, 95 * time.Second: false, 94 * time.Second: true, 1: true, 0: false} {
		r := &Result{Total: fio.Job{Runtime: 100 * time.Second, Read: fio.Direction{N: 1, Runtime: 100 * time.Second}, Write: fio.Direction{N: 1, Runtime: write}}}
		if got := r.Sum(); got.Apart != want || got.Window != 100*time.Second {
			t.Errorf("writes of %s: %+v", write, got)
		}
	}
}

// The interval of streams that ran for a part of the window counts by that part: 10 % of 1,000 over
// a tenth of the time is ±10 of the sum.
func TestSpreadCountsByTheTime(t *testing.T) {
	alternate := func(a, b float64, n int, length float64) stream {
		s := stream{lens: []float64{length}, n: []float64{a}, bytes: []float64{a}}
		for i := range n {
			s.lens = append(s.lens, length)
			s.n = append(s.n, a)
			if i%2 == 1 {
				s.n[len(s.n)-1] = b
			}
		}
		s.lens, s.n = append(s.lens, length), append(s.n, a)
		s.bytes = s.n
		return s
	}
	// 12 whole values of 9 and 11: s/√n = √(1/11) = 0.3015, times t(0.975; 11) = 2.20099: ± 0.6636
	// of 10. Its 14 s in a window of 28 s are half.
	b := &Builder{rows: []row{{streams: [3]stream{alternate(9, 11, 12, 1)}}}}
	e := exactly(100, "")
	b.spread(&e, 28*time.Second, func(s *stream) []float64 { return s.n })
	if !near(e.Hi-100, 0.3318, 1e-3) || !near(100-e.Lo, 0.3318, 1e-3) || e.N != 12 || e.None != "" {
		t.Errorf("%+v", e)
	}
	// Two of them: the root of the sum of squares; never below zero.
	b.rows[0].streams[1] = alternate(9, 11, 12, 1)
	two := exactly(0.1, "")
	b.spread(&two, 28*time.Second, func(s *stream) []float64 { return s.n })
	if !near(two.Hi-0.1, 0.4692, 1e-3) || two.Lo != 0 {
		t.Errorf("%+v", two)
	}
	// One of four values has no interval; of five it has.
	b.rows[0].streams[1] = alternate(9, 11, 4, 1)
	short := exactly(100, "")
	if b.spread(&short, 28*time.Second, func(s *stream) []float64 { return s.n }); short.None != "a part of it ran for too few seconds" || short.HasInterval() {
		t.Errorf("%+v", short)
	}
	b.rows[0].streams[1] = alternate(9, 11, 5, 1)
	five := exactly(100, "")
	if b.spread(&five, 28*time.Second, func(s *stream) []float64 { return s.n }); five.None != "" || five.N != 5 {
		t.Errorf("%+v", five)
	}
	none := exactly(100, "")
	if (&Builder{}).spread(&none, 3*time.Second, func(s *stream) []float64 { return s.n }); none.None != "3 s only" {
		t.Errorf("%+v", none)
	}
}

// A stream's first and last intervals are cut by where it began and ended; one too short for a rate
// is left out; nothing before the first I/O counts.
func TestRatesOfAStream(t *testing.T) {
	var s stream
	for _, i := range []struct {
		ms int
		n  uint64
	}{{1000, 0}, {1000, 5}, {1000, 10}, {500, 10}, {100, 9}, {200, 8}, {1000, 0}, {1000, 30}, {1000, 7}, {1000, 0}} {
		s.put(time.Duration(i.ms)*time.Millisecond, Interval{N: i.n, Bytes: units.Bytes(2 * i.n)})
	}
	want := []float64{10, 20, 40, 0, 30}
	got := s.rates(s.n)
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i, b := range s.rates(s.bytes) {
		if got[i] != want[i] || b != 2*want[i] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// The mean of fio's depth histogram: 25 % at 1, 50 % at 4, 25 % at 64 and above are 18.25.
func TestMeanDepth(t *testing.T) {
	if got := meanDepth([]fio.Share{{Label: "1", Value: 25}, {Label: "4", Value: 50}, {Label: ">=64", Value: 25}, {Label: "x", Value: 50}}); got != 18.25 {
		t.Error(got)
	}
	for _, list := range [][]fio.Share{nil, {{Label: "1"}}, {{Label: "NaN", Value: 1}}, {{Label: "1", Value: math.NaN()}}, {{Label: "x", Value: 1}}} {
		if got := meanDepth(list); got != 0 {
			t.Errorf("%v: %v", list, got)
		}
	}
	if got := meanDepth([]fio.Share{{Label: "1", Value: 0.25}, {Label: "2", Value: 0.25}}); got != 1.5 {
		t.Error(got)
	}
}

// Rows of a job stand for as many jobs as they say, else for numjobs, unless each has a row.
func TestJobsOfARow(t *testing.T) {
	r := &Result{
		Jobs:      []fio.Job{{Name: "a"}, {Name: "b"}, {Name: "b"}, {Name: "c", Count: 3}, {Name: "d"}, {Name: "b", Host: "h"}},
		Workloads: []fio.Workload{{Name: "a", Jobs: 4}, {Name: "a", Jobs: 9}, {Name: "b", Jobs: 2}, {Name: "c", Jobs: 7}},
	}
	c := r.rowCounts()
	for i, want := range []int{4, 1, 1, 3, 1, 2} {
		if got := c.jobsIn(&r.Jobs[i]); got != want {
			t.Errorf("row %d: %d jobs, want %d", i, got, want)
		}
	}
}

// A row that ran for half of the window counts by half.
func TestDepthsByTime(t *testing.T) {
	row := func(name string, run time.Duration) fio.Job {
		return fio.Job{
			Name: name, Runtime: run, Depths: []fio.Share{{Label: "4", Value: 100}},
			Read: fio.Direction{N: uint64(run.Seconds() * 100), IOPS: 100, Runtime: run, Clat: fio.Latency{N: 1, Mean: 4e7}, Lat: fio.Latency{N: 1, Mean: 4e7}},
		}
	}
	r := &Result{Jobs: []fio.Job{row("a", 10*time.Second), row("b", 5*time.Second)}, Workloads: []fio.Workload{{Name: "a", Depth: 4, Jobs: 1}, {Name: "b", Depth: 4, Jobs: 2}}}
	r.Total = fio.Job{Runtime: 10 * time.Second, Read: fio.Direction{N: 1500, IOPS: 150, Runtime: 10 * time.Second}}
	d := r.depths()
	// Little: 100 IOPS × 40 ms = 4, and half of that; fio: 4 × 1, and 4 × 2 jobs by half.
	if d.Asked != 12 || !near(d.Little, 6, 1e-9) || !near(d.Fio, 8, 1e-9) || d.Device != 0 {
		t.Errorf("%+v", d)
	}
}

// What lies more than twice the run and five minutes beyond cannot be.
func TestOutlastsBoundary(t *testing.T) {
	of := func(run, most time.Duration) *fio.Job {
		return &fio.Job{Name: "j", Runtime: run, Read: fio.Direction{Slat: fio.Latency{N: 1, Max: most}}}
	}
	for _, c := range []struct {
		run, max time.Duration
		gone     bool
	}{
		{time.Minute, 7 * time.Minute, false}, {time.Minute, 7*time.Minute + time.Nanosecond, true}, {0, 100 * time.Hour, false},
	} {
		j := of(c.run, c.max)
		if got := outlasts(j, &j.Read) != ""; got != c.gone {
			t.Errorf("%s in %s: %v", c.max, c.run, got)
		}
	}
	mean := &fio.Job{Runtime: time.Minute, Read: fio.Direction{Clat: fio.Latency{N: 1, Mean: 8 * 60e9}}, Elapsed: 30 * time.Second}
	if outlasts(mean, &mean.Read) == "" {
		t.Error("a mean of eight minutes in one")
	}
	mean.Elapsed = 90 * time.Second
	if got := outlasts(mean, &mean.Read); got != "" {
		t.Error(got)
	}
}

// fio --client with a host that gave nothing.
func TestMissingHosts(t *testing.T) {
	row := func(host string) fio.Job { return fio.Job{Host: host} }
	for name, c := range map[string]struct {
		o    fio.Output
		want string
	}{
		"one of three":       {fio.Output{Servers: []string{"a", "b", "c"}, Jobs: []fio.Job{row("a"), row("b"), row("a")}}, "fio was connected to 3 hosts (a, b, c) and has results from 2 (a, b)."},
		"all":                {fio.Output{Servers: []string{"a"}, Jobs: []fio.Job{row("a")}}, ""},
		"no host is named":   {fio.Output{Servers: []string{"a", "b"}, Jobs: []fio.Job{row("")}}, ""},
		"no total":           {fio.Output{Jobs: []fio.Job{row("a"), row("b")}}, "fio printed no total of all clients: a host may be missing besides a, b."},
		"a total":            {fio.Output{AllClients: &fio.Job{}, Jobs: []fio.Job{row("a"), row("b")}}, ""},
		"logs have no total": {fio.Output{Format: fio.Logs, Jobs: []fio.Job{row("a"), row("b")}}, ""},
		"one host, no total": {fio.Output{Jobs: []fio.Job{row("a")}}, ""},
	} {
		if got := strings.Join(missingHosts(&c.o), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Groups of one output are parts; of several hosts the hosts are. Groups of a host that ran one after
// the other have the rate of 20 I/Os in 2 s.
func TestPartsOfAnOutput(t *testing.T) {
	row := func(name, host string, group, count int) fio.Job {
		return fio.Job{Name: name, Host: host, Group: group, Count: count, Runtime: time.Second, Read: fio.Direction{N: 10, IOPS: 10, Runtime: time.Second}}
	}
	shown := func(list []Part) string {
		var b strings.Builder
		for _, p := range list {
			b.WriteString(p.Name + "/" + p.Host + " " + units.Number(float64(p.Jobs)) + " " + p.Total.Read.IOPS.String() + "; ")
		}
		return b.String()
	}
	for _, c := range []struct {
		jobs []fio.Job
		want string
	}{
		{[]fio.Job{row("a", "", 0, 1), row("b", "", 0, 1)}, ""},
		{[]fio.Job{row("a", "", 0, 2), row("b", "", 1, 0), row("c", "", 1, 3)}, "a/ 2 10; b/ 4 20; "},
		{[]fio.Job{row("a", "x", 0, 1), row("b", "y", 0, 1), row("c", "x", 1, 1)}, "x/x 2 10; y/y 1 10; "},
	} {
		if got := shown(parts(&fio.Output{Jobs: c.jobs})); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Runs of fio under a second have disk statistics that miss their end.
func TestDisksOfAShortRun(t *testing.T) {
	for run, want := range map[time.Duration]bool{999 * time.Millisecond: true, time.Second: false} {
		if got := disksPartial(&Result{Measured: run, Disks: make([]fio.Disk, 1)}) != ""; got != want {
			t.Errorf("%s: %v", run, got)
		}
		if disksPartial(&Result{Measured: run}) != "" {
			t.Error("no disk is incomplete")
		}
	}
}

// A counter that fell is the end of a ramp; so is a runtime that lags, and I/Os without one.
func TestEndOfARamp(t *testing.T) {
	job := func(run time.Duration, n uint64) fio.Job {
		return fio.Job{Runtime: run, Read: fio.Direction{N: n, Bytes: units.Bytes(n)}}
	}
	for name, c := range map[string]struct {
		started   bool
		prev, cur fio.Job
		since     time.Duration
		n         uint64
		ramp      bool
		excess    uint64
	}{
		"goes on":        {true, job(time.Second, 100), job(2*time.Second, 250), time.Second, 150, true, 0},
		"fell":           {true, job(time.Second, 100), job(1900*time.Millisecond, 60), time.Second, 60, false, 0},
		"runtime fell":   {true, job(2*time.Second, 100), job(time.Second, 160), time.Second, 160, false, 0},
		"lags":           {true, job(time.Second, 100), job(1749*time.Millisecond, 260), time.Second, 260, false, 0},
		"nearly lags":    {true, job(time.Second, 100), job(1750*time.Millisecond, 260), time.Second, 160, true, 0},
		"not started":    {false, job(0, 0), job(500*time.Millisecond, 60), time.Second, 60, true, 0},
		"untimed":        {false, job(0, 100), job(time.Second, 260), time.Second, 260, false, 0},
		"still untimed":  {false, job(0, 100), job(0, 160), time.Second, 60, true, 0},
		"nothing at all": {false, job(0, 0), job(0, 0), time.Second, 0, false, 0},
	} {
		r := &row{prev: c.prev, inRamp: true, started: c.started}
		did, excess := r.advance(c.cur, c.since)
		if did.Read.N != c.n || did.Ramp != c.ramp || excess.Read.N != c.excess {
			t.Errorf("%s: %+v ramp %v excess %d", name, did.Read, did.Ramp, excess.Read.N)
		}
	}
	for d := range 3 { // I/Os of any direction
		var one fio.Job
		if one.Directions()[d].N = 1; one.IOs() != 1 || (&fio.Job{Read: fio.Direction{Bytes: 1}}).IOs() > 0 {
			t.Errorf("direction %d", d)
		}
	}
	// A second job of the group ends its ramp after the first: 100 were counted, of which 40 are of it.
	r := &row{prev: job(time.Second, 100), started: true}
	if did, excess := r.advance(job(1100*time.Millisecond, 60), time.Second); did.Read.N != 0 || excess.Read.N != 40 || excess.Read.Bytes != 40 {
		t.Errorf("%+v %+v", did, excess)
	}
}

// The window of a run lies from the first measured second's start to the last one's end.
func TestWindowOfARun(t *testing.T) {
	sec := func(at float64, length float64, ramp bool) Second {
		return Second{At: time.Duration(at * 1e9), Len: time.Duration(length * 1e9), Ramp: ramp}
	}
	r := &Result{Seconds: []Second{sec(1, 1, true), sec(2.5, 1, false), sec(3.5, 1, false)}}
	if from, to := r.window(); from != 1500*time.Millisecond || to != 3500*time.Millisecond {
		t.Errorf("%s to %s", from, to)
	}
	r = &Result{Seconds: []Second{sec(0.9, 1, false)}}
	if from, to := r.window(); from != 0 || to != 900*time.Millisecond {
		t.Errorf("%s to %s", from, to)
	}
}

// The distribution with bins: clat, or lat where only that has them.
func TestLatencyThatCarriesBins(t *testing.T) {
	h := &fio.Hist{}
	for name, c := range map[string]struct {
		d    fio.Direction
		want float64
	}{
		"both":    {fio.Direction{Clat: fio.Latency{Mean: 1, Hist: h}, Lat: fio.Latency{Mean: 2, Hist: h}}, 1},
		"lat":     {fio.Direction{Clat: fio.Latency{Mean: 1}, Lat: fio.Latency{Mean: 2, Hist: h}}, 2},
		"neither": {fio.Direction{Clat: fio.Latency{Mean: 1}, Lat: fio.Latency{Mean: 2}}, 1},
		"clat":    {fio.Direction{Clat: fio.Latency{Mean: 1, Hist: h}, Lat: fio.Latency{Mean: 2}}, 1},
	} {
		if got := binned(&c.d).Mean; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What syncs of fio 3.33 to 3.40 with libaio include, and of no other.
func TestSyncsIncludeByVersion(t *testing.T) {
	for name, c := range map[string]struct {
		version, engine string
		every           int
		mean            float64
		want            bool
	}{
		"3.33": {"fio-3.33", "libaio", 1, 1, true}, "3.32": {"fio-3.32", "libaio", 1, 1, false}, "3.40": {"fio-3.40", "libaio", 1, 1, true}, "3.41": {"fio-3.41", "libaio", 1, 1, false},
		"psync": {"fio-3.33", "psync", 1, 1, false}, "no syncs": {"fio-3.33", "libaio", 0, 1, false}, "not measured": {"fio-3.33", "libaio", 1, 0, false}, "no version": {"", "libaio", 1, 1, false},
	} {
		r := &Result{Fio: c.version, Workloads: []fio.Workload{{}, {Engine: c.engine, SyncEvery: c.every}}}
		r.Total.Sync.Lat.Mean = c.mean
		if got := r.SyncsInclude() != ""; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
