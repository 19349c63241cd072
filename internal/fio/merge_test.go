package fio

import (
	"math"
	"testing"
	"time"
)

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
