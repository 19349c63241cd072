package block

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// inode is a file by its numbers, or a device by its own, which hold whatever it is called: a name may be
// gone, or be another file's in another mount namespace.
type inode struct{ device, number uint64 }

func inodeOf(info fs.FileInfo) inode {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return inode{}
	case info.Mode()&fs.ModeDevice != 0 && info.Mode()&fs.ModeCharDevice == 0:
		return inode{device: st.Rdev}
	}
	return inode{st.Dev, st.Ino}
}

// lies is what a loop device lies on, as the kernel says; zero where it may not be asked (loop(4)).
func (t *Tree) lies(d *Device) inode {
	if t.root == nil || d.Kind != Loop {
		return inode{}
	}
	opened, err := t.root.Open("dev/" + d.Name)
	if err != nil {
		return inode{}
	}
	defer opened.Close() //nolint:errcheck // only asked
	node, ok := opened.(*os.File)
	if !ok {
		return inode{}
	}
	info, err := node.Stat()
	if err != nil || t.ofNumber(inodeOf(info)) != d {
		return inode{}
	}
	of, err := unix.IoctlLoopGetStatus64(int(node.Fd()))
	switch {
	case err != nil:
		return inode{}
	case of.Rdevice != 0:
		return inode{device: of.Rdevice}
	}
	return inode{of.Device, of.Inode}
}

// OfNode is the device that a node stands for, nil for another sort of file.
func (t *Tree) OfNode(info fs.FileInfo) *Device { return t.ofNumber(inodeOf(info)) }

// ofNumber is the device that a node's inode stands for, nil for that of a file.
func (t *Tree) ofNumber(node inode) *Device {
	if node.number != 0 {
		return nil
	}
	return t.numbered(unix.Major(node.device), unix.Minor(node.device))
}

// loops finds loop devices over a block device, those that share a file with another, and those
// of another's size that may.
func (r *reader) loops(t *Tree) (over map[string]*Device) {
	over, t.files = map[string]*Device{}, map[inode]*Device{}
	shared := map[*Device]inode{}
	for _, name := range t.Names() {
		d := t.Devices[name]
		if d.Kind != Loop {
			continue
		}
		at := t.lies(d)
		under := t.ofNumber(at)
		if at == (inode{}) && strings.HasPrefix(d.Backing, "/dev/") {
			under = t.Device(d.Backing)
		}
		if under != nil {
			over[name] = under
			t.use(under.Name, "the loop device %s is backed by it", d.Path)
			continue
		}
		if at == (inode{}) {
			continue
		}
		for other, of := range shared {
			how := "may lie"
			switch {
			case at == of:
				how = "lies"
			case at.device == of.device || d.Size != other.Size || !t.layered(d, at) && !t.layered(other, of):
				continue
			}
			t.use(name, "the loop device %s %s on the same file", other.Path, how)
			t.use(other.Name, "the loop device %s %s on the same file", d.Path, how)
		}
		shared[d], t.files[at] = at, d
	}
	return over
}

// below passes on to loop devices who else uses what they lie on.
func (t *Tree) below(over map[string]*Device) {
	var all []User
	for name := range over {
		for at, n := name, 0; over[at] != nil && n < len(over); n++ {
			under := over[at]
			own := under.Path + ": the loop device " + t.Devices[at].Path + " is backed by it"
			for _, why := range t.Using(under) {
				if why != own {
					all = append(all, User{name, "it is backed by a device in use: " + why})
				}
			}
			at = under.Name
		}
	}
	t.Users = append(t.Users, all...)
}

// Behind is the loop device that lies on a file now, or that may, "" where there is none.
func (t *Tree) Behind(file fs.FileInfo) string {
	if t.root != nil {
		if now, err := Read(&sys.Machine{Root: t.root}); err == nil {
			t = now
		}
	}
	for _, name := range t.Names() {
		d := t.Devices[name]
		at := t.lies(d)
		if at == (inode{}) && d.Backing != "" {
			if named, err := os.Stat(d.Backing); err == nil {
				at = inodeOf(named)
			}
		}
		switch of := inodeOf(file); {
		case at == (inode{}):
		case at == of, t.layered(d, at) && (at.number == of.number || d.Size <= units.Bytes(file.Size())):
			return d.Path
		}
	}
	return ""
}

// layered says of a loop device that the filesystem which it lies on may show files of others under numbers of its own,
// as overlays do: it is such a one, or has no device and is not seen here, as in a container.
func (t *Tree) layered(d *Device, at inode) bool {
	if unix.Major(at.device) != 0 {
		return false
	}
	named, err := os.Stat(d.Backing)
	if m := t.MountOf(d.Backing); err == nil && inodeOf(named) == at && m != nil {
		return m.FS == "overlay" || m.FS == "aufs" || m.FS == "ecryptfs" || strings.HasPrefix(m.FS, "fuse")
	}
	return true
}
