package compare

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Layouts stand by what was measured, and a difference that the model does not have is named.
func TestLayoutsStand(t *testing.T) {
	ceilings := func(chunk units.Bytes) *ceiling.Ceiling {
		one := topology.Volume{Sustained: topology.Limits{IOPS: 3000}}
		c := ceiling.Of(&topology.Topology{
			Arrays:  []topology.Array{{Name: "data", Level: topology.RAID0, Chunk: chunk, Volumes: []topology.Volume{one, one, one, one}}},
			Targets: []topology.Target{{Role: topology.Data, Array: "data"}},
		}, topology.Data, []fio.Workload{randwrite("", 28*units.KiB, 0).load})
		return &c
	}
	of := func(name string, chunk units.Bytes, iops, other float64) Side {
		s := side(t, name, 1, func(i int) []work {
			luck := 1 + 0.002*float64((i*i+i*int(name[len(name)-1]))%7)
			return []work{randwrite("split", 28*units.KiB, iops*luck), randwrite("whole", 4*units.KiB, other*luck)}
		}, 4)
		for i := range s.Samples {
			if s.Samples[i].Scenario.Name == "split" {
				s.Samples[i].Scenario.Ceiling = ceilings(chunk)
			}
			s.Samples[i].Run.Findings = nil
		}
		return s
	}
	sides := []Side{
		of("c64", 64*units.KiB, 8700, 12000), of("c512", 512*units.KiB, 11400, 12000), of("lvm", 64*units.KiB, 7000, 12000),
		of("reversed", 512*units.KiB, 8000, 12000),
	}
	sides[2].Samples[0].Run.Findings = []finding.Finding{{Code: "PL204", Title: "array member 3.9x slower than its peers"}}
	table := compared(t, Options{Paired: true, ByName: true, Layouts: true}, sides...)
	if s := table.Standings[1]; s.Words[Faster] != 1 || s.Words[Same] != 1 || !slices.Equal(s.Best, []string{"split"}) {
		t.Errorf("c512: %+v", s)
	}
	var news []string
	for _, u := range table.Unforeseen {
		news = append(news, u.Layout+" "+u.Scenario)
	}
	if !slices.Equal(news, []string{"lvm split", "reversed split"}) {
		t.Errorf("not in the model: %v", table.Unforeseen)
	}
	if got := strings.Join(table.Standings[2].Slow, "; "); got != "build 1: array member 3.9x slower than its peers" {
		t.Errorf("slow members: %q", got)
	}
	if compared(t, Options{Paired: true, ByName: true}, sides[:2]...).Standings != nil {
		t.Error("variants that are no layouts stand")
	}
}
