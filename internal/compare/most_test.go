package compare

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func searchBase() suite.Scenario {
	return suite.Scenario{
		ID: 3, Name: "reads", Role: topology.Data, Size: units.GiB, Runtime: time.Minute,
		Job: fio.JobFile{Sections: []fio.Section{{Name: "reads", Options: []fio.Option{
			{Name: "ioengine", Value: "libaio"}, {Name: "rw", Value: "randread"}, {Name: "bs", Value: "8k"}, {Name: "iodepth", Value: "64"},
		}}}},
	}
}

// server answers a load as a queue of 20,000 a second does: p99 is 0.9 ms and more.
func server(s suite.Scenario) *result.Result {
	asked, _ := askedOf(s)
	done, p99 := asked, 900e-6
	if rho := asked / 20000; asked == 0 || rho > .995 {
		done, p99 = 20000, 5
	} else {
		p99 *= 1 + .6*rho*rho/(1-rho)
	}
	r := &result.Result{State: result.Done, Measured: s.Runtime}
	r.Total.Read.N, r.Total.Read.IOPS = uint64(done*s.Runtime.Seconds()), units.IOPS(done)
	h := &fio.Hist{}
	h.Add(time.Duration(p99*.3e9), 985)
	h.Add(time.Duration(p99*1e9), 15)
	r.Total.Read.Clat.Hist, r.Total.Read.Clat.N = h, h.Count()
	return r
}

// searchedRun is a run made by a search against measure.
func searchedRun(t *testing.T, m MostSearch, measure func(suite.Scenario) *result.Result) *bundle.Bundle {
	t.Helper()
	b := &bundle.Bundle{Run: bundle.Run{State: bundle.Finished}}
	b.Run.Settings.Most, b.Run.Settings.Runtime = m.Threshold.Text, m.Base.Runtime
	for range 100 {
		s, more := m.Next(b.Scenarios)
		if !more {
			return b
		}
		b.Run.Suite.Scenarios = append(b.Run.Suite.Scenarios, s)
		b.Scenarios = append(b.Scenarios, bundle.Scenario{Scenario: s, Result: measure(s)})
	}
	t.Fatal("the search does not end")
	return nil
}

func TestMostFindsTheLoad(t *testing.T) {
	m, err := NewMostSearch(searchBase(), "read.clat.p99 <= 2ms", 1)
	if err != nil {
		t.Fatal(err)
	}
	b := searchedRun(t, m, server)
	o, err := FindMost(b)
	if err != nil {
		t.Fatal(err)
	}
	const truth = 14697. // 0.9 ms (1 + 0.6 ρ²/(1-ρ)) = 2 ms
	if k := o.Bracket; !k.Done || k.Low > truth*1.02 || k.High < truth*.98 || k.High/k.Low > 1.03 {
		t.Errorf("%+v, want %g within", k, truth)
	}
	if o.Closed == nil || o.Closed.Asked != 0 || o.Check == nil || o.CheckTime != time.Minute || o.Check.Outcome != ProbeMet {
		t.Errorf("%+v, checked %+v", o.Closed, o.Check)
	}
	if c := o.Check; math.Abs(c.Asked/o.Bracket.Low-.97) > .005 || c.Lag <= 0 || c.Busy > .25 {
		t.Errorf("check %+v", c)
	}
	for _, p := range b.Run.Suite.Scenarios[1:] {
		job := p.Job.Effective(p.Job.Jobs()[0])
		for name, want := range map[string]string{"ioengine": "psync", "iodepth": "1", "rate_process": "poisson", "bs": "8k", "rw": "randread"} {
			if got, _ := job.Get(name); got != want {
				t.Errorf("%s: %s=%s, want %s", p.Name, name, got, want)
			}
		}
		if p.Ramp < settleTime {
			t.Errorf("%s: ramp %s", p.Name, p.Ramp)
		}
	}
	// An interrupted search continues with the same load.
	for n := range b.Scenarios {
		next, _ := m.Next(b.Scenarios[:n])
		if want := b.Run.Suite.Scenarios[n].Name; next.Name != want {
			t.Errorf("after %d: %s, want %s", n, next.Name, want)
		}
	}
}

func TestMostAtTheEnds(t *testing.T) {
	for threshold, want := range map[string]string{"read.clat.p99 <= 1us": "low 0", "read.clat.p99 < 60s": "high 0"} {
		m, err := NewMostSearch(searchBase(), threshold, 1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := FindMost(searchedRun(t, m, func(s suite.Scenario) *result.Result {
			r := server(s)
			if asked, _ := askedOf(s); asked > 0 {
				r.Total.Read.IOPS = units.IOPS(asked)
			}
			return r
		}))
		if err != nil {
			t.Fatal(err)
		}
		if low := want == "low 0"; !o.Bracket.Done || (o.Bracket.Low == 0) != low || (o.Bracket.High == 0) == low {
			t.Errorf("%s: %+v, want %s", threshold, o.Bracket, want)
		}
	}
	// Nothing can be trusted: the search ends, and names the load.
	m, _ := NewMostSearch(searchBase(), "read.clat.p99 <= 2ms", 1)
	o, err := FindMost(searchedRun(t, m, func(s suite.Scenario) *result.Result {
		r := server(s)
		if asked, _ := askedOf(s); asked > 0 {
			r.Invalidate("x")
		}
		return r
	}))
	if err != nil || o.Bracket.Unusable == 0 || len(o.Probes) != 4 || o.Check != nil {
		t.Errorf("%+v %v", o, err)
	}
}

// A first run that shows half of what the storage can do does not end the search there.
func TestMostSearchesAboveTheFirstFigure(t *testing.T) {
	m, err := NewMostSearch(searchBase(), "read.clat.p99 <= 2ms", 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := FindMost(searchedRun(t, m, func(s suite.Scenario) *result.Result {
		r := server(s)
		if asked, _ := askedOf(s); asked == 0 {
			r.Total.Read.IOPS = 5000
		}
		return r
	}))
	if err != nil || o.Bracket.Low < 14200 || o.Bracket.High > 15200 || o.Check == nil {
		t.Errorf("%+v %v", o, err)
	}
}

// The streams ask for what was meant, to 1.5 %, and never for nothing.
func TestStreams(t *testing.T) {
	for _, rate := range []float64{10, 57, 103, 339, 1500, 14300, 40000, 250000} {
		for _, reads := range []float64{1, 0, .7} {
			n, r, w := streamsFor(rate, reads, 2*time.Millisecond)
			got := float64(n * (r + w))
			if n < 1 || n > mostStreams || reads > 0 && r < 1 || reads < 1 && w < 1 {
				t.Errorf("%g, %g: %d x %d,%d", rate, reads, n, r, w)
			}
			if rate > 100 && math.Abs(got/rate-1) > .03 {
				t.Errorf("%g, %g: %d x %d,%d = %g", rate, reads, n, r, w, got)
			}
		}
		// The mix stays, however rare a direction and long the limit.
		for _, reads := range []float64{.01, .02, .1, .95} {
			n, r, w := streamsFor(rate, reads, time.Second)
			if got, want := float64(n*r), rate*reads; rate > 1000 && math.Abs(got-want) > 0.02*rate || n*(r+w) > int(1.03*rate)+1 && rate > 100 {
				t.Errorf("%g of %g: %d x %d,%d", reads, rate, n, r, w)
			}
		}
	}
}

func TestMostRefuses(t *testing.T) {
	sequential, own := searchBase(), searchBase()
	sequential.Job.Sections = []fio.Section{{Name: "x", Options: []fio.Option{{Name: "rw", Value: "read"}, {Name: "bs", Value: "1M"}}}}
	own.AsIs = true
	for _, c := range []struct {
		s               suite.Scenario
		threshold, want string
	}{
		{searchBase(), "read.iops >= 500", "a percentile or mean of a latency"},
		{searchBase(), "read.clat.p99 > 2ms", "a percentile or mean of a latency"},
		{searchBase(), "read.clat.over(1s) < 1%", "a percentile or mean of a latency"},
		{searchBase(), "nonsense", "want METRIC < VALUE"},
		{sequential, "read.clat.p99 <= 2ms", "is sequential"},
		{own, "read.clat.p99 <= 2ms", "job file of its own"},
	} {
		if _, err := NewMostSearch(c.s, c.threshold, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.threshold, err, c.want)
		}
	}
}

// A latency from the moment at which an I/O was due, against the queue with random arrivals and
// exponential times (M/M/1), whose time from arrival to end is exponential with a mean of S/(1-ρ).
func TestLatencyFromWhenItWasDue(t *testing.T) {
	const s = 1e6 // 1 ms
	h := &fio.Hist{}
	for i := range 20000 {
		h.Add(time.Duration(-s*math.Log((float64(i)+0.5)/20000)), 1)
	}
	r := &result.Result{Measured: time.Minute}
	r.Total.Read = fio.Direction{N: 20000, Clat: fio.Latency{N: 20000, Hist: h}}
	for rho, waits := range map[float64]float64{0.2: 1.25, 0.5: 2, 0.8: 5} {
		p := MostProbe{Streams: 4, Achieved: 4 * rho * 1e9 / s}
		p.busy(r)
		for statistic, want := range map[suite.Statistic]float64{
			"mean": waits, "p50": waits * math.Ln2, "p99": waits * math.Log(100), "p99.9": waits * math.Log(1000),
		} {
			p.Latency = map[suite.Statistic]float64{"mean": 1, "p50": math.Ln2, "p99": math.Log(100), "p99.9": math.Log(1000)}[statistic] * s
			got := p.fromDue(suite.Metric{Side: suite.ReadSide, Quantity: suite.Clat, Statistic: statistic}, r)
			if math.Abs(got/s/want-1) > 0.03 {
				t.Errorf("ρ %v, %s: %.3f ms, want %.3f", rho, statistic, got/s, want)
			}
		}
	}
	// All threads are busy: arrivals wait for as long as the load lasts.
	full := MostProbe{Streams: 4, Busy: 1, Latency: s}
	if got := full.fromDue(suite.Metric{Side: suite.ReadSide, Statistic: "p50"}, r); got < float64(time.Minute) {
		t.Errorf("%v", got)
	}
	// The scenario itself keeps its own depth: nothing was due.
	closed := MostProbe{Busy: 0.5, Lag: s, Latency: s}
	if got := closed.fromDue(suite.Metric{Side: suite.ReadSide, Statistic: "p50"}, r); got != s {
		t.Errorf("%v", got)
	}
}
