package cloud

import (
	"slices"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
)

// lostAtStop finds the paths on drives that a cloud's machine loses when it stops or fails. A mirror of which a
// member stays keeps what is on it.
func lostAtStop(c *diagnose.Case, report diagnose.Report) {
	seen := map[string]bool{}
	for _, t := range c.Targets() {
		if c.Topology.Tree == nil || seen[t.Path] {
			continue
		}
		seen[t.Path] = true
		leaves := c.Topology.Tree.Leaves(t.Device)
		local := slices.DeleteFunc(slices.Clone(leaves), func(d *block.Device) bool { return !cloud.IsLocal(d.Model) })
		a := c.Topology.Array(t.Array)
		if len(local) == 0 || a != nil && a.Level.Mirrored() && len(local) < len(leaves) {
			continue
		}
		var names []string
		for _, d := range local {
			names = append(names, d.Name)
		}
		report(finding.New(t.Path, "%s (%s) is on instance storage (%s): it is lost when the machine stops or fails.",
			t.Path, t.Role, names).
			Saw("model of "+names[0], local[0].Model, "a volume that outlives the machine",
				diagnose.Sysfs(names[0], "device/model")))
	}
}
