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
		said string
	}{
		{508, 508e6, 508 * units.MiBPerSec, units.MiB, "are MiB"},
		{508, 532.7e6, 532.7e6, units.MiB, ""},
		{16200, 250e6, 250e6, 32 * units.KiB, "something else"},
		{0, 250e6, 250e6, 32 * units.KiB, "may be MB or MiB"},
	} {
		o := &fio.Output{Table: true, Jobs: []fio.Job{{Read: fio.Direction{IOPS: c.iops, BW: c.bw, Printed: map[string]string{"bw": "x MB/s"}}}}}
		got := written(o, []fio.Workload{{ReadShare: 1, ReadBS: c.bs}})
		said := strings.Join(got.Doubts, "; ")
		if d := got.Jobs[0].Read; math.Abs(float64(d.BW/c.want)-1) > 1e-9 || !strings.Contains(said, c.said) || (c.said == "") != (said == "") {
			t.Errorf("%v IOPS, %v: %v (%s)", c.iops, c.bw, d.BW, said)
		}
	}
}
