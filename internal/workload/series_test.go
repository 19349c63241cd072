package workload

import (
	"bytes"
	"math"
	"testing"
	"time"
)

// TestSeriesIsReadBack: what is written of a recording is the same recording.
func TestSeriesIsReadBack(t *testing.T) {
	start := time.Date(2026, 11, 22, 3, 4, 5, 600_000_000, time.UTC)
	o := Observed{Device: "md0"}
	for i := range 20 {
		o.Intervals = append(o.Intervals, Interval{
			At: time.Duration(i+1) * time.Second, Len: time.Second,
			Read:  Flow{IOPS: 100 + float64(i), Rate: 819200, Wait: time.Millisecond},
			Write: Flow{IOPS: 7, Rate: 65536 * 7},
		})
	}
	var b bytes.Buffer
	if err := WriteSeries(&b, start, []Observed{o}); err != nil {
		t.Fatal(err)
	}
	got, err := From(b.Bytes(), 0)
	if err != nil || len(got) != 1 || got[0].Device != "md0" || !got[0].Start.Equal(start) || len(got[0].Intervals) != 20 {
		t.Fatalf("%+v %v", got, err)
	}
	for i, iv := range got[0].Intervals {
		want := o.Intervals[i]
		if iv.At != want.At || iv.Len != want.Len || math.Abs(iv.Read.IOPS-want.Read.IOPS) > 1e-6 ||
			iv.Write.Rate != want.Write.Rate || (iv.Read.Wait-want.Read.Wait).Abs() > time.Nanosecond*10 {
			t.Errorf("interval %d: %+v, want %+v", i, iv, want)
		}
	}
}

// TestNightly: a peak of minutes that comes hours apart is a burst from its second time on; two
// seconds' peaks are chance.
func TestNightly(t *testing.T) {
	watch := func(each time.Duration, n int, peak func(i int) bool) Seen {
		o := Observed{Device: "vol"}
		for i := range n {
			iops := 100.0
			if peak(i) {
				iops = 1000
			}
			o.Intervals = append(o.Intervals, Interval{At: time.Duration(i+1) * each, Len: each, Read: Flow{IOPS: iops, Rate: iops * 8192}})
		}
		return See([]Observed{o})[0]
	}
	nightly := watch(5*time.Minute, 576, func(i int) bool { return i%288 >= 24 && i%288 < 28 })
	if b := nightly.Burst; b == nil || b.For != 20*time.Minute || b.Every != 24*time.Hour {
		t.Errorf("%+v", nightly.Burst)
	}
	if s := watch(5*time.Minute, 288, func(i int) bool { return i >= 24 && i < 28 }); s.Burst != nil {
		t.Errorf("once: %+v", s.Burst)
	}
	if s := watch(time.Second, 60, func(i int) bool { return i%30 >= 5 && i%30 < 9 }); s.Burst != nil {
		t.Errorf("twice in a minute: %+v", s.Burst)
	}
}
