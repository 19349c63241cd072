package plans

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/report/page"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
)

// On all suites, layouts and machines: beside each sustained figure stands the limit that binds once bursts are spent,
// and beside each burst how long it lasts, as the course of the same ceiling has them.
func TestSustainedFiguresStandBesideTheirLimit(t *testing.T) {
	layouts := []struct{ volumes, level string }{
		{"8xgp3", "raid10"},
		{"1x gp2 100GiB", "single"},
		{"4x gp2 500GiB", "raid0"},
		{"2x st1 1TiB", "raid0"},
		{"4x io2 500GiB 20000iops", "raid5"},
		{"2x P10", "raid1"},
		{"4x P30", "raid0"},
		{"1x pd-ssd 500GiB", "single"},
	}
	machines := []string{
		"c8g.2xlarge",
		"c6a.xlarge",
		"m5.12xlarge",
		"t3.medium",
		"Standard_D4s_v5",
		"Standard_D32s_v5",
		"n2-standard-8",
	}
	rows, bursts, ties := 0, 0, 0
	for _, name := range suite.Names() {
		s, err := suite.Select([]string{name}, suite.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layouts {
			for _, machine := range machines {
				topo, ok := foreseen(t, l.volumes, l.level, machine)
				if !ok {
					continue
				}
				var all []Outlook
				for _, c := range s.Scenarios {
					if c.Kind() == suite.OfServer {
						continue
					}
					loads, err := c.Workloads()
					if err != nil {
						t.Fatal(err)
					}
					o := Outlook{ID: c.ID, Name: c.Name, Role: c.Role, Loads: loads}
					o.SetCeiling(ceiling.Of(topo, o.Role, o.Loads))
					if !o.Ceiling.Unpaced() && o.Ceiling.Known() {
						all = append(all, o)
					}
				}
				if len(all) < 2 {
					continue
				}
				table, of := Ceilings(topo, name, all, false).Blocks[0].(page.Table), map[string][]page.Cell{}
				for _, row := range table.Rows { // of scenarios of the same figures
					for id := range strings.SplitSeq(row[0].Text, ", ") {
						of[id] = row
					}
				}
				for _, o := range all {
					rows++
					row, course := of[fmt.Sprint(o.ID)], o.Ceiling.Course()
					first, last := course[0], course[len(course)-1]
					want, alike := last.Bound.Label(), 0
					for _, b := range o.Ceiling.Bounds { // all that allow no more, each named once
						if !b.Burst && b.Kind != last.Bound.Kind && b.IOPS*0.9999 < last.Bound.IOPS {
							alike++
							want = strings.TrimSuffix(want, " IOPS") + " and " + b.Label()
						}
					}
					if alike > 1 {
						t.Fatalf("%s %d on %s: three limits of one figure", name, o.ID, machine)
					}
					ties += alike
					if row[2].Text != o.figure(&last.Bound) || row[3].Text != want {
						t.Errorf("%s %d of %s on %s: %q by %q, and the course ends with %q by %q", name, o.ID, l.volumes,
							machine, row[2].Text, row[3].Text, o.figure(&last.Bound), want)
					}
					if burst := row[4].Text != "same"; burst != (len(course) > 1) {
						t.Errorf("%s %d of %s on %s: a burst %v, and %d steps", name, o.ID, l.volumes, machine, burst, len(course))
					} else if burst {
						bursts++
						if row[4].Text != o.figure(&first.Bound) || row[6].Text != first.Bound.Label() || row[5].Text == "" {
							t.Errorf("%s %d of %s on %s: %q", name, o.ID, l.volumes, machine, row[4].Text)
						}
					}
					p := PriceOn(machine, o)
					if o.Sustained.Label() != want || p.Sustained.Label() != want ||
						len(course) > 1 && p.Most.Label() != first.Bound.Label() {
						t.Errorf("%s on %s: %s", o.Name, machine, p.Sustained.Label())
					}
				}
			}
		}
	}
	if t.Logf("%d rows, %d with a burst, %d with two limits", rows, bursts, ties); rows < 500 || bursts < 100 || ties == 0 {
		t.Error("too few")
	}
}

// foreseen is a declared layout on a machine; false for a pair that there is not.
func foreseen(t *testing.T, volumes, level, machine string) (*topology.Topology, bool) {
	t.Helper()
	d, err := topology.FromFlags(volumes, level, "", machine)
	if err != nil {
		t.Fatal(err)
	}
	topo, err := topology.FromDeclaration(d)
	return topo, err == nil
}
