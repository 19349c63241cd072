package bundle

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/foreign"
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
