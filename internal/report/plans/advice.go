package plans

import (
	"fmt"
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
	rows := a.Rows
	if all {
		rows = a.Front
	}
	peak, name := a.Demand.Peak(), a.Demand.Name
	d := page.New("advice", "Nothing meets "+name, "advice", a)
	if len(rows) > 0 && rows[0].Streams != nil {
		return beside(d, a)
	}
	d.Head.Tone = "fail"
	d.Head.About = fmt.Sprintf("%s: %v IOPS and %v at peak, %s headroom, %s", strings.TrimPrefix(name, "the "),
		peak.IOPS, peak.Rate, text.Share(a.Headroom), a.Region)
	for _, s := range a.Assumed {
		d.Head.Say(text.Sentence(s))
	}
	table := page.NewTable("#, <volumes, <instance, $/month, $/IOPS???, × need, <notes")
	var owned page.Note
	if c := a.Owned; c != nil && !slices.ContainsFunc(rows, func(c advise.Candidate) bool { return c.Kept() }) {
		table.Add(choice("-", c, named(c)))
		owned = page.Note{Title: "-  " + named(c) + ": not enough", Lines: CandidateLines(c), Of: "choice"}
	}
	for i, c := range rows {
		table.Add(choice(strconv.Itoa(i+1), &c, named(&c)))
	}
	if c, want := a.Cliff, 1+a.Headroom; c != nil {
		table.Add(choice("-", c, fmt.Sprintf("misses by %s: %s", text.Percent(1-c.Meets()/want), c.Sustained.Label())))
	}
	for _, next := range a.Next {
		table.Add(choice("-", &next.Row, next.What))
	}
	d.Add(table, owned.Detailed())
	if len(rows) > 0 {
		best := &rows[0]
		on := placed(best)
		d.Head.Word = fmt.Sprintf("%s: %v a month, %s times the demand", on, best.Month, units.Number(best.Meets()))
		d.Head.Tone, d.Head.Main = "pass", page.NewFigure(on, "cost", best.Month, "usd_micro_month")
		d.Records = adviceRecords(rows)
	} else if len(a.Next) > 0 {
		next := a.Next[0]
		d.Head.Word += fmt.Sprintf("; %s: %s at %v a month", next.What, placed(&next.Row), next.Row.Month)
	}
	for i, c := range rows {
		if len(c.Names) > 0 {
			d.Add(detailsOf(a, i, named(&c), &c))
		}
	}
	d.Add(less(a))
	left := page.Note{Title: "Left out", Lines: a.Rejected, Of: "rejected choices"}
	if len(rows)+len(a.Next) > 0 {
		left = left.Detailed()
	}
	d.Add(left, page.Lead("note", a.Notes...).Detailed())
	if len(a.Rows) > 0 && !all {
		d.Add(page.Sentences("--yaml N > plimsoll.yaml writes row N, for plimsoll array plan and run."),
			page.Lead("search", fmt.Sprintf("%s on %s", text.Plural(a.Layouts, "layout"),
				text.Plural(a.Instances, "instance type"))).Detailed())
	}
	return d
}

// named is what a candidate is the best at.
func named(c *advise.Candidate) string { return strings.Join(c.Names, ", ") }

// placed is a candidate in a few words: "8 x gp3 50 GiB raid10 on c8g.2xlarge".
func placed(c *advise.Candidate) string { return LayoutText(c.Layout) + " on " + c.Type }

// detailsOf is all about the candidate of a row.
func detailsOf(a *advise.Advice, row int, name string, c *advise.Candidate) page.Note {
	n := page.Note{Title: fmt.Sprintf("%d  %s", row+1, name), Lines: CandidateLines(c), Of: "choice"}
	if a.Asked {
		return n
	}
	return n.Detailed()
}

// beside is the document of layouts that were named: what each gives of the demand, stream by stream, and for what.
func beside(d *page.Document, a *advise.Advice) *page.Document {
	t := page.NewTable("#, <volumes, <instance, $/month, sustained, <limited by, in bursts?, latency?")
	for _, s := range a.Demand.Streams {
		t.Columns = append(t.Columns, page.Column{Name: text.Clean(s.Name, 20)})
	}
	d.Head.Tone = "fail"
	meets := 0
	var details []page.Block
	for i, c := range a.Rows {
		enough := !slices.ContainsFunc(c.Streams, func(share float64) bool { return share < 1 })
		if enough {
			meets++
			d.Head.Tone = "pass"
		}
		burst := fmt.Sprintf("%s for %s", text.Percent(c.BurstTimes), text.Duration(c.Instance.BurstFor))
		row := page.Cells(i+1, LayoutText(c.Layout), c.Type, text.Either(c.VolumesMonth > 0, dollars(&c), words.None),
			text.Percent(c.Times), c.Sustained.Label(), words.When(c.Burst != nil, burst),
			words.Known("", units.LatencyOf(c.Latency)))
		for _, share := range c.Streams {
			row = append(row, page.T(text.Percent(share)))
		}
		t.Add(row)
		details = append(details, detailsOf(a, i, LayoutText(c.Layout), &c))
	}
	d.Head.Word = fmt.Sprintf("%d of %s can sustain %s", meets, text.Several(a.Rows, "layout"), a.Demand.Name)
	d.Add(t)
	d.Add(details...)
	d.Add(page.Lead("note", slices.Concat(a.Rejected, a.Notes)...).Detailed())
	return d
}

// choice is a row: what a candidate costs, also of each I/O per second that it sustains, and how
// often it meets the demand. What is owned and does not has no number.
func choice(mark string, c *advise.Candidate, is string) []string {
	times := text.Either(c.Meets() > 0, units.Number(c.Meets()), words.None)
	is = text.Join(", ", is, words.When(c.ByBurst, "for "+text.Duration(c.Instance.BurstFor)))
	return []string{
		mark, LayoutText(c.Layout), c.Type, dollars(c), perIOPS(c.PerIOPS), times, is,
	}
}

// dollars is what a candidate costs a month, in a column that has the sign in its head.
func dollars(c *advise.Candidate) string { return strings.TrimPrefix(c.Month.String(), "$") }

// less is a table of what costs less than the first row, and for how long it throttles a series.
func less(a *advise.Advice) page.Table {
	t := page.Captioned("Cheaper than the first row, but throttled at times", "<volumes, <instance, $/month, saved, "+
		"throttled, waits, backlog??, <worst at??")
	for _, c := range a.Less {
		p := c.Replay
		t.Add(LayoutText(c.Layout), c.Type, c.Month, a.Rows[0].Month-c.Month,
			text.Duration(p.Throttled.Round(time.Second)), text.Duration(time.Duration(p.Wait).Round(time.Millisecond)),
			units.Group(strconv.FormatFloat(p.Backlog, 'f', 0, 64)), p.WorstAt)
	}
	return t
}

func adviceRecords(rows []advise.Candidate) page.Table {
	t := page.NewTable("row, names, volumes, level, instance, usd_per_month, times_the_demand, afr")
	for i, c := range rows {
		t.Add(i+1, named(&c), LayoutText(c.Layout), c.Layout.Level, c.Type,
			words.Decimal(float64(c.Month)/1e6, 2), words.Decimal(c.Times, 3), words.Decimal(c.AFR, 6))
	}
	return t
}

// CandidateLines say what a candidate costs, what limits it, how durable it is, and why the next
// cheaper one does not do.
func CandidateLines(c *advise.Candidate) []string {
	peak := text.Either(c.ByBurst, "peak", "demand")
	var lines text.Lines
	lines.Say("%v for the volumes and %v for the %s (%s, %v, %s)", c.VolumesMonth, c.InstanceMonth, c.Type,
		text.Plural(c.Instance.VCPUs, "vCPU"), c.Instance.Memory, c.Instance.Arch)
	if c.Times > 0 {
		lines.Say("sustained: %s times the %s, limited by %s (%s)", units.Number(c.Times), peak, c.Sustained.Label(),
			c.Sustained.How)
	}
	if c.Burst != nil {
		lines.Say("in bursts of %s: %s times the demand, limited by %s", text.Duration(c.Instance.BurstFor),
			units.Number(c.BurstTimes), c.Burst.Label())
	}
	if l := c.Layout; l.Chunk > 0 && l.Chunk != 256*units.KiB && !l.Local {
		lines.Say("in chunks of %v", l.Chunk)
	}
	lines = append(lines, survives(c))
	if c.Latency > 0 {
		lines.Say("idle latency: about %v", units.LatencyOf(c.Latency))
	}
	lines = append(lines, c.Notes...)
	if p := c.Replay; p != nil && p.Of != "" {
		lines.Say("its credits for %s fall to %s at %s", p.Of, text.Percent(p.Lowest), p.LowestAt)
	}
	for _, why := range c.Why {
		lines = append(lines, "next cheaper: "+why)
	}
	return lines
}

func survives(c *advise.Candidate) string {
	switch {
	case c.Layout.Local:
		return "the data is lost when the instance stops"
	case c.AFR == 0 && c.Survives != workload.LostVolume:
		return "how often such volumes fail is not known"
	case c.Survives == workload.LostVolume:
		return "survives the loss of one volume of a pair; no failure rate is stated, because failures within a zone are " +
			"not independent"
	}
	digits := 2
	if c.AFR < 0.0001 {
		digits = 3
	}
	return fmt.Sprintf("annual probability of data loss: up to %.*f %%", digits, c.AFR*100)
}

// LayoutText is volumes in a few words: "8 x gp3 50 GiB raid10".
func LayoutText(l advise.Layout) string {
	if l.Local {
		return fmt.Sprintf("%d x local %s GB", l.N, units.Number(float64(l.Spec.Size)/1e9))
	}
	parts := []string{fmt.Sprintf("%d x", l.N), l.Spec.Type, text.Count(uint32(l.Spec.Size/units.GiB)) + " GiB"}
	t, _ := cloud.TypeNamed(l.Spec.Type)
	if l.Spec.IOPS > t.IOPS.Included {
		parts = append(parts, l.Spec.IOPS.String()+" IOPS")
	}
	if l.Spec.Rate > t.Rate.Included {
		unit := text.Either(t.RateUnit() == units.MBPerSec, " MB/s", " MiB/s")
		parts = append(parts, units.Number(float64(l.Spec.Rate/t.RateUnit()))+unit)
	}
	if l.Level != topology.Single {
		parts = append(parts, string(l.Level))
	}
	return strings.Join(parts, " ")
}

// AdviceYAML is the plimsoll.yaml of a candidate, which plan, ceiling and lab take.
func AdviceYAML(a *advise.Advice, c *advise.Candidate) string {
	var y text.Lines
	y.Say("# Advised by plimsoll for %s: %s, %v a month in %s.", text.Clean(a.Demand.Name, words.LongName), placed(c),
		c.Month, a.Region)
	for _, s := range CandidateLines(c) {
		y.Say("#   %s", text.Clean(s, words.LongSentence))
	}
	l := c.Layout
	y.Say("instance: %s", c.Type)
	y.Say("arrays:")
	words.ArrayYAML(&y, "data", l.Level, l.Chunk, l.N)
	if l.Local {
		y.Say("      type: nvme")
		y.Say("      size: %d", uint64(l.Spec.Size))
	} else {
		y.Say("      type: %s", l.Spec.Type)
		y.Say("      size: %dGiB", l.Spec.Size/units.GiB)
		if l.Spec.IOPS > 0 {
			y.Say("      iops: %s", l.Spec.IOPS.Arg())
		}
		if t, _ := cloud.TypeNamed(l.Spec.Type); l.Spec.Rate > 0 && t.OrdersRate() {
			y.Say("      throughput: %s", l.Spec.Rate.Arg())
		}
	}
	y.Say("    filesystem: {type: xfs, mount: /data}")
	return strings.Join(y, "\n") + "\n"
}
