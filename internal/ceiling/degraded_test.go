package ceiling

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// broken is an array of volumes of 1,000 IOPS and 100 MiB/s that count and merge nothing, without
// some of them.
func broken(level topology.Level, n int, missing ...int) *topology.Topology {
	a := topology.Array{Name: "md0", Level: level, Chunk: 64 * k, Degraded: len(missing)}
	for range n {
		a.Volumes = append(a.Volumes, topology.Volume{Sustained: topology.Limits{IOPS: 1000, Rate: 100 * units.MiBPerSec}})
	}
	for _, i := range missing {
		a.Volumes[i] = topology.Volume{Missing: true}
	}
	return &topology.Topology{
		Arrays:  []topology.Array{a},
		Targets: []topology.Target{{Role: topology.Data, Array: "md0"}},
	}
}

// TestDegraded: figures worked out by hand. A pair that lacks one leaves its reads to the other;
// RAID5 and RAID6 read all other members for what lay on a lost one.
func TestDegraded(t *testing.T) {
	mix := load("randrw", 8*k, 64, 4)
	mix.ReadShare = 0.7
	for _, c := range []struct {
		name string
		t    *topology.Topology
		load fio.Workload
		kind Kind
		want float64
	}{
		{"RAID10 reads: half", broken(topology.RAID10, 8, 3), load("randread", 8*k, 64, 4), VolumeIOPS, 4000},
		{"RAID10 reads, the first member", broken(topology.RAID10, 8, 0), load("randread", 8*k, 64, 4), VolumeIOPS, 4000},
		{"RAID10 reads, one of each of two pairs", broken(topology.RAID10, 8, 0, 3), load("randread", 8*k, 64, 4), VolumeIOPS, 4000},
		{"RAID10 mix: 4,000 of 6,154", broken(topology.RAID10, 8, 3), mix, VolumeIOPS, 4000},
		{"RAID10 writes unchanged", broken(topology.RAID10, 8, 3), load("randwrite", 8*k, 64, 4), VolumeIOPS, 4000},
		{"RAID10 bytes of reads: 400 MiB/s of 1 MiB", broken(topology.RAID10, 8, 3), load("read", 1*m, 16, 1), VolumeRate, 400},
		{"RAID10 reads, one in flight: the mate reads", broken(topology.RAID10, 8, 0), load("randread", 8*k, 1, 1), VolumeIOPS, 4000},
		{"RAID1", broken(topology.RAID1, 2, 0), load("randread", 8*k, 32, 1), VolumeIOPS, 1000},
		{"RAID1 of three", broken(topology.RAID1, 3, 2), load("randread", 8*k, 32, 1), VolumeIOPS, 2000},
		{"RAID5 reads: 7,000/1.75", broken(topology.RAID5, 8, 2), load("randread", 8*k, 32, 1), VolumeIOPS, 4000},
		{"RAID5 small writes: (7 + 7 + 6 × 4)/8 over 7", broken(topology.RAID5, 8, 2), load("randwrite", 8*k, 32, 1), VolumeIOPS, 7000 / (38.0 / 8)},
		{"RAID5 of 3, small writes: (2 + 2 + 4)/3 over 2", broken(topology.RAID5, 3, 0), load("randwrite", 8*k, 32, 1), VolumeIOPS, 2000 / (8.0 / 3)},
		{"RAID5 stream unchanged: 400 MiB/s of 64k", broken(topology.RAID5, 5, 1), load("write", 64*k, 32, 1), VolumeRate, 6400},
		{"RAID6 reads: (11 + 11)/12 over 11", broken(topology.RAID6, 12, 5), load("randread", 8*k, 32, 1), VolumeIOPS, 6000},
		{"RAID6 reads, two lost: a third", broken(topology.RAID6, 12, 5, 7), load("randread", 8*k, 32, 1), VolumeIOPS, 4000},
		// Q or P lost 2/12: 9 read, 1 + 1 written; the block itself 1/12: 9 read, 2 written;
		// another 9/12: 3 and 3.
		{"RAID6 small writes", broken(topology.RAID6, 12, 5), load("randwrite", 8*k, 32, 1), VolumeIOPS, 11000 / ((2*11 + 1*11 + 9*6) / 12.0)},
		{"RAID6 stream unchanged", broken(topology.RAID6, 6, 5), load("write", 64*k, 32, 1), VolumeRate, 6400},
	} {
		got := Of(c.t, topology.Data, []fio.Workload{c.load})
		b := got.Least(func(b Bound) bool { return b.Kind == c.kind })
		if b == nil || math.Abs(float64(b.IOPS)-c.want) > 0.001*c.want {
			t.Errorf("%s: %+v, want %.1f", c.name, b, c.want)
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), "is degraded") {
			t.Errorf("%s: no note: %q", c.name, got.Notes)
		}
	}
}

// TestGuideDegraded: the guide's DATA array without one of its eight volumes.
func TestGuideDegraded(t *testing.T) {
	topo := broken(topology.RAID10, 8, 5)
	for i := range topo.Arrays[0].Volumes {
		v := &topo.Arrays[0].Volumes[i]
		v.Sustained = topology.Limits{IOPS: 3000, Rate: 125 * units.MiBPerSec}
	}
	mix := load("randrw", 8*k, 64, 4)
	mix.ReadShare = 0.7
	for name, c := range map[string]struct {
		load fio.Workload
		want units.IOPS
	}{
		"reads":  {load("randread", 8*k, 64, 4), 12000},
		"mix":    {mix, 12000},
		"writes": {load("randwrite", 8*k, 64, 4), 12000},
	} {
		if got := Of(topo, topology.Data, []fio.Workload{c.load}).Binding(); got == nil ||
			math.Abs(float64(got.IOPS-c.want)) > 1 {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
}

// TestRebuildIsDeducted: gp3 volumes of 300 IOPS that count 4,000 KiB/s of a rebuild as 15.6 I/Os
// of 256 KiB. The mate of the lost member has 284.4 IOPS left, and so has each member of a RAID5.
func TestRebuildIsDeducted(t *testing.T) {
	for _, c := range []struct {
		level  topology.Level
		n      int
		floor  units.Rate
		merges bool
		want   float64
		note   string
	}{
		{topology.RAID10, 8, 4000 * units.Rate(k), true, 4 * (300 - 15.625), "3.91 MiB/s of each member or faster"},
		{topology.RAID10, 8, 4000 * units.Rate(k), false, 4 * (300 - 62.5), "sync_speed_min"},
		{topology.RAID5, 5, 4000 * units.Rate(k), true, 4 * (300 - 15.625) / 1.6, "sync_speed_min"},
		{topology.RAID5, 5, 400000 * units.Rate(k), true, 4 * 150 / 1.6, "sync_speed_min"},
		{topology.RAID10, 8, 0, true, 1200, "at a rate that is not known"},
	} {
		topo := broken(c.level, c.n)
		a := &topo.Arrays[0]
		a.Degraded, a.Syncing, a.SyncFloor = 1, "recover", c.floor
		for i := range a.Volumes {
			a.Volumes[i] = topology.Volume{Sustained: topology.Limits{IOPS: 300}, CountedIO: 256 * k, Merges: c.merges}
		}
		got := Of(topo, topology.Data, []fio.Workload{load("randread", 8*k, 64, 4)})
		if b := got.Binding(); b == nil || math.Abs(float64(b.IOPS)-c.want) > .01 {
			t.Errorf("%s at %v: %+v, want %.2f", c.level, c.floor, b, c.want)
		}
		if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, c.note) {
			t.Errorf("%s at %v: %q, want %q", c.level, c.floor, notes, c.note)
		}
		share := map[topology.Level]float64{topology.RAID10: 1 - c.want/1200, topology.RAID5: 1 - c.want/750}[c.level]
		if got := RebuildTakes(a, VolumeIOPS); math.Abs(got-share) > 1e-9 || RebuildTakes(a, InstanceIOPS) != 0 {
			t.Errorf("%s at %v: it takes %v of a volume, want %v", c.level, c.floor, got, share)
		}
		// A resync of a whole array is named as the cause of a gap, not deducted.
		a.Degraded, a.Syncing = 0, "resync"
		whole := Of(topo, topology.Data, []fio.Workload{load("randread", 8*k, 64, 4)}).Binding()
		if want := units.IOPS(c.n) * 300; whole == nil || whole.IOPS != want {
			t.Errorf("%s in a resync: %+v, want %v", c.level, whole, want)
		}
	}
}

// TestRebuilding: what is rebuilt already is read from both again. Half of it: 4 / (0.5 / 1 + 0.5 /
// 2) = 5.33 volumes.
func TestRebuilding(t *testing.T) {
	topo := broken(topology.RAID10, 8)
	a := &topo.Arrays[0]
	a.Degraded, a.Syncing, a.Progress = 1, "recover", 0.5
	c := Of(topo, topology.Data, []fio.Workload{load("randread", 8*k, 64, 4)})
	if got := c.Binding(); got == nil || math.Abs(float64(got.IOPS)-16000.0/3) > 1 ||
		!strings.Contains(strings.Join(c.Notes, " "), "being rebuilt") {
		t.Errorf("%+v %q", got, c.Notes)
	}
	a.Progress = 1
	if got := Of(topo, topology.Data, []fio.Workload{load("randread", 8*k, 64, 4)}).Binding(); math.Abs(
		float64(got.IOPS)-8000,
	) > 1 {
		t.Errorf("at the end: %+v", got)
	}
	// A level that does not survive its losses is said, not worked out.
	dead := broken(topology.RAID0, 4)
	dead.Arrays[0].Degraded = 1
	if c := Of(dead, topology.Data, []fio.Workload{load("randread", 8*k, 64, 4)}); !strings.Contains(
		strings.Join(c.Notes, " "),
		"does not survive",
	) {
		t.Errorf("%q", c.Notes)
	}
}

// What is taken for granted of an array that lacks members.
func TestNotesOnDegradedArrays(t *testing.T) {
	const (
		copies  = "the remaining copies serve all reads"
		parity  = "is reconstructed from the others"
		one     = "counted as if it lacked one"
		refused = "which its level does not survive"
	)
	for name, c := range map[string]struct {
		level   topology.Level
		n       int
		missing []int
		want    []string
	}{
		"a mirror":               {topology.RAID10, 8, []int{3}, []string{copies}},
		"two of three mirrors":   {topology.RAID1, 3, []int{0, 2}, []string{copies}},
		"a parity":               {topology.RAID5, 4, []int{1}, []string{parity}},
		"one of two parities":    {topology.RAID6, 6, []int{1}, []string{parity}},
		"both parities":          {topology.RAID6, 6, []int{1, 2}, []string{parity, one}},
		"a stripe":               {topology.RAID0, 4, []int{1}, []string{refused}},
		"all of a set of copies": {topology.RAID1, 2, nil, nil},
	} {
		topo := broken(c.level, c.n, c.missing...)
		a := &topo.Arrays[0]
		var p problem
		m := membersOf(a)
		if c.level == topology.RAID0 {
			m.lost = 0
		}
		p.assumeDegraded(a, m)
		notes := strings.Join(p.notes, "\n")
		if len(p.notes) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, p.notes, c.want)
		}
		for _, want := range c.want {
			if !strings.Contains(notes, want) {
				t.Errorf("%s: %q lacks %q", name, p.notes, want)
			}
		}
	}
}
