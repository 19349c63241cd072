package permit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
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
	return p.checkWrites(p.Path, p.Path, p.Device, info)
}

// checkRaw decides over a block device, by whichever name the job knows it.
func (p *Place) checkRaw(a access, there *pin) error {
	info := there.info
	device := p.tree.OfNode(info)
	switch {
	case device == nil:
		major, minor := numbers(info)
		return fmt.Errorf("%s: /sys/block does not list this device (%d:%d); name a disk, an array or a file",
			a.path, major, minor)
	case p.Device == nil || p.Device.Name != device.Name:
		return p.elsewhere(a)
	case !a.writes:
		return nil
	}
	return p.checkWrites(a.path, there.name(), device, info)
}

// checkWrites decides whether a device may be written to, by what the machine shows now. Its node is
// the name by which it is opened: that of an open handle where there is one.
func (p *Place) checkWrites(path, node string, d *block.Device, info fs.FileInfo) error {
	if err := p.unused(path, d); err != nil {
		return err
	}
	serial, named := p.consent.destroys(info)
	if !named {
		return fmt.Errorf("%s is a raw device, and the scenarios would write to it: use a directory, or add %s if "+
			"everything on it may be lost", path, text.Destroying(path, identity(d)))
	}
	if serial != identity(d) || serial == "" {
		return fmt.Errorf("%s has serial %q, not %q: nothing was written", path, identity(d), serial)
	}
	return unclaimed(path, node)
}

// settle is how long a user of a device may take to let go of it: udev looks at each device that was
// written to.
const settle = 3 * time.Second

// unused refuses a device that anybody uses: what array apply refuses, by the same look at the
// machine as it is now.
func (p *Place) unused(path string, d *block.Device) error {
	for deadline := time.Now().Add(settle); ; time.Sleep(lockPause) { //nolint:forbidigo // the kernel tells nobody who closes a device
		now, err := p.tree.Now(os.Getpid())
		if err != nil {
			return err
		}
		at := d
		if now != p.tree {
			at = now.Devices[d.Name]
			if at == nil || at.Major != d.Major || at.Minor != d.Minor || identity(at) != identity(d) {
				return fmt.Errorf("%s is not the device that it was when plimsoll started: nothing was written", path)
			}
		}
		why := now.Using(at)
		if len(why) == 0 {
			return nil
		}
		others := *now
		others.Users = nil
		if len(others.Using(at)) > 0 || time.Now().After(deadline) {
			return fmt.Errorf("%s is in use: %s; plimsoll never writes to a device in use", path, strings.Join(why, "; "))
		}
	}
}

// unclaimed asks the kernel, which also knows of mounts in other namespaces, such as a container's.
func unclaimed(path, node string) error {
	fd, err := unix.Open(node, unix.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
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
