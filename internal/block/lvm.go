package block

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// inferSegment works out the layout of a logical volume from what everybody may read: its slaves,
// their names and the I/O sizes that the kernel derives from stripes (dm-stripe.c stripe_io_hints,
// dm-raid.c raid_io_hints).
func inferSegment(t *Tree, d *Device) {
	v, n := d.LV, len(d.Slaves)
	if n == 0 {
		return
	}
	chunk, wide := d.Queue.MinimumIO, d.Queue.OptimalIO
	made := chunk >= 4*units.KiB
	images, metas := 0, 0
	for _, s := range d.Slaves {
		sub := t.Devices[s]
		if sub == nil {
			continue
		}
		// Sizes that a slave has too are handed up by it, not made here.
		made = made && (sub.Queue.MinimumIO < chunk || sub.Queue.OptimalIO < wide)
		switch {
		case sub.LV == nil:
		case strings.Contains(sub.LV.Name, "_rimage_"):
			images++
		case strings.Contains(sub.LV.Name, "_rmeta_"):
			metas++
		}
	}
	stripes := 0
	if made && wide%chunk == 0 {
		stripes = int(wide / chunk)
	}
	is := func(segment string, stripes int, chunk units.Bytes) {
		v.Segment, v.Stripes, v.Chunk, v.Inferred = segment, stripes, chunk, true
	}
	switch {
	case images == 0 && (n == 1 || stripes == 0):
		is("linear", 1, 0)
	case images == 0 && stripes == n:
		is("striped", n, chunk)
	case images > 0 && metas == 0 && stripes == images:
		is("raid0", images, chunk)
	case images > 1 && metas > 0 && stripes == 0:
		is("raid1", images, 0)
	case images > 2 && metas > 0 && stripes == images-1:
		is("raid5", images, chunk)
	case images > 3 && metas > 0 && (stripes == images || stripes == images/2):
		is("raid10", images, chunk)
	case images > 4 && metas > 0 && stripes == images-2:
		is("raid6", images, chunk)
	}
}

// ReadSegments asks device-mapper the layout of logical volumes, which needs root, and replaces
// what Read inferred; and of encrypted devices, whether they use work queues. It does nothing on a machine
// without either.
func (t *Tree) ReadSegments(ctx context.Context, m *sys.Machine) error {
	byName := map[string]*Device{}
	for _, d := range t.Devices {
		if d.LV != nil || strings.HasPrefix(d.DM, "CRYPT-") {
			byName[strings.TrimPrefix(d.Path, "/dev/mapper/")] = d
		}
	}
	if len(byName) == 0 || m.Run == nil {
		return nil
	}
	out, err := m.Output(ctx, "dmsetup", "table")
	if errors.Is(err, sys.ErrNotFound) && !m.Here {
		return errors.New("a captured machine has no device-mapper table")
	}
	if err != nil {
		return fmt.Errorf("%w; as root, with dmsetup installed, it is read", err)
	}
	for name, seg := range parseDMTable(out) {
		if d := byName[name]; d != nil && d.LV == nil {
			d.Queued = seg.Queued
		} else if d != nil {
			d.LV.Segment, d.LV.Stripes, d.LV.Chunk, d.LV.Inferred = seg.Segment, seg.Stripes, seg.Chunk, false
		}
	}
	return nil
}

// parseDMTable reads "dmsetup table": a line a segment, "name: start length target arguments" in
// sectors (Documentation/admin-guide/device-mapper/striped.rst, dm-raid.rst, dm-crypt.rst). Lines that say
// nothing it knows are skipped.
func parseDMTable(out string) map[string]Vol {
	vols := map[string]Vol{}
	for line := range strings.Lines(out) {
		name, rest, ok := strings.Cut(line, ": ")
		f := strings.Fields(rest)
		if !ok || len(f) < 3 {
			continue
		}
		v := segment(f[2], f[3:])
		if old, more := vols[name]; more && old != v {
			v = Vol{Segment: "mixed"}
		}
		vols[name] = v
	}
	return vols
}

// segment reads one target.
func segment(target string, args []string) Vol {
	num := func(i int) uint64 {
		if i >= len(args) {
			return 0
		}
		n, err := strconv.ParseUint(args[i], 10, 32)
		if err != nil {
			return 0
		}
		return n
	}
	switch target {
	case "linear":
		return Vol{Segment: "linear", Stripes: 1}
	case "striped": // stripes chunk [device offset]…
		return Vol{Segment: "striped", Stripes: int(num(0)), Chunk: units.Bytes(num(1)) * sector}
	case "raid": // type #params chunk [params]… #devices [metadata data]…
		if len(args) < 3 {
			return Vol{}
		}
		level, _, _ := strings.Cut(args[0], "_") // raid5_ls, raid6_zr, raid10_near
		v := Vol{Segment: level, Stripes: int(num(2 + int(num(1)))), Chunk: units.Bytes(num(2)) * sector}
		if level == "raid1" {
			v.Chunk = 0
		}
		return v
	case "crypt": // cipher key iv device offset [#options option…]
		both := slices.Contains(args, "no_read_workqueue") && slices.Contains(args, "no_write_workqueue")
		return Vol{Segment: target, Queued: !both}
	}
	return Vol{Segment: target} // thin, cache, snapshot-origin: what it is called
}
