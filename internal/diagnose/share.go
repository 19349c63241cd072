package diagnose

import (
	"fmt"
	"strconv"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

// ShareAbove is the share of all I/Os that took longer than d, from latency bins or from fio's
// coarse buckets; false where neither was recorded.
func ShareAbove(j fio.Job, d time.Duration) (float64, bool) {
	s, ok := Above(j, d)
	return s.Of, ok
}

// Share is a part of all I/Os.
type Share struct {
	Of    float64
	Least bool   // Of is proved, and it may be more
	How   string // how it was counted
}

// String prints the share: "60.0 %" or "at least 60.0 %".
func (s Share) String() string {
	if s.Least {
		return "at least " + text.Percent(s.Of)
	}
	return text.Percent(s.Of)
}

// Above is the share of I/Os that took longer than d. fio leaves out buckets of nothing.
func Above(j fio.Job, d time.Duration) (Share, bool) {
	if j.Read.Mistimed() || j.Write.Mistimed() {
		return Share{}, false
	}
	all := &fio.Hist{}
	for _, dir := range j.Directions() {
		all.Merge(dir.Clat.Hist)
	}
	if n := all.Count(); n > 0 {
		return Share{Of: float64(all.Above(d)) / float64(n), How: "fio, latency bins"}, true
	}
	share, sum, within, how := 0.0, 0.0, 0.0, ""
	for _, b := range j.Buckets {
		sum += b.Value
		if b.Upto > 0 && b.Upto <= d {
			within += b.Value
		} else {
			share += b.Value
			if how != "" {
				how += " + "
			}
			how += text.Percent(b.Value)
		}
	}
	share /= max(sum, 1) // fio 2 counts the ramp in the buckets, and not in the I/Os that they are shares of
	if how != "" {
		how = "fio, buckets that begin at " + text.Duration(d) + ": " + how
	}
	// fio before 3.8 left the slowest buckets out of its text: what the others do not hold is in them,
	// where percentiles agree, which bound the share.
	if least, most, at := byPercentiles(j, d); least > share {
		if rest := 1 - within; within > 0 && rest >= least && rest <= most {
			how = fmt.Sprintf("fio, %s in buckets up to %s", text.Percent(within), text.Duration(d))
			return Share{Of: rest, How: how}, true
		}
		return Share{Of: least, Least: true, How: at}, true
	}
	return Share{Of: share, How: how}, how != ""
}

// byPercentiles bounds the share of all I/Os above d: where p99 is above, one in a hundred is at least,
// and where p90 is not, one in ten at most.
func byPercentiles(j fio.Job, d time.Duration) (least, most float64, how string) {
	all := float64(j.Read.N + j.Write.N + j.Trim.N)
	if all == 0 {
		return 0, 0, ""
	}
	for _, dir := range j.Directions() {
		part, above := float64(dir.N)/all, 1.0
		for _, p := range dir.Clat.Percentiles {
			if p.Value > d {
				least += (1 - p.P/100) * part
				how = fmt.Sprintf("fio, p%s of %s", strconv.FormatFloat(p.P, 'f', -1, 64), text.Duration(p.Value))
				break
			}
			above = 1 - p.P/100
		}
		most += above * part
	}
	return least, most, how
}

// Between bounds the share of all I/Os that took longer than d: by latency bins exactly; else by the
// ends of fio's buckets, and where one direction ran by its percentiles. false where nothing says more
// than that it is a share.
func Between(j fio.Job, d time.Duration) (least, most float64, ok bool) {
	if j.Read.Mistimed() || j.Write.Mistimed() {
		return 0, 0, false
	}
	all := &fio.Hist{}
	for _, dir := range j.Directions() {
		all.Merge(dir.Clat.Hist)
	}
	if n := all.Count(); n > 0 {
		share := float64(all.Above(d)) / float64(n)
		return share, share, true
	}
	least, most = 0, 1
	if len(j.Buckets) > 0 {
		least, most = byBuckets(j.Buckets, d)
	}
	var ran []*fio.Direction
	for _, dir := range j.Directions() {
		if dir.N > 0 {
			ran = append(ran, dir)
		}
	}
	if len(ran) == 1 {
		for _, p := range ran[0].Clat.Percentiles {
			if above := 1 - p.P/100; p.Value > d {
				least = max(least, above)
			} else {
				most = min(most, above)
			}
		}
	}
	return min(least, most), most, least > 0 || most < 1
}

// byBuckets bounds a share by the buckets that begin at or above d, and those that end above it.
func byBuckets(buckets []fio.Bucket, d time.Duration) (least, most float64) {
	sum, from := 0.0, time.Duration(0)
	for _, b := range buckets {
		sum += b.Value
		if from >= d {
			least += b.Value
		}
		if b.Upto == 0 || b.Upto > d {
			most += b.Value
		}
		from = max(from, b.Upto)
	}
	of := max(sum, 1) // fio 2 counts the ramp in the buckets
	return least / of, most / of
}
