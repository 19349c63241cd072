package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// section is all about one scenario.
type section struct {
	row
	Why     string
	Invalid []string // why it is not to be trusted
	Facts   []fact
	Command string   // on one line
	Args    []string // its arguments, quoted
	Raw     table    // by direction
	Bounds  table
	Targets table
	Devices table
	// Tables of a database.
	Postgres []table
	Depth    []depth
	Note     string // why the depths differ
	Doubts   []string
	// Findings that name this scenario.
	Findings []problem
}

// depth is the queue depth seen one way; Share is of the deepest.
type depth struct {
	How, Value string
	Share      float64
}

func newSection(s *bundle.Scenario, i int) section {
	v := section{row: newRow(s, i), Why: text.Clean(s.Why, longSentence)}
	if s.Ceiling != nil {
		v.Bounds = boundsTable(s.Ceiling)
		v.Doubts = append(v.Doubts, s.Ceiling.Notes...)
	}
	r := s.Result
	if r == nil {
		v.clean()
		return v
	}
	if r.State == result.Invalid || r.State == result.Interrupted {
		v.Invalid = slices.Clone(r.Reasons)
		if len(v.Invalid) == 0 {
			v.Invalid = []string{string(r.State)}
		}
	}
	for _, arg := range r.Command {
		v.Args = append(v.Args, text.ShellQuote(arg))
	}
	v.Command = strings.Join(v.Args, " ")
	v.Facts = runFacts(r)
	if r.Postgres != nil {
		v.Facts = append(v.Facts, postgresFacts(r.Postgres)...)
		v.Postgres = postgresTables(s)
		if s.Ceiling != nil {
			v.Bounds = postgresBounds(s.Ceiling)
		}
	}
	v.Raw = rawTable(r)
	v.Targets = thresholdsTable(s)
	v.Devices = devicesTable(r)
	v.Depth, v.Note = depths(r.Depth), text.Clean(r.Depth.Note, longSentence)
	v.Doubts = append(v.Doubts, r.Doubts...)
	for _, e := range []struct {
		what   string
		doubts []string
	}{{"IOPS", r.IOPS.Doubts}, {"bandwidth", r.BW.Doubts}} {
		for _, d := range e.doubts {
			v.Doubts = append(v.Doubts, e.what+": "+d)
		}
	}
	if n := len(r.Unread); n > 0 {
		v.Doubts = append(
			v.Doubts,
			fmt.Sprintf(
				"%s of fio's output could not be parsed; the first is %q",
				text.Plural(n, "line"),
				r.Unread[0].Text,
			),
		)
	}
	v.clean()
	return v
}

func (v *section) clean() {
	for i := range v.Doubts {
		v.Doubts[i] = text.Clean(v.Doubts[i], longSentence)
	}
	for i := range v.Invalid {
		v.Invalid[i] = text.Clean(v.Invalid[i], longSentence)
	}
}

func runFacts(r *result.Result) []fact {
	var all []fact
	add := func(name, format string, args ...any) {
		all = append(all, fact{name, text.Clean(fmt.Sprintf(format, args...), 2*longName)})
	}
	if r.Measured > 0 {
		window := text.Duration(r.Measured)
		if r.Planned > 0 && (r.Measured-r.Planned).Abs() > time.Second {
			window += " of " + text.Duration(r.Planned) + " planned"
		}
		add("measured for", "%s", window)
	}
	if e := r.IOPS; e.HasInterval() {
		add(
			"IOPS",
			"%s, 95 %% between %s and %s (%d batches)",
			units.IOPS(e.Center),
			units.IOPS(e.Lo),
			units.IOPS(e.Hi),
			e.N,
		)
	}
	if e := r.BW; e.HasInterval() {
		add(
			"bandwidth",
			"%s, 95 %% between %s and %s",
			units.Rate(e.Center).String(),
			units.Rate(e.Lo).String(),
			units.Rate(e.Hi).String(),
		)
	}
	if c := r.Total.CPU; c.User+c.System > 0 {
		add("fio's CPU", "%s user, %s system of a core a job", text.Percent(c.User), text.Percent(c.System))
	}
	if h := r.Host; h != nil {
		add(
			"machine's CPU",
			"%s user, %s system, %s waiting for I/O of %s",
			text.Percent(h.User),
			text.Percent(h.System),
			text.Percent(h.IOWait),
			text.Plural(h.CPUs, "core"),
		)
		if h.IOSome > 0 || h.IOFull > 0 {
			add("I/O pressure", "some %s, full %s of the time", text.Percent(h.IOSome), text.Percent(h.IOFull))
		}
		add("dirty pages", "at most %s, %s in writeback", h.DirtyMax, h.WritebackMax)
		add("monitoring overhead", "%s of a core", text.Percent(h.SamplerCPU))
	}
	if r.Source != "" {
		add("read from", "%s", join(" of ", r.Source, r.Fio))
	}
	return all
}

// rawTable has a line a direction, and with several jobs a line a direction of each.
func rawTable(r *result.Result) table {
	t := table{
		Caption: "Measured, with completion latencies",
		Head: []string{
			"",
			"I/Os",
			"IOPS",
			"bandwidth",
			"mean",
			"std dev",
			"p50",
			"p90",
			"p99",
			"p99.9",
			"p99.99",
			"max",
		},
	}
	add := func(name string, n uint64, rate units.IOPS, bw string, l fio.Latency) {
		cells := []string{name, units.Group(strconv.FormatUint(n, 10)), rate.String(), bw, none, none}
		if l.Mean > 0 {
			cells[4], cells[5] = units.Latency(l.Mean).String(), units.Latency(l.StdDev).String()
		}
		for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
			cells = append(cells, at(l, p))
		}
		most := none
		if l.Max > 0 {
			most = units.Latency(float64(l.Max)).String()
		}
		t.Rows = append(t.Rows, append(cells, most))
	}
	job := func(prefix string, j fio.Job) {
		for _, d := range directions(j) {
			add(prefix+d.name, d.N, d.IOPS, d.BW.String(), completion(d.Direction))
		}
		if l := j.Sync.Lat; l.Measured() {
			rate := units.IOPS(0)
			if j.Runtime > 0 {
				rate = units.IOPS(float64(l.N) / j.Runtime.Seconds())
			}
			add(prefix+"sync", l.N, rate, none, l)
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

func boundsTable(c *ceiling.Ceiling) table {
	t := table{
		Caption: "What each resource allows",
		Head:    []string{"resource", "IOPS", "bandwidth", "", "how", "source"}, Text: []int{0, 3, 4, 5},
	}
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
		if b.Burst && b.BurstFor > 0 {
			marks = append(marks, "for "+text.Duration(b.BurstFor))
		}
		t.Rows = append(t.Rows, []string{
			b.Label(),
			b.IOPS.String(),
			b.BW.String(),
			strings.Join(marks, ", "),
			text.Clean(b.How, longSentence),
			cmp.Or(origin(b.Origin), unknown),
		})
	}
	return t
}

func thresholdsTable(s *bundle.Scenario) table {
	t := table{Caption: "Thresholds", Head: []string{"threshold", "measured", "expected", "outcome"}, Text: []int{0, 3}}
	for _, g := range s.Thresholds {
		expected := strings.TrimSpace(string(g.Threshold.Op) + " " + g.PrintLimit())
		cells := []string{text.Clean(g.Threshold.Text, longName), g.PrintMeasured(), expected, string(g.Outcome)}
		if g.Outcome == verdict.NotJudged {
			cells[1], cells[2], cells[3] = none, none, text.Clean("not judged: "+g.Reason, 2*longName)
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// devicesTable is from telemetry, or from fio's own disk statistics where there was none.
func devicesTable(r *result.Result) table {
	if len(r.Devices) > 0 {
		t := table{
			Caption: "Devices in the measured window, from /proc/diskstats",
			Head: []string{
				"device",
				"reads/s",
				"writes/s",
				"read",
				"written",
				"read wait",
				"write wait",
				"queue",
				"busy",
			},
		}
		for _, d := range r.Devices {
			t.Rows = append(t.Rows, []string{
				text.Clean(d.Name, 40),
				d.ReadIOPS.String(),
				d.WriteIOPS.String(),
				d.ReadRate.String(),
				d.WriteRate.String(),
				wait(d.ReadWait),
				wait(d.WriteWait),
				units.Number(d.Queue),
				text.Percent(d.Util),
			})
		}
		return t
	}
	t := table{
		Caption: "Devices over the whole run, from fio's disk statistics",
		Head: []string{
			"device",
			"reads",
			"writes",
			"read merges",
			"write merges",
			"read wait",
			"write wait",
			"busy",
		},
	}
	count := func(n uint64) string { return units.Group(strconv.FormatUint(n, 10)) }
	each := func(ms, n uint64) string {
		if n == 0 {
			return none
		}
		return units.Latency(float64(ms) / float64(n) * 1e6).String()
	}
	for _, d := range r.Disks {
		name := text.Clean(d.Name, 40)
		if d.Member {
			name = "· " + name
		}
		t.Rows = append(t.Rows, []string{
			name, count(d.Reads), count(d.Writes), count(d.ReadMerges), count(d.WriteMerges),
			each(d.ReadTicks, d.Reads), each(d.WriteTicks, d.Writes), text.Percent(d.Util),
		})
	}
	return t
}

func wait(d time.Duration) string {
	if d == 0 {
		return none
	}
	return units.Latency(float64(d)).String()
}

func depths(d result.Depth) []depth {
	all := []depth{
		{"asked for (iodepth × jobs)", "", float64(d.Asked)},
		{"by Little's law (IOPS × latency)", "", d.Little},
		{"by fio's depth histogram", "", d.Fio},
		{"in the device's queue", "", d.Device},
	}
	all = slices.DeleteFunc(all, func(d depth) bool { return d.Share <= 0 })
	most := 0.0
	for _, d := range all {
		most = max(most, d.Share)
	}
	for i := range all {
		all[i].Value = units.Number(all[i].Share)
		all[i].Share /= most
	}
	return all
}

// storage tells what the machine and its arrays are, each with its source.
func (v *view) storage(b *bundle.Bundle) {
	t := &b.Run.Topology
	add := func(name, value string) {
		if value = text.Clean(strings.TrimSpace(value), 2*longName); value != "" {
			v.Facts = append(v.Facts, fact{name, value})
		}
	}
	h := t.Host
	add("host", h.Name)
	add(
		"system",
		strings.Join(slices.DeleteFunc([]string{h.OS, h.Kernel, h.Virt}, func(s string) bool { return s == "" }), ", "),
	)
	add("CPU", strings.TrimSpace(h.CPU+" "+parens(some(h.CPUs, "core"))))
	add("memory", known("", h.Memory))
	if i := t.Instance; i.Type != "" || i.Baseline.Known() {
		add("instance", strings.Join(slices.DeleteFunc([]string{
			i.Type, limits(i.Baseline, true), burst(i), left("IOPS", i.IOBalance),
			left("throughput", i.RateBalance), origin(i.Origin),
		},
			func(s string) bool { return s == "" }), "; "))
	}
	for _, g := range t.Targets {
		add(string(g.Role)+" path", g.Path+" "+parens(strings.TrimSpace("free "+g.Free.String())))
	}
	for _, k := range slices.Sorted(maps.Keys(b.Run.Labels)) {
		add(text.Clean(k, 24), b.Run.Labels[k])
	}
	if len(b.Run.Imported) > 0 {
		add("imported from", strings.Join(b.Run.Imported, ", "))
	}
	v.Storage = table{
		Caption: "Storage",
		Head:    []string{"array", "made of", "chunk", "size", "each volume", "source"},
		Text:    []int{0, 1, 4, 5},
	}
	for _, a := range t.Arrays {
		v.Storage.Rows = append(v.Storage.Rows, arrayCells(a))
	}
	for _, n := range t.Notes {
		v.Notes = append(v.Notes, text.Clean(n, longSentence))
	}
}

func arrayCells(a topology.Array) []string {
	made := cmp.Or(string(a.Level), "level unknown")
	each, source := unknown, cmp.Or(origin(a.Origin), unknown)
	if n := len(a.Volumes); n > 0 {
		first := a.Volumes[0]
		made = fmt.Sprintf("%s of %d", made, n)
		if kind := cmp.Or(first.Type, first.Model); kind != "" {
			made += " " + text.Clean(kind, 24)
		}
		if first.Sustained.Known() {
			each = limits(first.Sustained, !first.Network)
		}
		if first.Burst.Known() {
			each += ", burst " + limits(first.Burst, !first.Network)
		}
		if o := origin(first.Origin); o != "" && o != source {
			source += "; limits " + o
		}
		if slices.ContainsFunc(a.Volumes, func(v topology.Volume) bool { return !alike(v, first) }) {
			each += " (the first; they differ)"
		}
	}
	chunk, size := none, none
	if a.Chunk > 0 {
		chunk = a.Chunk.String()
	}
	if a.Size > 0 {
		size = a.Size.String()
	}
	return []string{text.Clean(a.Name, 40), made, chunk, size, each, source}
}

func parens(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}
