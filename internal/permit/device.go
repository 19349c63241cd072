package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
)

// checkDevice refuses to write to the place's device when it is in use, or was not named with its
// serial.
func (p *Place) checkDevice() error {
	if p.ReadOnly {
		return nil
	}
	info, err := os.Stat(p.Path)
	if err != nil {
		return err
	}
	return p.checkWrites(p.Path, p.Device, info)
}

// checkRaw decides over a block device, by whichever name the job knows it.
func (p *Place) checkRaw(a access, info fs.FileInfo) error {
	major, minor := numbers(info)
	var device *block.Device
	for _, d := range p.tree.Devices {
		if d.Major == major && d.Minor == minor {
			device = d
		}
	}
	switch {
	case device == nil:
		return fmt.Errorf("%s: nothing is known of this device (%d:%d) in /sys/block; name a disk, an array or a file",
			a.path, major, minor)
	case p.Device == nil || p.Device.Name != device.Name:
		return p.elsewhere(a)
	case !a.writes:
		return nil
	}
	return p.checkWrites(a.path, device, info)
}

func (p *Place) checkWrites(path string, d *block.Device, info fs.FileInfo) error {
	if use := inUse(p.tree, d); use != "" {
		return fmt.Errorf("%s %s: plimsoll never writes to a device in use", path, use)
	}
	serial, named := p.consent.destroys(info)
	if !named {
		return fmt.Errorf("%s is a raw device and its scenarios write: use a directory, or add --destroy %s "+
			"--serial %s if everything on it may be lost",
			path, path, identity(d))
	}
	if serial != identity(d) || serial == "" {
		return fmt.Errorf("%s has serial %q, not %q: nothing was written", path, identity(d), serial)
	}
	return unclaimed(path)
}

// unclaimed asks the kernel, which also knows of mounts in other namespaces, such as a container's.
func unclaimed(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%s is held by something that cannot be seen from here, such as a mount in a "+
			"container: plimsoll never writes to a device in use", path)
	}
	if err != nil {
		return WriteError(path, err)
	}
	return unix.Close(fd)
}

// identity is the serial of a device, or the backing file of a loop device, which has none.
func identity(d *block.Device) string {
	if d.Serial == "" {
		return d.Backing
	}
	return d.Serial
}

// inUse is what holds a device or a part of it: a mount, md, LVM, swap. It is empty when nothing
// does.
func inUse(tree *block.Tree, d *block.Device) string {
	for _, name := range append([]string{d.Name}, d.Partitions...) {
		part := tree.Devices[name]
		if part == nil {
			continue
		}
		if len(part.Holders) > 0 {
			return fmt.Sprintf("is held by %s", strings.Join(part.Holders, ", "))
		}
		for _, mnt := range tree.Mounts {
			if mnt.Device == name {
				return fmt.Sprintf("is mounted on %s", mnt.Point)
			}
		}
		if slices.Contains(tree.Swaps, name) {
			return "is used as swap"
		}
	}
	return ""
}

// destroys tells whether the user named a file or device with --destroy, by whichever name, and the
// serial with it.
func (c Consent) destroys(info fs.FileInfo) (serial string, ok bool) {
	for name, serial := range c.Destroy {
		named, err := os.Stat(name)
		if err != nil {
			continue
		}
		if os.SameFile(named, info) ||
			isBlock(named) && isBlock(info) && sys.DeviceNumber(named) == sys.DeviceNumber(info) {
			return serial, true
		}
	}
	return "", false
}

func isBlock(info fs.FileInfo) bool {
	return info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0
}

// numbers are the major and minor of a device node.
func numbers(info fs.FileInfo) (major, minor uint32) {
	number := sys.DeviceNumber(info)
	return unix.Major(number), unix.Minor(number)
}

// sameFilesystem tells whether a file is on the filesystem of the place's directory.
func (p *Place) sameFilesystem(info fs.FileInfo) bool {
	if p.dir == nil {
		return false
	}
	own, err := p.dir.Info()
	return err == nil && sys.Device(own) == sys.Device(info)
}
