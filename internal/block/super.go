package block

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// head is the first n bytes of a device, nil when they may not be read. Reading needs root or the
// group disk.
func (r *reader) head(d *Device, n int) []byte {
	f, err := r.root.Open("dev/" + strings.ReplaceAll(d.Name, "!", "/"))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
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
func parseXFS(sb []byte) (Geometry, error) {
	if len(sb) < 264 || !bytes.HasPrefix(sb, []byte("XFSB")) {
		return Geometry{}, errors.New("no XFS superblock")
	}
	be := binary.BigEndian
	bs := units.Bytes(be.Uint32(sb[4:]))
	if bs < 512 || bs > 64*units.KiB || bs&(bs-1) != 0 {
		return Geometry{}, fmt.Errorf("XFS block size %d: want a power of two from 512 to 65536", bs)
	}
	g := Geometry{
		BlockSize:  bs,
		AGCount:    int(be.Uint32(sb[88:])),
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
func parseExt(head []byte) (Geometry, error) {
	if len(head) < 2048 {
		return Geometry{}, errors.New("no ext superblock")
	}
	sb, le := head[1024:2048], binary.LittleEndian
	if le.Uint16(sb[0x38:]) != 0xef53 {
		return Geometry{}, errors.New("no ext superblock")
	}
	shift := le.Uint32(sb[0x18:])
	if shift > 6 {
		return Geometry{}, fmt.Errorf("ext block size 2^%d KiB: want at most 64 KiB", shift)
	}
	g := Geometry{BlockSize: units.KiB << shift, Known: true}
	g.StripeUnit = units.Bytes(le.Uint16(sb[0x164:])) * g.BlockSize
	g.StripeWide = units.Bytes(le.Uint32(sb[0x170:])) * g.BlockSize
	return g, nil
}

// XFSGeometry asks xfs_info, which needs no root for a mounted filesystem.
func XFSGeometry(ctx context.Context, m *sys.Machine, point string) (Geometry, error) {
	out, err := m.Output(ctx, "xfs_info", point)
	if err != nil {
		return Geometry{}, err
	}
	return parseXFSInfo(out)
}

// parseXFSInfo reads what xfs_info and mkfs.xfs print. Lines have a section ("data", "log") before
// "=" and items such as "sunit=16", which count blocks: the section's bsize, or the data section's.
func parseXFSInfo(out string) (Geometry, error) {
	g := Geometry{}
	section := ""
	items := map[string]uint64{}
	for line := range strings.Lines(out) {
		head, rest, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		if f := strings.Fields(head); len(f) > 0 {
			section = f[0]
		}
		if strings.Contains(head, "meta-data") {
			section = "meta-data"
			_, rest, _ = strings.Cut(rest, " ")
		}
		for f := range strings.FieldsSeq(strings.ReplaceAll(rest, ",", " ")) {
			if k, v, ok := strings.Cut(f, "="); ok {
				if n, err := strconv.ParseUint(v, 10, 32); err == nil {
					items[section+" "+k] = n
				}
			}
		}
	}
	bs, ok := items["data bsize"]
	if !ok || bs == 0 {
		return g, errors.New("xfs_info: no data section with a bsize in what it printed")
	}
	g.BlockSize = units.Bytes(bs)
	g.AGCount = int(items["meta-data agcount"])
	g.StripeUnit = units.Bytes(items["data sunit"]) * g.BlockSize
	g.StripeWide = units.Bytes(items["data swidth"]) * g.BlockSize
	g.LogUnit = units.Bytes(items["log sunit"] * max(items["log bsize"], 1))
	g.Known = true
	return g, nil
}
