package ceiling

import (
	"cmp"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// rebuildIO is the longest I/O that md rebuilds with (RESYNC_BLOCK_SIZE, drivers/md/raid1-10.c);
// volumes that merge count longer ones.
const rebuildIO = 64 * units.KiB

// rebuild is what a rebuild takes of each member that takes part in it, a second. md never goes
// slower than sync_speed_min, which is of each member (drivers/md/md.c, md_do_sync): it reads that
// much of the copy that is left, or of all other members of a parity array, and writes it to the
// new one. What it takes above that, up to sync_speed_max, depends on what the load leaves.
func rebuild(a *topology.Array, v topology.Volume) cost {
	if a.Syncing != "recover" || a.SyncFloor <= 0 {
		return cost{}
	}
	size := rebuildIO
	if v.Merges {
		size = cmp.Or(v.CountedIO, size)
	}
	return cost{readIOs: float64(a.SyncFloor) / float64(size), readBytes: float64(a.SyncFloor)}
}

// left is what a rebuild leaves of a member's limit: half of it at the least, since its I/Os wait
// in the same queue as the load's.
func left(l limit, of budget, capacity float64, taken cost) float64 {
	written := cost{writeIOs: taken.readIOs, writeBytes: taken.readBytes}
	return max(capacity-max(l.use(of, taken), l.use(of, written)), capacity/2)
}

// RebuildTakes is the share of a volume's limit of this kind that a rebuild takes at the least, and
// that the bounds leave out; 0 for other kinds, and where nothing is rebuilt.
func RebuildTakes(a *topology.Array, k Kind) float64 {
	if a == nil || len(a.Volumes) == 0 {
		return 0
	}
	v := present(a)
	taken, most := rebuild(a, v), 0.0
	for _, l := range limits {
		if b := l.of(v.Sustained); l.kind == k && b.capacity > 0 {
			most = max(most, 1-left(l, b, b.capacity, taken)/b.capacity)
		}
	}
	return most
}

// assumeRebuild notes what the arithmetic takes for granted of a rebuild.
func (p *problem) assumeRebuild(a *topology.Array) {
	if a.SyncFloor > 0 {
		p.note("%s is being rebuilt at %v of each member or faster, whatever the load (sync_speed_min), which is "+
			"deducted; what the rebuild takes above that depends on the load and is not", a.Name, a.SyncFloor)
	} else {
		p.note("%s is being rebuilt at a rate that is not known; the rebuild's own I/O is not counted", a.Name)
	}
	p.note("the rebuilt part of %s counts by its share of the array: a file in it is read like one on a whole "+
		"array", a.Name)
}
