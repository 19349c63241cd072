package topology

import (
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/units"
)

// A declared array belongs to the path where it is mounted or whose volumes it names, whatever roles
// the paths have.
func TestDeclarationsFindTheirArray(t *testing.T) {
	machine := func(data, wal string) *Topology { // paths of the roles, on /data (md0) and /wal (md1)
		target := func(role Role, mount string) Target {
			array := map[string]string{"/data": "md0", "/wal": "md1", "/": "md9"}[mount]
			return Target{Role: role, Path: mount, Array: array, Mount: &block.Mount{Point: mount}}
		}
		out := &Topology{Targets: []Target{target(Data, data), target(WAL, wal)}}
		for i, name := range []string{"md0", "md1", "md9"} {
			out.Arrays = append(out.Arrays, Array{Name: name, Level: Single, Volumes: []Volume{{Device: name + "d", Serial: "S" + string(rune('0'+i))}}})
		}
		return out
	}
	const mounted = `arrays:
  - {name: data, role: data, level: single, volumes: [{count: 1, iops: 500}], filesystem: {type: xfs, mount: /data}}
  - {name: wal, role: wal, level: single, volumes: [{count: 1, iops: 9000}], filesystem: {type: xfs, mount: /wal}}
`
	const serials = `arrays:
  - {name: data, role: data, volumes: [{serial: S0, iops: 500}]}
  - {name: wal, role: wal, volumes: [{serial: S1, iops: 9000}]}
`
	for name, c := range map[string]struct {
		yaml string
		top  *Topology
		role Role
		want units.IOPS
	}{
		"each its own":                {mounted, machine("/data", "/wal"), Data, 500},
		"the log's own":               {mounted, machine("/data", "/wal"), WAL, 9000},
		"one path, the data's":        {mounted, machine("/data", "/data"), WAL, 500},
		"one path, the log's":         {mounted, machine("/wal", "/wal"), Data, 9000},
		"one path that is neither":    {mounted, machine("/", "/"), Data, 500},
		"by serials, roles exchanged": {serials, machine("/wal", "/data"), Data, 9000},
	} {
		d, err := LoadDeclaration("plimsoll.yaml", []byte(c.yaml))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.top.declare(d); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a := c.top.Array(c.top.For(c.role).Array); a.Volumes[0].Sustained.IOPS != c.want {
			t.Errorf("%s: %v, want %v (notes %q)", name, a.Volumes[0].Sustained.IOPS, c.want, c.top.Notes)
		}
	}
	// Two volumes of one array, in two declarations.
	both := machine("/data", "/wal")
	both.Arrays[0].Volumes = append(both.Arrays[0].Volumes, Volume{Device: "x", Serial: "S7"})
	d, err := LoadDeclaration("plimsoll.yaml", []byte(strings.ReplaceAll(serials, "S1", "S7")))
	if err != nil {
		t.Fatal(err)
	}
	if err := both.declare(d); err == nil || !strings.Contains(err.Error(), "arrays data and wal (plimsoll.yaml:2) both refer to md0 by their named volumes") {
		t.Error(err)
	}
}

// RAID10's layouts as people and mdadm write them.
func TestLayoutsOfRAID10(t *testing.T) {
	const array = "arrays:\n  - {name: data, level: raid10, chunk: 64KiB, volumes: [{count: 4, iops: 1000}], %s}\n"
	for layout, want := range map[string]Geometry{
		"layout: near": {Copies: 2, Near: 2}, "layout: n2": {Copies: 2, Near: 2}, "layout: far": {Copies: 2, Near: 1},
		"layout: f3": {Copies: 3, Near: 1}, "layout: offset": {Copies: 2, Near: 1, Offset: true}, "layout: o2, copies: 2": {Copies: 2, Near: 1, Offset: true},
		"layout: far, copies: 4": {Copies: 4, Near: 1}, "copies: 2": {Copies: 2},
	} {
		d, err := LoadDeclaration("p.yaml", []byte(strings.Replace(array, "%s", layout, 1)))
		if err != nil {
			t.Errorf("%s: %v", layout, err)
			continue
		}
		top, err := FromDeclaration(d)
		if err != nil {
			t.Fatal(err)
		}
		a := top.Arrays[0]
		if got := (Geometry{Copies: a.Copies, Near: a.Near, Offset: a.Offset}); got != want {
			t.Errorf("%s: %+v, want %+v", layout, got, want)
		}
	}
	for layout, want := range map[string]string{
		"layout: wide": "want near, far or offset", "layout: f3, copies: 2": "f3 contradicts copies: 2", "layout: far, using: lvm": "only md's raid10 has layouts",
	} {
		if _, err := LoadDeclaration("p.yaml", []byte(strings.Replace(array, "%s", layout, 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", layout, err, want)
		}
	}
	// md's own number: far copies in the second byte, offset in the third
	var g Geometry
	if g.Kernel(0x10201); !g.Offset || g.Near != 1 || g.Copies != 2 {
		t.Errorf("o2: %+v", g)
	}
}

// r4 is built on Xen: one volume reaches 32,000 IOPS there, of 64,000 that io1 can be ordered with.
func TestVolumesOnXen(t *testing.T) {
	for instance, want := range map[string]units.IOPS{"r4.16xlarge": 32000, "r5.24xlarge": 64000, "": 64000} {
		d, err := FromFlags("io1 1280GiB 64000iops", "single", "", instance)
		if err != nil {
			t.Fatal(err)
		}
		top, err := FromDeclaration(d)
		if err != nil {
			t.Fatal(err)
		}
		if got := top.Arrays[0].Volumes[0].Sustained.IOPS; got != want {
			t.Errorf("%s: %v, want %v", instance, got, want)
		}
	}
}
