package topology

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Detect finds out what lies under each role's path, as far as it can be read, and lays what decl
// says over it: what is declared beats what is detected, and each figure says which it is. Nothing
// is needed of decl (nil) or of root; what stays unknown is left empty and named in Notes. The
// error is for a context that has ended or a declaration that contradicts itself.
func Detect(ctx context.Context, m *sys.Machine, paths map[Role]string, decl *Declaration) (*Topology, error) {
	t := &Topology{Host: ReadHost(m.Root), Instance: readInstance(m.Root)}
	tree, err := block.Read(m)
	if err != nil {
		t.note("%v", err)
		tree = &block.Tree{}
	}
	t.Tree = tree
	segments := tree.ReadSegments(ctx, m)
	for _, role := range Roles {
		if p := paths[role]; p != "" {
			t.addTarget(m, role, p)
		}
	}
	for _, target := range t.Targets {
		if target.Mount != nil {
			target.Mount.ReadDataset(ctx, m)
		}
	}
	t.throttle(m.Root)
	t.noteInferred(segments)
	t.noteShared()
	if err := t.Limit(ctx, m, decl); err != nil {
		return nil, err
	}
	t.noteUnknown()
	t.noteSize()
	return t, ctx.Err()
}

func (t *Topology) note(format string, args ...any) {
	t.Notes = text.Once(t.Notes, fmt.Sprintf(format, args...))
}

func (t *Topology) addTarget(m *sys.Machine, role Role, path string) {
	target := Target{Role: role, Path: path}
	defer func() { t.Targets = append(t.Targets, target) }()
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if d := t.Tree.Device(path); d != nil {
		target.Device = d.Name
	} else if mount := t.Tree.MountOf(path); mount != nil {
		mt := *mount
		refine(m, &mt)
		target.Mount, target.Device = &mt, mt.Device
		target.Free, target.Inodes = free(m, path)
		upper, how := "", ""
		if mt.FS == "overlay" && mt.Device == "" {
			upper, how = upperDevice(t.Tree, &mt)
			target.Device = upper
		}
		switch {
		case upper != "":
			t.note("%s is on %s (overlay): writes go to %s, because %s", target.Path, mt.Point, upper, how)
		case mt.FS == "zfs" || mt.FS == "btrfs":
			t.note("%s is on %s (%s): it spreads over its devices by itself, which plimsoll does not examine", target.Path,
				mt.Point, mt.FS)
		case mt.Device == "":
			t.note("%s is on %s (%s): there is no block device below it", target.Path, mt.Point, mt.FS)
		}
	} else {
		t.note("%s: its mount is not known", target.Path)
	}
	if target.Device == "" {
		return
	}
	t.under(&target)
}

// under finds what lies below a target's device.
func (t *Topology) under(target *Target) {
	target.Devices = t.Tree.Below(target.Device)
	a := t.build(target.Device)
	target.Array = a.Name
	if t.Array(a.Name) == nil {
		t.Arrays = append(t.Arrays, a)
	}
}

// refine asks XFS for what mountinfo does not show and only root may read from the superblock.
func refine(m *sys.Machine, mount *block.Mount) {
	if !m.Here || mount.FS != "xfs" || mount.AGCount > 0 {
		return
	}
	if g, err := block.XFSGeometry(mount.Point); err == nil {
		mount.BlockSize, mount.AGCount, mount.LogUnit = g.BlockSize, g.AGCount, g.LogUnit
	}
}

// free is the space that anybody may still fill, nil when it is unknown, and the share of inodes that is taken.
func free(m *sys.Machine, path string) (*units.Bytes, float64) {
	if !m.Here {
		return nil, 0
	}
	space, ok := sys.SpaceOf(path)
	if !ok {
		return nil, 0
	}
	return new(units.Bytes(space.Bytes)), space.Inodes
}

// noteInferred names the logical volumes whose layout device-mapper did not tell, and why.
func (t *Topology) noteInferred(why error) {
	for _, target := range t.Targets {
		for _, name := range target.Devices {
			if v := t.Tree.Devices[name].LV; v != nil && v.Inferred && !v.Internal {
				t.note("%s: its layout is inferred from its I/O sizes: %v", t.Tree.Devices[name].Path, why)
			}
		}
	}
}

// noteUnknown says for how many volumes no limit is known, and how to say them.
func (t *Topology) noteUnknown() {
	for _, a := range t.Arrays {
		n, network, count := 0, false, ""
		if len(a.Volumes) > 1 {
			count = strconv.Itoa(len(a.Volumes)) + "x"
		}
		for _, v := range a.Volumes {
			if !v.Sustained.Known() && !v.Missing {
				n++
				network = network || v.Network
			}
		}
		switch {
		case network:
			t.note("%s: the limits of its network volumes cannot be seen from here; declare them, for example with "+
				"--volumes %s%s", a.Path, count, t.Instance.example())
		case n > 0:
			t.note("%s: the limits of its volumes are unknown; declare them, for example with "+
				"--volumes %s3000iops:125MiB/s", a.Path, count)
		}
	}
}

// noteShared tells of targets and arrays that use the same hardware although they look apart.
func (t *Topology) noteShared() {
	byDevice := map[string]string{}
	for _, target := range t.Targets {
		if target.Mount == nil || target.Device == "" {
			continue
		}
		if other, ok := byDevice[target.Device]; ok && other != target.Mount.Point {
			t.note("%s and %s are one filesystem: /dev/%s is mounted on both", other, target.Mount.Point, target.Device)
		}
		byDevice[target.Device] = target.Mount.Point
	}
	user := map[string]string{}
	for _, a := range t.Arrays {
		for _, v := range a.Volumes {
			if v.Device == "" {
				continue
			}
			if other, ok := user[v.Device]; ok && other != a.Name {
				t.note("arrays %s and %s share volumes (%s): their loads add up", other, a.Name, v.Device)
			}
			user[v.Device] = a.Name
		}
	}
}

// upperDevice is the device that what is written to an overlay goes to: the one behind its upper
// directory. In a container that directory is a path of the host, which no mount here shows; then
// it is the device of a file that the container engine mounts from the same directory of the host,
// such as /etc/hosts. how says which way it was found; both are empty when neither works.
func upperDevice(tree *block.Tree, overlay *block.Mount) (device, how string) {
	upper := ""
	for _, o := range overlay.Options {
		if dir, ok := strings.CutPrefix(o, "upperdir="); ok {
			upper = path.Clean(dir)
		}
	}
	if !path.IsAbs(upper) {
		return "", ""
	}
	if m := tree.MountOf(upper); m != nil && m.Device != "" {
		return m.Device, "its upper directory " + upper + " is on " + m.Point
	}
	for _, m := range tree.Mounts {
		if m.Device != "" && sharedElements(m.Root, upper) >= enginePath {
			return m.Device, "its upper directory " + upper + " is on the device from which " + m.Point + " is mounted"
		}
	}
	return "", ""
}

// enginePath is how many elements of a path make it a container engine's own, such as
// /var/lib/docker.
const enginePath = 3

// sharedElements is how many elements two absolute paths have in common from their beginning.
func sharedElements(a, b string) int {
	as, bs := strings.Split(strings.Trim(a, "/"), "/"), strings.Split(strings.Trim(b, "/"), "/")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] && as[n] != "" {
		n++
	}
	return n
}

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
		target.Device = s.Device
		t.under(&target)
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
		t.note("%s is an overlay: writes go to %s, because %s", s.Mount.Point, upper, how)
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
