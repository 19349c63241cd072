package diagnose

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// rounded is how far the printed shares of all buckets may be from a whole: each is cut to 0.01 %, and
// some twenty are printed.
const rounded = 0.002

// Above bounds the share of all I/Os that took longer than d; false where nothing says more than that it
// is a share, or where fio's clock was wrong.
func Above(j fio.Job, d time.Duration) (stats.Bounds, bool) {
	if j.Read.Mistimed() || j.Write.Mistimed() {
		return stats.Bounds{}, false
	}
	var parts []fio.Latency
	for _, dir := range j.Directions() {
		if l := dir.Clat; dir.N > 0 || l.Measured() {
			l.N = max(dir.N, l.N)
			parts = append(parts, l)
		}
	}
	return LatenciesAbove(d, j.Buckets, parts...)
}

// LatenciesAbove is the one door to the share of I/Os that took longer than d. It follows from the bins of
// all parts, else from fio's coarse buckets, which are of all parts together, and from percentiles: where
// p99 is above d, one in a hundred is at least, and where p90 is not, one in ten at most.
func LatenciesAbove(d time.Duration, buckets []fio.Bucket, parts ...fio.Latency) (stats.Bounds, bool) {
	all, binned := uint64(0), true
	for _, l := range parts {
		all, binned = all+l.N, binned && l.Hist.Count() > 0
	}
	if binned && len(parts) > 0 {
		sum := &fio.Hist{}
		for _, l := range parts {
			sum.Merge(l.Hist)
		}
		from, _ := bins.Range(bins.Of(d)) // the bin that d lies in may be on either side
		n := float64(sum.Count())
		return stats.Bounds{
			Least: float64(sum.Above(d)) / n, Most: float64(sum.Above(from)) / n, How: "fio, latency bins",
		}, true
	}
	b := bucketsAbove(buckets, d)
	tightened, most := stats.Bounds{}, 0.0
	for _, l := range parts {
		part, above := 1/float64(len(parts)), 1.0
		if all > 0 {
			part = float64(l.N) / float64(all)
		}
		// So many must be above for such a mean, where none is above the maximum.
		over, at := l.Mean-float64(d), float64(l.Max-d)
		if over > 0 && at > over && len(buckets)+len(l.Percentiles) == 0 {
			tightened.Least += over / at * part
			tightened.How = fmt.Sprintf("mean of %s, at most %s", text.Duration(time.Duration(l.Mean)), text.Duration(l.Max))
		}
		for _, p := range l.Percentiles {
			how := "fio, p" + strconv.FormatFloat(p.P, 'f', -1, 64) + " of " + text.Duration(p.Value)
			if p.Value > d {
				tightened.Least += (1 - p.P/100) * part
				tightened.How = how
				break
			}
			above = 1 - p.P/100
			tightened.How = cmp.Or(tightened.How, b.How, how)
		}
		most += above * part
	}
	if tightened.Least > b.Least {
		b.Least, b.How = tightened.Least, tightened.How
	}
	if len(parts) > 0 {
		b.Most = min(b.Most, most)
	}
	b.Most, b.How = max(b.Most, b.Least), cmp.Or(b.How, tightened.How)
	return b, b.Least > 0 || b.Most < 1
}

// bucketsAbove bounds a share by fio's buckets: what begins at or above d is above it, and of a bucket that
// d lies in nothing is known. fio leaves out buckets of nothing, and before 3.8 it left the slowest ones
// out of its text: what all together do not hold may be above.
func bucketsAbove(buckets []fio.Bucket, d time.Duration) stats.Bounds {
	if len(buckets) == 0 {
		return stats.Bounds{Most: 1}
	}
	above, sum, within, how := 0.0, 0.0, 0.0, ""
	for _, k := range buckets {
		sum += k.Value
		switch {
		case k.Upto > 0 && k.Upto <= d:
			within += k.Value
		case StartOf(k) >= d:
			above += k.Value
			how += " + " + text.Percent(k.Value)
		}
	}
	of := max(sum, 1) // fio 2 counts the ramp in the buckets, and not in the I/Os that they are shares of
	if sum >= 1-rounded {
		within += max(1-sum, 0)
	}
	b := stats.Bounds{
		Least: above / of,
		How:   fmt.Sprintf("fio, %s in buckets up to %s", text.Percent(within/of), text.Duration(d)),
	}
	if b.Most = max(1-within/of, b.Least); b.Most-b.Least < rounded {
		b.Most = b.Least
	}
	if how != "" {
		b.How = "fio, buckets that begin at " + text.Duration(d) + ": " + how[3:]
	}
	return b
}

// bucketEnds are the ends of fio's buckets in each unit. The first begins where those of the unit below end.
var bucketEnds = [...]time.Duration{1, 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}

// StartOf is where a bucket begins: at the end of the one before it among all of fio's, printed or not.
func StartOf(k fio.Bucket) time.Duration {
	if k.Upto == 0 {
		return 2 * time.Second
	}
	before := time.Duration(0)
	for _, unit := range []time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond, time.Second} {
		for _, end := range bucketEnds {
			if end *= unit; end < k.Upto {
				before = max(before, end)
			}
		}
	}
	return before
}
