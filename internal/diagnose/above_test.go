package diagnose

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
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
		"left out":    {within, third, "60.0 % to 69.3 %"},                                           // 100 - 30.66, and p40
		"cut off":     {within[:1], third, "60.0 % to 70.0 %"},                                       // by p40 and p30
		"no buckets":  {nil, third, "60.0 % to 70.0 %"},
		"one":         {nil, third[2:], "at least 60.0 %"},
		"none slow":   {within[:1], []fio.Percentile{{P: 99, Value: 400 * ms}}, "at most 1.0 %"},
	} {
		j := fio.Job{Buckets: c.buckets}
		j.Write = fio.Direction{N: 83827, Clat: fio.Latency{Percentiles: c.percentiles}}
		if got, ok := Above(j, time.Second); !ok || got.Print(text.Percent, 1) != c.want {
			t.Errorf("%s: %v, want %s (%s)", name, got, c.want, got.How)
		}
	}
	// a mean above the maximum is none
	for most, want := range map[time.Duration]string{5 * time.Second: "at least 32.5 %", 2 * time.Second: ""} {
		j := fio.Job{Write: fio.Direction{N: 100, Clat: fio.Latency{N: 100, Mean: 2.3e9, Max: most}}}
		if got, ok := Above(j, time.Second); ok != (want != "") || ok && got.Print(text.Percent, 1) != want {
			t.Errorf("a mean of 2.3 s, at most %s: %v, want %s", most, got, want)
		}
	}
	j := fio.Job{Buckets: within} // two directions: a quarter of the I/Os are reads, a tenth of them slow
	j.Read = fio.Direction{N: 100, Clat: fio.Latency{Percentiles: []fio.Percentile{{P: 90, Value: 2 * time.Second}}}}
	j.Write = fio.Direction{N: 300, Clat: fio.Latency{Percentiles: []fio.Percentile{{P: 90, Value: ms}, {P: 96, Value: 2 * time.Second}}}}
	j.Buckets = nil
	b, _ := Above(j, time.Second)
	if math.Abs(b.Least-0.055) > 1e-9 || math.Abs(b.Most-0.325) > 1e-9 { // 0.1/4 + 0.04 × 3/4; 1/4 + 0.1 × 3/4
		t.Errorf("%.4f to %.4f", b.Least, b.Most)
	}
}

// TestAboveOfBucketsKnowsWhereTheyBegin: fio leaves empty buckets out, so the one before in its list is
// not the end of the one before among all.
func TestAboveOfBucketsKnowsWhereTheyBegin(t *testing.T) {
	j := fio.Job{Buckets: []fio.Bucket{{Upto: 2 * time.Millisecond, Value: 0.7}, {Upto: 2 * time.Second, Value: 0.3}}}
	for d, want := range map[time.Duration][2]float64{
		time.Second: {0.3, 0.3}, 1500 * time.Millisecond: {0, 0.3}, 500 * time.Millisecond: {0.3, 0.3},
		1500 * time.Microsecond: {0.3, 1}, time.Millisecond: {1, 1},
	} {
		if b, _ := Above(j, d); math.Abs(b.Least-want[0]) > 1e-9 || math.Abs(b.Most-want[1]) > 1e-9 {
			t.Errorf("above %v: %.3f to %.3f (%s), want %v", d, b.Least, b.Most, b.How, want)
		}
	}
}

// TestAboveOfBins: the bin that the limit lies in may be on either side of it.
func TestAboveOfBins(t *testing.T) {
	h := &fio.Hist{}
	h.Add(time.Millisecond, 90)
	h.Add(time.Second, 8)
	h.Add(2*time.Second, 2)
	j := fio.Job{Read: fio.Direction{N: 100, Clat: fio.Latency{Hist: h}}}
	if b, ok := Above(j, time.Second); !ok || b.Least != 0.02 || b.Most != 0.1 {
		t.Errorf("%+v", b)
	}
	if b, _ := Above(j, 100*time.Millisecond); b.Least != 0.1 || b.Most != 0.1 {
		t.Errorf("%+v", b)
	}
}
