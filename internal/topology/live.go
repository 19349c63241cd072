package topology

import (
	"context"
	"fmt"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
)

// Live is Detect for one path of a machine at work, on which nothing may be done: no program is
// started, no superblock read, and nothing is asked of the path's own filesystem. Limits come from
// Limit, which may ask the cloud and so take seconds.
func Live(m *sys.Machine, name string) (*Topology, *block.Stack, error) {
	s, err := block.ReadStack(m, name)
	if err != nil {
		return nil, nil, err
	}
	t := &Topology{Instance: readInstance(m.Root), Tree: s.Tree}
	target := Target{Role: Data, Path: name, Mount: s.Mount}
	if s.Mount != nil && s.Mount.FS == "overlay" && s.Device == "" {
		t.follow(s)
	}
	if s.Device != "" && s.Tree.Devices[s.Device] != nil {
		target.Device, target.Devices = s.Device, s.Tree.Below(s.Device)
		a := t.build(s.Device)
		target.Array = a.Name
		t.Arrays = append(t.Arrays, a)
	}
	t.Targets = []Target{target}
	return t, s, nil
}

// follow makes the device of an overlay's upper directory the one behind the path.
func (t *Topology) follow(s *block.Stack) {
	for i := range s.Tree.Mounts {
		if m := &s.Tree.Mounts[i]; m.Device == "" {
			m.Device = s.Upper(m)
		}
	}
	upper, how := upperDevice(s.Tree, s.Mount)
	if upper != "" {
		s.Follow(upper)
		t.note("%s is an overlay: writes go to %s, since %s", s.Mount.Point, upper, how)
	}
}

// Limit fills in what the volumes and the instance are known to give: from the cloud where this
// is a machine of one, from the catalogue, and from what is declared.
func (t *Topology) Limit(ctx context.Context, m *sys.Machine, decl *Declaration) error {
	asking, cancel := context.WithTimeout(ctx, cloud.APIBudget) // for all that the cloud is asked
	defer cancel()
	watched := t.askCloud(asking, m)
	t.catalogue()
	if err := t.declare(decl); err != nil {
		return err
	}
	t.capVolumes()
	t.askBalances(asking, watched)
	return nil
}

// Numbers are the devices below a target by their numbers, major:minor.
func (t *Topology) Numbers(target *Target) map[string]string {
	all := map[string]string{}
	for _, name := range target.Devices {
		d := t.Tree.Devices[name]
		all[fmt.Sprintf("%d:%d", d.Major, d.Minor)] = name
	}
	return all
}
