package compare

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

func TestParseAxis(t *testing.T) {
	for s, want := range map[string]string{
		"iodepth=1..8": "1 2 4 8", "bs=4k..16k": "4k 8k 16k", "rwmixread=0,70,100": "0 70 100", "iodepth=1,4,16": "1 4 16", "bs=4k,28k": "4k 28k", "numjobs=3": "3", "iodepth=5..9": "5",
	} {
		a, err := ParseAxis(s)
		if got := strings.Join(a.Values, " "); err != nil || !strings.EqualFold(strings.ReplaceAll(strings.ReplaceAll(got, "KiB", "k"), "K", "k"), want) {
			t.Errorf("%s: %q, %v", s, got, err)
		}
	}
	for _, bad := range []string{"", "iodepth", "depth=1..4", "iodepth=4..1", "iodepth=0..4", "bs=1..4k", "rwmixread=0..100", "rwmixread=101", "numjobs=1,1", "iodepth=1/4", "iodepth=1,,4", "iodepth=1..4,16", "bs=x"} {
		if _, err := ParseAxis(bad); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
}

func FuzzParseAxis(f *testing.F) {
	f.Add("iodepth=1..256")
	f.Add("rwmixread=0,70")
	bounded.Fuzz(f, func(t *testing.T, s string) {
		a, err := ParseAxis(s)
		if err == nil && (len(a.Values) == 0 || len(a.Values) > len(s)+64 || !slices.Contains(axisOptions(), a.Option)) {
			t.Fatalf("%q: %+v", s, a)
		}
	})
}

func TestGrid(t *testing.T) {
	s := suite.Scenario{ID: 8, Name: "w", Job: fio.JobFile{Sections: []fio.Section{{Name: "w", Options: []fio.Option{{Name: "iodepth", Value: "64"}, {Name: "rw", Value: "randwrite"}}}}}}
	grid, err := Grid(s, []Axis{{"iodepth", []string{"1", "2"}}, {"bs", []string{"4k", "8k"}}})
	if err != nil || len(grid) != 4 || grid[3].Name != "w@bs=8k,iodepth=2" || grid[3].ID != 4 {
		t.Fatalf("%+v %v", grid, err)
	}
	if v, _ := grid[0].Job.Sections[0].Get("iodepth"); v != "1" {
		t.Error(v)
	}
	if v, _ := s.Job.Sections[0].Get("iodepth"); v != "64" {
		t.Error("the suite's own changed")
	}
	many := Axis{"iodepth", make([]string, 401)}
	if _, err := Grid(s, []Axis{many}); err == nil {
		t.Error("401 points passed")
	}
	s.AsIs = true
	if _, err := Grid(s, nil); err == nil {
		t.Error("a job file passed")
	}
}

// A volume of 20,000 IOPS and 0.5 ms has its knee at 10.
func TestSweepFindsTheKnee(t *testing.T) {
	b := &bundle.Bundle{Run: bundle.Run{ID: "x", Created: began, State: bundle.Finished}}
	for i, depth := range []int{1, 2, 4, 8, 16, 32, 64} {
		n := min(float64(depth)/.0005, 20000)
		r := &result.Result{State: result.Done, Start: began.Add(time.Duration(i) * time.Minute)}
		r.Workloads = []fio.Workload{{Engine: "libaio", ReadShare: 1, ReadBS: 4096, Jobs: 1, Depth: depth}}
		r.Total.Read.IOPS, r.Total.Read.BW = units.IOPS(n), units.Rate(n*4096)
		s := bundle.Scenario{Result: r}
		s.ID, s.Name = i+1, sweepName("r", map[string]string{"iodepth": units.Number(float64(depth))})
		b.Scenarios = append(b.Scenarios, s)
	}
	b.Scenarios[3].Result.State = result.Invalid
	swept := Sweep(b)
	if len(swept.Points) != 7 || len(swept.Curves) != 1 || swept.Points[3].Invalid == "" {
		t.Fatalf("%+v", swept)
	}
	c := swept.Curves[0]
	if c.Why != "" || c.Curve.Knee < 8 || c.Curve.Knee > 13 || math.Abs(c.Curve.Cap/20000-1) > .05 || c.Deepest.InFlight != 64 {
		t.Errorf("%+v", c)
	}
	b.Scenarios = b.Scenarios[:2]
	if c := Sweep(b).Curves[0]; !strings.Contains(c.Why, "at least four depths") {
		t.Errorf("%+v", c)
	}
}

// The figures of a row are of the same rounds: IOPS × block size is the bandwidth, whatever the rounds
// differ by.
func TestRowsOfSweepsAreOfTheSameRounds(t *testing.T) {
	b := &bundle.Bundle{Run: bundle.Run{ID: "x", Created: began, State: bundle.Finished}}
	s := bundle.Scenario{}
	s.ID, s.Name = 1, sweepName("r", map[string]string{"iodepth": "1"})
	for i, n := range []float64{5159, 2873} {
		r := &result.Result{State: result.Done, Start: began.Add(time.Duration(i) * time.Minute)}
		r.Workloads = []fio.Workload{{Engine: "libaio", ReadShare: 1, ReadBS: 8192, Jobs: 1, Depth: 1}}
		r.Total.Read.IOPS, r.Total.Read.BW, r.Total.Read.N = units.IOPS(n), units.Rate(n*8192), 1000
		p50 := time.Duration(1e9 / n / 4)
		r.Total.Read.Clat = fio.Latency{N: 1000, Mean: 1e9 / n, Percentiles: []fio.Percentile{{P: 50, Value: p50}, {P: 99, Value: 4 * p50}}}
		s.Rounds = append(s.Rounds, bundle.Round{Number: i + 1, State: r.State, Start: r.Start, Result: r, IOPS: n, BW: n * 8192})
		s.Result = r
	}
	b.Scenarios = append(b.Scenarios, s)
	p := Sweep(b).Points[0]
	if want := math.Sqrt(5159 * 2873); math.Abs(p.IOPS.Center-want) > 0.01 || math.Abs(p.BW-want*8192) > 1 {
		t.Errorf("%.2f IOPS, %.0f bytes per second; the mean of both rounds is %.2f IOPS", p.IOPS.Center, p.BW, want)
	}
	// One I/O in flight: the latencies are in the same proportion to the IOPS as in each round.
	if got := p.P50 * p.IOPS.Center / 1e9; math.Abs(got-0.25) > 1e-4 {
		t.Errorf("p50 %.0f ns is not of the rounds whose IOPS are shown: %.4f", p.P50, got)
	}
	if got := p.P99 * p.IOPS.Center / 1e9; math.Abs(got-1) > 1e-4 {
		t.Errorf("p99 %.0f ns: %.4f", p.P99, got)
	}
	s.Rounds[0].State, s.Rounds[0].Result.State = result.Invalid, result.Invalid
	b.Scenarios[0] = s
	if p := Sweep(b).Points[0]; p.IOPS.Center != 2873 || p.BW != 2873*8192 || p.Rounds != 1 {
		t.Errorf("of one valid round: %+v", p)
	}
}
