package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// CatalogEntry is the document of what the catalogue knows under name: a volume type, an instance
// type, drives whose model contains name, or instance types that contain it. The whole catalogue for
// "". It says which prices are old now. ok is false for an unknown name.
func CatalogEntry(name string, now time.Time) (d *page.Document, ok bool) {
	if name == "" {
		return catalog(now), true
	}
	if tier, _, ok := cloud.TierNamed(name); ok {
		name = tier
	}
	if v, ok := cloud.TypeNamed(name); ok {
		return volumeType(v, now), true
	}
	if i, ok := cloud.InstanceLimits(name); ok {
		return instance(i, now), true
	}
	if some := cloud.Drives(name); len(some) > 0 {
		return drives(name, some), true
	}
	if some := cloud.InstanceTypes(name); len(some) > 0 {
		return instances(name, some), true
	}
	return nil, false
}

// catalogData is the JSON of all that the catalogue has.
type catalogData struct {
	Volumes   []cloud.VolumeType
	Drives    []cloud.DriveFacts
	Instances []string
}

func entry(word, name string, data any) *page.Document {
	return page.New("catalogue", word, name, data)
}

func catalog(now time.Time) *page.Document {
	has := catalogData{cloud.VolumeTypes(), cloud.Drives(""), cloud.InstanceTypes("")}
	d := entry(fmt.Sprintf("Limits and prices of %d volume types, %d drives and %s machine types",
		len(has.Volumes), len(has.Drives), text.Count(len(has.Instances))), "catalog", has)
	types := page.Captioned("Volume types", "<type, <provider, <name??")
	types.Most = 16
	for _, v := range cloud.VolumeTypes() {
		types.Add(v.Type, v.Provider, v.Name)
	}
	models := page.Captioned("Drives", "<model, <trust")
	models.Level = page.Detail
	last := ""
	for _, one := range cloud.Drives("") {
		if one.Model != last {
			models.Add(one.Model, one.Trust)
		}
		last = one.Model
	}
	var counts text.Lines
	for _, p := range cloud.Providers() {
		counts.Say("%s %d", p.Terms().Cloud, len(p.Machines()))
	}
	all := page.NewTable("kind, name, provider, title, trust")
	for _, v := range cloud.VolumeTypes() {
		all.Add("volume type", v.Type, v.Provider, v.Name, v.Trust)
	}
	for _, m := range models.Rows {
		all.Add("drive", m[0].Text, "", "", m[1].Text)
	}
	for _, typ := range cloud.InstanceTypes("") {
		all.Add("instance type", typ)
	}
	d.Records = all
	d.Add(types, models, page.Sentences("Machine types: "+strings.Join(counts, ", ")+
		". Give part of a name to list those that contain it: plimsoll catalog c8g"), priceSources(now))
	return d
}

// sourceOf is where the figures of an entry are from.
func sourceOf(p cloud.Provenance) page.Facts {
	f := page.Facts{Level: page.Detail, Title: "Source"}
	f.Add("source", p.Source)
	f.Add("date", p.AsOf)
	f.Add("trust", p.Trust)
	return f
}

// mostRules are the limits of a type of volume that are no details.
const mostRules = 6

func volumeType(v cloud.VolumeType, now time.Time) *page.Document {
	d := entry(fmt.Sprintf("%s: %s %s", v.Type, v.Provider, v.Name), "volume_type", priced(v))
	rules := page.Note{Title: "Limits", Lines: slices.Clone(v.Rules)}
	if v.MaxSize > 0 {
		rules.Say("size %v to %v", v.MinSize, v.MaxSize)
	}
	rules.Say("latency: %s", v.Latency)
	if v.Counted > 0 {
		rules.Say("an I/O counts once for each %v or part thereof%s", v.Counted,
			words.When(v.Merges, "; sequential I/Os are merged up to that size first, as far as the volume can"))
	}
	more := page.Note{Title: "More limits", Level: page.Detail, Of: "more limits"}
	if n := len(rules.Lines); n > mostRules {
		more.Lines, rules.Lines = rules.Lines[mostRules:], rules.Lines[:mostRules]
	}
	d.Add(rules, page.Facts{Rows: []page.Fact{{Name: "price", Value: volumePrice(v, now)}}}, more)
	rows := page.Captioned("Tiers", "<tier, size, IOPS, bandwidth, burst IOPS?, burst bandwidth?")
	for _, t := range v.Tiers {
		burst := []string{"", ""}
		if t.Burst != (cloud.Limits{}) {
			burst = []string{t.Burst.IOPS.String(), t.Burst.Rate.SI()}
		}
		rows.Add(t.Name, t.Size, t.Sustained.IOPS, t.Sustained.Rate.SI(), burst)
	}
	d.Add(rows, sourceOf(v.Provenance))
	return d
}

func instance(f cloud.InstanceFacts, now time.Time) *page.Document {
	d := entry(fmt.Sprintf("%s: %d vCPUs, %v, %s", f.Type, f.VCPUs, f.Memory, f.Arch), "instance", pricedInstance(f))
	rows := page.NewTable("<EBS, IOPS of 16 KiB, bandwidth")
	rows.Keys(", iops, bandwidth_bytes_per_s")
	var facts page.Facts
	switch p := cloud.Named(f.Vendor); {
	case p != nil && p != cloud.AWS():
		facts.Add("cloud", p.Terms().Cloud)
		rows = allowed(f, p.Terms().Caching)
		if f.BurstFor > 0 && f.BurstRule == cloud.ByCredits {
			facts.Add("a burst lasts", text.Duration(f.BurstFor)+" at full burst, longer at lower rates: it is paid in credits")
		}
	default:
		rows.Add("sustained", limitCells(f.Baseline))
		if f.Burst != (cloud.Limits{}) {
			rows.Add("in bursts", limitCells(f.Burst))
			facts.Add("a burst lasts", text.Duration(f.BurstFor)+", at least once in 24 h")
		}
	}
	facts.Add("attachments", words.Known("", f.Attachments))
	if l := f.Local; l.Count > 0 {
		phrase := fmt.Sprintf("%d × %s GB", l.Count, units.Number(float64(l.Size)/1e9))
		if l.Limits.ReadIOPS > 0 {
			phrase += ", each " + words.Limits(l.Limits, true)
		}
		facts.Add("local drives", phrase)
		if l.Source != "" {
			facts.Add("source of the local drives", l.String()+", "+l.Trust.String())
		}
	}
	facts.Add("price", instancePrice(f, now))
	earlier := page.Note{Title: "Published earlier"}
	for _, c := range f.Changes {
		baseline := fmt.Sprintf("; baseline %v IOPS, %s", c.Baseline.IOPS, c.Baseline.Rate.SI())
		earlier.Say("%s to %s: %v IOPS, %s%s", c.From, c.To, c.Burst.IOPS, c.Burst.Rate.SI(),
			words.When(c.Baseline.IOPS > 0 && c.Baseline.IOPS != c.Burst.IOPS, baseline))
	}
	d.Add(rows, facts, page.Lead("note", f.Notes...), page.Lead("not known", f.Unknown...).Detailed(), earlier,
		sourceOf(f.Provenance))
	return d
}

// allowed is a table of what a machine of another cloud than EC2 allows its volumes.
func allowed(f cloud.InstanceFacts, caching bool) page.Table {
	name := text.Either(caching, "uncached", "all")
	rows := page.NewTable("<volumes, <sustained, <in bursts?")
	caps := f.Caps
	if f.Baseline.Known() {
		caps = append([]cloud.Cap{{Name: name, Baseline: f.Baseline, Burst: f.Burst}}, caps...)
	}
	for _, c := range caps {
		rows.Add(c.Name, words.Limits(c.Baseline, !c.MiB), words.Limits(c.Burst, !c.MiB))
	}
	return rows
}

func drives(name string, some []cloud.DriveFacts) *page.Document {
	d := entry(fmt.Sprintf("%s: %s", name, text.Several(some, "drive")), "drives", some)
	for i, one := range some {
		s := page.Section{Anchor: fmt.Sprintf("d%d", i), Title: fmt.Sprintf("%s, %s, %s", one.Model, one.Capacity,
			one.Interface)}
		rows := page.NewTable("<, IOPS of 4 KiB, sequential, latency at depth 1")
		row := func(name string, n units.IOPS, r units.Rate, latency time.Duration) {
			rows.Add(name, cmp.Or(words.Known("", n), words.Unknown), cmp.Or(words.When(r > 0, r.SI()), words.Unknown),
				cmp.Or(words.Known("", units.LatencyOf(latency)), words.Unknown))
		}
		l := one.Limits
		row("read", l.ReadIOPS, l.ReadRate, one.ReadLatency)
		row("write", l.WriteIOPS, l.WriteRate, one.WriteLatency)
		facts := sourceOf(one.Provenance)
		facts.Add("note", one.Note)
		s.Add(rows, facts)
		d.Add(s)
	}
	return d
}

// most is the type of volume that a machine which limits each type apart allows most IOPS, in short.
func most(f cloud.InstanceFacts) string {
	best, text := units.IOPS(0), ""
	for _, c := range f.Caps {
		if n := max(c.Baseline.IOPS, c.Baseline.ReadIOPS); !c.Cache && n > best {
			best, text = n, fmt.Sprintf("%v of %s", n, c.Name)
		}
	}
	return text
}

func instances(name string, types []string) *page.Document {
	d := entry(fmt.Sprintf("%s: %s", name, text.Several(types, "instance type")), "instances", types)
	rows := page.NewTable("<type, sustained IOPS, sustained bandwidth, burst IOPS, burst bandwidth")
	rows.Keys("type, sustained_iops, sustained_bandwidth_bytes_per_s, burst_iops, burst_bandwidth_bytes_per_s")
	for _, typ := range types {
		f, _ := cloud.InstanceLimits(typ)
		switch {
		case !f.Baseline.Known():
			rows.Add(typ, cmp.Or(most(f), words.Unknown))
		case f.Burst == (cloud.Limits{}):
			rows.Add(typ, limitCells(f.Baseline))
		default:
			rows.Add(typ, limitCells(f.Baseline), limitCells(f.Burst))
		}
	}
	d.Add(rows)
	return d
}
