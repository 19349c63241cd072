package block

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/sys"
)

// Stack is what lies below one path of a machine that is at work.
type Stack struct {
	// Tree has the devices of the stack alone, and all mounts of this process without their
	// filesystems' geometry.
	Tree *Tree
	// Mount is the one on which the path lies, nil for a device.
	Mount *Mount
	// Device is the kernel name of the device behind it, empty where there is none.
	Device string
	// Failed is the error of a path that cannot even be looked at, since its storage fails.
	Failed error
}

// remote are filesystems whose storage is another machine's, or a program's.
var remote = strings.Fields("nfs nfs4 cifs smb3 ceph 9p afs glusterfs lustre gpfs virtiofs")

// Remote is whether a filesystem's storage is another machine's or a program's (FUSE), so that
// asking anything of it may wait without end.
func (m *Mount) Remote() bool {
	return slices.Contains(remote, m.FS) || m.FS == "fuse" || strings.HasPrefix(m.FS, "fuse.")
}

// ReadStack reads what lies below a path: mounts, and the devices of its stack. It opens files below
// /proc and /sys alone, so that a drive or a server that does not answer keeps nobody waiting, and
// starts no program. The error is for a path that does not exist.
func ReadStack(m *sys.Machine, name string) (*Stack, error) {
	r := &reader{root: m.Root}
	t := &Tree{Devices: map[string]*Device{}, root: m.Root}
	s := &Stack{Tree: t}
	data, err := ReadAll(m.Root, "proc/self/mountinfo")
	if err != nil {
		r.note("/proc/self/mountinfo: %v", cause(err))
	}
	for line := range strings.Lines(string(data)) {
		if mount, err := mountinfoLine(line); err == nil {
			t.Mounts = append(t.Mounts, mount)
		}
	}
	if err := s.find(m, r, name); err != nil {
		return nil, err
	}
	r.stack(t, s.Device)
	if s.Mount != nil {
		s.Mount.Device = s.Device
	}
	t.Notes = r.notes
	return s, nil
}

// Fallen is whether the filesystem of a stack, mounted to be written to, is read-only by now: Linux marks it so
// after an error (ext4 since 6.15 by the words emergency_ro and shutdown).
func (s *Stack) Fallen(r *sys.Reader) bool {
	for line := range strings.Lines(r.Text("proc/self/mountinfo")) {
		m, err := mountinfoLine(line)
		if err != nil || s.Mount == nil || m.ID != s.Mount.ID {
			continue
		}
		asked := strings.Split(strings.Fields(line)[5], ",") // of the mount, not of the filesystem
		return slices.Contains(asked, "rw") &&
			slices.ContainsFunc(m.Options, func(o string) bool { return o == "ro" || o == "emergency_ro" || o == "shutdown" })
	}
	return false
}

// find fills in the mount and the device of a path.
func (s *Stack) find(m *sys.Machine, r *reader, name string) error {
	lexical := (&Tree{Mounts: s.Tree.Mounts}).MountOf(name) // by its letters alone, without asking any filesystem
	if !m.Here {                                            // a captured machine has no paths to ask about
		if d, ok := strings.CutPrefix(name, "/dev/"); ok && r.exists(path.Join(classBlock, d)) {
			s.Device = d
			return nil
		}
		s.Mount = s.Tree.MountOf(name)
		s.Device = r.mounted(s.Mount)
		return nil
	}
	if lexical != nil && lexical.Remote() {
		s.Mount = lexical
		return nil
	}
	place, err := sys.Look(name)
	switch {
	case errors.Is(err, sys.ErrNoAnswer):
		s.Mount = lexical
		s.Tree.Notes = append(s.Tree.Notes, name+": "+sys.ErrNoAnswer.Error())
	case sys.Fails(err):
		s.Mount, s.Failed = lexical, err
	case err != nil:
		return err
	case place.Block:
		if s.Device = r.numberedName(place.Major, place.Minor); s.Device == "" {
			r.note("%s: /sys has no device %d:%d", name, place.Major, place.Minor)
		}
		return nil
	default:
		s.Mount = s.Tree.mountAt(place, lexical)
	}
	s.Device = r.mounted(s.Mount)
	return nil
}

// mountAt is the mount that statx(2) named, by its number or by its device.
func (t *Tree) mountAt(p sys.Place, lexical *Mount) *Mount {
	for i := range t.Mounts {
		if p.Mount != 0 && t.Mounts[i].ID == p.Mount {
			return &t.Mounts[i]
		}
	}
	if lexical != nil && lexical.Major == p.Major && lexical.Minor == p.Minor {
		return lexical
	}
	for i := range t.Mounts {
		if t.Mounts[i].Major == p.Major && t.Mounts[i].Minor == p.Minor {
			return &t.Mounts[i]
		}
	}
	return lexical
}

// mounted is the device of a mount. Filesystems over several devices (btrfs) show the anonymous
// number 0:N; then what was mounted names it.
func (r *reader) mounted(m *Mount) string {
	if m == nil {
		return ""
	}
	if m.Major != 0 {
		return r.numberedName(m.Major, m.Minor)
	}
	if !strings.HasPrefix(m.Source, "/dev/") || m.FS == "devtmpfs" {
		return ""
	}
	at := &Tree{root: r.root}
	base := strings.TrimPrefix(at.resolve(m.Source), "/dev/")
	if r.exists(path.Join(classBlock, base)) {
		return base
	}
	return ""
}

// numberedName is the kernel name of a device by its number.
func (r *reader) numberedName(major, minor uint32) string {
	number := number(major, minor)
	if link, err := fs.ReadLink(r.root, "sys/dev/block/"+number); err == nil {
		return path.Base(link)
	}
	for _, name := range r.list(classBlock) { // a captured machine without these links
		if r.text(path.Join(classBlock, name, "dev")) == number {
			return name
		}
	}
	return ""
}

// stack reads a device and all below it.
func (r *reader) stack(t *Tree, name string) {
	if name == "" || t.Devices[name] != nil {
		return
	}
	dir := path.Join(classBlock, name)
	if !r.exists(dir + "/dev") {
		return
	}
	d := r.device(name, dir)
	t.Devices[name] = d
	if d.Kind == Partition {
		d.Parent = r.disk(name, dir)
		if d.Parent != "" {
			r.stack(t, d.Parent)
			if p := t.Devices[d.Parent]; p != nil {
				d.Queue, d.NUMANode = p.Queue, p.NUMANode
			}
		}
		return
	}
	for _, sub := range d.Slaves {
		r.stack(t, sub)
	}
}

// disk is the disk of a partition, whose directory /sys keeps in its disk's.
func (r *reader) disk(name, dir string) string {
	if link, err := fs.ReadLink(r.root, dir); err == nil {
		return path.Base(path.Dir(link))
	}
	for _, disk := range r.list(classBlock) { // a captured machine without links
		if disk != name && r.exists(path.Join(classBlock, disk, name)) {
			return disk
		}
	}
	return ""
}

// Upper is the device of a mount of this process, by its number; empty where it has none. ReadStack
// knows the devices of its own path alone.
func (s *Stack) Upper(m *Mount) string {
	r := &reader{root: s.Tree.root}
	return r.mounted(m)
}

// Follow makes another device the one behind the path, as that of an overlay's upper directory.
func (s *Stack) Follow(device string) {
	r := &reader{root: s.Tree.root}
	s.Device = device
	r.stack(s.Tree, device)
}
