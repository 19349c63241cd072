package cloud

import (
	"encoding/binary"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"plimsoll/internal/sys/bounded"
)

// ebsPage builds a page by the table of facts/ebs-nvme.md, section 3.
func ebsPage(magic uint32, fields [11]uint64) []byte {
	page := make([]byte, 4096)
	binary.LittleEndian.PutUint32(page, magic)
	for i, v := range fields {
		binary.LittleEndian.PutUint64(page[8+8*i:], v)
	}
	for _, at := range []int{512, 2056} {
		binary.LittleEndian.PutUint64(page[at:], 2)
		for i, bin := range [][3]uint64{{0, 256, 7}, {256, 1<<64 - 1, 3}} {
			slot := page[at+8+24*i:]
			binary.LittleEndian.PutUint64(slot, bin[0])
			binary.LittleEndian.PutUint64(slot[8:], bin[1])
			binary.LittleEndian.PutUint32(slot[16:], uint32(bin[2]))
			binary.LittleEndian.PutUint32(slot[20:], 0xdeadbeef) // reserved: not part of the count
		}
	}
	return page
}

func TestParseEBSStats(t *testing.T) {
	before, err := ParseEBSStats(ebsPage(0x3C23B510, [11]uint64{100, 200, 4096, 8192, 1000, 4000, 5, 6, 7, 8, 9}))
	if err != nil {
		t.Fatal(err)
	}
	want := EBSStats{
		ReadOps: 100, WriteOps: 200, ReadBytes: 4096, WriteBytes: 8192, ReadTime: time.Millisecond, WriteTime: 4 * time.Millisecond,
		VolumeIOPSExceeded: 5e3, VolumeRateExceeded: 6e3, InstanceIOPSExceeded: 7e3, InstanceRateExceeded: 8e3, Queue: 9,
		ReadHist: []EBSBin{{0, 256e3, 7}, {256e3, 0, 3}},
	}
	want.ReadHist[1].Upper = before.ReadHist[1].Upper // saturated, below
	want.WriteHist = want.ReadHist
	if !reflect.DeepEqual(before, want) || before.ReadHist[1].Upper < 200*365*24*time.Hour {
		t.Errorf("%+v\nwant %+v", before, want)
	}
	after, _ := ParseEBSStats(ebsPage(0x3C23B510, [11]uint64{1100, 200, 8192, 8192, 501000, 4000, 30e6 + 5, 6, 7, 8, 0}))
	d := after.Minus(before)
	if d.ReadOps != 1000 || d.WriteOps != 0 || d.VolumeIOPSExceeded != 30*time.Second || d.ReadTime != 500*time.Millisecond || d.WriteTime != 0 {
		t.Errorf("difference %+v", d)
	}
	if d.ReadHist[0].Count != 0 {
		t.Errorf("histogram difference %+v", d.ReadHist)
	}
	if d := before.Minus(after); d.ReadOps != 100 {
		t.Errorf("attached again: %+v, want counts from zero", d)
	}
	local, err := ParseEBSStats(ebsPage(0xEC2C0D7E, [11]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}))
	if err != nil || !local.Local || local.ReadHist != nil || local.VolumeIOPSExceeded != 0 || local.InstanceRateExceeded != 10*time.Microsecond {
		t.Errorf("instance store: %+v %v", local, err)
	}
	if _, err := ParseEBSStats(make([]byte, 4096)); !errors.Is(err, ErrNoStats) {
		t.Errorf("zeros: %v", err)
	}
	if _, err := ParseEBSStats(make([]byte, 3600)); err == nil {
		t.Error("a short page is an error")
	}
}

func identifyPage(vendor uint16, serial, model, name string) []byte {
	page := make([]byte, 4096)
	for i := range page[4:64] {
		page[4+i] = ' '
	}
	for i := range 32 {
		page[3072+i] = ' '
	}
	binary.LittleEndian.PutUint16(page, vendor)
	copy(page[4:24], serial)
	copy(page[24:64], model)
	copy(page[3072:], name)
	return page
}

func TestParseIdentify(t *testing.T) {
	for _, c := range []struct {
		page []byte
		want NVMeIdentity
	}{
		{identifyPage(0x1d0f, "vol01234567890abcdef", EBSModel, "/dev/sdf"), NVMeIdentity{0x1d0f, "vol01234567890abcdef", EBSModel, "sdf"}},
		{identifyPage(0x1d0f, "vol01234567890abcdef", EBSModel, "sda1"), NVMeIdentity{0x1d0f, "vol01234567890abcdef", EBSModel, "sda1"}},
		{identifyPage(0x1d0f, "AWS1234", InstanceStoreModel, "sdb ephemeral0"), NVMeIdentity{0x1d0f, "AWS1234", InstanceStoreModel, ""}},
		{identifyPage(0x1b36, "vol\x1b[31m\n", "QEMU NVMe Ctrl", "xvdf"), NVMeIdentity{0x1b36, "vol?[31m?", "QEMU NVMe Ctrl", ""}},
	} {
		if got, err := ParseIdentify(c.page); err != nil || got != c.want {
			t.Errorf("%+v %v, want %+v", got, err, c.want)
		}
	}
	if _, err := ParseIdentify(nil); err == nil {
		t.Error("no page")
	}
}

// Texts of a page end at a NUL and hold what prints; a page is whole; a device's name is a path, or one below /dev.
func TestTextsOfAPage(t *testing.T) {
	for field, want := range map[string]string{
		"sdf\x00xyz": "sdf", " a b ": "a b", "\x1f \x7f": "? ?", "!~": "!~", "\x00a": "", "\x01\x00": "?",
	} {
		if got := ascii([]byte(field)); got != want {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
	page := identifyPage(0x1d0f, "vol01234567890abcdef", EBSModel, "/dev/sdf")
	if _, err := ParseIdentify(page[:4095]); err == nil || err.Error() != "NVMe identify page of 4095 bytes: want 4096" {
		t.Error(err)
	}
	stats := ebsPage(0x3C23B510, [11]uint64{1})
	if _, err := ParseEBSStats(stats[:4095]); err == nil || err.Error() != "EBS statistics page of 4095 bytes: want 4096" {
		t.Error(err)
	}
	if s, err := ParseEBSStats(stats); err != nil || s.WriteTime != 0 {
		t.Error(s, err)
	}
	for dev, want := range map[string]string{"nvme1n1": "/dev/nvme1n1", "/dev/nvme1n1": "/dev/nvme1n1", "/tmp/x": "/tmp/x", "": ""} {
		if got := devicePath(dev); got != want {
			t.Errorf("%q: %s", dev, got)
		}
	}
	// Opcodes of the NVMe base specification 2.0, figure 23: Get Log Page and Identify. A log's length is counted in
	// dwords from zero: 4,096 bytes are 1,023.
	if getLogPage != 2 || identify != 6 || ebsLog != 208 || logDwords != 1023 || timeoutMSec != 2000 {
		t.Errorf("commands %d and %d, log %d of %d, %d ms", getLogPage, identify, ebsLog, logDwords, timeoutMSec)
	}
}

// What is no NVMe device says so, and the command has the size that the ioctl number names.
func TestReadEBSStats(t *testing.T) {
	if size := unsafe.Sizeof(nvmeAdminCmd{}); size != 72 || ioctlAdmin>>16&0x3fff != 72 {
		t.Errorf("struct nvme_admin_cmd is %d bytes", size)
	}
	if _, err := ReadEBSStats(os.DevNull); !errors.Is(err, ErrNoStats) {
		t.Errorf("/dev/null: %v", err)
	}
	if _, err := ReadEBSStats("no-such-device"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func FuzzParseEBSStats(f *testing.F) {
	f.Add(ebsPage(ebsMagic, [11]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}))
	f.Add(ebsPage(localMagic, [11]uint64{}))
	f.Add([]byte("short"))
	bounded.Fuzz(f, func(t *testing.T, page []byte) {
		s, err := ParseEBSStats(page)
		if err != nil {
			return
		}
		if len(s.ReadHist) > 64 || len(s.WriteHist) > 64 || s.ReadTime < 0 || s.VolumeIOPSExceeded < 0 {
			t.Errorf("%+v", s)
		}
		if d := s.Minus(s); d.ReadOps != 0 || d.WriteTime != 0 || d.InstanceIOPSExceeded != 0 {
			t.Errorf("a page minus itself: %+v", d)
		}
	})
}

func FuzzParseIdentify(f *testing.F) {
	f.Add(identifyPage(0x1d0f, "vol01234567890abcdef", EBSModel, "/dev/sdf"))
	bounded.Fuzz(f, func(t *testing.T, page []byte) {
		n, err := ParseIdentify(page)
		if err != nil {
			return
		}
		for _, s := range []string{n.Serial, n.Model, n.Name} {
			for _, r := range s {
				if r < ' ' || r > '~' {
					t.Errorf("%q does not print", s)
				}
			}
		}
	})
}
