package runs

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// rawTable has a row for each direction, and with several jobs one for each direction of each.
func rawTable(r *result.Result) page.Table {
	t := page.Captioned("Measured, with completion latencies", "<, I/Os??, IOPS, bandwidth, mean?, std dev???, p50, "+
		"p90??, p99, p99.9?, p99.99??, max?")
	add := func(name string, n uint64, rate units.IOPS, bw units.Rate, l fio.Latency) {
		count, dev := words.None, words.None
		if n > 0 { // a row without any is of a rate alone
			count = text.Count(n)
		}
		if d, printed := l.Deviation(); printed {
			dev = d.String()
		}
		t.Add(name, count, words.Figure(rate), words.Figure(bw), words.Figure(units.Latency(l.Mean)), dev,
			percentiles(l, tableOf...), words.Figure(units.LatencyOf(l.Max)))
	}
	job := func(prefix string, j fio.Job) {
		for _, d := range directions(j) {
			if d.Unknown {
				d.name = "read or write"
			}
			add(prefix+d.name, d.N, d.IOPS, d.BW, d.Completion())
		}
		if l := j.Sync.Lat; l.Measured() {
			rate := units.IOPS(0)
			if j.Runtime > 0 {
				rate = units.IOPS(float64(l.N) / j.Runtime.Seconds())
			}
			add(prefix+"sync", l.N, rate, 0, l)
		}
	}
	job("", r.Total)
	for _, row := range rowsBelow(r) {
		job(row.name+": ", row.total)
	}
	return t
}

// percentiles are those of a latency, in words.
func percentiles(l fio.Latency, of ...float64) (all []string) {
	for _, p := range of {
		all = append(all, words.At(l, p))
	}
	return all
}

// direction is one that ran, with its name.
type direction struct {
	name string
	fio.Direction
}

func directions(j fio.Job) []direction {
	var all []direction
	for i, d := range j.Directions() {
		if d.N > 0 || d.IOPS != 0 || d.BW != 0 || len(d.Clat.Percentiles) > 0 {
			all = append(all, direction{fio.DirectionNames[i], *d})
		}
	}
	return all
}

// boundsTable is what each resource allows: IOPS and bandwidth, or transactions of a database.
func boundsTable(s *bundle.Scenario) page.Table {
	c := s.Ceiling
	moved := !ofServer(s) // transactions have no bandwidth
	unit := text.Either(moved, "IOPS", "TPS")
	t := page.Captioned("What each resource allows", "<resource, "+unit+", bandwidth, <, <how, <source???")
	binding, limits := c.Binding(), c.Limits()
	for i := range c.Bounds {
		b := &c.Bounds[i]
		mark, holds := "", !b.Burst && slices.Contains(limits, b)
		switch {
		case b == binding || holds && slices.Contains(limits, binding): // the limit, where it is both
			mark = "limit"
		case holds:
			mark = "sustained"
		}
		lasts := words.When(moved && b.Burst, words.Known("for", b.BurstFor))
		t.Add(b.Label(), b.IOPS, words.When(moved, b.BW.String()), text.Join(", ", mark, lasts), b.How,
			cmp.Or(words.Origin(b.Origin), words.Unknown))
	}
	return t
}

func thresholdsTable(s *bundle.Scenario) page.Table {
	t := page.Captioned("Thresholds", "<threshold, measured, expected, <outcome")
	for _, g := range s.Thresholds {
		if g.Outcome == verdict.NotJudged {
			t.Add(g.Threshold.Text, words.None, words.None, "not judged: "+g.Reason)
			continue
		}
		expected := text.Join(" ", string(g.Threshold.Op), g.PrintLimit())
		t.Add(g.Threshold.Text, g.PrintMeasured(), expected, page.Toned(g.Outcome))
	}
	return t
}

// devicesTable is from telemetry, or from fio's own disk statistics where there was none.
func devicesTable(r *result.Result) page.Table {
	if len(r.Devices) > 0 {
		t := page.Captioned("Devices in the measured window, from /proc/diskstats", "<device, reads/s, writes/s, read?, "+
			"written?, read wait??, write wait??, queue, busy")
		t.Screen = true
		for _, d := range r.Devices {
			t.Add(d.Name, d.ReadIOPS, d.WriteIOPS, d.ReadRate, d.WriteRate, words.Figure(units.LatencyOf(d.ReadWait)),
				words.Figure(units.LatencyOf(d.WriteWait)), units.Number(d.Queue), text.Percent(d.Util))
		}
		return t
	}
	t := page.Captioned("Devices over the whole run, from fio's disk statistics", "<device, reads, writes, "+
		"read merges??, write merges??, read wait?, write wait?, busy")
	each := func(ms, n uint64) string { return words.Figure(units.Latency(float64(ms) / float64(max(n, 1)) * 1e6)) }
	for _, d := range r.Disks {
		name := text.Either(d.Member, "· "+d.Name, d.Name)
		t.Add(name, text.Count(d.Reads), text.Count(d.Writes), text.Count(d.ReadMerges), text.Count(d.WriteMerges),
			each(d.ReadTicks, d.Reads),
			each(d.WriteTicks, d.Writes), text.Percent(d.Util))
	}
	return t
}

// depthsOf is the queue depth seen in several ways.
func depthsOf(d result.Depth) page.Table {
	t := page.Captioned("Queue depth", "<measured, I/Os in flight")
	t.Screen = true
	add := func(how string, depth float64) {
		if depth > 0 {
			t.Add(how, units.Number(depth))
		}
	}
	add("asked for (iodepth × jobs)", float64(d.Asked))
	add("by Little's law (IOPS × latency)", d.Little)
	add("by fio's depth histogram (at least)", d.Fio)
	add("in the device's queue", d.Device)
	return t
}

// histAt is a percentile of a histogram.
func histAt(h *fio.Hist, p float64) string {
	if h.Count() == 0 {
		return words.None
	}
	return units.LatencyOf(h.Percentile(p)).String()
}

// mostTimes is how many parts of a run its table over time has.
const mostTimes = 12

// overTime is the figures of the charts over time as text: at most twelve parts of the run.
func overTime(r *result.Result) page.Table {
	heads, all := []string{"second"}, populations(r)
	for _, o := range all {
		if o.name != "sync" {
			heads = append(heads, o.name+" IOPS", o.name+" bandwidth??")
		}
		heads = append(heads, o.name+" p50?", o.name+" p99")
	}
	t := page.Captioned("Over time", strings.Join(heads, ", "))
	seconds := merge(r.Seconds, mostTimes)
	if len(seconds) < 2 {
		return t
	}
	for _, s := range seconds {
		at := units.Number(s.At.Seconds())
		if s.Ramp {
			at += " (ramp)"
		}
		row := []any{at}
		for _, o := range all {
			i, long := o.of(s), max(s.Len.Seconds(), 1e-9)
			if o.name != "sync" {
				row = append(row, units.IOPS(float64(i.N)/long), units.Rate(float64(i.Bytes)/long))
			}
			row = append(row, histAt(i.Hist, 50), histAt(i.Hist, 99))
		}
		t.Add(row...)
	}
	return t
}
