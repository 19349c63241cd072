package compare

import (
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/stats"
)

// Fleet runs of the same hosts, layout and time are one series; what differs in one of these, or
// was measured one after the other, is not in it.
func TestFleetHistory(t *testing.T) {
	at := time.Date(2026, 11, 21, 3, 12, 0, 0, time.UTC)
	fleet := func(id string, after time.Duration, change func(*bundle.Fleet)) *bundle.Fleet {
		f := &bundle.Fleet{
			ID: id, Suite: "db", Created: at.Add(after),
			Hosts: []bundle.FleetHost{{Name: "db1", Facts: map[string]string{"data layout": "raid10 of 8 gp3"}}, {Name: "db2"}},
			Scenarios: []bundle.FleetScenario{{
				ID: 4, Name: "rand-write", At: at.Add(after), Runtime: time.Minute,
				Total:   bundle.FleetTotal{IOPS: 2000, Interval: stats.Estimate{Center: 2000, Lo: 1900, Hi: 2100, N: 20}},
				Hosts:   []bundle.FleetFigure{{Host: "db1"}, {Host: "db2"}},
				Ceiling: &bundle.FleetCeiling{IOPS: 4000},
			}},
		}
		change(f)
		return f
	}
	same := func(*bundle.Fleet) {}
	all := []*bundle.Fleet{
		fleet("second", time.Hour, same), fleet("first", 0, same),
		fleet("longer", 2*time.Hour, func(f *bundle.Fleet) { f.Scenarios[0].Runtime = time.Hour }),
		fleet("smaller", 3*time.Hour, func(f *bundle.Fleet) { f.Scenarios[0].Hosts = f.Scenarios[0].Hosts[:1] }),
		fleet("alone", 4*time.Hour, func(f *bundle.Fleet) { f.Scenarios[0].Total = bundle.FleetTotal{} }),
		fleet("doubted", 5*time.Hour, func(f *bundle.Fleet) { f.Scenarios[0].Invalid = []string{"too short"} }),
	}
	got := FleetHistory(all, Filter{})
	if len(got) != 3 || len(got[0].Points) != 3 {
		t.Fatalf("%+v", got)
	}
	first := got[0]
	if first.Points[0].Run != "first" || first.Points[1].Run != "second" || first.Points[0].Share != 0.5 || first.Points[2].Invalid != "too short" {
		t.Errorf("%+v", first.Points)
	}
	if first.Key.Group != "fleet of db1 and db2" || first.Key.Layout != "raid10 of 8 gp3" || first.Key.Runtime != "60 s" {
		t.Errorf("%+v", first.Key)
	}
	for name, f := range map[string]Filter{"host": {Host: "db2"}, "scenario": {Scenario: "4"}, "suite": {Suite: "db"}} {
		if n := len(FleetHistory(all, f)); n < 2 {
			t.Errorf("%s: %d series", name, n)
		}
	}
	for name, f := range map[string]Filter{"host": {Host: "db9"}, "scenario": {Scenario: "x"}, "label": {Labels: map[string]string{"a": "b"}}, "by": {By: "kernel"}} {
		if n := len(FleetHistory(all, f)); n != 0 {
			t.Errorf("another %s: %d series", name, n)
		}
	}
	if got := FleetHistory(all, Filter{Last: 1}); len(got[0].Points) != 1 || got[0].Points[0].Run != "doubted" {
		t.Errorf("%+v", got[0].Points)
	}
}
