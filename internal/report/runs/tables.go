package runs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

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
	t := page.NewTable("Measured, with completion latencies", "<", "I/Os??", "IOPS", "bandwidth", "mean?", "std dev???",
		"p50", "p90??", "p99",
		"p99.9?", "p99.99??", "max?")
	add := func(name string, n uint64, rate units.IOPS, bw string, l fio.Latency) {
		cells := []string{name, words.None, words.None, bw, words.None, words.None}
		if n > 0 { // a row without any is of a rate alone
			cells[1] = units.Group(strconv.FormatUint(n, 10))
		}
		if rate > 0 {
			cells[2] = rate.String()
		}
		if l.Mean > 0 {
			cells[4], cells[5] = units.Latency(l.Mean).String(), units.Latency(l.StdDev).String()
		}
		for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
			cells = append(cells, words.At(l, p))
		}
		t.Add(append(cells, words.Or(words.Latency(float64(l.Max)), words.None)))
	}
	job := func(prefix string, j fio.Job) {
		for _, d := range directions(j) {
			add(prefix+d.name, d.N, d.IOPS, words.Or(rateOf(d.BW), words.None), d.Completion())
		}
		if l := j.Sync.Lat; l.Measured() {
			rate := units.IOPS(0)
			if j.Runtime > 0 {
				rate = units.IOPS(float64(l.N) / j.Runtime.Seconds())
			}
			add(prefix+"sync", l.N, rate, words.None, l)
		}
	}
	job("", r.Total)
	for _, row := range rowsBelow(r) {
		job(row.name+": ", row.total)
	}
	return t
}

// direction is one that ran, with its name.
type direction struct {
	name string
	fio.Direction
}

func directions(j fio.Job) []direction {
	all := []direction{{"read", j.Read}, {"write", j.Write}, {"trim", j.Trim}}
	return slices.DeleteFunc(all, func(d direction) bool { return d.N == 0 && d.IOPS == 0 && d.BW == 0 })
}

// boundsTable is what each resource allows: IOPS and bandwidth, or transactions of a database.
func boundsTable(s *bundle.Scenario) page.Table {
	c := s.Ceiling
	unit, moved := viewOf(s).unit()
	t := page.NewTable("What each resource allows", "<resource", unit, "bandwidth", "<", "<how", "<source???")
	binding, last := c.Binding(), c.Sustained()
	for i := range c.Bounds {
		b := &c.Bounds[i]
		var marks []string
		if b == binding {
			marks = append(marks, "limit")
		}
		if b == last && b != binding {
			marks = append(marks, "sustained")
		}
		if b.Burst && b.BurstFor > 0 && moved {
			marks = append(marks, "for "+text.Duration(b.BurstFor))
		}
		bw := b.BW.String()
		if !moved {
			bw = ""
		}
		t.Add(b.Label(), b.IOPS, bw, strings.Join(marks, ", "), b.How,
			cmp.Or(words.Origin(b.Origin), words.Unknown))
	}
	return t
}

func thresholdsTable(s *bundle.Scenario) page.Table {
	t := page.NewTable("Thresholds", "<threshold", "measured", "expected", "<outcome")
	for _, g := range s.Thresholds {
		expected := strings.TrimSpace(string(g.Threshold.Op) + " " + g.PrintLimit())
		row := page.Cells(g.Threshold.Text, g.PrintMeasured(), expected, g.Outcome)
		row[3].Tone = string(g.Outcome)
		if g.Outcome == verdict.NotJudged {
			row[1].Text, row[2].Text = words.None, words.None
			row[3] = page.T("not judged: " + g.Reason)
		}
		t.Add(row)
	}
	return t
}

// devicesTable is from telemetry, or from fio's own disk statistics where there was none.
func devicesTable(r *result.Result) page.Table {
	if len(r.Devices) > 0 {
		t := page.NewTable("Devices in the measured window, from /proc/diskstats", "<device", "reads/s", "writes/s",
			"read?", "written?",
			"read wait??", "write wait??", "queue", "busy")
		t.Screen = true
		for _, d := range r.Devices {
			t.Add(d.Name, d.ReadIOPS, d.WriteIOPS, d.ReadRate,
				d.WriteRate, wait(d.ReadWait),
				wait(d.WriteWait), units.Number(d.Queue), text.Percent(d.Util))
		}
		return t
	}
	t := page.NewTable("Devices over the whole run, from fio's disk statistics", "<device", "reads", "writes",
		"read merges??", "write merges??",
		"read wait?", "write wait?", "busy")
	count := func(n uint64) string { return units.Group(strconv.FormatUint(n, 10)) }
	each := func(ms, n uint64) string {
		if n == 0 {
			return words.None
		}
		return units.Latency(float64(ms) / float64(n) * 1e6).String()
	}
	for _, d := range r.Disks {
		name := d.Name
		if d.Member {
			name = "· " + name
		}
		t.Add(name, count(d.Reads), count(d.Writes), count(d.ReadMerges), count(d.WriteMerges), each(d.ReadTicks, d.Reads),
			each(d.WriteTicks, d.Writes), text.Percent(d.Util))
	}
	return t
}

func wait(d time.Duration) string {
	if d == 0 {
		return words.None
	}
	return units.Latency(float64(d)).String()
}

// depthsOf is the queue depth seen in several ways.
func depthsOf(d result.Depth) page.Table {
	t := page.NewTable("Queue depth", "<measured", "I/Os in flight")
	t.Screen = true
	for _, one := range []struct {
		how   string
		depth float64
	}{
		{"asked for (iodepth × jobs)", float64(d.Asked)},
		{"by Little's law (IOPS × latency)", d.Little},
		{"by fio's depth histogram (at least)", d.Fio},
		{"in the device's queue", d.Device},
	} {
		if one.depth > 0 {
			t.Add(one.how, units.Number(one.depth))
		}
	}
	return t
}

// mostTimes is how many parts of a run its table over time has.
const mostTimes = 12

// overTime is the figures of the charts over time as text: at most twelve parts of the run.
func overTime(r *result.Result) page.Table {
	t := page.NewTable("Over time", "to second")
	seconds := merge(r.Seconds, mostTimes)
	if len(seconds) < 2 {
		return t
	}
	all := populations(r)
	for _, o := range all {
		if o.name != "sync" {
			t.Columns = append(t.Columns, page.Column{Name: o.name + " IOPS"}, page.Column{
				Name:     o.name + " bandwidth",
				Priority: 2,
			})
		}
		t.Columns = append(t.Columns, page.Column{Name: o.name + " p50", Priority: 1}, page.Column{Name: o.name + " p99"})
	}
	for _, s := range seconds {
		at := units.Number(s.At.Seconds())
		if s.Ramp {
			at += " (ramp)"
		}
		row := []string{at}
		for _, o := range all {
			i := o.of(s)
			if o.name != "sync" {
				rate, bw := words.None, words.None
				if s.Len > 0 {
					rate = units.IOPS(float64(i.N) / s.Len.Seconds()).String()
					bw = units.Rate(float64(i.Bytes) / s.Len.Seconds()).String()
				}
				row = append(row, rate, bw)
			}
			p50, p99 := words.None, words.None
			if i.Hist.Count() > 0 {
				p50, p99 = units.LatencyOf(i.Hist.Percentile(50)).String(), units.LatencyOf(i.Hist.Percentile(99)).String()
			}
			row = append(row, p50, p99)
		}
		t.Add(row)
	}
	return t
}
