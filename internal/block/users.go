package block

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

// User is something that uses a device and that the device's holders in /sys do not show.
type User struct {
	Device string // kernel name
	What   string // as a clause: "process 812 (qemu-system-x86) has it open"
}

// ReadUsers adds to the tree who else uses its devices: mounts in other mount namespaces that stay
// when this process unmounts its own, mounted btrfs filesystems of several devices, loop devices
// over a device or on another's file, and processes that have it, or the file that a loop device
// lies on, open or mapped. It reads the whole of /proc, and sees all of it
// as root only. The process self is left out. What is used by another machine
// (a volume that is attached twice) is not seen, nor is a descriptor that only a socket or an io_uring holds.
func (t *Tree) ReadUsers(self int) {
	if t.root == nil {
		return
	}
	r := &reader{root: t.root}
	t.Users = nil
	over := r.loops(t)
	r.btrfs(t)
	own, _ := fs.ReadLink(t.root, "proc/self/ns/mnt") // a kernel without namespaces has one
	seen := map[string]bool{own: true}
	mounts, mapped := r.placed("self"), map[string]*Device{}
	for _, name := range r.processes(self) {
		if ns, err := fs.ReadLink(t.root, path.Join("proc", name, "ns/mnt")); err == nil && !seen[ns] {
			seen[ns] = true
			r.namespace(t, name, mounts)
		}
		r.descriptors(t, name, mapped)
	}
	t.below(over)
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
	data, err := ReadAll(r.root, path.Join("proc", pid, "mountinfo"))
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

// descriptors finds the devices that a process has open or mapped, by each of its threads that has
// descriptors of its own: the first thread may have ended.
func (r *reader) descriptors(t *Tree, pid string, mapped map[string]*Device) {
	if slices.Contains(udev, r.command(pid)) {
		return
	}
	use := func(d *Device, how string) {
		if d != nil {
			t.use(d.Name, "process %s (%s) has it %s", pid, r.command(pid), how)
		}
	}
	threads := r.list(path.Join("proc", pid, "task"))
	if len(threads) == 0 { // a captured machine
		threads = []string{pid}
	}
	var read []string
	for _, thread := range threads {
		if slices.ContainsFunc(read, func(other string) bool { return t.sameFiles(other, thread) }) {
			continue
		}
		read = append(read, thread)
		dir := path.Join("proc", thread, "fd")
		entries, _ := fs.ReadDir(t.root, dir) // of others' processes only root may know
		for _, e := range entries {
			link := path.Join(dir, e.Name())
			if to, err := fs.ReadLink(t.root, link); err == nil && strings.HasPrefix(to, "/") {
				d, _ := t.opened(link, to)
				use(d, "open")
			}
		}
	}
	for _, thread := range threads { // they share their memory, but one that has ended shows none
		areas, _ := ReadAll(t.root, path.Join("proc", thread, "maps"))
		for line := range strings.Lines(string(areas)) {
			f := strings.Fields(line)
			if len(f) < 6 || !strings.HasPrefix(f[5], "/") {
				continue
			}
			file := strings.Join(f[3:], " ") // its filesystem, inode and name
			d, known := mapped[file]
			if !known {
				from, to, _ := strings.Cut(f[0], "-")
				link := strings.TrimLeft(from, "0") + "-" + strings.TrimLeft(to, "0")
				var sure bool
				if d, sure = t.opened(path.Join("proc", thread, "map_files", link), f[5]); sure {
					mapped[file] = d
				}
			}
			use(d, "mapped")
		}
		if len(areas) > 0 {
			break
		}
	}
}

// sameFiles is whether two threads of this machine share their descriptors (kcmp(2)).
func (t *Tree) sameFiles(a, b string) bool {
	const files = 2
	one, err1 := strconv.Atoi(a)
	other, err2 := strconv.Atoi(b)
	self, _ := fs.ReadLink(t.root, "proc/self") // numbers of another PID namespace are other processes here
	if t.root != os.DirFS("/") || self != strconv.Itoa(os.Getpid()) || err1 != nil || err2 != nil {
		return false
	}
	r, _, e := unix.Syscall6(unix.SYS_KCMP, uintptr(one), uintptr(other), files, 0, 0, 0)
	return e == 0 && r == 0
}

// opened is the device behind a link of /proc: by its number, which holds whatever the node is called,
// else by its name, and then it is not sure. A server that does not answer is not asked.
func (t *Tree) opened(link, to string) (d *Device, sure bool) {
	if t.root == os.DirFS("/") {
		at, err := sys.Look("/" + link)
		switch {
		case err != nil:
			return t.Device(to), false
		case !at.Block:
			return t.files[inode{unix.Mkdev(at.Major, at.Minor), at.Inode}], true
		}
		return t.numbered(at.Major, at.Minor), true
	}
	d, err := t.node(link)
	if err != nil {
		return t.Device(to), false
	}
	return d, true
}

// node is the device that a file of the machine stands for by its number; nil for another sort of file.
func (t *Tree) node(name string) (*Device, error) {
	info, err := fs.Stat(t.root, name)
	if err != nil {
		return nil, err
	}
	return t.OfNode(info), nil
}

func (t *Tree) numbered(major, minor uint32) *Device {
	for _, d := range t.Devices {
		if d.Major == major && d.Minor == minor && major > 0 {
			return d
		}
	}
	return nil
}

func (r *reader) command(pid string) string {
	data, err := ReadAll(r.root, path.Join("proc", pid, "comm"))
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
