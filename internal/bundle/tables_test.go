package bundle

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/foreign"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

// TestNumbersOfTables: decimal commas, commas between thousands, and what may be read in two ways.
func TestNumbersOfTables(t *testing.T) {
	for cell, want := range map[string]float64{
		"16,200": 16200, "16,2k": 16200, "16.2k": 16200, "1.234,5": 1234.5, "~12,200": 12200, "16.200": 0, "1,23,4": 0,
	} {
		outs := foreign.ReadTable([]byte("| test | IOPS | latency |\n| --- | --- | --- |\n| randread | " + cell + " | 1,86 ms |\n"))
		got := 0.0
		if len(outs) == 1 {
			got = float64(outs[0].Jobs[0].Read.IOPS)
			if mean := outs[0].Jobs[0].Read.Clat.Mean; mean != 1.86e6 {
				t.Errorf("%s: latency %v", cell, mean)
			}
		}
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: %v, want %v", cell, got, want)
		}
	}
}

// TestWhichMBATableMeans: 508 IOPS of 1 MiB are 508 MiB/s, whatever they are called.
func TestWhichMBATableMeans(t *testing.T) {
	for _, c := range []struct {
		iops units.IOPS
		bw   units.Rate
		want units.Rate
		bs   units.Bytes
		ms   float64 // of each of 16 in flight
		said string
	}{
		{508, 508e6, 508 * units.MiBPerSec, units.MiB, 0, "are MiB"},
		{508, 532.7e6, 532.7e6, units.MiB, 0, ""},
		{99453, 397.81e6, 397.81e6 * 1.024, 4 * units.KiB, 0, ""}, // yabs.sh
		{16200, 250e6, 250e6, 32 * units.KiB, 0, "something else"},
		{0, 250e6, 250e6, 32 * units.KiB, 0, "may be MB or MiB"},
		// 16 in flight for 15.96 ms each are 1,002.5 a second.
		{0, 1003e6, 1003 * units.MiBPerSec, units.MiB, 15.96, "are MiB, as 16 I/Os of 1 MiB in flight for 16 ms each show"},
		{0, 1051e6, 1051e6, units.MiB, 15.96, "may be MB or MiB"},
		{0, 1003e6, 1003e6, units.MiB, 30, "may be MB or MiB"},
	} {
		o := &fio.Output{Table: true, Jobs: []fio.Job{{Read: fio.Direction{
			IOPS: c.iops, BW: c.bw,
			Clat: fio.Latency{Mean: c.ms * 1e6}, Printed: map[string]string{"bw": "x MB/s"},
		}}}}
		got := written(o, []fio.Workload{{ReadShare: 1, ReadBS: c.bs, Jobs: 1, Depth: 16}})
		said := strings.Join(got.Doubts, "; ")
		if d := got.Jobs[0].Read; math.Abs(float64(d.BW/c.want)-1) > 1e-9 || !strings.Contains(said, c.said) || (c.said == "") != (said == "") {
			t.Errorf("%v IOPS, %v: %v (%s)", c.iops, c.bw, d.BW, said)
		}
	}
}

// TestGoalsOfATable: what a table says was to be reached judges what it says was measured, of the same direction and
// with the same MB; nothing else of it does.
func TestGoalsOfATable(t *testing.T) {
	const head = "| x | Target | Measured |\n|--|--|--|\n"
	for table, want := range map[string]string{
		head + "| IOPS | ~500 | 508 |\n| Bandwidth | ~500 MB/s | 508 MB/s |\n| p99 Latency | <2ms | 1.5 ms |\n": "read.iops >= 475, read.bw >= 475MiB/s, read.clat.p99 <= 2ms",
		head + "| IOPS | 500 | 508 |\n| Bandwidth | 400 MiB/s | 508 MiB/s |\n| Max Latency | ~2ms | 1.5 ms |\n": "read.iops >= 500, read.bw >= 400MiB/s, read.clat.max <= 2.1ms",
		head + "| IOPS | 500 | 484.5 |\n| Bandwidth | 500.5 MB/s | 508 MB/s |\n| Latency | 900 us | 1 ms |\n":   "read.iops >= 500, read.bw >= 500.5MB/s, read.clat.mean <= 900us",
		head + "| Write IOPS | | 508 |\n":                           "",
		head + "| Write IOPS | 500 | 508 |\n| IOPS | 600 | n/a |\n": "write.iops >= 500, write.iops >= 600",
	} {
		outs := foreign.ReadTable([]byte(table))
		outs[0].Source = "article.md"
		if strings.Contains(table, "Bandwidth") {
			outs[0].Jobs[0].Options = fio.Options{"rw": "randread", "bs": "1M"}
		}
		var run Run
		if _, err := (Found{Outputs: outs}).into(&run); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, threshold := range run.Suite.Scenarios[0].Thresholds {
			got = append(got, threshold.Text)
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("%s: %s, want %s", table, all, want)
		}
	}
}

// TestEngineOfATable: a depth that a table states was held by an engine that it need not name; who names a synchronous
// one is believed. The figure is the table's own.
func TestEngineOfATable(t *testing.T) {
	for table, want := range map[string]string{
		"| test | bs | iodepth | IOPS |\n|-|-|-|-|\n| randread | 4k | 32 | 40,000 |\n":                      " 32 IOPS",
		"| test | bs | iodepth | ioengine | IOPS |\n|-|-|-|-|-|\n| randread | 4k | 32 | psync | 40,000 |\n": "psync 1 IOPS",
		"| test | bs | QD | IOPS |\n|-|-|-|-|\n| randread | 4k | 1 | 10,000 |\n":                            "psync 1 IOPS",
		"| test | bs | QD | IOPS | latency |\n|-|-|-|-|-|\n| randread | 4k | 1 | 10,000 | 98 us |\n":        "psync 1 latency",
	} {
		outs := foreign.ReadTable([]byte(table))
		outs[0].Source = "article.md"
		results, err := Found{Outputs: outs}.Results()
		if err != nil || len(results) != 1 || len(results[0].Workloads) != 1 {
			t.Fatalf("%s: %v %+v", table, err, results)
		}
		w := results[0].Workloads[0]
		if got := fmt.Sprintf("%s %d %s", w.Engine, w.Depth, result.KeyOf(results[0])); got != want {
			t.Errorf("%s: %s, want %s", table, got, want)
		}
	}
}
