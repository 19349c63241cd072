package block

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/units"
)

// head is the first n bytes of a device, nil when they may not be read. Reading needs root or the
// group disk.
func (r *reader) head(d *Device, n int) []byte {
	f, err := r.root.Open("dev/" + strings.ReplaceAll(d.Name, "!", "/"))
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	buf := make([]byte, n)
	got, err := io.ReadFull(f, buf)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return buf[:got]
}

// signature looks for itself where udev has said nothing. Drives with removable media would make it
// wait.
func (r *reader) signature(d *Device, t *Tree) {
	if d.Signature != "?" || d.Size == 0 || d.Kind == Other {
		return
	}
	for _, m := range t.MountsOf(d.Name) {
		d.Signature = m.FS
		return
	}
	if buf := r.head(d, probeLen); buf != nil {
		d.Signature = probe(buf)
	}
}

// probeLen covers the superblock of every format below; Btrfs has the last, at 64 KiB.
const probeLen = 64<<10 + 128

// magics are what formats write at their beginning, in the order of libblkid: raid and volumes
// before filesystems, for a member's filesystem belongs to the array. The names are libblkid's.
var magics = []struct {
	name   string
	offset int
	magic  string
}{
	{"linux_raid_member", 0, "\xfc\x4e\x2b\xa9"},    // metadata 1.1
	{"linux_raid_member", 4096, "\xfc\x4e\x2b\xa9"}, // metadata 1.2; 0.90 and 1.0 stand at the end
	{"LVM2_member", 0, "LABELONE"},
	{"LVM2_member", 512, "LABELONE"},
	{"LVM2_member", 1024, "LABELONE"},
	{"LVM2_member", 1536, "LABELONE"},
	{"crypto_LUKS", 0, "LUKS\xba\xbe"},
	{"xfs", 0, "XFSB"},
	{"ext4", 1080, "\x53\xef"},
	{"btrfs", 64<<10 + 64, "_BHRfS_M"},
	{"swap", 4096 - 10, "SWAPSPACE2"},
	{"gpt", 512, "EFI PART"},
	{"gpt", 4096, "EFI PART"},
	{"dos", 510, "\x55\xaa"},
}

// probe names the format that the first bytes of a device show, "" for none. It is a second witness
// beside udev and blkid and knows fewer formats: an empty answer does not prove that a device is
// blank.
func probe(head []byte) string {
	for _, m := range magics {
		if len(head) >= m.offset && bytes.HasPrefix(head[m.offset:], []byte(m.magic)) {
			return m.name
		}
	}
	return ""
}

// parseXFS reads the superblock at the beginning of an XFS filesystem (fs/xfs/libxfs/xfs_format.h
// struct xfs_dsb, big-endian; unit and width in filesystem blocks, the log's unit in bytes).
func parseXFS(sb []byte) (g Geometry, err error) {
	if len(sb) < 264 || !bytes.HasPrefix(sb, []byte("XFSB")) {
		return g, errors.New("no XFS superblock")
	}
	be := binary.BigEndian
	bs := units.Bytes(be.Uint32(sb[4:]))
	if bs < 512 || bs > 64*units.KiB || bs&(bs-1) != 0 {
		return g, fmt.Errorf("XFS block size %d: want a power of two from 512 to 65536", bs)
	}
	g = Geometry{
		BlockSize:  bs,
		AGCount:    int(be.Uint32(sb[88:])),
		Size:       units.Bytes(be.Uint64(sb[8:])) * bs,
		StripeUnit: units.Bytes(be.Uint32(sb[184:])) * bs,
		StripeWide: units.Bytes(be.Uint32(sb[188:])) * bs,
		LogUnit:    units.Bytes(be.Uint32(sb[196:])),
		Known:      true,
	}
	if g.LogUnit == 1 { // sb_logsunit of a version 2 log without a unit
		g.LogUnit = 0
	}
	return g, nil
}

// parseExt reads the superblock 1024 bytes into an ext2, ext3 or ext4 filesystem (fs/ext4/ext4.h
// struct ext4_super_block, little-endian; stride and stripe width in blocks).
func parseExt(head []byte) (g Geometry, err error) {
	if len(head) < 2048 {
		return g, errors.New("no ext superblock")
	}
	sb, le := head[1024:2048], binary.LittleEndian
	if le.Uint16(sb[0x38:]) != 0xef53 {
		return g, errors.New("no ext superblock")
	}
	shift := le.Uint32(sb[0x18:])
	if shift > 6 {
		return g, fmt.Errorf("ext block size 2^%d KiB: want at most 64 KiB", shift)
	}
	g = Geometry{BlockSize: units.KiB << shift, Known: true}
	g.Size = units.Bytes(le.Uint32(sb[4:])) * g.BlockSize
	if le.Uint32(sb[0x60:])&0x80 != 0 { // 64bit: the number of blocks has a second half
		g.Size += units.Bytes(le.Uint32(sb[0x150:])) << 32 * g.BlockSize
	}
	g.StripeUnit = units.Bytes(le.Uint16(sb[0x164:])) * g.BlockSize
	g.StripeWide = units.Bytes(le.Uint32(sb[0x170:])) * g.BlockSize
	return g, nil
}

// xfsGeometry is XFS_IOC_FSGEOMETRY of linux/fs/xfs/libxfs/xfs_fs.h: _IOR('X', 124, struct
// xfs_fsop_geom_v4), which has 112 bytes.
const xfsGeometry = 2<<30 | 112<<16 | 'X'<<8 | 124

// XFSGeometry asks the filesystem itself, which needs no root where it is mounted.
func XFSGeometry(point string) (g Geometry, err error) {
	dir, err := unix.Open(point, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return g, err
	}
	defer unix.Close(dir) //nolint:errcheck // only read
	var geom [112]byte
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(dir), xfsGeometry, uintptr(unsafe.Pointer(&geom))); e != 0 {
		return g, e
	}
	return parseXFSGeometry(geom[:]), nil
}

// parseXFSGeometry reads struct xfs_fsop_geom_v4: block size, groups, stripe unit and width in
// blocks, and the log's unit in bytes, which is 1 where it has none.
func parseXFSGeometry(geom []byte) Geometry {
	word := func(at int) units.Bytes { return units.Bytes(binary.NativeEndian.Uint32(geom[at:])) }
	g := Geometry{BlockSize: word(0), AGCount: int(word(12)), LogUnit: word(108), Known: true}
	g.StripeUnit, g.StripeWide = word(80)*g.BlockSize, word(84)*g.BlockSize
	g.Size = units.Bytes(binary.NativeEndian.Uint64(geom[32:])) * g.BlockSize
	if g.LogUnit == 1 {
		g.LogUnit = 0
	}
	return g
}
