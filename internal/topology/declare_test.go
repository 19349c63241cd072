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
	if err := both.declare(d); err == nil || !strings.Contains(err.Error(), "arrays data and wal (plimsoll.yaml:2) are both about md0 by their named volumes") {
		t.Error(err)
	}
}
