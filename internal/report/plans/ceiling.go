// Package plans builds the documents of what is not measured yet: ceilings, advice, the catalogue,
// plans of arrays, demands, jobs and what lint found in them.
package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Outlook is a scenario and its ceiling, before anything is measured.
type Outlook struct {
	ID        int
	Name      string
	Role      topology.Role
	Known     bool
	Ceiling   ceiling.Ceiling
	Binding   *ceiling.Bound `json:"binding,omitempty"`
	Next      *ceiling.Bound `json:"next,omitempty"`
	Sustained *ceiling.Bound `json:"sustained,omitempty"`
	Course    []ceiling.Step `json:"course,omitempty"`

	Loads []fio.Workload `json:"-"`
}

// SetCeiling fills in c and what follows from it.
func (o *Outlook) SetCeiling(c ceiling.Ceiling) {
	o.Ceiling, o.Known = c, c.Known()
	o.Binding, o.Next, o.Course = c.Binding(), c.Next(), c.Course()
	if o.Sustained = c.Sustained(); o.Sustained != nil {
		o.Sustained = o.lasting()
	}
}

const depthOneHint = "one I/O in flight, limited by latency: --read-latency, --write-latency"

// unknownHint says how limits are declared, with volumes of the cloud that the machine is on.
func unknownHint(t *topology.Topology) string {
	const file = ", or --topology plimsoll.yaml"
	if len(t.Arrays) > 1 && len(t.Targets) == 0 {
		return fmt.Sprintf("it is unclear which of %d arrays is meant: give one a role, data or wal, in plimsoll.yaml",
			len(t.Arrays))
	}
	of, how := "the volumes or the instance", " --level raid10"
	switch {
	case t.Instance.Baseline.Known():
		of = "the volumes"
	case t.Instance.Cloud != "":
		how += ", --instance"
	default:
		how += " --instance c8g.2xlarge"
	}
	return "no limits are known for " + of + "; declare them: --volumes " + t.Instance.Example() + how + file
}

// ceilingData is the JSON of ceilings.
type ceilingData struct {
	Topology  *topology.Topology
	Scenarios []Outlook
}

// Ceilings is the document of the ceilings of a suite's scenarios: one in detail, several as a
// table, together each in detail.
func Ceilings(t *topology.Topology, suite string, all []Outlook, together bool) *page.Document {
	d := page.New("ceiling", "", "ceiling", ceilingData{t, all})
	d.Records = boundRecords(all)
	if len(all) > 1 && !together {
		outlooks(d, t, suite, all)
	} else {
		for _, one := range all {
			d.Add(one.section(t))
		}
		if len(all) > 0 {
			d.Head.Word, d.Head.Main = all[0].answer(), all[0].main()
		}
		if len(all) > 1 {
			d.Head.Word = "Ceilings of scenarios that run together"
			for _, one := range all {
				d.Head.Say(one.title() + ": " + one.answer())
			}
		}
	}
	var machine page.Facts
	d.Head.About, machine = layout(t)
	d.Add(machine)
	d.Add(origins(t, all)...)
	return d
}

// answer is "6,000 IOPS sustained (instance IOPS), 12,000 IOPS for 30 min (volume IOPS)".
func (o Outlook) answer() string {
	held := o.Ceiling.Held()
	switch {
	case o.Ceiling.Unpaced():
		return "One I/O in flight: the latency sets the result"
	case held.Now == nil && len(o.Ceiling.Partly) > 0:
		return "Ceiling unknown: " + o.Ceiling.Partly[0]
	case held.Now == nil:
		return "Ceiling unknown"
	case len(o.Ceiling.Partly) > 0:
		return "At most " + o.figure(held.Lasts()) + ", as far as known: " + o.Ceiling.Partly[0]
	case held.Then == nil:
		return o.figure(held.Now) + " sustained (" + held.Now.Label() + ")"
	}
	return fmt.Sprintf("%s sustained (%s), %s %s (%s)", o.figure(held.Then), held.Then.Label(), o.figure(held.Now),
		burstFor(held), held.Now.Label())
}

// title is a scenario's number and name.
func (o Outlook) title() string { return fmt.Sprintf("%d %s", o.ID, text.Clean(o.Name, 30)) }

// lasting is what limits a load that never pauses.
func (o Outlook) lasting() *ceiling.Bound {
	return o.Ceiling.Held().Lasts()
}

// sustains says that a bound holds a load that never pauses.
func (o Outlook) sustains(b *ceiling.Bound) bool {
	return !b.Burst && slices.Contains(o.Ceiling.Limits(), b)
}

// burstFor is how long a burst lasts, in words.
func burstFor(held ceiling.Held) string {
	return text.Either(held.For > 0, "for "+text.Duration(held.For), "in bursts")
}

// main is what is sustained, nil where that is not known.
func (o Outlook) main() *page.Figure {
	b := o.lasting()
	switch {
	case b == nil || o.Ceiling.Unpaced():
		return nil
	case o.large():
		return page.NewFigure(o.Name, "sustained_bw", b.BW, "bytes_per_s")
	}
	return page.NewFigure(o.Name, "sustained_iops", b.IOPS, "per_s")
}

// large says that bandwidth is the figure of its I/Os.
func (o Outlook) large() bool { return o.Ceiling.IOSize >= result.LargeIO }

// mostNames are the scenarios of a row that are named.
const mostNames = 2

// outlooks is the table of a suite.
func outlooks(d *page.Document, t *topology.Topology, suite string, all []Outlook) {
	rows := page.NewTable("<#, <scenario, sustained, <limited by, short test, for, <limited by?")
	var known []Outlook
	var unknown, single, bursts []string
	var same text.Groups // numbers by figures: scenarios that have the same share a row
	names := map[string][]string{}
	for _, o := range all {
		id, held := fmt.Sprint(o.ID), o.Ceiling.Held()
		switch {
		case o.Ceiling.Unpaced():
			single = append(single, id)
			continue
		case held.Now == nil:
			unknown = append(unknown, id)
			continue
		}
		known = append(known, o)
		short, until, by := "same", "", ""
		if held.Then != nil {
			short, until, by = o.figure(held.Now), cmp.Or(words.Known("", held.For), "?"), held.Now.Label()
			bursts = append(bursts, id)
		}
		row := []string{o.figure(held.Lasts()), o.lasting().Label(), short, until, by}
		key := fmt.Sprint(row)
		if len(names[key]) == 0 {
			rows.Add(id, "", row)
		}
		same.Add(key, id)
		names[key] = append(names[key], text.Clean(o.Name, 20))
	}
	for i, key := range same.Heads {
		rows.Rows[i][0].Text = strings.Join(same.Of[key], ", ")
		rows.Rows[i][1].Text = text.Some(names[key], mostNames)
	}
	var notes page.Note
	add := func(ids []string, note string) {
		switch len(ids) {
		case 0:
		case len(all):
			notes.Say("%s", note)
		default:
			notes.Say("%s: %s", text.List(ids), note)
		}
	}
	d.Head.Word, d.Head.Main = suiteAnswer(known)
	add(single, depthOneHint)
	add(unknown, unknownHint(t))
	if len(known) > 0 {
		d.Add(rows)
		size := words.When(len(bursts) > 0, "Size a database by the sustained figure: a short test sees the burst.")
		one := fmt.Sprintf("One scenario in full: plimsoll ceiling %s %d …", text.ShellQuote(text.Clean(suite, 40)),
			known[0].ID)
		notes.Say("%s", text.Join(" ", size, remediesOf(t, known), one))
	}
	d.Add(notes)
}

// suiteAnswer is what the scenarios of a suite sustain, from the least to the most, and what limits
// that; the figure is the least.
func suiteAnswer(known []Outlook) (string, *page.Figure) {
	var figures, limits []string
	var least *page.Figure
	for _, large := range []bool{false, true} {
		var of []Outlook
		for _, o := range known {
			if o.large() == large {
				of = append(of, o)
			}
		}
		if len(of) == 0 {
			continue
		}
		slices.SortFunc(of, func(a, b Outlook) int { return cmp.Compare(a.main().Value, b.main().Value) })
		low, high := of[0].figure(of[0].lasting()), of[len(of)-1].figure(of[len(of)-1].lasting())
		if number, unit, _ := strings.Cut(low, " "); low != high && strings.HasSuffix(high, " "+unit) {
			low = number
		}
		if low != high {
			high = low + " to " + high
		}
		figures, least = append(figures, high), cmp.Or(least, of[0].main())
		for _, o := range of {
			for _, by := range owners(o.lasting()) {
				limits = text.Once(limits, by)
			}
		}
	}
	if len(figures) == 0 {
		return "Ceilings unknown", nil
	}
	return fmt.Sprintf("%s sustained (%s)", strings.Join(figures, " and "), text.List(limits)), least
}

// owners are what sets a bound: of "instance and volume IOPS" the instance and the volumes.
func owners(b *ceiling.Bound) []string {
	label := b.Label()
	for _, kind := range []string{" IOPS", " throughput"} {
		label = strings.TrimSuffix(label, kind)
	}
	return strings.Split(label, " and ")
}

// remediesOf says once what raises the sustained figures of all scenarios, and what else those of some.
func remediesOf(t *topology.Topology, known []Outlook) string {
	var ids text.Groups
	for _, o := range known {
		var own []string
		for _, b := range o.Ceiling.Limits() {
			own = text.Once(own, o.remedy(t, b))
		}
		for _, do := range own {
			ids.Add(do, fmt.Sprint(o.ID))
		}
	}
	slices.SortStableFunc(ids.Heads, func(a, b string) int { return cmp.Compare(len(ids.Of[b]), len(ids.Of[a])) })
	var parts []string
	for _, do := range ids.Heads {
		if of := ids.Of[do]; len(of) < len(known) {
			do = "in " + text.List(of) + " " + do
		}
		parts = append(parts, do)
	}
	return text.Join(": ", "To sustain more", strings.Join(parts, "; ")) + "."
}

// section is one scenario with every bound.
func (o Outlook) section(t *topology.Topology) page.Section {
	s := page.Section{
		Anchor: fmt.Sprintf("s%d", o.ID), Title: o.title() + ": " + workloads(o.Loads),
	}
	if len(o.Ceiling.Bounds) == 0 {
		s.Add(page.Sentences(unknownHint(t)))
		return s
	}
	rows := page.NewTable("<limit, IOPS, bandwidth?, <, <how?")
	for i := range o.Ceiling.Bounds {
		b := &o.Ceiling.Bounds[i]
		note := map[[2]bool]string{
			{true, false}: "limits a short test", {true, true}: "the limit, sustained", {false, true}: "sustained limit",
		}[[2]bool{b == o.Binding, o.sustains(b)}]
		tone := words.When(note != "", "warn")
		if b.Burst && b.BurstFor > 0 {
			note = text.Join(", ", note, "for "+text.Duration(b.BurstFor))
		}
		rows.Add(b.Label(), b.IOPS, b.BW, page.Cell{Text: note, Tone: tone}, b.How)
	}
	s.Add(rows)
	if o.Ceiling.Unpaced() {
		s.Add(page.Sentences(depthOneHint))
	}
	course := page.Note{Title: "Over time", Lines: o.course(), Of: "timing"}
	if len(o.Course) < 3 { // the answer says it
		course.Level = page.Detail
	}
	s.Add(course)
	for i, how := range o.advice(t) {
		note := page.Sentences(how)
		if i > 0 {
			note = note.Detailed()
			note.Of = "remedy"
		}
		s.Add(note)
	}
	return s
}

// course is how the ceiling changes under a load that never pauses.
func (o Outlook) course() []string {
	var steps []string
	for i, s := range o.Course {
		phrase := fmt.Sprintf("%s (%s)", o.both(&s.Bound), s.Bound.Label())
		if s.Until > 0 {
			phrase += []string{" for ", " until "}[min(i, 1)] + text.Duration(s.Until)
		}
		steps = append(steps, phrase)
	}
	if len(steps) < 2 {
		return nil
	}
	return []string{"Under a load that never pauses: " + strings.Join(steps, ", then ") + "."}
}

// remedies raise a limit.
var remedies = map[ceiling.Kind]string{
	ceiling.HostCacheIOPS: "use a larger instance, or leave some volumes out of the host's cache",
	ceiling.HostCacheRate: "use a larger instance, or leave some volumes out of the host's cache",
	ceiling.InstanceIOPS:  "use a larger instance",
	ceiling.InstanceRate:  "use a larger instance",
	ceiling.CgroupIOPS:    "raise io.max of the cgroup",
	ceiling.CgroupRate:    "raise io.max of the cgroup",
	ceiling.Concurrency:   "keep more I/Os in flight, or reduce latency",
	ceiling.RequestedRate: "set a higher rate= in the job",
}

// remedy raises a bound.
func (o Outlook) remedy(t *topology.Topology, b *ceiling.Bound) string {
	switch {
	case b.Pool:
		return "use larger volumes, since they share one allowance, or another type"
	case b.Kind == ceiling.VolumeIOPS:
		return o.volumes(t, moreIOPS, "use more volumes, or more IOPS per volume")
	case b.Kind == ceiling.VolumeRate:
		return o.volumes(t, moreRate, "use more volumes, or more throughput per volume")
	}
	return remedies[b.Kind]
}

func moreIOPS(t cloud.VolumeType) bool { return t.OrdersIOPS() && t.IOPS.Max > t.IOPS.Included }
func moreRate(t cloud.VolumeType) bool { return t.OrdersRate() && t.Rate.Max > t.Rate.Included }

// volumes says how volumes give more: where more cannot be ordered of their type, larger ones do, or
// another type. Of volumes whose type is not known it is more.
func (o Outlook) volumes(t *topology.Topology, orders func(cloud.VolumeType) bool, more string) string {
	by := more
	for _, target := range t.Targets {
		a := t.Array(target.Array)
		if target.Role != o.Role || a == nil {
			continue
		}
		for _, v := range a.Volumes {
			switch known, ok := cloud.TypeNamed(v.Type); {
			case !ok || orders(known):
			case known.Rate.Derived:
				by = fmt.Sprintf("use more volumes, or more IOPS per volume (the throughput of %s follows from them)", known.Type)
			case known.BySize():
				by = fmt.Sprintf("use more or larger volumes (the limits of %s follow from size), or another type", known.Type)
			default:
				by = fmt.Sprintf("use more volumes, or another type (the limits of %s are fixed)", known.Type)
			}
		}
	}
	return by
}

func (o Outlook) advice(t *topology.Topology) []string {
	raise := func(what string, b, next *ceiling.Bound) string {
		phrase := fmt.Sprintf("To exceed %s%s: %s", o.figure(b), what, o.remedy(t, b))
		switch {
		case next == nil:
		case o.both(next) != o.both(b):
			phrase += fmt.Sprintf(" (up to %s, the next limit: %s)", o.figure(next), next.Label())
		case o.remedy(t, next) == o.remedy(t, b):
			phrase += fmt.Sprintf(" (%s allows no more either)", next.Label())
		default:
			phrase = fmt.Sprintf("To exceed %s%s, raise both limits: %s; %s", o.figure(b), what, o.remedy(t, b),
				o.remedy(t, next))
		}
		return phrase + "."
	}
	held := o.Ceiling.Held()
	switch {
	case held.Now == nil:
		return nil
	case held.Then == nil && held.Now.Burst:
		return []string{raise("", o.Binding, o.Next)}
	case held.Then == nil: // a sustained figure is raised to a sustained one, not to a burst
		return []string{raise("", held.Now, o.Ceiling.SustainedNext())}
	}
	return []string{
		raise(" sustained", held.Then, o.Ceiling.SustainedNext()), raise(" in a short test", held.Now, o.Next),
	}
}

// layout is the storage that the ceiling is for in a line, its machine by name; and what that machine has.
func layout(topo *topology.Topology) (line string, machine page.Facts) {
	var roles text.Groups
	var parts []string
	for _, target := range topo.Targets {
		roles.Add(arraySummary(topo.Array(target.Array)), string(target.Role))
	}
	for _, phrase := range roles.Heads {
		parts = append(parts, strings.Join(roles.Of[phrase], " and ")+": "+phrase)
	}
	machine = page.Facts{Level: page.Detail, Title: "Instance"}
	if i := topo.Instance; i.Known() {
		has, burst := words.Limits(i.Baseline, true), ""
		if b := i.Baseline; b.IOPS > 0 && b.Rate > 0 {
			has = fmt.Sprintf("%v IOPS and %s", b.IOPS, b.Rate.SI())
		}
		if i.Burst.Known() {
			burst = fmt.Sprintf("in bursts of %s: %v IOPS and %s", text.Duration(i.BurstFor), i.Burst.IOPS, i.Burst.Rate.SI())
		}
		name, limits := words.Machine(i), text.Join(", ", has, words.Caps(i), burst)
		if name == "" {
			parts = append(parts, "instance: "+text.Join(", ", "declared", limits))
		} else {
			parts = append(parts, name)
			machine.Add(name, limits)
		}
	}
	return strings.Join(parts, "; "), machine
}

func arraySummary(a *topology.Array) string {
	if a == nil || len(a.Volumes) == 0 {
		return "unknown storage"
	}
	v := a.Volumes[0]
	name := cmp.Or(v.Type, v.Model, "volume")
	if !v.Network && v.Model != "" {
		name = v.Model
	}
	same := !slices.ContainsFunc(a.Volumes,
		func(o topology.Volume) bool { return o.Sustained != v.Sustained || o.Type != v.Type })
	phrase := fmt.Sprintf("%d × %s", len(a.Volumes), name)
	if !v.Sustained.Known() {
		phrase += ", limits unknown"
	}
	if !same {
		phrase = fmt.Sprintf("%d different volumes", len(a.Volumes))
	} else if f := words.Limits(v.Sustained, v.SI()); f != "" {
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
func origins(topo *topology.Topology, all []Outlook) []page.Block {
	var assumed, sources []string
	for _, o := range all {
		for _, note := range o.Ceiling.Notes {
			assumed = text.Once(assumed, note)
		}
		for _, b := range o.Ceiling.Bounds {
			if b.Origin.Where != "" {
				sources = text.Once(sources, string(b.Origin.Kind)+": "+b.Origin.Where)
			}
		}
	}
	for _, a := range topo.Arrays {
		if from := a.OriginOf("chunk"); a.Chunk > 0 && from.Kind == topology.Assumed {
			assumed = text.Once(assumed, fmt.Sprintf("chunks of %v, %s", a.Chunk, from.Where))
		}
	}
	for _, note := range topo.Notes {
		assumed = text.Once(assumed, note)
	}
	return []page.Block{
		page.Note{Title: "Assumptions", Level: page.Detail, Lines: assumed},
		page.Note{Title: "Sources", Level: page.Detail, Lines: sources},
	}
}

// boundRecords has a row for each bound of each scenario.
func boundRecords(all []Outlook) page.Table {
	t := page.NewTable("id, scenario, role, limit, iops, bandwidth_bytes_per_s, burst, burst_s, short_test, " +
		"sustained, how, source")
	for _, o := range all {
		for i := range o.Ceiling.Bounds {
			b := &o.Ceiling.Bounds[i]
			t.Add(o.ID, o.Name, o.Role, b.Label(), words.Decimal(b.IOPS, 2), words.Decimal(b.BW, 0), b.Burst,
				words.Decimal(b.BurstFor.Seconds(), 0), b == o.Binding, o.sustains(b), b.How, words.Origin(b.Origin))
		}
	}
	return t
}

// workloads describes loads: "8 KiB random reads, 64 in flight in each of 4 jobs".
func workloads(loads []fio.Workload) string {
	var all []string
	for _, w := range loads {
		bs := max(w.ReadBS, w.WriteBS).String()
		order := text.Either(w.Sequential, "sequential", "random")
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
		return words.Unknown
	case o.large():
		return b.BW.String()
	}
	return words.Operations(b.IOPS)
}

func (o Outlook) both(b *ceiling.Bound) string {
	if b == nil || o.large() {
		return o.figure(b)
	}
	return words.Operations(b.IOPS) + ", " + b.BW.String()
}
