package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Outlook is a scenario and its ceiling, before anything is measured.
type Outlook struct {
	ID        int             `json:"id"`
	Name      string          `json:"name"`
	Role      topology.Role   `json:"role"`
	Known     bool            `json:"known"`
	Ceiling   ceiling.Ceiling `json:"ceiling"`
	Binding   *ceiling.Bound  `json:"binding,omitempty"`
	Next      *ceiling.Bound  `json:"next,omitempty"`
	Sustained *ceiling.Bound  `json:"sustained,omitempty"`
	Course    []ceiling.Step  `json:"course,omitempty"`

	Loads []fio.Workload `json:"-"`
}

// SetCeiling fills in c and what follows from it.
func (o *Outlook) SetCeiling(c ceiling.Ceiling) {
	o.Ceiling, o.Known = c, c.Known()
	o.Binding, o.Next, o.Sustained, o.Course = c.Binding(), c.Next(), c.Sustained(), c.Course()
}

const depthOneHint = "One I/O in flight: its latency sets the result, not a limit of the hardware. " +
	"Add --read-latency and --write-latency as measured, such as 0.6ms."

// Ceilings prints the ceilings of a suite's scenarios: one in detail, several as a table, together
// each in detail.
func Ceilings(w io.Writer, t *topology.Topology, suite string, all []Outlook, together bool, o Options) error {
	p := newTerminal(w, o)
	if len(all) > 1 && !together {
		p.outlooks(t, suite, all)
		return p.out.Flush()
	}
	for i, one := range all {
		if i > 0 {
			fmt.Fprintln(p.out)
		}
		p.outlook(t, one)
	}
	return p.out.Flush()
}

// outlooks is the table of a suite.
func (t *terminal) outlooks(topo *topology.Topology, suite string, all []Outlook) {
	fmt.Fprintf(t.out, "Ceilings of the suite %s\n", text.Clean(suite, 40))
	t.layout(topo)
	fmt.Fprintf(
		t.out,
		"\n%4s  %-20s %11s  %-19s %-7s %11s\n",
		"#",
		"scenario",
		"short test",
		"limited by",
		"for",
		"sustained",
	)
	bursts, unknown, single := false, false, false
	for _, o := range all {
		name := text.Clean(o.Name, 20)
		if !o.Known && o.Binding == nil {
			fmt.Fprintf(t.out, "%4d  %-20s %11s\n", o.ID, name, "unknown")
			unknown = true
			continue
		}
		if o.Ceiling.InFlight == 1 && !o.Ceiling.HasConcurrency() {
			fmt.Fprintf(t.out, "%4d  %-20s %11s  %s\n", o.ID, name, "1/latency", "concurrency *")
			single = true
			continue
		}
		until := none
		if len(o.Course) > 0 && o.Course[0].Until > 0 {
			until, bursts = text.Duration(o.Course[0].Until), true
		} else if o.Binding.Burst {
			until, bursts = "?", true
		}
		fmt.Fprintf(t.out, "%4d  %-20s %11s  %-19s %-7s %11s\n",
			o.ID, name, o.figure(o.Binding), o.Binding.Kind, until, o.figure(o.Sustained))
		unknown = unknown || !o.Known
	}
	fmt.Fprintln(t.out)
	if single {
		t.para("", plain, "* "+depthOneHint)
	}
	if bursts {
		t.para(
			"",
			plain,
			"A test of a few minutes sees burst figures: the instance or a volume allows them for the time under "+
				"\"for\", "+
				"then falls to the sustained figure. Size a database by the sustained figure.",
		)
	}
	if len(all) > 0 {
		t.para(
			"",
			plain,
			fmt.Sprintf(
				"Name a scenario to see each of its limits: plimsoll ceiling %s %d …",
				text.Clean(suite, 40),
				all[0].ID,
			),
		)
	}
	if unknown {
		t.unknownHint()
	}
	t.origins(topo, all)
}

// outlook is one scenario with every bound.
func (t *terminal) outlook(topo *topology.Topology, o Outlook) {
	t.para(
		"",
		plain,
		fmt.Sprintf("Ceiling of %d %s: %s", o.ID, text.Clean(o.Name, 30), text.Clean(workloads(o.Loads), 200)),
	)
	t.layout(topo)
	if len(o.Ceiling.Bounds) == 0 {
		fmt.Fprintln(t.out)
		t.unknownHint()
		t.origins(topo, []Outlook{o})
		return
	}
	fmt.Fprintf(t.out, "\n  %-28s %14s\n", "limit", "allows")
	for i := range o.Ceiling.Bounds {
		b := &o.Ceiling.Bounds[i]
		mark, note := " ", ""
		switch b {
		case o.Binding:
			mark, note = ">", "limits a short test"
			if o.Sustained == o.Binding {
				note = "the limit, sustained"
			}
		case o.Sustained:
			mark, note = "=", "sustained limit"
		}
		if b.Burst && b.BurstFor > 0 && note == "" {
			note = "for " + text.Duration(b.BurstFor)
		}
		line := fmt.Sprintf("%s %-28s %14s %12s  %s", mark, b.Label(), b.IOPS.String()+" IOPS", b.BW.String(), note)
		fmt.Fprintln(t.out, strings.TrimRight(line, " "))
		t.para("      ", plain, text.Clean(b.How, longSentence))
	}
	fmt.Fprintln(t.out)
	if o.Ceiling.InFlight == 1 && !o.Ceiling.HasConcurrency() {
		t.para("", plain, depthOneHint)
	}
	t.course(o)
	t.advice(o)
	t.origins(topo, []Outlook{o})
}

// course is how the ceiling changes under a load that never pauses.
func (t *terminal) course(o Outlook) {
	var steps []string
	for i, s := range o.Course {
		phrase := fmt.Sprintf("%s (%s)", o.both(&s.Bound), s.Bound.Label())
		if s.Until > 0 {
			phrase += []string{" for ", " until "}[min(i, 1)] + text.Duration(s.Until)
		}
		steps = append(steps, phrase)
	}
	if len(steps) > 1 {
		t.para("", plain, "Under a load that never pauses: "+strings.Join(steps, ", then ")+".")
	}
}

// remedies raise a limit.
var remedies = map[ceiling.Kind]string{
	ceiling.VolumeIOPS:    "use more volumes, or more IOPS per volume",
	ceiling.VolumeRate:    "use more volumes, or more throughput per volume",
	ceiling.InstanceIOPS:  "use a larger instance",
	ceiling.InstanceRate:  "use a larger instance",
	ceiling.CgroupIOPS:    "raise io.max of the cgroup",
	ceiling.CgroupRate:    "raise io.max of the cgroup",
	ceiling.Concurrency:   "keep more I/Os in flight, or reduce latency",
	ceiling.RequestedRate: "set a higher rate= in the job",
}

func (t *terminal) advice(o Outlook) {
	raise := func(what string, b, next *ceiling.Bound) {
		phrase := fmt.Sprintf("To raise %s (%s): %s", what, b.Label(), remedies[b.Kind])
		if next != nil {
			phrase += fmt.Sprintf("; this helps up to %s, where %s becomes the limit", o.both(next), next.Label())
		}
		t.para("", plain, phrase+".")
	}
	if o.Binding == nil {
		return
	}
	if o.Sustained == nil || o.Sustained == o.Binding {
		raise("it", o.Binding, o.Next)
		return
	}
	raise("the result of a short test", o.Binding, o.Next)
	raise("the sustained figure", o.Sustained, o.Ceiling.SustainedNext())
}

// layout shows the storage that the ceiling is for, one line per role or one for both.
func (t *terminal) layout(topo *topology.Topology) {
	roles := map[string][]string{}
	var order []string
	for _, target := range topo.Targets {
		phrase := "unknown storage"
		if a := topo.Array(target.Array); a != nil {
			phrase = arraySummary(a)
		}
		if roles[phrase] == nil {
			order = append(order, phrase)
		}
		roles[phrase] = append(roles[phrase], string(target.Role))
	}
	for _, phrase := range order {
		t.para("  ", plain, strings.Join(roles[phrase], " and ")+": "+phrase)
	}
	if i := topo.Instance; i.Baseline.Known() || i.Burst.Known() {
		phrase := fmt.Sprintf(
			"instance: %s, %v IOPS and %s",
			cmp.Or(text.Clean(i.Type, 30), "declared"),
			i.Baseline.IOPS,
			i.Baseline.Rate.SI(),
		)
		if i.Burst.Known() {
			phrase += fmt.Sprintf(
				"; in bursts of %s %v IOPS and %s",
				text.Duration(i.BurstFor),
				i.Burst.IOPS,
				i.Burst.Rate.SI(),
			)
		}
		t.para("  ", plain, phrase)
	}
}

func arraySummary(a *topology.Array) string {
	if len(a.Volumes) == 0 {
		return "unknown storage"
	}
	v := a.Volumes[0]
	name := cmp.Or(text.Clean(v.Type, 20), text.Clean(v.Model, 30), "volume")
	if !v.Network && v.Model != "" {
		name = text.Clean(v.Model, 30)
	}
	same := !slices.ContainsFunc(
		a.Volumes,
		func(o topology.Volume) bool { return o.Sustained != v.Sustained || o.Type != v.Type },
	)
	phrase := fmt.Sprintf("%d × %s", len(a.Volumes), name)
	if !v.Sustained.Known() {
		phrase += ", limits unknown"
	}
	if !same {
		phrase = fmt.Sprintf("%d different volumes", len(a.Volumes))
	} else if f := limits(v.Sustained, !v.Network); f != "" {
		phrase += " (" + f + ")"
	}
	if len(a.Volumes) > 1 {
		phrase += ", " + strings.ToUpper(string(cmp.Or(a.Level, "level unknown")))
		if a.Chunk > 0 {
			phrase += ", chunk " + a.Chunk.String()
		}
	}
	return phrase
}

// origins lists assumptions once, and where the figures are from.
func (t *terminal) origins(topo *topology.Topology, all []Outlook) {
	var notes, sources []string
	add := func(list *[]string, phrase string) {
		if phrase = text.Clean(phrase, 300); phrase != "" && !slices.Contains(*list, phrase) {
			*list = append(*list, phrase)
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
	for _, n := range topo.Notes {
		add(&notes, n)
	}
	for _, list := range []struct {
		head  string
		lines []string
	}{{"Assumptions:", notes}, {"Sources:", sources}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(t.out, "\n%s\n", list.head)
		}
		for _, l := range list.lines {
			t.para("  - ", plain, l)
		}
	}
}

func (t *terminal) unknownHint() {
	t.para("", plain, "unknown: no limit of the volumes or the instance is known. Declare them: "+
		"--volumes 8xgp3 --level raid10 --instance c8g.2xlarge, or --topology plimsoll.yaml.")
}

// workloads describes loads: "8 KiB random reads, 64 in flight in each of 4 jobs".
func workloads(loads []fio.Workload) string {
	var all []string
	for _, w := range loads {
		bs := max(w.ReadBS, w.WriteBS).String()
		order := map[bool]string{true: "sequential", false: "random"}[w.Sequential]
		what := "writes"
		switch {
		case w.ReadShare == 1:
			what = "reads"
		case w.ReadShare > 0:
			what = fmt.Sprintf("I/Os, %s reads", text.Share(w.ReadShare))
		}
		phrase := fmt.Sprintf("%s %s %s, %d in flight", bs, order, what, max(w.Depth, 1))
		if w.Jobs > 1 {
			phrase += fmt.Sprintf(" in each of %d jobs", w.Jobs)
		}
		if w.SyncEvery == 1 {
			phrase += ", each synced"
		}
		all = append(all, phrase)
	}
	return strings.Join(all, "; ")
}

// figure prints a bound in the unit that its I/O size suggests: throughput for large I/Os.
func (o Outlook) figure(b *ceiling.Bound) string {
	switch {
	case b == nil:
		return unknown
	case o.Ceiling.IOSize >= result.LargeIO:
		return b.BW.String()
	}
	return operations(b.IOPS)
}

func (o Outlook) both(b *ceiling.Bound) string {
	if b == nil || o.Ceiling.IOSize >= result.LargeIO {
		return o.figure(b)
	}
	return operations(b.IOPS) + ", " + b.BW.String()
}
