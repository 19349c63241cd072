package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/advise"
	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Advice prints what to buy for a demand: a table, and for each row what limits it and why a
// cheaper one does not do.
func Advice(w io.Writer, a *advise.Advice, all bool, o Options) error {
	t := newTerminal(w, o)
	peak := a.Demand.Peak()
	t.para("", plain, fmt.Sprintf("What meets %s: %v IOPS and %v at peak, with %s of headroom, in %s",
		text.Clean(a.Demand.Name, longName), peak.IOPS, peak.Rate, text.Share(a.Headroom), text.Clean(a.Region, 40)))
	for _, s := range a.Assumed {
		t.para("", plain, text.Clean(s, longSentence)+".")
	}
	rows := a.Rows
	if all {
		rows = a.Front
	}
	lacking := a.Owned != nil && !slices.ContainsFunc(rows, func(c advise.Candidate) bool { return c.Kept() })
	if len(rows) == 0 {
		fmt.Fprintln(t.out)
		t.para("", bold, "Nothing meets it.")
	}
	if len(rows) > 0 || lacking {
		table := rows
		if lacking {
			table = append([]advise.Candidate{*a.Owned}, rows...)
		}
		t.choices(table, lacking)
	}
	if lacking {
		fmt.Fprintln(t.out)
		t.para("  ", bold, "-  "+strings.Join(a.Owned.Names, ", ")+": not enough")
		for _, line := range CandidateLines(a.Owned) {
			t.para("     ", plain, line)
		}
	}
	for i := range rows {
		if len(rows[i].Names) > 0 {
			t.candidate(i+1, &rows[i])
		}
	}
	fmt.Fprintln(t.out)
	for _, r := range a.Rejected {
		t.para("- ", plain, "not "+text.Clean(r, longSentence))
	}
	for _, n := range a.Notes {
		t.para("- ", dim, text.Clean(n, longSentence))
	}
	if len(a.Rows) > 0 && !all {
		t.para(
			"",
			plain,
			fmt.Sprintf(
				"%s on %s were looked at. The layout of a row: --yaml N > plimsoll.yaml, then plan, apply, run.",
				text.Plural(a.Layouts, "layout"),
				text.Plural(a.Instances, "instance type"),
			),
		)
	}
	return t.out.Flush()
}

// choices has a line for each candidate: what it costs, also of each I/O a second that it sustains,
// and how often it meets the demand. The first may be what is owned and does not: it has no number.
func (t *terminal) choices(rows []advise.Candidate, owned bool) {
	wide := 0
	for i := range rows {
		wide = max(wide, len(LayoutText(rows[i].Layout)))
	}
	fmt.Fprintf(t.out, "\n  %2s  %-*s %-14s %10s %8s %6s\n", "", wide, "volumes", "instance", "a month", "an IOPS", "meets")
	for i := range rows {
		c, number, each, times := &rows[i], i+1, none, none
		if owned {
			number--
		}
		mark := strconv.Itoa(number)
		if number == 0 {
			mark = "-"
		}
		if c.Times > 0 {
			times = units.Number(c.Times) + " x"
		}
		if c.PerIOPS > 0 {
			each = fmt.Sprintf("$%.4f", float64(c.PerIOPS)/1e6)
		}
		fmt.Fprintf(t.out, "  %2s  %-*s %-14s %10v %8s %6s\n", mark, wide, LayoutText(c.Layout), c.Type, c.Month, each, times)
	}
}

func (t *terminal) candidate(n int, c *advise.Candidate) {
	fmt.Fprintln(t.out)
	t.para("  ", bold, fmt.Sprintf("%d  %s", n, strings.Join(c.Names, ", ")))
	for _, line := range CandidateLines(c) {
		t.para("     ", plain, line)
	}
}

// CandidateLines say what a candidate costs, what limits it, how durable it is, and why the next
// cheaper one does not do.
func CandidateLines(c *advise.Candidate) []string {
	lines := []string{
		fmt.Sprintf("%v for the volumes and %v for the %s (%s, %v, %s)", c.VolumesMonth, c.InstanceMonth, c.Type,
			text.Plural(c.Instance.VCPUs, "vCPU"), c.Instance.Memory, c.Instance.Arch),
	}
	if c.Times > 0 {
		lines = append(
			lines,
			fmt.Sprintf(
				"sustained: %s times the demand, limited by %s (%s)",
				units.Number(c.Times),
				c.Sustained.Label(),
				text.Clean(c.Sustained.How, longSentence),
			),
		)
	}
	if c.Burst != nil {
		lines = append(
			lines,
			fmt.Sprintf(
				"in bursts of %s: %s times the demand, limited by %s",
				text.Duration(c.Instance.BurstFor),
				units.Number(c.BurstTimes),
				c.Burst.Label(),
			),
		)
	}
	if l := c.Layout; l.Chunk > 0 && l.Chunk != 256*units.KiB && !l.Local {
		lines = append(lines, fmt.Sprintf("in chunks of %v", l.Chunk))
	}
	lines = append(lines, survives(c))
	if c.Latency > 0 {
		lines = append(lines, fmt.Sprintf("one I/O takes about %v at rest", units.LatencyOf(c.Latency)))
	}
	for _, n := range c.Notes {
		lines = append(lines, text.Clean(n, longSentence))
	}
	for _, why := range c.Why {
		lines = append(lines, "why not cheaper: "+text.Clean(why, longSentence))
	}
	return lines
}

func survives(c *advise.Candidate) string {
	switch {
	case c.Layout.Local:
		return "the data is lost when the instance stops"
	case c.Survives == workload.LostVolume:
		return "survives one volume of a pair; no failure rate is stated, for failures within a zone are not " +
			"independent"
	}
	digits := 2
	if c.AFR < 0.0001 {
		digits = 3
	}
	return fmt.Sprintf("the data is lost in %.*f %% of years at most", digits, c.AFR*100)
}

// LayoutText is volumes in a few words: "8 x gp3 50 GiB raid10".
func LayoutText(l advise.Layout) string {
	parts := []string{fmt.Sprintf("%d x", l.N)}
	if l.Local {
		return fmt.Sprintf("%d x local %s GB", l.N, units.Number(float64(l.Spec.Size)/1e9))
	}
	parts = append(parts, l.Spec.Type, gibs(l.Spec.Size))
	if l.Spec.IOPS > 0 && (l.Spec.Type != "gp3" || l.Spec.IOPS > 3000) {
		parts = append(parts, l.Spec.IOPS.String()+" IOPS")
	}
	if l.Spec.Rate > 125*units.MiBPerSec {
		parts = append(parts, units.Number(float64(l.Spec.Rate/units.MiBPerSec))+" MiB/s")
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
	line(
		"# Advised by plimsoll for %s: %s on %s, %v a month in %s.",
		text.Clean(a.Demand.Name, longName),
		LayoutText(c.Layout),
		c.Type,
		c.Month,
		text.Clean(a.Region, 40),
	)
	for _, s := range CandidateLines(c) {
		line("#   %s", s)
	}
	line("instance: %s", c.Type)
	line("arrays:")
	line("  - name: data")
	line("    role: [data, wal]")
	l := c.Layout
	line("    level: %s", l.Level)
	if l.Chunk > 0 {
		line("    chunk: %s", l.Chunk.Arg())
	}
	line("    volumes:")
	line("      count: %d", l.N)
	if l.Local {
		line("      model: %s", cloud.InstanceStoreModel)
		line("      size: %d", uint64(l.Spec.Size))
	} else {
		line("      type: %s", l.Spec.Type)
		line("      size: %dGiB", l.Spec.Size/units.GiB)
		if l.Spec.IOPS > 0 {
			line("      iops: %s", l.Spec.IOPS.Arg())
		}
		if l.Spec.Rate > 0 && l.Spec.Type == "gp3" {
			line("      throughput: %s", l.Spec.Rate.Arg())
		}
	}
	line("    filesystem: {type: xfs, mount: /data}")
	return b.String()
}
