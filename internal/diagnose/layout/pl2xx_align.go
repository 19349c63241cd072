package layout

import (
	"fmt"
	"slices"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// alignment is what partitions must start on: the flash page and RAID5 stripe cache line of every
// drive and array we know. The kernel's alignment_offset stays 0 for a partition at sector 2049 of
// a drive that says 512-byte sectors, and so does parted's check, hence the arithmetic (lab,
// 2026-11).
const alignment = 4 * units.KiB

func wrongGeometry(c *facts, report reporter) {
	seen := map[string]bool{}
	for _, m := range c.Mounts() {
		a := m.Array
		width := !m.Known && m.StripeWide > 0 // ext4's option stripe=, and no superblock
		if a == nil || seen[m.Device] || !m.Known && !width || !a.Level.Striped() || a.Chunk == 0 || len(a.Volumes) < 2 {
			continue
		}
		seen[m.Device] = true
		unit, wide, members := a.Chunk, a.Stripe(), a.Geometry().StripeMembers()
		// What the device itself advertises is right too: md rounds odd RAID10 its own way,
		// nested arrays multiply.
		d := c.Device(m.Device)
		advertised := d != nil && d.Queue.MinimumIO == m.StripeUnit && d.Queue.OptimalIO == m.StripeWide
		if advertised && m.StripeUnit > 0 || m.StripeUnit == unit && m.StripeWide == wide {
			report(finding.Fine(m.Point, "%s at %s: su %s, width %s fit the array",
				m.FS, m.Point, m.StripeUnit, m.StripeWide))
			continue
		}
		if width {
			checkWidth(m, wide, d, report)
			continue
		}
		f := geometryCommands(finding.New(m.Point, ""), &m.Mount, unit, members).
			Saw("stripe unit (su)", m.StripeUnit, unit, "filesystem at "+m.Point).
			Saw("stripe width (su × sw)", m.StripeWide, wide, "filesystem at "+m.Point).
			Saw("chunk × data members", fmt.Sprintf("%s × %d", a.Chunk, members), "", diagnose.Origin(a.Origin))
		switch {
		case m.StripeUnit == 0:
			f.Say("%s was made without the stripe geometry of %s: %s chunks over %d data members.", m.Point,
				a.Name, a.Chunk, members)
			if a.Level.Parity() == 0 {
				f.Severity = finding.Info
			}
		case m.StripeUnit != unit:
			f.Say("%s was made with su=%s, but the chunk of %s is %s.", m.Point, m.StripeUnit, a.Name, unit)
		default:
			f.Say("%s was made with sw=%s (a stripe of %s), but %s has %d data members (a stripe of %s).",
				m.Point, units.Number(float64(m.StripeWide)/float64(m.StripeUnit)), m.StripeWide, a.Name, members, wide)
		}
		report(f)
	}
}

// checkWidth compares what the option stripe= says of an ext filesystem whose superblock was not read.
func checkWidth(m diagnose.Mounted, wide units.Bytes, d *block.Device, report reporter) {
	if m.StripeWide == wide || d != nil && d.Queue.OptimalIO == m.StripeWide {
		report(finding.Fine(m.Point, "%s at %s: width %s fits the array", m.FS, m.Point, m.StripeWide))
		return
	}
	blocks, _ := m.Option("stripe")
	report(finding.New(m.Point, "%s is mounted with stripe=%s (a stripe of %s), but a stripe of %s is "+
		"%s.", m.Point, blocks,
		m.StripeWide, m.Array.Name, wide).
		Saw("stripe", "stripe="+blocks, fmt.Sprintf("stripe=%d, chunk × data members", wide/block.UsualBlock),
			"/proc/self/mountinfo").
		Run("dumpe2fs -h %s", "/dev/"+m.Device).
		Run("tune2fs -E stride=%d,stripe_width=%d %s", m.Array.Chunk/block.UsualBlock, wide/block.UsualBlock,
			"/dev/"+m.Device).
		Advise("Set the stripe in the superblock, drop stripe= from fstab, and mount again."))
}

// geometryCommands show a filesystem's stripe, and make the filesystem again with the right one, for those
// filesystems whose stripe is read.
func geometryCommands(f fault, m *block.Mount, unit units.Bytes, members int) fault {
	const destroys = "   # destroys what is on it"
	device := "/dev/" + m.Device
	switch m.FS {
	case "xfs":
		return f.Run("xfs_info %s", m.Point).
			Run("mkfs.xfs -d su=%dk,sw=%d %s"+destroys, unit/units.KiB, members, device)
	case "ext2", "ext3", "ext4":
		f = f.Run("dumpe2fs -h %s", device)
		if b := m.BlockSize; b > 0 {
			f = f.Run("mkfs.%s -b %d -E stride=%d,stripe-width=%d %s"+destroys, m.FS, b, unit/b, unit/b*units.Bytes(members),
				device)
		}
	}
	return f
}

func misaligned(c *facts, report reporter) {
	seen := map[string]bool{}
	for _, t := range c.Targets() {
		for _, n := range t.Devices {
			d := c.Device(n)
			if d == nil || d.Kind != block.Partition || seen[n] || d.Start%alignment == 0 {
				continue
			}
			seen[n] = true
			report(finding.New(n, "%s starts at sector %d, %d bytes past a 4 KiB boundary.", n, uint64(d.Start)/sector,
				uint64(d.Start%alignment)).
				Saw("start", text.Count(d.Start)+" bytes", "a multiple of 4,096", "/sys/class/block/"+n+"/start"))
		}
	}
}

// sector is the kernel's unit of offsets, whatever the drive's own sectors are.
const sector = 512

// How much splitting is worth a word: from 1 % on it explains device counters that look too high;
// from a quarter more device I/Os on it costs IOPS that were paid for. (28k on 64 KiB chunks is
// 1.375, on 512 KiB 1.047.)
const (
	splitTold   = 1.01
	splitCostly = 1.25
)

func chunkSplit(c *facts, report reporter) {
	for _, m := range c.Runs {
		r := m.Result
		if r == nil || len(r.Workloads) == 0 {
			continue
		}
		w := r.Workloads[0]
		bs := max(w.ReadBS, w.WriteBS)
		if w.Sequential || bs == 0 {
			continue
		}
		chunk, where, split := units.Bytes(0), "", diagnose.SplitSeen(r)
		if a := c.ArrayOf(m); a != nil && a.Level.Striped() {
			chunk, where = a.Chunk, diagnose.Origin(a.Origin)
		} else if a == nil && members(r) > 1 {
			if c, sure := ceiling.InferChunk(bs, split, 1); sure >= diagnose.SureChunk {
				chunk, where = c, "inferred from the disk statistics"
			}
		}
		if idle, _ := c.IdleMembers(m); len(idle) > 0 {
			continue // PL213: what was measured is not a stripe
		}
		if seen, ok := chunkSeen(c, m); ok { // PL214 reports the contradiction
			if chunk, where = seen, "measured by the disk statistics"; seen == 0 {
				continue
			}
		}
		pieces := topology.Pieces(bs, chunk)
		if chunk == 0 || bs > chunk || pieces < splitTold {
			continue
		}
		f := m.Finds("I/Os of %s on chunks of %s become %s volume I/Os each on average.", bs, chunk, text.Factor(pieces)).
			Saw("block size", bs, "a divisor of the chunk", "job "+w.Name).
			Saw("chunk", chunk, "", where)
		if split > 0 {
			f = f.Saw("device I/Os per I/O", text.Factor(split), "1", "disk statistics over issued I/Os, ramp excluded")
		}
		if pieces >= splitCostly {
			f.Severity = finding.Warn
		}
		report(f)
	}
}

// members is the number of leaf devices that fio printed statistics of.
func members(r *result.Result) int {
	n := 0
	for _, d := range r.Disks {
		if d.Member {
			n++
		}
	}
	return n
}

// wideLogUnit is where padding the log starts to cost: 32 KiB is what mkfs.xfs falls back to for
// large chunks.
const wideLogUnit = 32 * units.KiB

func wideLog(c *facts, report reporter) {
	seen := map[string]bool{}
	for _, m := range c.Mounts() {
		if m.FS != "xfs" || !m.Known || m.LogUnit <= wideLogUnit || seen[m.Device] || !syncsOn(c, m) {
			continue
		}
		seen[m.Device] = true
		report(finding.New(m.Point,
			"The log of %s is padded to %s, so a sync of 8 KiB that changes metadata writes %s times as "+
				"much.", m.Point, m.LogUnit,
			units.Number(float64(m.LogUnit)/float64(8*units.KiB))).
			Saw("log stripe unit", m.LogUnit, "at most "+wideLogUnit.String(),
				"xfs_info "+text.ShellQuote(m.Point)+", log line").
			Run("mkfs.xfs -l su=32k %s   # destroys what is on it", "/dev/"+m.Device))
	}
}

// syncsOn says whether a mounted device holds the WAL or a scenario on it syncs.
func syncsOn(c *facts, m diagnose.Mounted) bool {
	if slices.Contains(m.Roles, topology.WAL) {
		return true
	}
	return slices.ContainsFunc(c.Runs, func(r measurement) bool {
		a := c.ArrayOf(r)
		return a != nil && m.Array != nil && a.Name == m.Array.Name && r.Result != nil && r.Syncs()
	})
}
