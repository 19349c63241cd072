package block

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// sector is the unit of sizes and offsets in /sys, whatever the device's own sector size
// (linux/blk_types.h).
const sector units.Bytes = 512

// classBlock lists disks and partitions alike; each entry is a symbolic link into /sys/devices.
const classBlock = "sys/class/block"

// Read reads the machine's block devices, mounts and swaps. It needs no root; what only root can
// see is left empty. The error is for a machine without /sys/class/block; everything less is a
// Note.
func Read(m *sys.Machine) (*Tree, error) {
	entries, err := fs.ReadDir(m.Root, classBlock)
	if err != nil {
		return nil, fmt.Errorf("/%s: %w; plimsoll needs sysfs: mount it or give the container /sys", classBlock, cause(err))
	}
	t := &Tree{Devices: map[string]*Device{}, root: m.Root}
	r := &reader{root: m.Root}
	for _, e := range entries {
		// Hidden devices are the paths below NVMe's own multipath: they cannot be opened.
		if dir := path.Join(classBlock, e.Name()); r.text(dir+"/hidden") != "1" {
			t.Devices[e.Name()] = r.device(e.Name(), dir)
		}
	}
	r.relate(t)
	r.mdstat(t)
	for _, name := range t.Names() {
		d := t.Devices[name]
		r.udev(d)
		if d.LV != nil {
			inferSegment(t, d)
		}
	}
	for _, d := range t.Devices {
		if d.MD != nil && d.MD.UUID == "" {
			d.MD.UUID = t.unstarted(d.MD)
		}
	}
	r.mounts(t)
	for _, name := range t.Names() {
		r.signature(t.Devices[name], t)
	}
	t.Notes = r.notes
	return t, nil
}

// Names are the kernel names of all devices in a stable order: nvme2n1 before nvme10n1.
func (t *Tree) Names() []string { return slices.SortedFunc(maps.Keys(t.Devices), natural) }

// natural compares names with their numbers as numbers.
func natural(a, b string) int {
	for a != "" && b != "" {
		na, nb := digits(a), digits(b)
		if na > 0 && nb > 0 {
			x, y := strings.TrimLeft(a[:na], "0"), strings.TrimLeft(b[:nb], "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
				return c
			}
			a, b = a[na:], b[nb:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// reader reads attributes and remembers what it could not read.
type reader struct {
	root  fs.FS
	notes []string
}

func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// cause is err without the path that fs puts in it.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// text is an attribute without the white space around it, "" when there is none. NVMe pads models
// and serials.
func (r *reader) text(name string) string {
	data, err := ReadAll(r.root, name)
	// ENODEV, EINVAL and EOPNOTSUPP are how the kernel says that a device has no such thing.
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) &&
		!errors.Is(err, syscall.ENODEV) &&
		!errors.Is(err, syscall.EINVAL) &&
		!errors.Is(err, syscall.EOPNOTSUPP) {
		r.note("/%s: %v", name, cause(err))
	}
	return strings.Trim(string(data), " \t\r\n\x00")
}

// ReadAll reads a file of /sys or /proc, at most 4 MiB of it.
func ReadAll(root fs.FS, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, 4<<20))
}

// num is a numeric attribute, 0 when there is none.
func (r *reader) num(name string) int64 {
	s := r.text(name)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		if u, err := strconv.ParseUint(s, 10, 64); err == nil && u > 0 { // unlimited, as 2^64-1
			return 1<<63 - 1
		}
		r.note("/%s: %.40q is not a number", name, s)
	}
	return v
}

func (r *reader) size(name string, unit units.Bytes) units.Bytes {
	v := r.num(name)
	if v <= 0 || units.Bytes(v) > ^units.Bytes(0)/unit {
		return 0
	}
	return units.Bytes(v) * unit
}

func (r *reader) exists(name string) bool {
	_, err := fs.Stat(r.root, name)
	return err == nil
}

// list is the names in a directory, sorted, nil when there is none.
func (r *reader) list(dir string) []string {
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.note("/%s: %v", dir, cause(err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.SortFunc(names, natural)
	return names
}

// device reads one directory of /sys/class/block.
func (r *reader) device(name, dir string) *Device {
	text := func(name string) string { return r.text(dir + "/" + name) }
	d := &Device{
		Name:     name,
		Path:     "/dev/" + strings.ReplaceAll(name, "!", "/"), // cciss!c0d0 is /dev/cciss/c0d0
		Kind:     r.kind(name, dir),
		Size:     r.size(dir+"/size", sector),
		Start:    r.size(dir+"/start", sector),
		Slaves:   r.list(dir + "/slaves"),
		Holders:  r.list(dir + "/holders"),
		ReadOnly: text("ro") == "1",
		Model:    text("device/model"),
		// NVMe and SCSI keep it below device, virtio beside it.
		Serial:   cmp.Or(text("device/serial"), text("serial")),
		WWN:      cmp.Or(text("wwid"), text("device/wwid")),
		Firmware: cmp.Or(text("device/firmware_rev"), text("device/rev")),
		Backing:  text("loop/backing_file"),
		State:    text("device/state"),
		NUMANode: -1,
	}
	if s := cmp.Or(text("device/numa_node"), text("device/device/numa_node")); s != "" {
		if n, err := strconv.Atoi(s); err == nil {
			d.NUMANode = n
		}
	}
	var err error
	if d.Major, d.Minor, err = parseDev(text("dev")); err != nil {
		r.note("/%s/dev: %v", dir, err)
	}
	if d.Kind != Partition { // a partition's queue is its disk's
		d.Queue = r.queue(dir)
	}
	if d.Kind == Disk && strings.HasPrefix(name, "nvme") {
		d.Link = r.link(dir + "/device/device/")
	}
	switch d.Kind {
	case MD:
		d.MD = r.raid(dir + "/md")
	case LV, DM:
		d.Path, d.DM = "/dev/mapper/"+text("dm/name"), text("dm/uuid")
		if d.Kind == LV {
			d.LV = parseLVName(text("dm/name"), text("dm/uuid"))
		}
	case Disk, Partition, Loop, Other:
	}
	return d
}

func (r *reader) kind(name, dir string) Kind {
	switch {
	case r.exists(dir + "/partition"):
		return Partition
	case r.exists(dir + "/md"):
		return MD
	case r.exists(dir + "/dm"):
		if strings.HasPrefix(r.text(dir+"/dm/uuid"), "LVM-") {
			return LV
		}
		return DM
	case strings.HasPrefix(name, "loop"):
		return Loop
	}
	for _, prefix := range []string{"ram", "zram", "nbd", "fd", "sr"} {
		if n := strings.TrimPrefix(name, prefix); n != name && digits(n) == len(n) {
			return Other
		}
	}
	return Disk
}

// link reads the link of a PCI device ("8.0 GT/s PCIe", "4"; drivers/pci/pci-sysfs.c). A virtual
// device says "Unknown" or 255 lanes.
func (r *reader) link(pci string) *Link {
	speed := func(name string) float64 {
		number, unit, _ := strings.Cut(r.text(pci+name), " ")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !strings.HasPrefix(unit, "GT/s") {
			return 0
		}
		return v
	}
	lanes := func(name string) int {
		n, err := strconv.Atoi(r.text(pci + name))
		if err != nil || n > mostLanes {
			return 0
		}
		return n
	}
	l := &Link{
		Speed: speed("current_link_speed"), MaxSpeed: speed("max_link_speed"),
		Lanes: lanes("current_link_width"), MaxLanes: lanes("max_link_width"),
	}
	if l.Speed <= 0 || l.MaxSpeed <= 0 || l.Lanes <= 0 || l.MaxLanes <= 0 {
		return nil
	}
	return l
}

// mostLanes is the widest link that PCIe knows.
const mostLanes = 32

func (r *reader) queue(dir string) Queue {
	q := dir + "/queue/"
	return Queue{
		Scheduler:      activeOf(r.text(q + "scheduler")),
		Requests:       int(r.num(q + "nr_requests")),
		ReadAhead:      r.size(q+"read_ahead_kb", units.KiB),
		MaxSectors:     r.size(q+"max_sectors_kb", units.KiB),
		MaxHWSectors:   r.size(q+"max_hw_sectors_kb", units.KiB),
		Logical:        r.size(q+"logical_block_size", 1),
		Physical:       r.size(q+"physical_block_size", 1),
		MinimumIO:      r.size(q+"minimum_io_size", 1),
		OptimalIO:      r.size(q+"optimal_io_size", 1),
		Rotational:     r.text(q+"rotational") == "1",
		WriteCache:     r.text(q + "write_cache"),
		DiscardMax:     r.size(q+"discard_max_bytes", 1),
		Zoned:          r.text(q + "zoned"),
		WBTLatency:     r.text(q + "wbt_lat_usec"),
		IOTimeout:      r.text(q + "io_timeout"),
		NoMerges:       int(r.num(q + "nomerges")),
		RQAffinity:     int(r.num(q + "rq_affinity")),
		HardwareQueues: len(r.list(dir + "/mq")),
	}
}

// relate fills in partitions, which /sys shows as directories of their disk.
func (r *reader) relate(t *Tree) {
	for _, name := range t.Names() {
		d := t.Devices[name]
		if d.Kind == Partition {
			continue
		}
		for _, sub := range r.list(path.Join(classBlock, name)) {
			if p := t.Devices[sub]; p != nil && p.Kind == Partition {
				p.Parent, p.Queue, p.NUMANode = name, d.Queue, d.NUMANode
				d.Partitions = append(d.Partitions, sub)
			}
		}
	}
}
