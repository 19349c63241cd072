package block

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// User is something that uses a device and that the device's holders in /sys do not show.
type User struct {
	Device string `json:"device"` // kernel name
	// What it is, as a clause: "process 812 (qemu-system-x86) has it open".
	What string `json:"what"`
}

// ReadUsers adds to the tree who else uses its devices: mounts in other mount namespaces that stay
// when this process unmounts its own, mounted btrfs filesystems of several devices, loop devices
// over a device, and processes that have it open. It reads the whole of /proc, and sees all of it
// as root only. The process self is left out. What is used by another machine (a volume that is
// attached twice), or through a node outside of /dev, is not seen.
func (t *Tree) ReadUsers(self int) {
	if t.root == nil {
		return
	}
	r := &reader{root: t.root}
	t.Users = nil
	r.loops(t)
	r.btrfs(t)
	own, _ := fs.ReadLink(t.root, "proc/self/ns/mnt") // a kernel without namespaces has one
	seen := map[string]bool{own: true}
	mounts := r.placed("self")
	for _, name := range r.processes(self) {
		if ns, err := fs.ReadLink(t.root, path.Join("proc", name, "ns/mnt")); err == nil && !seen[ns] {
			seen[ns] = true
			r.namespace(t, name, mounts)
		}
		r.descriptors(t, name)
	}
	// A process that ends meanwhile is no news, and neither is one that may not be looked at.
	slices.SortFunc(t.Users,
		func(a, b User) int { return cmp.Or(natural(a.Device, b.Device), strings.Compare(a.What, b.What)) })
	t.Users = slices.Compact(t.Users)
}

// processes are the numbers of all but one.
func (r *reader) processes(but int) []string {
	return slices.DeleteFunc(r.list("proc"), func(name string) bool {
		pid, err := strconv.Atoi(name)
		return err != nil || pid == but
	})
}

// UsersOf is who uses a device, as ReadUsers found it.
func (t *Tree) UsersOf(device string) []string {
	var all []string
	for _, u := range t.Users {
		if u.Device == device {
			all = append(all, u.What)
		}
	}
	return all
}

func (t *Tree) use(device, format string, args ...any) {
	t.Users = append(t.Users, User{device, fmt.Sprintf(format, args...)})
}

// loops finds loop devices whose file is a block device.
func (r *reader) loops(t *Tree) {
	for _, name := range t.Names() {
		if d := t.Devices[name]; d.Kind == Loop && strings.HasPrefix(d.Backing, "/dev/") {
			if under := t.Device(d.Backing); under != nil {
				t.use(under.Name, "the loop device %s lies on it", d.Path)
			}
		}
	}
}

// btrfs lists the devices of each mounted btrfs, of which mountinfo names one
// (Documentation/ABI/testing/sysfs-fs-btrfs).
func (r *reader) btrfs(t *Tree) {
	const dir = "sys/fs/btrfs"
	for _, uuid := range r.list(dir) {
		for _, name := range r.list(path.Join(dir, uuid, "devices")) {
			if t.Devices[name] != nil {
				t.use(name, "it is part of the mounted btrfs %s", uuid)
			}
		}
	}
}

// namespace reads the mounts that a process sees and this one does not unmount with its own.
func (r *reader) namespace(t *Tree, pid string, own map[int]placed) {
	all := r.placed(pid)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		m := all[id]
		if name := t.deviceOf(m.Mount); name != "" && !m.follows(all, own) {
			t.use(name, "it is mounted on %s in the mount namespace of process %s (%s)", m.Point, pid, r.command(pid))
		}
	}
}

// placed is a mount with the groups of mounts that it shares events with: its peers, and those that
// it only follows (mount_namespaces(7)); empty where there are none.
type placed struct {
	Mount
	peers, leaders string
}

// placed are the mounts that a process sees, by their numbers.
func (r *reader) placed(pid string) map[int]placed {
	data, err := readAll(r.root, path.Join("proc", pid, "mountinfo"))
	if err != nil {
		return nil
	}
	all := map[int]placed{}
	for line := range strings.Lines(string(data)) {
		m, err := mountinfoLine(line)
		if err != nil {
			continue
		}
		p := placed{Mount: m}
		left, _, _ := strings.Cut(line, " - ")
		for _, f := range strings.Fields(left)[6:] {
			switch key, group, _ := strings.Cut(f, ":"); key {
			case "shared":
				p.peers = group
			case "master":
				p.leaders = group
			}
		}
		all[m.ID] = p
	}
	return all
}

// hears is whether events of the other mount reach this one.
func (p placed) hears(other placed) bool {
	return other.peers != "" && (p.peers == other.peers || p.leaders == other.peers)
}

// follows is whether this mount goes when one in the own namespace is unmounted, as it does in the
// namespaces that systemd gives to its services: it is a copy of that, and so is what it is mounted
// in.
func (p placed) follows(all, own map[int]placed) bool {
	for _, o := range own {
		if p.Major == o.Major && p.Minor == o.Minor && p.hears(o) && all[p.Under].hears(own[o.Under]) {
			return true
		}
	}
	return false
}

// udev are its processes, which look at each device for a moment after it was written to.
var udev = []string{"systemd-udevd", "(udev-worker)", "udevd", "udevadm"}

// descriptors finds the devices that a process has open. Only links into /dev are followed: a file
// on a server that does not answer would keep stat waiting.
func (r *reader) descriptors(t *Tree, pid string) {
	if slices.Contains(udev, r.command(pid)) {
		return
	}
	dir := path.Join("proc", pid, "fd")
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		to, err := fs.ReadLink(r.root, path.Join(dir, e.Name()))
		if err != nil || !strings.HasPrefix(to, "/dev/") {
			continue
		}
		if d := t.opened(path.Join(dir, e.Name()), to); d != nil {
			t.use(d.Name, "process %s (%s) has it open", pid, r.command(pid))
		}
	}
}

// opened is the device behind a descriptor: by its number, which holds whatever the node is called,
// else by its name.
func (t *Tree) opened(link, to string) *Device {
	d, err := t.node(link)
	if err != nil {
		return t.Device(to)
	}
	return d
}

// node is the device that a file of the machine stands for by its number; nil for another sort of file.
func (t *Tree) node(name string) (*Device, error) {
	info, err := fs.Stat(t.root, name)
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&fs.ModeDevice == 0 || info.Mode()&fs.ModeCharDevice != 0 {
		return nil, nil
	}
	return t.numbered(devMajor(st.Rdev), devMinor(st.Rdev)), nil
}

func (t *Tree) numbered(major, minor uint32) *Device {
	for _, d := range t.Devices {
		if d.Major == major && d.Minor == minor {
			return d
		}
	}
	return nil
}

// The kernel's 64-bit device numbers (include/linux/kdev_t.h new_encode_dev).
func devMajor(rdev uint64) uint32 { return uint32(rdev >> 8 & 0xfff) }
func devMinor(rdev uint64) uint32 { return uint32(rdev&0xff | rdev>>12&0xfff00) }

func (r *reader) command(pid string) string {
	data, err := readAll(r.root, path.Join("proc", pid, "comm"))
	if err != nil {
		return "name not known"
	}
	return strings.TrimSpace(string(data))
}

// OpenBelow is who has a file open, a working directory or a program in a directory, as a clause
// each, as far as names in /proc show it; only root sees all. The process self is left out.
func (t *Tree) OpenBelow(dir string, self int) []string {
	if t.root == nil {
		return nil
	}
	r := &reader{root: t.root}
	var all []string
	for _, name := range r.processes(self) {
		links := []string{"cwd", "root", "exe"}
		entries, _ := fs.ReadDir(t.root, path.Join("proc", name, "fd")) // of others' processes only root may know
		for _, e := range entries {
			links = append(links, path.Join("fd", e.Name()))
		}
		for _, link := range links {
			if to, err := fs.ReadLink(t.root, path.Join("proc", name, link)); err == nil && dir != "/" &&
				within(to, dir) {
				all = append(all, fmt.Sprintf("process %s (%s) uses %s", name, r.command(name), to))
				break
			}
		}
	}
	return all
}
