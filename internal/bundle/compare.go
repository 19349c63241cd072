package bundle

import (
	"cmp"
	"fmt"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
)

// Comparison holds two runs side by side.
type Comparison struct {
	Before string   `json:"before"` // the runs' IDs
	After  string   `json:"after"`
	Rows   []Change `json:"rows"`
	// Doubts are differences between the runs that are not in the figures: another fio, kernel, size, layout.
	Doubts []string `json:"doubts,omitempty"`
}

// Change is one figure of one scenario, before and after.
type Change struct {
	Scenario string  `json:"scenario"` // name
	Metric   string  `json:"metric"`   // IOPS, bandwidth, read p99, …
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
	Unit     Unit    `json:"unit"`
	// Ratio is After/Before with its interval; for latencies there is none (N 0).
	Ratio stats.Estimate `json:"ratio"`
}

// Unit says how a figure is printed.
type Unit string

// The units of changes.
const (
	PerSecond   Unit = "1/s"
	BytesPerSec Unit = "bytes/s"
	Nanoseconds Unit = "ns"
)

// Clear says that the interval of the ratio lies on one side of 1.
func (c Change) Clear() bool { return c.Ratio.N > 1 && (c.Ratio.Lo > 1 || c.Ratio.Hi < 1) }

// Compare matches the scenarios of two runs by name. Scenarios that only one of them has, or that are invalid in one, are doubts.
func Compare(before, after *Bundle) Comparison {
	c := Comparison{Before: before.Run.ID, After: after.Run.ID, Doubts: unlike(before, after)}
	for _, b := range before.Scenarios {
		a := after.named(b.Name)
		if a == nil {
			c.Doubts = append(c.Doubts, fmt.Sprintf("%s is only in %s", b.Name, before.Run.ID))
			continue
		}
		if !measured(b.Result) || !measured(a.Result) {
			c.Doubts = append(c.Doubts, fmt.Sprintf("%s has no valid result in both runs", b.Name))
			continue
		}
		c.Rows = append(c.Rows, changes(b.Name, b.Result, a.Result)...)
	}
	for _, a := range after.Scenarios {
		if before.named(a.Name) == nil {
			c.Doubts = append(c.Doubts, fmt.Sprintf("%s is only in %s", a.Name, after.Run.ID))
		}
	}
	return c
}

func measured(r *result.Result) bool { return r != nil && r.State == result.Done }

func (b *Bundle) named(name string) *Scenario {
	for i := range b.Scenarios {
		if b.Scenarios[i].Name == name {
			return &b.Scenarios[i]
		}
	}
	return nil
}

// latencyPoints are the percentiles that are compared.
var latencyPoints = []float64{50, 99}

func changes(name string, b, a *result.Result) []Change {
	rows := []Change{
		{name, "IOPS", b.IOPS.Center, a.IOPS.Center, PerSecond, stats.Quotient(b.IOPS, a.IOPS)},
		{name, "bandwidth", b.BW.Center, a.BW.Center, BytesPerSec, stats.Quotient(b.BW, a.BW)},
	}
	for _, d := range []struct {
		what          string
		before, after fio.Latency
	}{
		{"read", b.Total.Read.Clat, a.Total.Read.Clat},
		{"write", b.Total.Write.Clat, a.Total.Write.Clat},
		{"sync", b.Total.Sync.Lat, a.Total.Sync.Lat},
	} {
		for _, p := range latencyPoints {
			was, ok1 := d.before.At(p)
			is, ok2 := d.after.At(p)
			if ok1 && ok2 && was > 0 {
				rows = append(rows, Change{
					name, fmt.Sprintf("%s p%g", d.what, p), float64(was), float64(is), Nanoseconds,
					stats.Estimate{Center: float64(is) / float64(was)},
				})
			}
		}
	}
	return rows
}

// unlike lists what differs between the runs beside their results.
func unlike(before, after *Bundle) []string {
	b, a := before.Run, after.Run
	var doubts []string
	differ := func(what string, was, is any) {
		if was != is {
			doubts = append(doubts, fmt.Sprintf("%s differs: %v before, %v after", what, was, is))
		}
	}
	differ("fio", b.Fio, a.Fio)
	differ("host", b.Topology.Host.Name, a.Topology.Host.Name)
	differ("kernel", b.Topology.Host.Kernel, a.Topology.Host.Kernel)
	differ("scale of the rates", cmp.Or(b.Topology.Scale, 1), cmp.Or(a.Topology.Scale, 1))
	differ("instance type", b.Topology.Instance.Type, a.Topology.Instance.Type)
	differ("fresh extents", b.Settings.FreshExtents, a.Settings.FreshExtents)
	for _, s := range before.Scenarios {
		t := after.named(s.Name)
		if t == nil {
			continue
		}
		differ(s.Name+" size", s.Size, t.Size)
		differ(s.Name+" runtime", s.Runtime.Round(time.Second), t.Runtime.Round(time.Second))
	}
	return append(doubts, "one run each: the intervals say how steady each run was, not how much runs of one set-up differ; repeat both to know")
}
