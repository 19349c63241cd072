package block

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/units"
)

// udev adds what /run/udev/data knows of a device: what blkid found on it, its links and names.
// Anyone may read it.
func (r *reader) udev(d *Device) {
	file := fmt.Sprintf("run/udev/data/b%d:%d", d.Major, d.Minor)
	if d.Signature = "?"; !r.exists(file) {
		return
	}
	u := parseUdev(r.text(file))
	p := u.Props
	d.Links = slices.Sorted(slices.Values(u.Links))
	d.Signature = cmp.Or(p["ID_FS_TYPE"], p["ID_PART_TABLE_TYPE"])
	d.UUID, d.Label = p["ID_FS_UUID"], p["ID_FS_LABEL"]
	d.Serial = cmp.Or(d.Serial, p["ID_SERIAL_SHORT"], p["ID_SERIAL"])
	d.WWN = cmp.Or(d.WWN, p["ID_WWN"])
	d.Model = cmp.Or(d.Model, p["ID_MODEL"])
	d.RPM, _ = strconv.Atoi(p["ID_ATA_ROTATION_RATE_RPM"])
	if d.MD != nil {
		d.MD.UUID = cmp.Or(d.MD.UUID, p["MD_UUID"])
		d.MD.Name = cmp.Or(p["MD_NAME"], p["MD_DEVNAME"])
	}
}

// mounts reads /proc/self/mountinfo and /proc/swaps.
func (r *reader) mounts(t *Tree) {
	const file = "proc/self/mountinfo"
	data, err := ReadAll(r.root, file)
	if err != nil {
		r.note("/%s: %v", file, cause(err))
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		m, err := mountinfoLine(line)
		if err != nil {
			r.note("/%s line %d: %v", file, n, err)
			continue
		}
		m.Device = t.deviceOf(m)
		m.Geometry = r.geometry(&m, t.Devices[m.Device])
		t.Mounts = append(t.Mounts, m)
	}
	for _, p := range parseSwaps(r.text("proc/swaps")) {
		if d := t.Device(p); d != nil {
			t.Swaps = append(t.Swaps, d.Name)
		} else {
			t.SwapFiles = append(t.SwapFiles, p)
		}
	}
}

// deviceOf finds the block device of a mount. Filesystems over several devices (btrfs) and some in
// containers show the anonymous number 0:N; then what was mounted names it.
func (t *Tree) deviceOf(m Mount) string {
	if d := t.numbered(m.Major, m.Minor); d != nil {
		return d.Name
	}
	if m.Major == 0 && strings.HasPrefix(m.Source, "/dev/") && m.FS != "devtmpfs" {
		if d := t.Device(m.Source); d != nil {
			return d.Name
		}
	}
	return ""
}

// Device finds a device by kernel name, by path or by a link to it such as /dev/disk/by-id/…; nil
// when there is none.
func (t *Tree) Device(name string) *Device {
	if d := t.Devices[name]; d != nil {
		return d
	}
	if !strings.HasPrefix(name, "/dev/") {
		return nil
	}
	name = path.Clean(name)
	target := t.resolve(name)
	for _, d := range t.Devices {
		if d.Path == name || d.Path == target || "/dev/"+d.Name == target || slices.Contains(d.Links, name) {
			return d
		}
	}
	if t.root == nil {
		return nil
	}
	// A node made by mknod, as in containers.
	d, _ := t.node(strings.TrimPrefix(target, "/")) // none where it cannot be looked at
	return d
}

// resolve follows the symbolic links of an absolute path as far as it exists.
func (t *Tree) resolve(name string) string {
	if t.root == nil {
		return path.Clean(name)
	}
	todo := strings.Split(strings.Trim(path.Clean(name), "/"), "/")
	at := "/"
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		target, err := fs.ReadLink(t.root, strings.TrimPrefix(next, "/"))
		if err != nil {
			at = next
			continue
		}
		if links++; links > 40 { // the kernel's own limit (MAXSYMLINKS)
			return path.Clean(name)
		}
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return at
}

// MountOf is the mount on which a path lies, nil when no mount is known. The path need not exist;
// its symbolic links are followed as far as it does.
func (t *Tree) MountOf(name string) *Mount {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil
	}
	name = t.resolve(name)
	ids := map[int]bool{}
	for _, m := range t.Mounts {
		ids[m.ID] = true
	}
	// As the kernel walks: from the root mount to the one mounted on it nearest on the way, and on
	// from there. So a mount that another one covers is not found, though its mount point is the
	// longer.
	at := t.step(name, func(m *Mount) bool { return !ids[m.Under] || m.Under == m.ID })
	for at != nil {
		next := t.step(name, func(m *Mount) bool { return m.Under == at.ID && m != at && m.ID != m.Under })
		if next == nil {
			break
		}
		at = next
	}
	return at
}

// step is the mount with the shortest mount point on the way to name among those that ok lets pass;
// the last of equals.
func (t *Tree) step(name string, ok func(*Mount) bool) *Mount {
	var best *Mount
	for i := range t.Mounts {
		m := &t.Mounts[i]
		if ok(m) && within(name, m.Point) && (best == nil || len(m.Point) <= len(best.Point)) {
			best = m
		}
	}
	return best
}

// within says whether name is dir or lies below it.
func within(name, dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return strings.HasPrefix(name, dir) && (len(name) == len(dir) || name[len(dir)] == '/')
}

// MountsOf is every mount of a device, in the order of mountinfo: more than one is a bind mount or
// a mistake.
func (t *Tree) MountsOf(device string) []Mount {
	var all []Mount
	for _, m := range t.Mounts {
		if m.Device == device && device != "" {
			all = append(all, m)
		}
	}
	return all
}

// Option is the value of a mount option, and whether it is set.
func (m *Mount) Option(name string) (string, bool) {
	for _, o := range m.Options {
		if k, v, _ := strings.Cut(o, "="); k == name {
			return v, true
		}
	}
	return "", false
}

// geometry is what the superblock tells, where it can be read, corrected by what the kernel uses:
// mount options may override the superblock, and XFS always shows the alignment that it uses, in
// sectors of 512 bytes (fs/xfs/xfs_super.c xfs_fs_show_options), so their absence says that there
// is none.
func (r *reader) geometry(m *Mount, d *Device) Geometry {
	var g Geometry
	if d == nil {
		return g
	}
	head := r.head(d, 4096)
	switch m.FS {
	case "xfs":
		if sb, err := parseXFS(head); err == nil {
			g = sb
		}
		g.StripeUnit, g.StripeWide, g.Known = m.sectors("sunit"), m.sectors("swidth"), true
	case "ext2", "ext3", "ext4":
		if sb, err := parseExt(head); err == nil {
			g = sb
		}
		if blocks, ok := m.Option("stripe"); ok {
			if n, err := strconv.ParseUint(blocks, 10, 32); err == nil {
				g.StripeWide = units.Bytes(n) * cmp.Or(g.BlockSize, UsualBlock)
			}
		}
	}
	return g
}

// UsualBlock is ext4's block where its superblock cannot be read: smaller ones are for less than 512 MiB
// (mke2fs.conf(5), small).
const UsualBlock = 4 * units.KiB

func (m *Mount) sectors(option string) units.Bytes {
	s, _ := m.Option(option)
	n, err := strconv.ParseUint(s, 10, 48)
	if err != nil {
		return 0
	}
	return units.Bytes(n) * sector
}
