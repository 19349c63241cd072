package cloud

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nvmeAdminCmd is struct nvme_admin_cmd of <linux/nvme_ioctl.h>, 72 bytes.
type nvmeAdminCmd struct {
	opcode, flags              uint8
	_                          uint16
	nsid                       uint32
	cdw2, cdw3                 uint32
	metadata, addr             uint64
	metadataLen, dataLen       uint32
	cdw10, cdw11, cdw12, cdw13 uint32
	cdw14, cdw15               uint32
	timeoutMillis, result      uint32
}

const (
	ioctlAdmin  = 0xC0484E41 // NVME_IOCTL_ADMIN_CMD
	getLogPage  = 0x02
	identify    = 0x06
	ebsLog      = 0xD0
	logDwords   = pageSize/4 - 1 // NUMD counts from zero: 1023
	timeoutMSec = 2000
)

// ReadEBSStats reads the statistics page of /dev/nvme1n1 or nvme1n1. It needs root. AWS asks for no
// more than one read a second. ErrNoStats when the device is none of Amazon's, so that a strange
// drive gets no vendor command.
func ReadEBSStats(dev string) (s EBSStats, err error) {
	id, err := ReadIdentify(dev)
	if err != nil {
		return s, err
	}
	if !id.IsEBS() && !id.IsLocal() {
		return s, fmt.Errorf("%s: %w: it is a %q", dev, ErrNoStats, id.Model)
	}
	page, err := admin(dev, nvmeAdminCmd{opcode: getLogPage, nsid: 1, cdw10: ebsLog | logDwords<<16})
	if err != nil {
		return s, err
	}
	if s, err = ParseEBSStats(page); err != nil {
		err = fmt.Errorf("%s: %w", dev, err)
	}
	return s, err
}

// ReadIdentify asks an NVMe device who it is. It needs root.
func ReadIdentify(dev string) (NVMeIdentity, error) {
	page, err := admin(dev, nvmeAdminCmd{opcode: identify, cdw10: 1})
	if err != nil {
		return NVMeIdentity{}, err
	}
	return ParseIdentify(page)
}

// admin sends a command that answers with one page.
func admin(dev string, cmd nvmeAdminCmd) ([]byte, error) {
	f, err := os.OpenFile(devicePath(dev), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	page := make([]byte, pageSize)
	cmd.addr, cmd.dataLen, cmd.timeoutMillis = uint64(uintptr(unsafe.Pointer(&page[0]))), pageSize, timeoutMSec
	status, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), ioctlAdmin, uintptr(unsafe.Pointer(&cmd)))
	runtime.KeepAlive(page)
	switch {
	case errno == unix.ENOTTY || errno == unix.EINVAL || errno == unix.ENOSYS: // the last by qemu-user
		return nil, fmt.Errorf("%s: %w: it is not an NVMe device", dev, ErrNoStats)
	case errno != 0:
		return nil, fmt.Errorf("%s: NVMe command %#02x: %w", dev, cmd.opcode, errno)
	case status != 0:
		return nil, fmt.Errorf("%s: NVMe command %#02x: status %#x", dev, cmd.opcode, status)
	}
	return page, nil
}

func devicePath(dev string) string {
	if len(dev) > 0 && dev[0] != '/' {
		return "/dev/" + dev
	}
	return dev
}
