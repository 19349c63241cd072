package records

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"

	"plimsoll/internal/block"
)

// A mark is what shows that the bytes at the ends of a member are apply's: an md superblock,
// partition table or filesystem with the identifier that apply drew, or LVM's header over metadata
// of apply's group. It is erased last of all, so that an undo that was cut short finds it again.
// Offsets are those of the formats' documentation.

// Mark is where the mark of a member lies in its first bytes; ok is false when it is not there.
func (w *Work) Mark(ref string, head []byte) (Span, bool) {
	if w.Want.Partition && !strings.HasSuffix(ref, ":1") {
		return tableMark(head, w.TableGUID(ref))
	}
	switch w.Want.Using {
	case "md":
		return mdMark(head, w.UUID())
	case "lvm":
		return lvmMark(head, w.Want.Group)
	}
	return filesystemMark(head, w.FilesystemUUID())
}

// of is the bytes of a span, nil when head is too short for it.
func (s Span) of(head []byte) []byte {
	if int64(len(head)) < s.At+s.N {
		return nil
	}
	return head[s.At : s.At+s.N]
}

// mdMark finds a superblock of version 1.2 (linux/raid/md_p.h struct mdp_superblock_1: magic, then
// set_uuid at 16).
func mdMark(head []byte, uuid string) (Span, bool) {
	where := Span{4096, 4096}
	sb := where.of(head)
	id, err := hex.DecodeString(block.BareUUID(uuid))
	ok := sb != nil && err == nil && len(id) == 16 && binary.LittleEndian.Uint32(sb) == 0xa92b4efc &&
		bytes.Equal(sb[16:32], id)
	return where, ok
}

// tableMark finds a GPT header (UEFI 2.10, 5.3.2: signature, then the disk's GUID at 56, the first
// three fields of it little-endian) in the second sector of 512 or 4096 bytes. A protective MBR
// with nothing in that sector is a table that sgdisk was cut short of writing.
func tableMark(head []byte, guid string) (Span, bool) {
	id, err := hex.DecodeString(block.BareUUID(guid))
	if err != nil || len(id) != 16 {
		return Span{}, false
	}
	mixed := []byte{id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6]}
	mixed = append(mixed, id[8:]...)
	for _, sector := range []int64{512, 4096} {
		where := Span{sector, 512}
		if h := where.of(head); h != nil && bytes.HasPrefix(h, []byte("EFI PART")) && bytes.Equal(h[56:72], mixed) {
			return where, true
		}
	}
	// Cut short, sgdisk has written the copy at the end, or the protective MBR alone.
	first := Span{0, 512}
	if m := first.of(head); m != nil && m[510] == 0x55 && m[511] == 0xaa && m[450] == 0xee && Zeros(head[512:]) {
		return first, true
	}
	return Span{}, false
}

// lvmMark finds the header of LVM's metadata area at 4 KiB (lib/format_text/layout.h struct
// mda_header: a checksum, then the magic) without a label in the second sector, which pvremove
// takes away, and over no metadata or that of apply's group.
func lvmMark(head []byte, group string) (Span, bool) {
	where := Span{4096, 512}
	h, text := where.of(head), Span{4096 + 512, 256}.of(head)
	label := Span{512, 8}.of(head)
	ok := h != nil && text != nil && bytes.Equal(h[4:20], []byte(" LVM2 x[5A%r0N*>")) &&
		!bytes.Equal(label, []byte("LABELONE")) &&
		(text[0] == 0 || bytes.HasPrefix(text, []byte(group+" {")))
	return where, ok
}

// filesystemMark finds a superblock of XFS (fs/xfs/libxfs/xfs_format.h: sb_uuid at 32) or ext4
// (s_magic at 56 of the superblock at 1024, s_uuid at 104).
func filesystemMark(head []byte, uuid string) (Span, bool) {
	id, err := hex.DecodeString(block.BareUUID(uuid))
	if err != nil || len(id) != 16 {
		return Span{}, false
	}
	where := Span{0, 512}
	if sb := where.of(head); sb != nil && bytes.HasPrefix(sb, []byte("XFSB")) && bytes.Equal(sb[32:48], id) {
		return where, true
	}
	where = Span{1024, 1024}
	sb := where.of(head)
	return where, sb != nil && sb[56] == 0x53 && sb[57] == 0xef && bytes.Equal(sb[104:120], id)
}

// Zeros says that all bytes are zero.
func Zeros(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// TableGUID is the GUID that apply has given a member's partition table.
func (w *Work) TableGUID(ref string) string { return w.wanted("table", ref) }

// ReadHead reads the beginning of a device, as much as marks lie in.
func ReadHead(r io.ReaderAt, size int64) ([]byte, error) {
	head := make([]byte, min(size, int64(Edge)))
	_, err := r.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return head, err
}

// BackupTable finds the copy of a GPT header at the end of a device, where the first is not there.
func BackupTable(r io.ReaderAt, size int64, guid string) (Span, bool, error) {
	for _, sector := range []int64{512, 4096} {
		buf := make([]byte, sector+512)
		if _, err := r.ReadAt(buf[sector:], size-sector); err != nil {
			return Span{}, false, err
		}
		if _, ok := tableMark(buf, guid); ok {
			return Span{size - sector, 512}, true, nil
		}
	}
	return Span{}, false, nil
}

// LabelSpan is where the label of a physical volume lies.
var LabelSpan = Span{512, 512}

// Label says whether a member carries the label of a physical volume (lib/label/label.h: LABELONE
// in the second sector) while LVM itself, asked by pv, is to say whose it is.
func (w *Work) Label(ref string, head []byte) bool {
	if w.Want.Using != "lvm" || w.Want.Partition && !strings.HasSuffix(ref, ":1") {
		return false
	}
	text, at := Span{4096 + 512, 256}.of(head), Span{512, 8}.of(head)
	return string(at) == "LABELONE" && text != nil &&
		(text[0] == 0 || strings.HasPrefix(string(text), w.Want.Group+" {"))
}
