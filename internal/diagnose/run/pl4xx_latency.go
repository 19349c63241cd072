package run

import (
	"fmt"
	"math"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// weighed are the latencies of some I/Os for stats.Bimodal.
type weighed struct {
	what string
	of   []stats.Weighted
}

// binned are latencies from their bins.
func binned(h *fio.Hist) (out []stats.Weighted) {
	h.Each(func(bin int, count uint64) {
		out = append(out, stats.Weighted{Value: float64(bins.Value(bin)), Weight: float64(count)})
	})
	return out
}

// spread adds n I/Os evenly (on the logarithmic axis) between two latencies.
func spread(out []stats.Weighted, lo, hi, n float64) []stats.Weighted {
	const pieces = 32
	for i := range pieces {
		out = append(out, stats.Weighted{Value: lo * math.Pow(hi/lo, (float64(i)+0.5)/pieces), Weight: n / pieces})
	}
	return out
}

// bucketed are n I/Os from coarse buckets.
func bucketed(buckets []fio.Bucket, n float64) (out []stats.Weighted) {
	for _, b := range buckets {
		hi := float64(b.Upto)
		if hi == 0 { // the last, open one begins at 2 s
			hi = 4e9
		}
		out = spread(out, float64(diagnose.StartOf(b)), hi, b.Value*n)
	}
	return out
}

// percentiles are a direction's I/Os by its percentiles, those between two of them spread over the latencies
// between: text has no bins, and its buckets are of all directions together.
func percentiles(d fio.Direction) (out []stats.Weighted) {
	all := d.Clat.Percentiles
	for i := 1; i < len(all); i++ {
		low, high := all[i-1], all[i]
		share := (high.P - low.P) / 100
		if low.Value <= 0 || high.Value < low.Value || share <= 0 || share > percentileStep {
			return nil
		}
		hi := max(high.Value, low.Value+low.Value/percentileWidth)
		out = spread(out, float64(low.Value), float64(hi), share*float64(d.N))
	}
	return out
}

const (
	// percentileStep is how far percentiles may lie apart to show modes: fio's own list goes by tenths.
	percentileStep = 0.101
	// percentileWidth of a latency is the width of the bin in which fio counts it (64 an octave).
	percentileWidth = 64
)

const (
	modeShare = 0.10 // of all I/Os in the lesser mode: less is a tail, not a second kind of I/O
	modeApart = 8.0  // times between the medians of the modes: a factor of two is a request that waited for one other
)

func bimodal(c *facts, m measurement) (f fault) {
	t := m.Total
	looks := []weighed{{"reads", binned(t.Read.Clat.Hist)}, {"writes", binned(t.Write.Clat.Hist)}}
	if t.Read.Clat.Hist.Count()+t.Write.Clat.Hist.Count() == 0 {
		looks = []weighed{{"reads", percentiles(t.Read)}, {"writes", percentiles(t.Write)}}
		if !diagnose.Ran(t.Read) || !diagnose.Ran(t.Write) {
			// The buckets are of all directions together, and reads and writes may well differ.
			looks = append(looks, weighed{"I/Os", bucketed(t.Buckets, float64(t.Read.N+t.Write.N))})
		}
	}
	what, modes := "", stats.Modes{}
	for _, look := range looks {
		if found, ok := stats.Bimodal(look.of); ok {
			what, modes = look.what, found
			break
		}
	}
	if what == "" || min(modes.LowShare, modes.HighShare) < modeShare || modes.High < modeApart*modes.Low {
		return f
	}
	low, high := units.Latency(modes.Low), units.Latency(modes.High)
	f = m.Finds("The latency of %s has two peaks: %v near %s, %v near %s.", what,
		modes.LowShare, low, modes.HighShare, high).
		Saw("faster kind", finding.Says("%v, median %s", modes.LowShare, low), "",
			"fio, latency distribution below "+units.Latency(modes.Split).String()).
		Saw("slower kind", finding.Says("%v, median %s", modes.HighShare, high), "", "fio, latency distribution above it").
		Saw("density in the valley", text.Percent(modes.Dip)+" of the lower peak", "", "fio, latency distribution")
	if names, how := c.Gathers(m); names != "" {
		f.Message += fmt.Sprintf(" The queue waits on %s.", names)
		f.Fix = "Judge by percentiles; find out why the queue waits on " + names + " (PL204)."
		f = f.Saw("members", how, "alike", "disk statistics, ticks over ios, or telemetry")
	}
	return f
}

// lastBin is where fio's latency bins end (64 an octave, 1,856 of them): what took longer is
// counted in the last one, so percentiles cannot exceed it (axboe/fio#1668).
const lastBin = 17112 * time.Millisecond

func saturated(_ *facts, m measurement) (f fault) {
	var most time.Duration
	t := m.Total
	for _, l := range []fio.Latency{t.Read.Clat, t.Write.Clat, t.Trim.Clat, t.Sync.Lat, t.Read.Lat, t.Write.Lat} {
		most = max(most, l.Max)
		for _, p := range l.Percentiles {
			most = max(most, p.Value)
		}
	}
	if most < lastBin-lastBin/100 { // percentiles name the middle of a bin
		return f
	}
	return m.Finds("The slowest I/O took %s; fio's percentiles end at %s.", most, lastBin).
		Saw("slowest I/O", most, "below "+text.Duration(lastBin), "fio, max and percentiles")
}

const (
	// slowIO is what no interactive application tolerates, and where people read fio's buckets
	// wrongly: the bucket `1000=` ends at 1 s, so it is not above.
	slowIO = time.Second
	// slowMany is the share of such I/Os worth a warning.
	slowMany = 0.01
)

func slowShare(_ *facts, m measurement) (f fault) {
	share, ok := diagnose.Above(m.Total, slowIO)
	if !ok || share.Least < slowMany || brokenClock(m, share.Least) {
		return f
	}
	says := share.Print(text.Percent, 1)
	f = m.Finds("%s of all I/Os took longer than %s.", says, slowIO).
		Saw("I/Os above "+text.Duration(slowIO), says, "below "+text.Percent(slowMany), share.How)
	if submission, late := collectedLate(m); late {
		f.Say("%s of all I/Os waited longer than %s until fio reaped them; each was complete when its submission returned, "+
			"after %s (PL407).", says, slowIO, submission)
		f.Fix = "Take the submission time as the time of the I/O; see PL407 for why the I/Os were not in flight together."
	}
	f.Message = text.Sentence(f.Message)
	return f
}

// brokenClock says that so many I/Os cannot have taken longer than slowIO: at that rate more would have been in flight
// than fio's own rows say at most, or clat, which is a part of lat, is longer.
func brokenClock(m measurement, slow float64) bool {
	t := m.Total
	if t.Read.Mistimed() || t.Write.Mistimed() {
		return true
	}
	depth := 0
	for _, j := range m.Jobs {
		if j.Target == nil {
			return false
		}
		depth += j.Target.Depth * max(j.Count, 1)
	}
	n, _ := t.Rates()
	const more = 10
	return depth > 0 && slow*float64(n)*slowIO.Seconds() > more*float64(depth)
}
