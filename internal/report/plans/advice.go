package plans

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/advise"
	"plimsoll/internal/cloud"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Advice is the document of what to buy for a demand: a table, and for each row what limits it and
// why a cheaper one does not do. all shows every choice that no other beats.
func Advice(a *advise.Advice, all bool) *page.Document {
	d := &page.Document{Kind: "advice", Data: page.DataOf("advice", a)}
	rows := a.Rows
	if all {
		rows = a.Front
	}
	peak := a.Demand.Peak()
	name := text.Clean(a.Demand.Name, words.LongName)
	d.Head = page.Headline{Word: "Nothing meets " + name, Tone: "fail"}
	if len(rows) > 0 && rows[0].Streams != nil {
		return beside(d, a)
	}
	if len(rows) > 0 {
		d.Head.Word = fmt.Sprintf("%s on %s: %v a month, %s times the demand", LayoutText(rows[0].Layout), rows[0].Type,
			rows[0].Month, units.Number(rows[0].Meets()))
		d.Head.Tone = "pass"
		d.Head.Main = &page.Figure{
			Of:   LayoutText(rows[0].Layout) + " on " + rows[0].Type,
			Name: "cost", Value: float64(rows[0].Month), Unit: "usd_micro_month",
		}
	}
	d.Head.About = fmt.Sprintf("%s: %v IOPS and %v at peak, with %s of headroom, in %s", name, peak.IOPS, peak.Rate,
		text.Share(a.Headroom), text.Clean(a.Region, 40))
	if len(rows) > 0 {
		d.Records = adviceRecords(rows)
	}
	for _, s := range a.Assumed {
		d.Head.Says = append(d.Head.Says, page.Say{Text: text.Sentence(text.Clean(s, words.LongSentence))})
	}
	lacking := a.Owned != nil && !slices.ContainsFunc(rows, func(c advise.Candidate) bool { return c.Kept() })
	if len(rows) > 0 || lacking {
		table := page.NewTable("", "#", "<volumes", "<instance", "$/month", "per IOPS???", "times", "<is??")
		if lacking {
			table.Add(choice("-", a.Owned))
		}
		for i := range rows {
			table.Add(choice(strconv.Itoa(i+1), &rows[i]))
		}
		d.Add(table)
	}
	if lacking {
		d.Add(page.Note{Title: "-  " + strings.Join(a.Owned.Names, ", ") + ": not enough", Lines: CandidateLines(a.Owned)})
	}
	if len(rows) > 0 {
		d.Add(page.Charts{See: "the table of choices", Draw: func() page.Drawing { return costs(a, rows) }})
	}
	for i := range rows {
		if c := &rows[i]; len(c.Names) > 0 {
			d.Add(page.Note{
				Title: fmt.Sprintf("%d  %s", i+1, strings.Join(c.Names, ", ")), Lines: CandidateLines(c), Level: page.Detail,
				Of: "choice",
			})
		}
	}
	if len(a.Less) > 0 {
		d.Add(less(a))
	}
	if c := a.Cliff; c != nil {
		want := 1 + a.Headroom
		d.Add(
			page.Note{
				Lines: []string{fmt.Sprintf("%s on %s at %v a month misses it by %s: %s of %s times the demand, limited by %s.",
					LayoutText(c.Layout), c.Type, c.Month, text.Percent(1-c.Meets()/want), units.Number(c.Meets()), units.Number(want),
					c.Sustained.Label())},
			},
		)
	}
	if len(a.Next) > 0 {
		next := page.Note{Title: "What would meet it"}
		for _, one := range a.Next {
			next.Lines = append(next.Lines, fmt.Sprintf("%s: %s on %s at %v a month", one.What, LayoutText(one.Row.Layout),
				one.Row.Type, one.Row.Month))
		}
		d.Add(next)
	}
	if len(a.Rejected) > 0 {
		left := page.Note{Title: "Left out", Lines: a.Rejected}
		if len(rows) > 0 {
			left.Level = page.Detail
		}
		d.Add(left)
	}
	if len(a.Notes) > 0 {
		d.Add(page.Note{Lead: "note", Lines: a.Notes, Level: page.Detail})
	}
	if len(a.Rows) > 0 && !all {
		d.Add(page.Note{Lines: []string{fmt.Sprintf("Of %s on %s. --yaml N > plimsoll.yaml writes row N, for plimsoll array "+
			"plan and run.", text.Plural(a.Layouts, "layout"), text.Plural(a.Instances, "instance type"))}})
	}
	return d
}

// beside is the document of layouts that were named: what each gives of the demand, stream by stream, and for what.
func beside(d *page.Document, a *advise.Advice) *page.Document {
	t := page.NewTable("", "#", "<volumes", "<instance", "$/month", "sustained", "<limited by", "in bursts?", "latency?")
	for _, s := range a.Demand.Streams {
		t.Columns = append(t.Columns, page.Column{Name: text.Clean(s.Name, 20)})
	}
	meets := 0
	for i := range a.Rows {
		c := &a.Rows[i]
		enough := !slices.ContainsFunc(c.Streams, func(share float64) bool { return share < 1 })
		if enough {
			meets++
		}
		burst, latency, cost := "", "", words.None
		if c.Burst != nil {
			burst = fmt.Sprintf("%s for %s", text.Percent(c.BurstTimes), text.Duration(c.Instance.BurstFor))
		}
		if c.Latency > 0 {
			latency = units.LatencyOf(c.Latency).String()
		}
		if c.VolumesMonth > 0 {
			cost = strings.TrimPrefix(c.Month.String(), "$")
		}
		row := page.Cells(
			strconv.Itoa(i+1),
			LayoutText(c.Layout),
			c.Type,
			cost,
			text.Percent(c.Times),
			c.Sustained.Label(),
			burst,
			latency,
		)
		for _, share := range c.Streams {
			row = append(row, page.T(text.Percent(share)))
		}
		t.Rows = append(t.Rows, row)
		d.Add(
			page.Note{
				Title: strconv.Itoa(i+1) + "  " + LayoutText(c.Layout),
				Lines: CandidateLines(c),
				Level: page.Detail,
				Of:    "choice",
			},
		)
	}
	d.Head.Word = fmt.Sprintf(
		"%d of %s sustain %s",
		meets,
		text.Plural(len(a.Rows), "layout"),
		text.Clean(a.Demand.Name, words.LongName),
	)
	d.Head.Tone = map[bool]string{true: "pass", false: "fail"}[meets > 0]
	d.Blocks = append([]page.Block{t}, d.Blocks...)
	d.Add(page.Note{Lead: "note", Lines: append(slices.Clone(a.Rejected), a.Notes...), Level: page.Detail})
	return d
}

// choice is a row: what a candidate costs, also of each I/O per second that it sustains, and how
// often it meets the demand. What is owned and does not has no number.
func choice(mark string, c *advise.Candidate) []string {
	times, each := words.None, words.None
	if meets := c.Meets(); meets > 0 {
		times = units.Number(meets)
	}
	if c.ByBurst {
		times += " for " + text.Duration(c.Instance.BurstFor)
	}
	if c.PerIOPS > 0 {
		each = "$" + words.Decimal(float64(c.PerIOPS)/1e6, 4)
	}
	return []string{
		mark,
		LayoutText(c.Layout),
		c.Type,
		strings.TrimPrefix(c.Month.String(), "$"),
		each,
		times,
		strings.Join(c.Names, ", "),
	}
}

// less is a table of what costs less than the first row, and for how long it throttles a series.
func less(a *advise.Advice) page.Table {
	t := page.NewTable("For less than the first row, throttled at times", "<volumes", "<instance", "per month", "saved",
		"throttled", "waits", "I/Os behind??", "<longest at??")
	for i := range a.Less {
		c := &a.Less[i]
		p := c.Replay
		t.Add(LayoutText(c.Layout), c.Type, c.Month.String(), (a.Rows[0].Month - c.Month).String(),
			text.Duration(p.Throttled.Round(time.Second)), text.Duration(time.Duration(p.Wait).Round(time.Millisecond)),
			units.Group(strconv.FormatFloat(p.Backlog, 'f', 0, 64)), p.WorstAt)
	}
	return t
}

func adviceRecords(rows []advise.Candidate) *page.Table {
	t := page.NewTable("", "row", "names", "volumes", "level", "instance", "usd_per_month", "times_the_demand", "afr")
	for i := range rows {
		c := &rows[i]
		t.Add(strconv.Itoa(i+1), strings.Join(c.Names, ", "), LayoutText(c.Layout), string(c.Layout.Level), c.Type,
			words.Decimal(float64(c.Month)/1e6, 2), words.Decimal(c.Times, 3), words.Decimal(c.AFR, 6))
	}
	return &t
}

// mostTimes is the largest headroom that the plot shows: a choice beyond stands at its edge.
const mostTimes = 8

// costs places the choices: headroom to the right, cost upwards on a logarithmic axis, for one choice
// may cost ten times another.
func costs(a *advise.Advice, rows []advise.Candidate) page.Drawing {
	most, low, high := 1+a.Headroom, math.Inf(1), 0.0
	for i := range rows {
		most = max(most, min(rows[i].Times, mostTimes))
		low, high = min(low, float64(rows[i].Month)/1e6), max(high, float64(rows[i].Month)/1e6)
	}
	most, low, high = most*1.05, low/1.2, high*1.2
	p := &page.Scatter{
		Mark: (1 + a.Headroom) / most, MarkName: "demand with headroom",
		Across: "sustained, times the demand",
	}
	up := func(month float64) float64 { return math.Log(month/low) / math.Log(high/low) }
	for t := 0.5; t < most; t += max(0.5, math.Round(most/6*2)/2) {
		p.Xs = append(p.Xs, page.Tick{At: t / most, Label: units.Number(t) + " x"})
	}
	for _, month := range page.RoundSteps(low, high) {
		p.Ys = append(p.Ys, page.Tick{At: up(month), Label: "$" + units.Number(month)})
	}
	for i := range rows {
		c := &rows[i]
		group := "read"
		switch {
		case c.Layout.Local:
			group = "trim"
		case c.Layout.Level == topology.RAID10:
			group = "write"
		}
		p.Points = append(p.Points, page.Point{
			X: min(c.Times, most) / most, Y: up(float64(c.Month) / 1e6), N: i + 1, Group: group,
			Label: fmt.Sprintf("%s on %s, %v a month: %s times the demand", LayoutText(c.Layout), c.Type, c.Month,
				units.Number(c.Times)),
		})
	}
	return page.Drawing{Charts: []page.Chart{{
		Kind: "costs", Wide: true, Plot: p,
		Caption: "Cost per month against headroom: further right sustains more, lower costs less (logarithmic)",
		Says:    "Cost per month of each choice against how many times the demand it sustains; the table has the figures",
	}}}
}

// CandidateLines say what a candidate costs, what limits it, how durable it is, and why the next
// cheaper one does not do.
func CandidateLines(c *advise.Candidate) []string {
	peak := "demand"
	if c.ByBurst {
		peak = "peak"
	}
	lines := []string{
		fmt.Sprintf("%v for the volumes and %v for the %s (%s, %v, %s)", c.VolumesMonth, c.InstanceMonth, c.Type,
			text.Plural(c.Instance.VCPUs, "vCPU"), c.Instance.Memory, c.Instance.Arch),
	}
	if c.Times > 0 {
		lines = append(
			lines,
			fmt.Sprintf("sustained: %s times the %s, limited by %s (%s)", units.Number(c.Times), peak, c.Sustained.Label(),
				text.Clean(c.Sustained.How, words.LongSentence)),
		)
	}
	if c.Burst != nil {
		lines = append(
			lines,
			fmt.Sprintf("in bursts of %s: %s times the demand, limited by %s", text.Duration(c.Instance.BurstFor),
				units.Number(c.BurstTimes), c.Burst.Label()),
		)
	}
	if l := c.Layout; l.Chunk > 0 && l.Chunk != 256*units.KiB && !l.Local {
		lines = append(lines, fmt.Sprintf("in chunks of %v", l.Chunk))
	}
	lines = append(lines, survives(c))
	if c.Latency > 0 {
		lines = append(lines, fmt.Sprintf("idle latency: about %v", units.LatencyOf(c.Latency)))
	}
	for _, n := range c.Notes {
		lines = append(lines, text.Clean(n, words.LongSentence))
	}
	if p := c.Replay; p != nil && p.Of != "" {
		lines = append(lines, fmt.Sprintf("its credits of %s are down to %s at %s", p.Of, text.Percent(p.Lowest), p.LowestAt))
	}
	for _, why := range c.Why {
		lines = append(lines, "next cheaper: "+text.Clean(why, words.LongSentence))
	}
	return lines
}

func survives(c *advise.Candidate) string {
	switch {
	case c.Layout.Local:
		return "the data is lost when the instance stops"
	case c.Survives == workload.LostVolume:
		return "survives one volume of a pair; no failure rate is stated, because failures within a zone are not " +
			"independent"
	}
	if c.AFR == 0 {
		return "how often such volumes fail is not known"
	}
	digits := 2
	if c.AFR < 0.0001 {
		digits = 3
	}
	return fmt.Sprintf("annual probability of data loss: up to %.*f %%", digits, c.AFR*100)
}

// LayoutText is volumes in a few words: "8 x gp3 50 GiB raid10".
func LayoutText(l advise.Layout) string {
	parts := []string{fmt.Sprintf("%d x", l.N)}
	if l.Local {
		return fmt.Sprintf("%d x local %s GB", l.N, units.Number(float64(l.Spec.Size)/1e9))
	}
	parts = append(parts, l.Spec.Type, gibs(l.Spec.Size))
	t, _ := cloud.TypeNamed(l.Spec.Type)
	if l.Spec.IOPS > t.IOPS.Included {
		parts = append(parts, l.Spec.IOPS.String()+" IOPS")
	}
	if l.Spec.Rate > t.Rate.Included {
		unit := " MiB/s"
		if t.RateUnit() == units.MBPerSec {
			unit = " MB/s"
		}
		parts = append(parts, units.Number(float64(l.Spec.Rate/t.RateUnit()))+unit)
	}
	if l.Level != topology.Single {
		parts = append(parts, string(l.Level))
	}
	return strings.Join(parts, " ")
}

func gibs(b units.Bytes) string { return text.Count(uint32(b/units.GiB)) + " GiB" }

// AdviceYAML is the plimsoll.yaml of a candidate, which plan, ceiling and lab take.
func AdviceYAML(a *advise.Advice, c *advise.Candidate) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Advised by plimsoll for %s: %s on %s, %v a month in %s.", text.Clean(a.Demand.Name, words.LongName),
		LayoutText(c.Layout), c.Type, c.Month, text.Clean(a.Region, 40))
	for _, s := range CandidateLines(c) {
		line("#   %s", s)
	}
	l := c.Layout
	line("instance: %s", c.Type)
	line("arrays:")
	line("  - name: data")
	line("    role: [data, wal]")
	line("    level: %s", l.Level)
	if l.Chunk > 0 {
		line("    chunk: %s", l.Chunk.Arg())
	}
	line("    volumes:")
	line("      count: %d", l.N)
	if l.Local {
		line("      type: nvme")
		line("      size: %d", uint64(l.Spec.Size))
	} else {
		line("      type: %s", l.Spec.Type)
		line("      size: %dGiB", l.Spec.Size/units.GiB)
		if l.Spec.IOPS > 0 {
			line("      iops: %s", l.Spec.IOPS.Arg())
		}
		if t, _ := cloud.TypeNamed(l.Spec.Type); l.Spec.Rate > 0 && t.OrdersRate() {
			line("      throughput: %s", l.Spec.Rate.Arg())
		}
	}
	line("    filesystem: {type: xfs, mount: /data}")
	return b.String()
}
