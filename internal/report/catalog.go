package report

import (
	"fmt"
	"io"

	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Facts is one entry of the catalogue, or a list of entries: as JSON whole, and printed for people.
type Facts struct {
	Data  any
	print func(*terminal)
}

// CatalogEntry is what the catalogue knows under name: a volume type, an instance type, drives
// whose model contains name, or instance types that contain it. The whole catalogue for "". ok is
// false for an unknown name.
func CatalogEntry(name string) (f Facts, ok bool) {
	if name == "" {
		return Facts{map[string]any{
			"volumes": cloud.VolumeTypes(), "drives": cloud.Drives(""), "instances": cloud.InstanceTypes(""),
		}, (*terminal).catalog}, true
	}
	for _, v := range cloud.VolumeTypes() {
		if v.Type == name {
			return Facts{priced(v), func(t *terminal) { t.volumeType(v); t.volumePrice(v.Type) }}, true
		}
	}
	if i, ok := cloud.InstanceLimits(name); ok {
		return Facts{pricedInstance(i), func(t *terminal) { t.instance(i); t.instancePrice(i.Type) }}, true
	}
	if some := cloud.Drives(name); len(some) > 0 {
		return Facts{some, func(t *terminal) { t.drives(some) }}, true
	}
	if some := cloud.InstanceTypes(name); len(some) > 0 {
		return Facts{some, func(t *terminal) { t.instances(some) }}, true
	}
	return Facts{}, false
}

// Catalog prints an entry of the catalogue.
func Catalog(w io.Writer, f Facts, o Options) error {
	t := newTerminal(w, o)
	f.print(t)
	return t.out.Flush()
}

func (t *terminal) catalog() {
	fmt.Fprintln(t.out, "Volume types")
	for _, v := range cloud.VolumeTypes() {
		fmt.Fprintf(t.out, "  %-24s %-13s %s\n", v.Type, v.Provider, v.Name)
	}
	fmt.Fprintln(t.out, "\nDrives")
	last := ""
	for _, d := range cloud.Drives("") {
		if d.Model != last {
			fmt.Fprintf(t.out, "  %-32s %s\n", d.Model, d.Trust)
		}
		last = d.Model
	}
	fmt.Fprintf(
		t.out,
		"\nEC2 instance types: %d. Part of a name lists those that contain it: plimsoll catalog c8g\n",
		len(cloud.InstanceTypes("")),
	)
	t.priceSources()
}

func (t *terminal) provenance(p cloud.Provenance) {
	t.para("  ", plain, fmt.Sprintf("source: %s", p.Source))
	fmt.Fprintf(t.out, "  date:   %s\n  trust:  %s\n", p.AsOf, p.Trust)
}

func (t *terminal) volumeType(v cloud.VolumeType) {
	fmt.Fprintf(t.out, "%s: %s %s\n", v.Type, v.Provider, v.Name)
	for _, r := range v.Rules {
		t.para("  - ", plain, r)
	}
	if v.Counted > 0 {
		phrase := fmt.Sprintf("an I/O counts once for each %v or part of it", v.Counted)
		if v.Merges {
			phrase += "; sequential I/Os are merged up to that size first, as best the volume can"
		}
		t.para("  - ", plain, phrase)
	}
	if v.MaxSize > 0 {
		fmt.Fprintf(t.out, "  - size %v to %v\n", v.MinSize, v.MaxSize)
	}
	fmt.Fprintf(t.out, "  - latency: %s\n", v.Latency)
	t.provenance(v.Provenance)
}

func (t *terminal) instance(f cloud.InstanceFacts) {
	fmt.Fprintf(t.out, "%s: %d vCPUs, %v, %s\n", f.Type, f.VCPUs, f.Memory, f.Arch)
	fmt.Fprintf(t.out, "  EBS, sustained: %10v IOPS (of 16 KiB) %10s\n", f.Baseline.IOPS, f.Baseline.Rate.SI())
	if f.Burst != (cloud.Limits{}) {
		fmt.Fprintf(t.out, "  EBS, in bursts: %10v IOPS             %10s\n", f.Burst.IOPS, f.Burst.Rate.SI())
		fmt.Fprintf(t.out, "  a burst lasts %s, at least once in 24 h\n", text.Duration(f.BurstFor))
	}
	if f.Attachments > 0 {
		fmt.Fprintf(t.out, "  attachments: %d\n", f.Attachments)
	}
	if l := f.Local; l.Count > 0 {
		fmt.Fprintf(t.out, "  local drives: %d × %s GB", l.Count, units.Number(float64(l.Size)/1e9))
		if l.Limits.ReadIOPS > 0 {
			fmt.Fprintf(t.out, ", each %s", limits(topology.Limits(l.Limits), true))
		}
		fmt.Fprintln(t.out)
		if l.Source != "" {
			t.para("    ", plain, l.String()+", "+string(l.Trust))
		}
	}
	for _, n := range f.Notes {
		t.para("  ", plain, "note: "+n)
	}
	t.provenance(f.Provenance)
	if len(f.Changes) > 0 {
		fmt.Fprintln(t.out, "  published earlier:")
	}
	for _, c := range f.Changes {
		phrase := fmt.Sprintf("%s to %s: %v IOPS, %s", c.From, c.To, c.Burst.IOPS, c.Burst.Rate.SI())
		if c.Baseline.IOPS > 0 && c.Baseline.IOPS != c.Burst.IOPS {
			phrase += fmt.Sprintf("; baseline %v IOPS, %s", c.Baseline.IOPS, c.Baseline.Rate.SI())
		}
		t.para("    ", plain, phrase)
	}
}

func (t *terminal) drives(some []cloud.DriveFacts) {
	for i, d := range some {
		if i > 0 {
			fmt.Fprintln(t.out)
		}
		fmt.Fprintf(t.out, "%s, %s, %s\n", d.Model, d.Capacity, d.Interface)
		dash := func(v fmt.Stringer, zero bool) string {
			if zero {
				return "unknown"
			}
			return v.String()
		}
		fmt.Fprintf(t.out, "  %-8s %12s  %10s  %s\n", "", "IOPS (4 KiB)", "sequential", "latency at depth 1")
		fmt.Fprintf(
			t.out,
			"  %-8s %12s  %10s  %s\n",
			"read",
			dash(d.Limits.ReadIOPS, d.Limits.ReadIOPS == 0),
			si(d.Limits.ReadRate),
			dash(d.ReadLatency, d.ReadLatency == 0),
		)
		fmt.Fprintf(
			t.out,
			"  %-8s %12s  %10s  %s\n",
			"write",
			dash(d.Limits.WriteIOPS, d.Limits.WriteIOPS == 0),
			si(d.Limits.WriteRate),
			dash(d.WriteLatency, d.WriteLatency == 0),
		)
		t.provenance(d.Provenance)
		if d.Note != "" {
			t.para("  ", plain, "note: "+d.Note)
		}
	}
}

func si(r units.Rate) string {
	if r == 0 {
		return "unknown"
	}
	return r.SI()
}

func (t *terminal) instances(types []string) {
	fmt.Fprintf(t.out, "%-22s %12s %14s  %12s\n", "type", "sustained, IOPS", "", "burst, IOPS")
	for _, typ := range types {
		f, _ := cloud.InstanceLimits(typ)
		line := fmt.Sprintf("%-22s %12v %14s", typ, f.Baseline.IOPS, f.Baseline.Rate.SI())
		if f.Burst != (cloud.Limits{}) {
			line += fmt.Sprintf("  %12v %14s", f.Burst.IOPS, f.Burst.Rate.SI())
		}
		fmt.Fprintln(t.out, line)
	}
}
