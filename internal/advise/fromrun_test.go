package advise

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

func job(name string, read, write units.IOPS, block units.Bytes) fio.Job {
	of := func(iops units.IOPS) fio.Direction {
		return fio.Direction{IOPS: iops, BW: units.Rate(float64(iops) * float64(block))}
	}
	return fio.Job{Name: name, Read: of(read), Write: of(write)}
}

// TestFromResult: a job that held itself to a rate and did not get it asks for that rate; one that
// did, or that asked for nothing, for what it got.
func TestFromResult(t *testing.T) {
	w := fio.Workload{Name: "w", WriteBS: 4 * units.KiB, Jobs: 2, Depth: 1}
	for _, c := range []struct {
		name    string
		asks    units.IOPS // of each of two jobs
		got     units.IOPS
		want    units.IOPS
		note    string
		atLeast bool
	}{
		{"not met", 100_000, 7739, 200_000, "w-write asked for 200,000 IOPS and got 7,739 (3.9 %): the rate it asked for is used", false},
		{"met but for rounding", 100_000, 197_000, 197_000, "", false},
		{"closed loop", 0, 7739, 7739, "", true},
	} {
		w.WriteIOPS = c.asks
		row := job("w", 0, c.got, 4*units.KiB)
		d, err := FromResult("x", &result.Result{Workloads: []fio.Workload{w}, Jobs: []fio.Job{row}, Total: row})
		if err != nil || len(d.Streams) != 1 || d.Streams[0].IOPS != c.want ||
			d.Streams[0].Rate != units.Rate(float64(c.want)*4096) ||
			strings.Join(d.Notes, "") != c.note || (len(d.AtLeast) > 0) != c.atLeast {
			t.Errorf("%s: %+v %v", c.name, d, err)
		}
	}
}

// TestFromGroupedResult: with group_reporting fio names the row of all sections after the first one.
// No stream is lost, and two writers share what was written as they asked for it.
func TestFromGroupedResult(t *testing.T) {
	row := job("a", 100, 300, 8*units.KiB)
	r := &result.Result{Jobs: []fio.Job{row}, Total: row, Workloads: []fio.Workload{
		{Name: "a", WriteBS: 8 * units.KiB, WriteIOPS: 200, Jobs: 1, TimeBased: true, Runtime: 30 * time.Second},
		{Name: "b", WriteBS: 8 * units.KiB, WriteIOPS: 100, Jobs: 1, TimeBased: true, Runtime: 30 * time.Second},
		{Name: "c", ReadBS: 8 * units.KiB, ReadShare: 1, ReadIOPS: 400, Jobs: 1, TimeBased: true, Runtime: 5 * time.Second, StartDelay: 10 * time.Second},
	}}
	d, err := FromResult("x", r)
	if err != nil || len(d.Streams) != 3 {
		t.Fatalf("%+v %v", d, err)
	}
	if a, b, c := d.Streams[0].IOPS, d.Streams[1].IOPS, d.Streams[2].IOPS; a != 200 || b != 100 || c != 400 {
		t.Errorf("%v, %v and %v IOPS, want 200, 100 and the 400 that were asked for", a, b, c)
	}
	if b := d.Streams[2].Burst; b == nil || b.For != 5*time.Second || b.Every != 30*time.Second || b.After != 10*time.Second {
		t.Errorf("%+v", b)
	}
	// With a row of each, each has its own.
	r.Jobs = []fio.Job{job("a", 0, 150, 8*units.KiB), job("b", 0, 100, 8*units.KiB), job("c", 400, 0, 8*units.KiB)}
	if d, err = FromResult("x", r); err != nil || d.Streams[0].IOPS != 200 || len(d.Notes) != 1 {
		t.Errorf("%+v %v", d, err)
	}
}

// TestFromFigures: an import of which no job is known is a demand by its figures.
func TestFromFigures(t *testing.T) {
	row := job("x", 300, 700, 16*units.KiB)
	d, err := FromResults("x", []*result.Result{{Name: "x", Jobs: []fio.Job{row}, Total: row}})
	if err != nil || len(d.Streams) != 2 || d.Streams[0].IOPS != 300 || d.Streams[1].Blocks[0].Size != 16*units.KiB ||
		!strings.Contains(strings.Join(d.Notes, ""), "random I/O is assumed") {
		t.Errorf("%+v %v", d, err)
	}
	if d, err := FromResults("x", []*result.Result{{Name: "x"}, nil}); err == nil {
		t.Errorf("%+v from nothing", d)
	}
	// Scenarios of other jobs ran one after the other.
	other := job("y", 10, 0, 4*units.KiB)
	d, err = FromResults("x", []*result.Result{
		{Name: "one", Workloads: []fio.Workload{{Name: "x", ReadBS: 4096, ReadShare: 1}}, Jobs: []fio.Job{other}, Total: other},
		{Name: "two", Workloads: []fio.Workload{{Name: "x", ReadBS: 8192, ReadShare: 1}}, Jobs: []fio.Job{other}, Total: other},
	})
	if err != nil || len(d.Streams) != 2 || !d.Streams[0].Apart || d.Streams[1].Name != "two-x-read" {
		t.Errorf("%+v %v", d, err)
	}
}
