package cli

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"

	"github.com/spf13/cobra"
)

func newCatalogCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "catalog [VOLUME-TYPE | INSTANCE-TYPE | DRIVE]",
		Short: "Show the limits that plimsoll knows, with source, date and trust",
		Example: `  plimsoll catalog
  plimsoll catalog gp3
  plimsoll catalog c6a.xlarge
  plimsoll catalog P4510`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeCatalog,
		RunE: func(_ *cobra.Command, args []string) error {
			return runCatalog(env, strings.Join(args, ""), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func runCatalog(env *Env, name string, asJSON bool) error {
	if name == "" {
		return printCatalog(env.Out, asJSON)
	}
	show := func(facts any, text func(io.Writer)) error {
		if asJSON {
			return printJSON(env.Out, facts)
		}
		text(env.Out)
		return nil
	}
	for _, v := range cloud.VolumeTypes() {
		if v.Type == name {
			return show(priced(v), func(w io.Writer) { printVolumeType(w, v); printVolumePrice(w, v.Type) })
		}
	}
	if f, ok := cloud.InstanceLimits(name); ok {
		return show(pricedInstance(f), func(w io.Writer) { printInstance(w, f); printInstancePrice(w, f.Type) })
	}
	if some := cloud.Drives(name); len(some) > 0 {
		return show(some, func(w io.Writer) { printDrives(w, some) })
	}
	if some := cloud.InstanceTypes(name); len(some) > 0 {
		return show(some, func(w io.Writer) { printInstanceList(w, some) })
	}
	return hint(usage(fmt.Errorf("the catalogue knows no volume type, instance type or drive %.60q", name)), "plimsoll catalog")
}

func printCatalog(w io.Writer, asJSON bool) error {
	if asJSON {
		return printJSON(w, map[string]any{"volumes": cloud.VolumeTypes(), "drives": cloud.Drives(""), "instances": cloud.InstanceTypes("")})
	}
	fmt.Fprintln(w, "Volume types")
	for _, v := range cloud.VolumeTypes() {
		fmt.Fprintf(w, "  %-24s %-13s %s\n", v.Type, v.Provider, v.Name)
	}
	fmt.Fprintln(w, "\nDrives")
	last := ""
	for _, d := range cloud.Drives("") {
		if d.Model != last {
			fmt.Fprintf(w, "  %-32s %s\n", d.Model, d.Trust)
		}
		last = d.Model
	}
	fmt.Fprintf(w, "\nEC2 instance types: %d. A part of a name lists them: plimsoll catalog c8g\n", len(cloud.InstanceTypes("")))
	printPriceSources(w)
	return nil
}

func printProvenance(w io.Writer, p cloud.Provenance) {
	para(w, "  ", fmt.Sprintf("source: %s", p.Source))
	fmt.Fprintf(w, "  date:   %s\n  trust:  %s\n", p.AsOf, p.Trust)
}

func printVolumeType(w io.Writer, v cloud.VolumeType) {
	fmt.Fprintf(w, "%s: %s %s\n", v.Type, v.Provider, v.Name)
	for _, r := range v.Rules {
		para(w, "  ", "- "+r)
	}
	if v.Counted > 0 {
		text := fmt.Sprintf("- an I/O counts once for each %v or part of it", v.Counted)
		if v.Merges {
			text += "; sequential I/Os are merged up to that size first, as best the volume can"
		}
		para(w, "  ", text)
	}
	if v.MaxSize > 0 {
		fmt.Fprintf(w, "  - size %v to %v\n", v.MinSize, v.MaxSize)
	}
	fmt.Fprintf(w, "  - latency: %s\n", v.Latency)
	printProvenance(w, v.Provenance)
}

func printInstance(w io.Writer, f cloud.InstanceFacts) {
	fmt.Fprintf(w, "%s: %d vCPUs, %v, %s\n", f.Type, f.VCPUs, f.Memory, f.Arch)
	fmt.Fprintf(w, "  EBS, what lasts: %10v IOPS (of 16 KiB) %10s\n", f.Baseline.IOPS, f.Baseline.Rate.SI())
	if f.Burst != (cloud.Limits{}) {
		fmt.Fprintf(w, "  EBS, in bursts:  %10v IOPS             %10s\n", f.Burst.IOPS, f.Burst.Rate.SI())
		fmt.Fprintf(w, "  a burst holds for %s, at least once in %s\n", short(f.BurstFor), "24 h")
	}
	if f.Attachments > 0 {
		fmt.Fprintf(w, "  attachments: %d\n", f.Attachments)
	}
	if l := f.Local; l.Count > 0 {
		fmt.Fprintf(w, "  local drives: %d × %.0f GB", l.Count, float64(l.Size)/1e9)
		if l.Limits.ReadIOPS > 0 {
			fmt.Fprintf(w, ", each %s", figures(topology.Limits(l.Limits), false))
		}
		fmt.Fprintln(w)
		if l.Source != "" {
			para(w, "    ", l.String()+", "+string(l.Trust))
		}
	}
	for _, n := range f.Notes {
		para(w, "  ", "note: "+n)
	}
	printProvenance(w, f.Provenance)
	if len(f.Changes) > 0 {
		fmt.Fprintln(w, "  published earlier:")
	}
	for _, c := range f.Changes {
		text := fmt.Sprintf("%s to %s: %v IOPS, %s", c.From, c.To, c.Burst.IOPS, c.Burst.Rate.SI())
		if c.Baseline.IOPS > 0 && c.Baseline.IOPS != c.Burst.IOPS {
			text += fmt.Sprintf("; baseline %v IOPS, %s", c.Baseline.IOPS, c.Baseline.Rate.SI())
		}
		para(w, "    ", text)
	}
}

func printDrives(w io.Writer, some []cloud.DriveFacts) {
	for i, d := range some {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s, %s, %s\n", d.Model, d.Capacity, d.Interface)
		dash := func(v fmt.Stringer, zero bool) string {
			if zero {
				return "unknown"
			}
			return v.String()
		}
		fmt.Fprintf(w, "  %-8s %12s  %10s  %s\n", "", "IOPS (4 KiB)", "sequential", "latency at depth 1")
		fmt.Fprintf(w, "  %-8s %12s  %10s  %s\n", "read", dash(d.Limits.ReadIOPS, d.Limits.ReadIOPS == 0), si(d.Limits.ReadRate), dash(d.ReadLatency, d.ReadLatency == 0))
		fmt.Fprintf(w, "  %-8s %12s  %10s  %s\n", "write", dash(d.Limits.WriteIOPS, d.Limits.WriteIOPS == 0), si(d.Limits.WriteRate), dash(d.WriteLatency, d.WriteLatency == 0))
		printProvenance(w, d.Provenance)
		if d.Note != "" {
			para(w, "  ", "note: "+d.Note)
		}
	}
}

func si(r units.Rate) string {
	if r == 0 {
		return "unknown"
	}
	return r.SI()
}

func printInstanceList(w io.Writer, types []string) {
	fmt.Fprintf(w, "%-22s %12s %14s  %12s\n", "type", "lasts, IOPS", "", "burst, IOPS")
	for _, typ := range types {
		f, _ := cloud.InstanceLimits(typ)
		line := fmt.Sprintf("%-22s %12v %14s", typ, f.Baseline.IOPS, f.Baseline.Rate.SI())
		if f.Burst != (cloud.Limits{}) {
			line += fmt.Sprintf("  %12v %14s", f.Burst.IOPS, f.Burst.Rate.SI())
		}
		fmt.Fprintln(w, line)
	}
}
