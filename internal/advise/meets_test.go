package advise

import (
	"math"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// What a demand's streams got does not depend on how they are called: fio names a group of jobs after
// its first section, and reports reads and writes of all of them in one row.
func TestStreamsAreMatchedByWhatTheyDo(t *testing.T) {
	const mibs = units.MiBPerSec
	flow := func(rate units.Rate, bs float64) fio.Direction {
		return fio.Direction{N: 1, BW: rate, IOPS: units.IOPS(float64(rate) / bs)}
	}
	const k = 1024.0
	stream := func(name string, readShare float64, block units.Bytes, rate units.Rate) workload.Stream {
		return workload.Stream{Name: name, ReadShare: readShare, Blocks: []workload.Block{{Size: block, Share: 1}}, Rate: rate}
	}
	rowed := func(jobs ...fio.Job) *result.Result {
		r := &result.Result{Jobs: jobs}
		for _, j := range jobs {
			r.Total.Read.BW += j.Read.BW
			r.Total.Write.BW += j.Write.BW
		}
		return r
	}
	// seed 5 on its second volume: 60.3 MiB/s written and 85.6 read in one row
	grouped := rowed(fio.Job{Name: "steady_write", Read: flow(85.6*mibs, 256*k), Write: flow(60.3*mibs, 64*k)})
	apart := rowed(fio.Job{Name: "a", Write: flow(30*mibs, 64*k)}, fio.Job{Name: "b", Write: flow(10*mibs, 8*k)})
	for name, c := range map[string]struct {
		r       *result.Result
		streams []workload.Stream
		want    []units.Rate
	}{
		"named as the row":    {grouped, []workload.Stream{stream("steady-write", 0, 64<<10, 80*mibs)}, []units.Rate{60.3 * mibs}},
		"named otherwise":     {grouped, []workload.Stream{stream("logs", 0, 64<<10, 80*mibs)}, []units.Rate{60.3 * mibs}},
		"both directions":     {grouped, []workload.Stream{stream("steady-write", 0, 64<<10, 80*mibs), stream("x", 1, 256<<10, 256*mibs)}, []units.Rate{60.3 * mibs, 85.6 * mibs}},
		"a mix":               {grouped, []workload.Stream{stream("steady-write", 0.5, 64<<10, 200*mibs)}, []units.Rate{145.9 * mibs}},
		"by size":             {apart, []workload.Stream{stream("b", 0, 64<<10, 30*mibs), stream("a", 0, 8<<10, 20*mibs)}, []units.Rate{30 * mibs, 10 * mibs}},
		"by name":             {rowed(fio.Job{Name: "a", Write: flow(30*mibs, 8*k)}, fio.Job{Name: "b", Write: flow(10*mibs, 8*k)}), []workload.Stream{stream("b", 0, 8<<10, 30*mibs), stream("a", 0, 8<<10, 20*mibs)}, []units.Rate{10 * mibs, 30 * mibs}},
		"one row for two":     {rowed(fio.Job{Name: "a", Write: flow(30*mibs, 8*k)}), []workload.Stream{stream("a", 0, 8<<10, 40*mibs), stream("b", 0, 8<<10, 20*mibs)}, []units.Rate{20 * mibs, 10 * mibs}},
		"nothing was read":    {apart, []workload.Stream{stream("a", 1, 64<<10, 30*mibs)}, []units.Rate{0}},
		"numjobs in two rows": {rowed(fio.Job{Name: "a", Write: flow(30*mibs, 8*k)}, fio.Job{Name: "a", Write: flow(10*mibs, 8*k)}), []workload.Stream{stream("b", 0, 8<<10, 40*mibs)}, []units.Rate{40 * mibs}},
	} {
		m := &Met{Demand: &workload.Demand{Streams: c.streams}}
		for i, want := range c.want {
			got, ok := m.measured(&c.streams[i], c.r)
			if ok != (want > 0) || math.Abs(float64(got-want)) > 1 {
				t.Errorf("%s: stream %d has %v (%v), want %v", name, i, got, ok, want)
			}
		}
	}
}
