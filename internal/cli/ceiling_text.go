package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const page = 80 // columns

const singleHint = "One I/O in flight: its latency decides, not a limit of the hardware. Add --read-latency and --write-latency as they were " +
	"measured, such as 0.6ms."

// printOutlooks is the table of a suite.
func printOutlooks(w io.Writer, t *topology.Topology, name string, all []outlook) {
	fmt.Fprintf(w, "Ceilings of the suite %s\n", oneLine(name, 40))
	printLayout(w, t)
	fmt.Fprintf(w, "\n%4s  %-20s %11s  %-19s %-7s %11s\n", "#", "scenario", "a test sees", "held there by", "for", "what lasts")
	bursts, unknown, single := false, false, false
	for _, o := range all {
		if !o.Known && o.Binding == nil {
			fmt.Fprintf(w, "%4d  %-20s %11s\n", o.ID, oneLine(o.Name, 20), "unknown")
			unknown = true
			continue
		}
		if o.Ceiling.InFlight == 1 && !hasConcurrency(o.Ceiling) {
			fmt.Fprintf(w, "%4d  %-20s %11s  %s\n", o.ID, oneLine(o.Name, 20), "1/latency", "concurrency *")
			single = true
			continue
		}
		held := "ever"
		if len(o.Course) > 0 && o.Course[0].Until > 0 {
			held, bursts = short(o.Course[0].Until), true
		} else if o.Binding.Burst {
			held, bursts = "?", true
		}
		fmt.Fprintf(w, "%4d  %-20s %11s  %-19s %-7s %11s\n",
			o.ID, oneLine(o.Name, 20), o.figure(o.Binding), o.Binding.Kind, held, o.figure(o.Sustained))
		unknown = unknown || !o.Known
	}
	fmt.Fprintln(w)
	if single {
		para(w, "", "* "+singleHint)
	}
	if bursts {
		para(w, "", "A test of some minutes sees burst figures: the instance, or a volume, allows them for the time under \"for\" and then falls "+
			"to what lasts. Size a database by what lasts.")
	}
	if len(all) > 0 {
		para(w, "", fmt.Sprintf("With a scenario's number this command shows each limit: plimsoll ceiling %s %d …", oneLine(name, 40), all[0].ID))
	}
	if unknown {
		unknownHint(w)
	}
	printNotes(w, t, all)
}

// printOutlook is one scenario with every bound.
func printOutlook(w io.Writer, t *topology.Topology, o outlook) {
	para(w, "", fmt.Sprintf("Ceiling of %d %s: %s", o.ID, oneLine(o.Name, 30), oneLine(describe(o.loads), 200)))
	printLayout(w, t)
	if len(o.Ceiling.Bounds) == 0 {
		fmt.Fprintln(w)
		unknownHint(w)
		printNotes(w, t, []outlook{o})
		return
	}
	fmt.Fprintf(w, "\n  %-28s %14s\n", "limit", "allows")
	for i := range o.Ceiling.Bounds {
		b := &o.Ceiling.Bounds[i]
		mark, say := " ", ""
		switch b {
		case o.Binding:
			mark, say = ">", "holds a test"
			if o.Sustained == o.Binding {
				say = "holds it, for ever"
			}
		case o.Sustained:
			mark, say = "=", "is what lasts"
		}
		if b.Burst && b.Lasts > 0 && say == "" {
			say = "for " + short(b.Lasts)
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%s %-28s %14s %12s  %s", mark, b.Label(), b.IOPS.String()+" IOPS", mib(b.BW), say), " "))
		para(w, "      ", b.How)
	}
	fmt.Fprintln(w)
	if o.Ceiling.InFlight == 1 && !hasConcurrency(o.Ceiling) {
		para(w, "", singleHint)
	}
	printCourse(w, o)
	printRaise(w, o)
	printNotes(w, t, []outlook{o})
}

func printCourse(w io.Writer, o outlook) {
	var words []string
	for i, s := range o.Course {
		text := fmt.Sprintf("%s (%s)", o.both(&s.Bound), s.Bound.Label())
		if s.Until > 0 {
			text += []string{" for ", " until "}[min(i, 1)] + short(s.Until)
		}
		words = append(words, text)
	}
	if len(words) > 1 {
		para(w, "", "Under a load that never pauses: "+strings.Join(words, ", then ")+".")
	}
}

// advice says what raises a limit.
var advice = map[ceiling.Kind]string{
	ceiling.VolumeIOPS:    "more volumes, or more IOPS for each",
	ceiling.VolumeRate:    "more volumes, or more throughput for each",
	ceiling.InstanceIOPS:  "a larger instance",
	ceiling.InstanceRate:  "a larger instance",
	ceiling.Concurrency:   "more I/Os in flight, or a lower latency",
	ceiling.RequestedRate: "a higher rate= in the job",
}

func printRaise(w io.Writer, o outlook) {
	raise := func(what string, b, next *ceiling.Bound) {
		text := fmt.Sprintf("To raise %s (%s): %s", what, b.Label(), advice[b.Kind])
		if next != nil {
			text += fmt.Sprintf("; that helps up to %s, where %s holds", o.both(next), next.Label())
		}
		para(w, "", text+".")
	}
	if o.Binding == nil {
		return
	}
	if o.Sustained == nil || o.Sustained == o.Binding {
		raise("it", o.Binding, o.Next)
		return
	}
	raise("what a test sees", o.Binding, o.Next)
	raise("what lasts", o.Sustained, o.Ceiling.SustainedNext())
}

// printLayout says what the ceiling is of, one line a role or one for both.
func printLayout(w io.Writer, t *topology.Topology) {
	said := map[string][]string{}
	var order []string
	for _, target := range t.Targets {
		text := "unknown storage"
		if a := t.Array(target.Array); a != nil {
			text = layout(a)
		}
		if said[text] == nil {
			order = append(order, text)
		}
		said[text] = append(said[text], string(target.Role))
	}
	for _, text := range order {
		para(w, "  ", strings.Join(said[text], " and ")+": "+text)
	}
	if i := t.Instance; i.Baseline.Known() || i.Burst.Known() {
		text := fmt.Sprintf("instance: %s, %v IOPS and %s", cmp.Or(oneLine(i.Type, 30), "declared"), i.Baseline.IOPS, i.Baseline.Rate.SI())
		if i.Burst.Known() {
			text += fmt.Sprintf("; in bursts of %s %v IOPS and %s", short(i.BurstFor), i.Burst.IOPS, i.Burst.Rate.SI())
		}
		para(w, "  ", text)
	}
}

func layout(a *topology.Array) string {
	if len(a.Volumes) == 0 {
		return "unknown storage"
	}
	v := a.Volumes[0]
	name := cmp.Or(oneLine(v.Type, 20), oneLine(v.Model, 30), "volume")
	if !v.Network && v.Model != "" {
		name = oneLine(v.Model, 30)
	}
	alike := !slices.ContainsFunc(a.Volumes, func(o topology.Volume) bool { return o.Sustained != v.Sustained || o.Type != v.Type })
	text := fmt.Sprintf("%d × %s", len(a.Volumes), name)
	if !v.Sustained.Known() {
		text += ", limits unknown"
	}
	if !alike {
		text = fmt.Sprintf("%d unlike volumes", len(a.Volumes))
	} else if f := figures(v.Sustained, v.Network); f != "" {
		text += " (" + f + ")"
	}
	if len(a.Volumes) > 1 {
		text += ", " + strings.ToUpper(string(cmp.Or(a.Level, "level unknown")))
		if a.Chunk > 0 {
			text += ", chunk " + a.Chunk.String()
		}
	}
	return text
}

func figures(l topology.Limits, network bool) string {
	rate := func(r units.Rate) string {
		if network {
			return r.String()
		}
		return r.SI()
	}
	var parts []string
	if l.IOPS > 0 {
		parts = append(parts, l.IOPS.String()+" IOPS")
	}
	if l.ReadIOPS > 0 || l.WriteIOPS > 0 {
		parts = append(parts, fmt.Sprintf("%v read and %v write IOPS", l.ReadIOPS, l.WriteIOPS))
	}
	if l.Rate > 0 {
		parts = append(parts, rate(l.Rate))
	}
	if l.ReadRate > 0 || l.WriteRate > 0 {
		parts = append(parts, fmt.Sprintf("%s read and %s write", rate(l.ReadRate), rate(l.WriteRate)))
	}
	return strings.Join(parts, ", ")
}

// printNotes lists assumptions once, and where the figures are from.
func printNotes(w io.Writer, t *topology.Topology, all []outlook) {
	var notes, sources []string
	add := func(list *[]string, text string) {
		if text = oneLine(text, 300); text != "" && !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, o := range all {
		for _, n := range o.Ceiling.Notes {
			add(&notes, n)
		}
		for _, b := range o.Ceiling.Bounds {
			if b.Origin.Where != "" {
				add(&sources, string(b.Origin.Kind)+": "+b.Origin.Where)
			}
		}
	}
	for _, n := range t.Notes {
		add(&notes, n)
	}
	for _, list := range []struct {
		head  string
		lines []string
	}{{"Assumed:", notes}, {"Figures:", sources}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(w, "\n%s\n", list.head)
		}
		for _, l := range list.lines {
			para(w, "  ", "- "+l)
		}
	}
}

func unknownHint(w io.Writer) {
	para(w, "", "unknown: no limit of the volumes or the instance is known. Say what they are: --volumes 8xgp3 --level raid10 --instance c8g.2xlarge, or --topology plimsoll.yaml.")
}

// describe says a workload in words: "8KiB random reads, 64 in flight in each of 4 jobs".
func describe(loads []fio.Workload) string {
	var all []string
	for _, w := range loads {
		bs := max(w.ReadBS, w.WriteBS).String()
		order := map[bool]string{true: "sequential", false: "random"}[w.Sequential]
		what := "writes"
		switch {
		case w.ReadShare == 1:
			what = "reads"
		case w.ReadShare > 0:
			what = fmt.Sprintf("I/Os, %.0f %% reads", w.ReadShare*100)
		}
		text := fmt.Sprintf("%s %s %s, %d in flight", bs, order, what, max(w.Depth, 1))
		if w.Jobs > 1 {
			text += fmt.Sprintf(" in each of %d jobs", w.Jobs)
		}
		if w.SyncEvery == 1 {
			text += ", each synced"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// figure prints a bound in the unit that its I/O size suggests: throughput from 128 KiB on.
func (o outlook) figure(b *ceiling.Bound) string {
	switch {
	case b == nil:
		return "unknown"
	case o.Ceiling.IOSize >= 128*units.KiB:
		return mib(b.BW)
	case b.IOPS >= 1e6:
		return fmt.Sprintf("%.2fM IOPS", b.IOPS/1e6)
	}
	return b.IOPS.String() + " IOPS"
}

func (o outlook) both(b *ceiling.Bound) string {
	if b == nil || o.Ceiling.IOSize >= 128*units.KiB {
		return o.figure(b)
	}
	return b.IOPS.String() + " IOPS, " + mib(b.BW)
}

// mib prints one prefix for all rows, so that they compare.
func mib(r units.Rate) string {
	v := float64(r / units.MiBPerSec)
	digits := 0
	if v < 99.95 {
		digits = 1
	}
	return units.Group(fmt.Sprintf("%.*f", digits, v)) + " MiB/s"
}

func short(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// oneLine makes foreign text fit for a terminal: control characters out, at most n characters.
func oneLine(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		s = string(runes[:n-1]) + "…"
	}
	return s
}

// para prints text wrapped to the page, each line behind the indent, lists hanging.
func para(w io.Writer, indent, text string) {
	line, hang := indent, indent
	if strings.HasPrefix(text, "- ") {
		hang += "  "
	}
	for i, word := range strings.Fields(text) {
		if i > 0 && len([]rune(line))+1+len([]rune(word)) > page {
			fmt.Fprintln(w, line)
			line = hang + word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}
