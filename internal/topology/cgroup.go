package topology

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/units"
)

// Throttle is what a control group allows its processes on one block device: plimsoll's own group
// or one above it, in which fio runs, too.
type Throttle struct {
	Device string `json:"device"` // kernel name
	Group  string `json:"group"`  // path of the group, / for the outermost that can be seen
	Limits Limits `json:"limits"`
	Origin Origin `json:"origin"`
}

// Where control groups of either version are mounted.
var version2Bases = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}

const version1Base = "sys/fs/cgroup/blkio"

// throttles reads io.max of the process's own group and of all above it (cgroup v2,
// Documentation/admin-guide/cgroup-v2.rst), and blkio.throttle of its own group (v1, where limits
// of a group hold for it alone), on the devices that names has by major:minor. What cannot be read
// limits nothing as far as is known.
func throttles(root fs.FS, names map[string]string) []Throttle {
	var all []Throttle
	for line := range strings.Lines(readText(root, "proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // 0::/system.slice/db.service, 7:blkio:/
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			for _, base := range version2Bases {
				all = append(all, chain(root, base, parts[2], names)...)
			}
		case slices.Contains(strings.Split(parts[1], ","), "blkio"):
			group := inside(root, version1Base, parts[2])
			all = append(all, throttlesOf(root, version1Base, group, names)...)
		}
	}
	return all
}

// inside is the group as it is seen from here: within a container its path may be one of the host's, and then
// the group itself is mounted at the root.
func inside(root fs.FS, base, group string) string {
	group = path.Clean("/" + group)
	if _, err := fs.Stat(root, path.Join(base, group)); err != nil {
		return "/"
	}
	return group
}

// chain reads the limits from a group up to the root that can be seen.
func chain(root fs.FS, base, group string, names map[string]string) (all []Throttle) {
	for group = inside(root, base, group); ; group = path.Dir(group) {
		all = append(all, throttlesOf(root, base, group, names)...)
		if group == "/" {
			return all
		}
	}
}

// throttlesOf are the limits of one group, by device in the order in which these are named.
func throttlesOf(root fs.FS, base, group string, names map[string]string) (all []Throttle) {
	written(func(file string) string { return readText(root, file) }, base, group, func(l GroupLimit) {
		device := names[l.Number]
		if device == "" {
			return
		}
		i := slices.IndexFunc(all, func(t Throttle) bool { return t.Device == device })
		if i < 0 {
			i = len(all)
			if l.Version == 1 {
				l.File = path.Dir(l.File) + "/blkio.throttle.*"
			}
			all = append(all, Throttle{Device: device, Group: group, Origin: Origin{Detected, l.File}})
		}
		into := &all[i].Limits
		switch l.What {
		case "rbps":
			into.ReadRate = units.Rate(l.Limit)
		case "wbps":
			into.WriteRate = units.Rate(l.Limit)
		case "riops":
			into.ReadIOPS = units.IOPS(l.Limit)
		case "wiops":
			into.WriteIOPS = units.IOPS(l.Limit)
		}
	})
	return all
}

// throttle gives each target the limits that its own devices are under.
func (t *Topology) throttle(root fs.FS) {
	for i := range t.Targets {
		target := &t.Targets[i]
		target.Throttles = throttles(root, t.Numbers(target))
	}
}

// GroupPath is where a control group is, by its last name, as systemd, docker and Kubernetes call it
// (backup.service, docker-….scope, kubepods-pod….slice), below /sys/fs/cgroup; v1 says that this machine limits I/O
// by the groups of version 1. Without such a group it is a path to be completed.
func GroupPath(root fs.FS, name string) (dir string, v1 bool) {
	base := "sys/fs/cgroup"
	if _, err := fs.Stat(root, base+"/blkio"); err == nil {
		base, v1 = base+"/blkio", true
	}
	dir = "/" + base + "/.../" + name
	_ = fs.WalkDir(root, base, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return nil //nolint:nilerr // what cannot be read is passed over
		case d.Name() == name || at == path.Join(base, name):
			dir = "/" + at
			return fs.SkipAll
		}
		return nil
	})
	return dir, v1
}

// GroupLimits are those that a group of GroupPath has on a device.
func GroupLimits(root fs.FS, dir string, v1 bool, major, minor uint32) Limits {
	is := map[string]string{fmt.Sprintf("%d:%d", major, minor): "it"}
	base := version1Base
	if !v1 {
		base = version2Bases[0]
	}
	if group, there := strings.CutPrefix(dir, "/"+base); there && !strings.Contains(dir, "/.../") {
		for _, t := range throttlesOf(root, base, group, is) {
			return t.Limits
		}
	}
	return Limits{}
}
