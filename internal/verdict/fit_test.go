package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
)

// law draws a latency.
type law struct {
	median, sigma float64 // of a lognormal, in ns
	tail, factor  float64 // a share that takes a factor longer
}

func (l law) draw(r *rand.Rand) time.Duration {
	v := l.median * math.Exp(l.sigma*r.NormFloat64())
	if r.Float64() < l.tail {
		v *= l.factor
	}
	return time.Duration(v)
}

// above is the true share above a limit.
func (l law) above(limit time.Duration) float64 {
	beyond := func(median float64) float64 {
		return 0.5 * math.Erfc(math.Log(float64(limit)/median)/l.sigma/math.Sqrt2)
	}
	return (1-l.tail)*beyond(l.median) + l.tail*beyond(l.median*l.factor)
}

// fioPercentiles are those that fio prints.
var fioPercentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// TestFitOfSimulatedLaws: 1,000 laws of which the truth is known, sampled 100 to 30,000 times, as fio's list or as
// bins. At most 1 % of those that are not good enough may be called so, and 5 % the other way round; of those whose
// share above the limit is half or twice the allowed one or further off, most must be decided.
func TestFitOfSimulatedLaws(t *testing.T) {
	p := Profile{Name: "x", For: "x", Percentile: 99, Below: 10 * time.Millisecond, Job: "fio"}
	r := rand.New(rand.NewPCG(54, 6))
	var good, bad, wrongYes, wrongNo, plain, decided int
	for range 1000 {
		l := law{median: 1e6 * math.Exp(1.2*r.NormFloat64()), sigma: 0.1 + 0.6*r.Float64(), tail: 0.03 * r.Float64(), factor: 1 + 20*r.Float64()}
		n := int(100 * math.Pow(300, r.Float64()))
		draws := make([]time.Duration, n)
		hist := &fio.Hist{}
		for i := range draws {
			draws[i] = l.draw(r)
			hist.Add(draws[i], 1)
		}
		slices.Sort(draws)
		lat := fio.Latency{N: uint64(n), Mean: 1, Min: draws[0], Max: draws[n-1]} //nolint:gosec // positive
		if r.IntN(2) == 0 {
			lat.Hist = hist
		} else {
			for _, q := range fioPercentiles {
				lat.Percentiles = append(lat.Percentiles, fio.Percentile{P: q, Value: draws[min(int(math.Ceil(q/100*float64(n)))-1, n-1)]})
			}
		}
		res := &result.Result{Name: "r", Total: fio.Job{Write: fio.Direction{N: lat.N, IOPS: 1}, Sync: fio.Sync{Lat: lat}}}
		f, truth := FitOf(p, res, ""), l.above(p.Below)
		if truth < 0.01 {
			good++
		} else {
			bad++
		}
		switch {
		case f.Outcome == stats.Met && truth >= 0.01:
			wrongYes++
		case f.Outcome == stats.Missed && truth < 0.01:
			wrongNo++
		}
		if truth < 0.005 && n > 2000 || truth > 0.02 && n > 2000 {
			if plain++; f.Outcome != stats.CannotTell {
				decided++
			}
		}
	}
	t.Logf("good %d, bad %d: wrong yes %d, wrong no %d; of %d plain ones %d were decided", good, bad, wrongYes, wrongNo, plain, decided)
	if float64(wrongYes) > 0.01*float64(bad) || float64(wrongNo) > 0.05*float64(good) || float64(decided) < 0.8*float64(plain) {
		t.Error("more errors than are allowed")
	}
}

func TestFitNeedsDurableWrites(t *testing.T) {
	p, err := ProfileOf("etcd")
	if err != nil {
		t.Fatal(err)
	}
	copied := fio.Job{Write: fio.Direction{N: 10029, IOPS: 4801, Clat: fio.Latency{N: 10029, Mean: 12e3}}}
	if f := FitOf(p, &result.Result{Total: copied}, ""); f.Says != "Cannot tell for etcd: nothing was synced" ||
		f.Run != p.Job {
		t.Errorf("%+v", f)
	}
	good := copied
	good.Sync.Lat = fio.Latency{N: 10029, Mean: 1e6, Min: 5e5, Max: 6e6, Percentiles: []fio.Percentile{
		{P: 95, Value: 950 * time.Microsecond}, {P: 99, Value: 1190 * time.Microsecond}, {P: 99.5, Value: 1400 * time.Microsecond},
	}}
	f := FitOf(p, &result.Result{Total: good, Measured: 6 * time.Second}, "")
	if f.Outcome != stats.Met || f.Says != "Yes for etcd: p99 of sync 1.19 ms (950 µs to 1.4 ms, 10,029 syncs), 10 ms allowed" {
		t.Errorf("%+v", f)
	}
	if f := FitOf(p, &result.Result{Total: good}, "the measurement is invalid"); f.Outcome != stats.CannotTell {
		t.Errorf("%+v", f)
	}
	for _, p := range Profiles() {
		if p.Below <= 0 || p.Percentile <= 50 || p.Source == "" || p.URL == "" || p.Date == "" || !strings.HasPrefix(p.Job, "fio ") {
			t.Errorf("%+v", p)
		}
	}
}
