package diagnose

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/fio"
)

// TestShareAboveASecond: buckets say it exactly. fio before 3.8 left those above a second out of its
// text: they hold what the others do not, if percentiles agree; else percentiles prove a least share.
func TestShareAboveASecond(t *testing.T) {
	const ms = time.Millisecond
	bucket := func(upto time.Duration, percent float64) fio.Bucket {
		return fio.Bucket{Upto: upto, Value: percent / 100}
	}
	within := []fio.Bucket{bucket(250*ms, 0.23), bucket(500*ms, 4.26), bucket(750*ms, 10.17), bucket(1000*ms, 16)} // 30.66 %
	third := []fio.Percentile{{P: 20, Value: 844 * ms}, {P: 30, Value: 995 * ms}, {P: 40, Value: 1133 * ms}}
	for name, c := range map[string]struct {
		buckets     []fio.Bucket
		percentiles []fio.Percentile
		want        string
	}{
		"all printed": {append(within[:4:4], bucket(2000*ms, 60), bucket(0, 9.34)), third, "69.3 %"}, // 60 + 9.34
		"left out":    {within, third, "69.3 %"},                                                     // 100 - 30.66
		"cut off":     {within[:1], third, "at least 60.0 %"},                                        // p30 allows 70 % at most, and 99.77 % are left
		"no buckets":  {nil, third, "at least 60.0 %"},
	} {
		j := fio.Job{Buckets: c.buckets}
		j.Write = fio.Direction{N: 83827, Clat: fio.Latency{Percentiles: c.percentiles}}
		if got, ok := Above(j, time.Second); !ok || got.String() != c.want {
			t.Errorf("%s: %s, want %s (%s)", name, got, c.want, got.How)
		}
	}
	j := fio.Job{Buckets: within} // two directions: a quarter of the I/Os are reads, a tenth of them slow
	j.Read = fio.Direction{N: 100, Clat: fio.Latency{Percentiles: []fio.Percentile{{P: 90, Value: 2 * time.Second}}}}
	j.Write = fio.Direction{N: 300, Clat: fio.Latency{Percentiles: []fio.Percentile{{P: 90, Value: ms}, {P: 96, Value: 2 * time.Second}}}}
	least, most, _ := byPercentiles(j, time.Second)
	if math.Abs(least-0.055) > 1e-9 || math.Abs(most-0.325) > 1e-9 { // 0.1/4 + 0.04 × 3/4; 1/4 + 0.1 × 3/4
		t.Errorf("%.4f to %.4f", least, most)
	}
}
