package fio

import (
	"math"
	"testing"
	"time"
)

// TestTotalAgreesWithFio runs the same jobs reported apart and together by fio: two processes
// cannot measure the same, so the rows that fio reports apart are compared with sums by hand, and
// with the bins as a whole.
func TestTotalAgreesWithFio(t *testing.T) {
	doc := runFio(t, t.TempDir(), "--name=a", "--ioengine=null", "--size=64m", "--rw=randrw", "--bs=4k", "--numjobs=3", "--output-format=json+")
	out, err := ParseJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Jobs) != 3 {
		t.Fatalf("%d rows", len(out.Jobs))
	}
	m := (&Output{Jobs: out.Jobs}).Total()
	var n uint64
	var sum float64
	longest := time.Duration(0)
	all := &Hist{}
	for _, j := range out.Jobs {
		n += j.Read.N
		sum += j.Read.Clat.Mean * float64(j.Read.Clat.N)
		longest = max(longest, j.Read.Runtime)
		all.Merge(j.Read.Clat.Hist)
	}
	if m.Read.N != n || m.Read.Clat.N != n || m.Count != 3 || m.Read.Runtime != longest ||
		math.Abs(float64(m.Read.IOPS)-float64(n)/longest.Seconds()) > 1e-6*float64(m.Read.IOPS) {
		t.Errorf("merged %+v", m.Read)
	}
	if math.Abs(m.Read.Clat.Mean-sum/float64(n)) > 1e-6*m.Read.Clat.Mean {
		t.Errorf("mean %v, want %v", m.Read.Clat.Mean, sum/float64(n))
	}
	if len(m.Read.Clat.Percentiles) != 17 || m.Read.Clat.Percentiles[16].Value != all.Percentile(99.99) {
		t.Errorf("percentiles %v", m.Read.Clat.Percentiles)
	}
}

func TestTotalByHand(t *testing.T) {
	row := func(group int, n uint64, mean, sd float64, run time.Duration) Job {
		return Job{Group: group, Runtime: run, Read: Direction{
			N: n, Bytes: 4096, IOPS: 99, Runtime: run,
			Clat: Latency{N: n, Min: 1, Max: 9, Mean: mean, StdDev: sd},
		}}
	}
	// 1, 3 and 5, 7, 9: all five have mean 5 and deviation sqrt(10).
	m := (&Output{Jobs: []Job{row(0, 2, 2, math.Sqrt2, time.Second), row(1, 3, 7, 2, 4*time.Second)}}).Total()
	c := m.Read.Clat
	if c.N != 5 || math.Abs(c.Mean-5) > 1e-12 || math.Abs(c.StdDev-math.Sqrt(10)) > 1e-12 || c.Percentiles != nil || c.Hist != nil {
		t.Errorf("latency %+v", c)
	}
	if m.Read.Runtime != 5*time.Second || m.Read.IOPS != 1 || m.Read.BW != 8192/5.0 {
		t.Errorf("one after the other: %v, %v IOPS, %v", m.Read.Runtime, m.Read.IOPS, m.Read.BW)
	}
}
