package run

import (
	"fmt"
	"math"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// weights are a direction's latencies for stats.Bimodal, from its bins; or the whole job's n I/Os
// from its coarse buckets, each spread evenly (on the logarithmic axis) over its range.
func weights(h *fio.Hist, buckets []fio.Bucket, n float64) []stats.Weighted {
	var out []stats.Weighted
	if h.Count() > 0 {
		h.Each(func(bin int, count uint64) {
			out = append(out, stats.Weighted{Value: float64(bins.Value(bin)), Weight: float64(count)})
		})
		return out
	}
	const pieces = 32
	for _, b := range buckets {
		hi := float64(b.Upto)
		if hi == 0 { // the last, open one begins at 2 s
			hi = 4e9
		}
		lo := hi / bucketStep(b.Upto)
		for i := range pieces {
			out = append(out, stats.Weighted{Value: lo * math.Pow(hi/lo, (float64(i)+0.5)/pieces), Weight: b.Value * n / pieces})
		}
	}
	return out
}

// percentiles are a direction's n I/Os by its percentiles, those between two of them spread evenly (on the
// logarithmic axis) over the latencies between: text has no bins, and its buckets are of all
// directions together.
func percentiles(l fio.Latency, n float64) []stats.Weighted {
	const pieces = 32
	var out []stats.Weighted
	for i := 1; i < len(l.Percentiles); i++ {
		low, high := l.Percentiles[i-1], l.Percentiles[i]
		share := (high.P - low.P) / 100
		if low.Value <= 0 || high.Value < low.Value || share <= 0 || share > percentileStep {
			return nil
		}
		lo, hi := float64(low.Value), float64(max(high.Value, low.Value+low.Value/percentileWidth))
		for k := range pieces {
			out = append(out, stats.Weighted{
				Value: lo * math.Pow(hi/lo, (float64(k)+0.5)/pieces), Weight: share * n / pieces,
			})
		}
	}
	return out
}

const (
	// percentileStep is how far percentiles may lie apart to show modes: fio's own list goes by tenths.
	percentileStep = 0.101
	// percentileWidth of a latency is the width of the bin in which fio counts it (64 an octave).
	percentileWidth = 64
)

// bucketStep is how many times a bucket's upper end is its lower one: fio's go 2, 4, 10, 20, 50,
// 100, 250, 500, 750, 1000.
func bucketStep(upto time.Duration) float64 {
	digits := float64(upto)
	for digits >= 1000 {
		digits /= 1000
	}
	switch digits {
	case 10, 50, 250:
		return 2.5
	case 750:
		return 1.5
	case 1:
		return 4.0 / 3
	}
	return 2
}

const (
	modeShare = 0.10 // of all I/Os in the lesser mode: less is a tail, not a second kind of I/O
	modeApart = 8.0  // times between the medians of the modes: a factor of two is a request that waited for one other
)

var bimodal = &diagnose.Rule{
	Code:  "PL404",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			t := m.Result.Total
			what := "reads"
			modes, ok := stats.Bimodal(weights(t.Read.Clat.Hist, nil, 0))
			if !ok && t.Write.Clat.Hist.Count() > 0 {
				what = "writes"
				modes, ok = stats.Bimodal(weights(t.Write.Clat.Hist, nil, 0))
			}
			bare := t.Read.Clat.Hist.Count()+t.Write.Clat.Hist.Count() == 0
			if bare {
				what = "reads"
				if modes, ok = stats.Bimodal(percentiles(t.Read.Clat, float64(t.Read.N))); !ok {
					what = "writes"
					modes, ok = stats.Bimodal(percentiles(t.Write.Clat, float64(t.Write.N)))
				}
			}
			if !ok && bare && (!diagnose.Ran(t.Read) || !diagnose.Ran(t.Write)) {
				what = "I/Os" // the buckets are of all directions together, and reads and writes may well differ
				modes, ok = stats.Bimodal(weights(nil, t.Buckets, float64(t.Read.N+t.Write.N)))
			}
			if !ok || min(modes.LowShare, modes.HighShare) < modeShare || modes.High < modeApart*modes.Low {
				continue
			}
			f := finding.Finding{
				Subject: m.Label(), Scenarios: m.IDs(),
				Message: fmt.Sprintf("The %s are of two kinds: %s around %s and %s around %s.", what, text.Percent(modes.LowShare),
					units.Latency(modes.Low).String(), text.Percent(modes.HighShare), units.Latency(modes.High).String()),
				Evidence: []finding.Evidence{
					{
						What:  "faster kind",
						Found: fmt.Sprintf("%s, median %s", text.Percent(modes.LowShare), units.Latency(modes.Low).String()),
						Where: "fio, latency distribution below " + units.Latency(modes.Split).String(),
					},
					{
						What:  "slower kind",
						Found: fmt.Sprintf("%s, median %s", text.Percent(modes.HighShare), units.Latency(modes.High).String()),
						Where: "fio, latency distribution above it",
					},
					{
						What:  "density in the valley",
						Found: text.Percent(modes.Dip) + " of the lower peak",
						Where: "fio, latency distribution",
					},
				},
			}
			if names, how := c.Gathers(m); names != "" {
				f.Message += fmt.Sprintf(" The queue waits on %s.", names)
				f.Fix = "Judge by percentiles; find out why the queue waits on " + names + " (PL204)."
				f.Evidence = append(f.Evidence, finding.Evidence{
					What: "members", Found: how, Expected: "alike", Where: "disk statistics, ticks over ios, or telemetry",
				})
			}
			report(f)
		}
	},
}

// lastBin is where fio's latency bins end (64 an octave, 1,856 of them): what took longer is
// counted in the last one, so percentiles cannot exceed it (axboe/fio#1668).
const lastBin = 17112 * time.Millisecond

var saturated = &diagnose.Rule{
	Code: "PL416",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			var most time.Duration
			t := m.Result.Total
			for _, l := range []fio.Latency{t.Read.Clat, t.Write.Clat, t.Trim.Clat, t.Sync.Lat, t.Read.Lat, t.Write.Lat} {
				most = max(most, l.Max)
				for _, p := range l.Percentiles {
					most = max(most, p.Value)
				}
			}
			if most < lastBin-lastBin/100 { // percentiles name the middle of a bin
				continue
			}
			report(finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Message: fmt.Sprintf("The slowest I/O took %s; fio's percentiles end at %s.", text.Duration(most),
					text.Duration(lastBin)),
				Evidence: []finding.Evidence{
					{
						What:     "slowest I/O",
						Found:    text.Duration(most),
						Expected: "below " + text.Duration(lastBin),
						Where:    "fio, max and percentiles",
					},
				},
			})
		}
	},
}

const (
	// slowIO is what no interactive application tolerates, and where people read fio's buckets
	// wrongly: the bucket `1000=` ends at 1 s, so it is not above.
	slowIO = time.Second
	// slowMany is the share of such I/Os worth a warning.
	slowMany = 0.01
)

var slowShare = &diagnose.Rule{
	Code:  "PL417",
	Needs: []part.Part{part.AllJobs},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			share, ok := diagnose.Above(m.Result.Total, slowIO)
			if !ok || share.Least < slowMany || brokenClock(m, share.Least) {
				continue
			}
			says := share.Print(text.Percent, 1)
			f := finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Message:   text.Sentence(fmt.Sprintf("%s of all I/Os took longer than %s.", says, text.Duration(slowIO))),
				Evidence: []finding.Evidence{
					{
						What:     "I/Os above " + text.Duration(slowIO),
						Found:    says,
						Expected: "below " + text.Percent(slowMany),
						Where:    share.How,
					},
				},
			}
			if submission, late := collectedLate(m); late {
				f.Message = text.Sentence(fmt.Sprintf("%s of all I/Os took longer than %s until fio picked them up; each was done "+
					"when its submission returned, after %s (PL407).", says, text.Duration(slowIO), text.Duration(submission)))
				f.Fix = "Read the time of a submission as that of an I/O; see PL407 for why they were not in flight together."
			}
			report(f)
		}
	},
}

// brokenClock says that so many I/Os cannot have taken longer than slowIO: at that rate more would have been in flight
// than fio's own rows say at most, or clat, which is a part of lat, is longer.
func brokenClock(m diagnose.Measurement, slow float64) bool {
	t := m.Result.Total
	if t.Read.Mistimed() || t.Write.Mistimed() {
		return true
	}
	depth := 0
	for _, j := range m.Result.Jobs {
		if j.Target == nil {
			return false
		}
		depth += j.Target.Depth * max(j.Count, 1)
	}
	n, _ := t.Rates()
	const more = 10
	return depth > 0 && slow*float64(n)*slowIO.Seconds() > more*float64(depth)
}
