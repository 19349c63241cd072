package topology

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
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

// throttles reads io.max of the process's own group and of all above it (cgroup v2,
// Documentation/admin-guide/cgroup-v2.rst), and blkio.throttle of its own group (v1, where limits
// of a group hold for it alone). What cannot be read limits nothing as far as is known.
func throttles(root fs.FS, name func(major, minor uint32) string) []Throttle {
	var all []Throttle
	for line := range strings.Lines(readText(root, "proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // 0::/system.slice/db.service, 7:blkio:/
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			for _, base := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				all = append(all, chain(root, base, parts[2], name)...)
			}
		case slices.Contains(strings.Split(parts[1], ","), "blkio"):
			all = append(all, blkio(root, "sys/fs/cgroup/blkio", parts[2], name)...)
		}
	}
	return all
}

// chain reads io.max from a group up to the root that can be seen. Within a container the path of
// /proc/self/cgroup may be one of the host's, and then the group itself is mounted at the root.
func chain(root fs.FS, base, group string, name func(major, minor uint32) string) []Throttle {
	group = path.Clean("/" + group)
	if _, err := fs.Stat(root, path.Join(base, group)); err != nil {
		group = "/"
	}
	var all []Throttle
	for {
		file := path.Join(base, group, "io.max")
		for line := range strings.Lines(readText(root, file)) {
			if t, ok := parseIOMax(line, name); ok {
				t.Group, t.Origin = group, Origin{Detected, "/" + file}
				all = append(all, t)
			}
		}
		if group == "/" {
			return all
		}
		group = path.Dir(group)
	}
}

// parseIOMax reads a line such as "8:16 rbps=2097152 wbps=max riops=max wiops=120".
func parseIOMax(line string, name func(major, minor uint32) string) (Throttle, bool) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return Throttle{}, false
	}
	t := Throttle{Device: deviceOf(fields[0], name)}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || n == 0 { // max
			continue
		}
		switch key {
		case "rbps":
			t.Limits.ReadRate = units.Rate(n)
		case "wbps":
			t.Limits.WriteRate = units.Rate(n)
		case "riops":
			t.Limits.ReadIOPS = units.IOPS(n)
		case "wiops":
			t.Limits.WriteIOPS = units.IOPS(n)
		}
	}
	return t, t.Device != "" && t.Limits.Known()
}

func deviceOf(numbers string, name func(major, minor uint32) string) string {
	var major, minor uint32
	if n, err := fmt.Sscanf(numbers, "%d:%d", &major, &minor); n != 2 || err != nil {
		return ""
	}
	return name(major, minor)
}

// blkio reads the four files of version 1.
func blkio(root fs.FS, base, group string, name func(major, minor uint32) string) []Throttle {
	group = path.Clean("/" + group)
	if _, err := fs.Stat(root, path.Join(base, group)); err != nil {
		group = "/"
	}
	byDevice := map[string]*Throttle{}
	var order []string
	for file, set := range map[string]func(*Limits, float64){
		"blkio.throttle.read_bps_device":   func(l *Limits, v float64) { l.ReadRate = units.Rate(v) },
		"blkio.throttle.write_bps_device":  func(l *Limits, v float64) { l.WriteRate = units.Rate(v) },
		"blkio.throttle.read_iops_device":  func(l *Limits, v float64) { l.ReadIOPS = units.IOPS(v) },
		"blkio.throttle.write_iops_device": func(l *Limits, v float64) { l.WriteIOPS = units.IOPS(v) },
	} {
		for line := range strings.Lines(readText(root, path.Join(base, group, file))) {
			fields := strings.Fields(line)
			if len(fields) != 2 {
				continue
			}
			v, err := strconv.ParseUint(fields[1], 10, 63)
			device := deviceOf(fields[0], name)
			if err != nil || v == 0 || device == "" {
				continue
			}
			if byDevice[device] == nil {
				byDevice[device] = &Throttle{
					Device: device,
					Group:  group,
					Origin: Origin{Detected, "/" + path.Join(base, group) + "/blkio.throttle.*"},
				}
				order = append(order, device)
			}
			set(&byDevice[device].Limits, float64(v))
		}
	}
	slices.Sort(order)
	var all []Throttle
	for _, d := range order {
		all = append(all, *byDevice[d])
	}
	return all
}

// throttle gives each target the limits that its own devices are under.
func (t *Topology) throttle(root fs.FS) {
	all := throttles(root, func(major, minor uint32) string {
		for _, d := range t.Tree.Devices {
			if d.Major == major && d.Minor == minor {
				return d.Name
			}
		}
		return ""
	})
	for i := range t.Targets {
		target := &t.Targets[i]
		for _, one := range all {
			if slices.Contains(target.Devices, one.Device) {
				target.Throttles = append(target.Throttles, one)
			}
		}
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
	is := func(a, b uint32) string { return map[bool]string{true: "it"}[a == major && b == minor] }
	group, there := strings.CutPrefix(dir, "/sys/fs/cgroup/blkio")
	if v1 && there && !strings.Contains(dir, "/.../") {
		for _, t := range blkio(root, "sys/fs/cgroup/blkio", group, is) {
			return t.Limits
		}
	}
	for line := range strings.Lines(readText(root, path.Join(dir[1:], "io.max"))) {
		if t, ok := parseIOMax(line, is); ok {
			return t.Limits
		}
	}
	return Limits{}
}
