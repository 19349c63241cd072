package bundle

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// Two hosts read 3,000 and 1,000 IOPS and write 1,000 each by themselves; together, in their common window
// of 10 s, they did 4,800: 3,200 reads and 1,600 writes. Latencies of both directions are of neither.
func TestFleetAsARun(t *testing.T) {
	host := func(read, write float64) *Bundle {
		s := Scenario{Result: &result.Result{Workloads: []fio.Workload{{Engine: "libaio"}}}}
		s.ID, s.Name = 3, "mixed"
		s.Result.Total.Read.IOPS, s.Result.Total.Write.IOPS = units.IOPS(read), units.IOPS(write)
		return &Bundle{Scenarios: []Scenario{s}}
	}
	hist := &fio.Hist{}
	hist.Add(time.Millisecond, 48_000)
	of := FleetScenario{
		ID: 3, Name: "mixed", Common: FleetSpan{From: time.Second, To: 11 * time.Second},
		Total: FleetTotal{IOPS: 4800, BW: 4800 * 4096, Interval: stats.Estimate{Center: 4800, Lo: 4700, Hi: 4900}, Hist: hist},
	}
	f := Fleet{Verdict: verdict.Pass}
	s, ok := f.together(&of, []*Bundle{host(3000, 1000), host(1000, 1000)})
	r := s.Result
	if !ok || r.State != result.Done || r.Measured != 10*time.Second || r.IOPS.Lo != 4700 || len(r.Workloads) != 1 {
		t.Fatalf("%+v", r)
	}
	read, write := r.Total.Read, r.Total.Write
	if math.Abs(float64(read.IOPS)-3200) > 1e-6 || math.Abs(float64(write.IOPS)-1600) > 1e-6 || read.N != 32_000 || write.Bytes != 16_000*4096 {
		t.Errorf("%+v %+v", read, write)
	}
	if sum := r.Sum(); math.Abs(float64(sum.IOPS)-4800) > 1e-6 || math.Abs(float64(sum.BW)-4800*4096) > 1 {
		t.Errorf("%+v", sum)
	}
	if read.Clat.Measured() || write.Clat.Measured() {
		t.Error("latencies of both directions stand for one")
	}
	s, _ = f.together(&of, []*Bundle{host(3000, 0), host(1000, 0)})
	if p99, known := s.Result.Total.Read.Clat.At(99); !known || p99 < 990*time.Microsecond || p99 > 1010*time.Microsecond {
		t.Errorf("%v %v", p99, known)
	}
	// A host that is INVALID makes what all did together no measurement.
	f = Fleet{Verdict: verdict.Invalid, Reasons: []string{"h1 is INVALID: PL425", "more"}}
	if s, _ := f.together(&of, []*Bundle{host(1, 1)}); s.Result.State != result.Invalid || len(s.Result.Reasons) != 1 {
		t.Errorf("%+v", s.Result)
	}
	for dir, want := range map[string]bool{"hosts/h1": false, "../other": true, "/etc": true, "hosts/../../other": true, "other": true} {
		h := FleetHost{Dir: dir}
		_, err := h.open(t.TempDir())
		if refused := err != nil && strings.Contains(err.Error(), "as its directory; want"); refused != want {
			t.Errorf("%q: %v", dir, err)
		}
	}
	if _, ok := f.together(&of, []*Bundle{{}}); ok {
		t.Error("nobody measured it")
	}
}
