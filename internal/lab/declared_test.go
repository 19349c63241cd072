package lab

import (
	"os"
	"testing"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The layout of docs/plimsoll-yaml.md, with what a customer says of an instance, in the lab's terms
// and back.
func TestFromDeclaration(t *testing.T) {
	text, err := os.ReadFile("testdata/plimsoll.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := FromDeclaration("plimsoll.yaml", text, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	if s.Mounts[topology.Data] != "/data" || s.Mounts[topology.WAL] != "/wal" {
		t.Errorf("mounts %v", s.Mounts)
	}
	if in := s.Instance; in == nil || in.IOPS != 12000 || in.Burst == nil || in.Burst.Credits != 28000*30*60 {
		t.Errorf("instance %+v", s.Instance)
	}
	counts := map[string]int{}
	for _, v := range s.Volumes {
		counts[v.Name] = v.Count
	}
	if len(s.Volumes) != 2 || s.Volumes[0].Count != 8 || s.Volumes[1].Count != 8 || s.Volumes[1].IOPS != 4000 || s.Volumes[0].Throughput != 125*units.MiBPerSec {
		t.Errorf("volumes %+v", s.Volumes)
	}
	guest := declaration(t, s)
	d, err := topology.LoadDeclaration("guest", []byte(guest))
	if err != nil {
		t.Fatalf("%v\n%s", err, guest)
	}
	data, wal := d.Arrays[0], d.Arrays[1]
	if d.Scale != 0.1 || len(data.Volumes) != 8 || data.Volumes[0].Limits.IOPS != 300 || wal.Volumes[7].Limits.Rate != 25*units.MiBPerSec ||
		wal.Volumes[7].Serial == data.Volumes[7].Serial || wal.Volumes[7].ID != "" || d.Instance.Baseline.IOPS != 1200 || d.Instance.BurstFor.Minutes() != 30 {
		t.Errorf("%+v\n%s", d, guest)
	}
	if f := data.Filesystem; data.Chunk != 64*units.KiB || data.Level != topology.RAID10 || f.Owner != "" || f.Mode != "0700" || f.Label != "DATA" {
		t.Errorf("%+v %+v\n%s", data, f, guest)
	}
}

func TestFromDeclarationRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"arrays: [{name: a, role: data, level: raid0, volumes: 2xgp3}]":                          "a: array a has the role data and no filesystem with a mount point: the lab measures in files",
		"arrays: [{name: a, level: raid0, volumes: 30xgp3, filesystem: {type: xfs, mount: /a}}]": "a: 30 volumes: want 1 to 24",
		"instance: c8g.2xlarge": "a: no volumes are declared: the lab builds the arrays that the file describes",
		"arrays: [{name: a, role: [data], level: raid11, volumes: 30xgp3}]": "a:1: level: level \"raid11\"",
	} {
		if _, err := FromDeclaration("a", []byte(text), 0.1); err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
