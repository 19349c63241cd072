package finding

import (
	"fmt"
	"math"
	"plimsoll/internal/fio"
	"time"
)

// part is a share of I/Os (0..1) whose latencies lie in [lo, hi).
type part struct {
	lo, hi float64 // ns
	share  float64
}

// parts are a direction's latencies a third of an octave each, from its bins; or the whole job's coarse buckets.
func parts(h *fio.Hist, buckets []fio.Bucket) []part {
	var out []part
	if n := float64(h.Count()); n > 0 {
		const perOctave = 3
		cells := map[int]float64{}
		lo, hi := math.MaxInt, math.MinInt
		h.Each(func(bin int, count uint64) {
			i := int(math.Floor(perOctave * math.Log2(math.Max(float64(fio.BinValue(bin)), 1))))
			cells[i] += float64(count) / n
			lo, hi = min(lo, i), max(hi, i)
		})
		for i := lo; i <= hi; i++ {
			out = append(out, part{math.Exp2(float64(i) / perOctave), math.Exp2(float64(i+1) / perOctave), cells[i]})
		}
		return out
	}
	before := 0.0
	for _, b := range buckets {
		p := part{before, float64(b.Upto), b.Value}
		switch {
		case b.Upto == 0: // the last, open one
			p.hi = 2 * p.lo
		case p.lo == 0:
			p.lo = p.hi / 2
		}
		// fio leaves out empty buckets; a gap of more than its widest step (2.5) holds nothing.
		if before > 0 && p.hi/p.lo > 2.6 {
			out = append(out, part{p.lo, p.hi / 2.5, 0})
			p.lo = p.hi / 2.5
		}
		out = append(out, p)
		before = p.hi
	}
	return out
}

const (
	modeShare  = 0.10 // of all I/Os in the lesser mode: less is a tail, not a second kind of I/O
	modeApart  = 8.0  // times between the modes
	valleyDeep = 0.5  // of the lesser mode's density, at most, between them
)

var bimodal = &Rule{
	Code: "PL404", Since: "0.1", Severity: Info,
	Title: "latency has two modes",
	When: "One direction's latencies have two peaks at least 8 times apart, each with 10 % of the I/Os or more, and a valley under half " +
		"of the lesser between them.",
	Why: "The mean lies where hardly any I/O does. Two modes are two kinds of I/O: cache and media, a fast and a slow member, or I/Os that " +
		"pass a rate limit at once and others that wait for its tokens.",
	Fix:    "Judge by percentiles; find out what the slow kind is: by member (PL204), by offset, by time (the heat map).",
	Bad:    "27 % between 190 and 500 µs, 54 % between 10 and 50 ms, mean 13.7 ms",
	Good:   "99 % between 300 and 550 µs, mean 0.4 ms",
	Ignore: "In a deep-queue run at a provisioned limit: that is how a rate limit looks.",
	After:  []Code{"PL401"},
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
			t := m.Result.Total
			kinds := []struct {
				what    string
				h       *fio.Hist
				buckets []fio.Bucket
			}{{"reads", t.Read.Clat.Hist, nil}, {"writes", t.Write.Clat.Hist, nil}}
			if t.Read.Clat.Hist.Count()+t.Write.Clat.Hist.Count() == 0 && (!ran(t.Read) || !ran(t.Write)) {
				kinds[0].what, kinds[0].buckets = "I/Os", t.Buckets // the buckets are of all directions together
			}
			for _, k := range kinds {
				fast, slow, ok := twoModes(parts(k.h, k.buckets))
				if !ok {
					continue
				}
				report(Finding{
					Subject: m.label(), Scenarios: m.ids(),
					Says: fmt.Sprintf("The %s are of two kinds: %s around %s and %s around %s.", k.what,
						percent(fast.share), span(math.Sqrt(fast.lo*fast.hi)), percent(slow.share), span(math.Sqrt(slow.lo*slow.hi))),
					Evidence: []Evidence{
						{"faster kind", fmt.Sprintf("%s in %s to %s", percent(fast.share), span(fast.lo), span(fast.hi)), "", "fio, latency distribution"},
						{"slower kind", fmt.Sprintf("%s in %s to %s", percent(slow.share), span(slow.lo), span(slow.hi)), "", "fio, latency distribution"},
					},
				})
				break
			}
		}
	},
}

// twoModes splits a distribution at the valley that best separates two peaks of its density (share an octave), and returns
// both sides, each as wide as what holds it.
func twoModes(ps []part) (fast, slow part, ok bool) {
	density := func(p part) float64 {
		if p.hi <= p.lo || p.lo <= 0 {
			return 0
		}
		return p.share / math.Log2(p.hi/p.lo)
	}
	peak := func(ps []part) (top float64, at float64) {
		for _, p := range ps {
			if d := density(p); d > top {
				top, at = d, math.Sqrt(p.lo*p.hi)
			}
		}
		return top, at
	}
	best := math.Inf(1)
	for i := 1; i < len(ps)-1; i++ {
		left, l := peak(ps[:i])
		right, r := peak(ps[i+1:])
		if left == 0 || right == 0 || r < modeApart*l {
			continue
		}
		if depth := density(ps[i]) / min(left, right); depth < best {
			a, b := side(ps[:i]), side(ps[i+1:])
			if depth <= valleyDeep && min(a.share, b.share) >= modeShare {
				best, fast, slow, ok = depth, a, b, true
			}
		}
	}
	return fast, slow, ok
}

// side joins parts, leaving out those at the edges that hold less than 1 %.
func side(ps []part) part {
	const crumb = 0.01
	for len(ps) > 1 && ps[0].share < crumb {
		ps = ps[1:]
	}
	for len(ps) > 1 && ps[len(ps)-1].share < crumb {
		ps = ps[:len(ps)-1]
	}
	p := part{lo: ps[0].lo, hi: ps[len(ps)-1].hi}
	for _, q := range ps {
		p.share += q.share
	}
	return p
}

// lastBin is where fio's latency bins end (64 an octave, 1,856 of them): what took longer is counted in the last one, so
// percentiles cannot exceed it (axboe/fio#1668).
const lastBin = 17112 * time.Millisecond

var saturated = &Rule{
	Code: "PL416", Since: "0.1", Severity: Warn,
	Title:  "latencies ran past the end of fio's histogram",
	When:   "A percentile, or the maximum, lies at or above 17.1 s, where fio's bins end.",
	Why:    "fio counts all that took longer in its last bin, so high percentiles say 17.1 s however long it really was. Only `max` is true.",
	Fix:    "Find the stall (PL415): an I/O of 17 s is an outage for a database. Read max, not p99.99.",
	Bad:    "clat percentiles: 99.99th=[17113]  max=48,211 ms",
	Good:   "clat percentiles: 99.99th=[45]  max=49 ms",
	Ignore: "Never for a database; for a batch load on cold storage it may be acceptable.",
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
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
			report(Finding{
				Subject: m.label(), Scenarios: m.ids(),
				Says:     fmt.Sprintf("The slowest I/O took %s; fio's percentiles end at %s.", span(float64(most)), span(float64(lastBin))),
				Evidence: []Evidence{{"slowest I/O", span(float64(most)), "below " + span(float64(lastBin)), "fio, max and percentiles"}},
			})
		}
	},
}

const (
	// slowIO is what no interactive application tolerates, and where people read fio's buckets wrongly: the bucket `1000=`
	// ends at 1 s, so it is not above.
	slowIO = time.Second
	// slowMany is the share of such I/Os worth a warning.
	slowMany = 0.01
)

var slowShare = &Rule{
	Code: "PL417", Since: "0.1", Severity: Warn,
	Title: "many I/Os took longer than a second",
	When:  "At least 1 % of all I/Os took more than 1 s, counted from the bins, or from fio's coarse buckets that begin at 1 s.",
	Why: "Under an overload the mean still looks bearable while a part of the requests waits for seconds. A bucket's label is its upper " +
		"end: `1000=10.17%` are I/Os of 750 ms to 1 s, and only `2000=` and `>=2000=` are above 1 s.",
	Fix:    "Ask for less (PL504), or provision more; use latency_target in fio to find the load that keeps its latency.",
	Bad:    "lat (msec): 750=9.76%, 1000=10.17%, 2000=19.59%, >=2000=6.77%   # above 1 s: 26.4 %, not 36.5 %",
	Good:   "lat (msec): 2=62.63%, 4=1.12%",
	Ignore: "In tests of throughput with an enormous queue, where waiting is by construction.",
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
			share, how, ok := above(m.Result.Total, slowIO)
			if !ok || share < slowMany {
				continue
			}
			report(Finding{
				Subject: m.label(), Scenarios: m.ids(),
				Says:     fmt.Sprintf("%s of all I/Os took longer than %s.", percent(share), span(float64(slowIO))),
				Evidence: []Evidence{{"I/Os above " + span(float64(slowIO)), percent(share), "below " + percent(slowMany), how}},
			})
		}
	},
}

// above is the share of I/Os that took longer than d, and how it was counted. fio leaves out buckets of nothing.
func above(j fio.Job, d time.Duration) (share float64, how string, ok bool) {
	all := &fio.Hist{}
	for _, dir := range []fio.Direction{j.Read, j.Write, j.Trim} {
		all.Merge(dir.Clat.Hist)
	}
	if n := all.Count(); n > 0 {
		return float64(all.Above(d)) / float64(n), "fio, latency bins", true
	}
	for _, b := range j.Buckets {
		if b.Upto == 0 || b.Upto > d {
			share += b.Value
			if how != "" {
				how += " + "
			}
			how += percentExact(b.Value)
		}
	}
	if how != "" {
		how = "fio, buckets that begin at " + span(float64(d)) + ": " + how
	}
	return share, how, how != ""
}

// percentExact keeps the two decimals that fio prints.
func percentExact(share float64) string { return figure(share*100, 2) + " %" }
