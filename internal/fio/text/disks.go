package text

import "plimsoll/internal/fio"

// MarkMembers finds which lines of disk statistics are the members of the aggregated device before
// them. fio prints md and dm devices with the means over their members (agg… fields) and the
// members as lines of their own behind it. In text the indentation tells, unless it was lost; the
// means always do: the members are the lines behind whose sums, divided by their number, give the
// agg… figures. Of several such runs of lines the longest is taken.
func MarkMembers(disks []fio.Disk) {
	for i := range disks {
		agg := disks[i].Aggregate
		if agg == nil {
			continue
		}
		var sum fio.Disk
		last := i
		for k := i + 1; k < len(disks) && disks[k].Aggregate == nil; k++ {
			d := disks[k]
			sum.Reads += d.Reads
			sum.Writes += d.Writes
			sum.ReadTicks += d.ReadTicks
			sum.WriteTicks += d.WriteTicks
			sum.InQueue += d.InQueue
			n := uint64(k - i)
			if sum.Reads/n == agg.Reads && sum.Writes/n == agg.Writes && sum.ReadTicks/n == agg.ReadTicks &&
				sum.WriteTicks/n == agg.WriteTicks && sum.InQueue/n == agg.InQueue {
				last = k
			}
		}
		for m := i + 1; m <= last; m++ {
			disks[m].Member = true
		}
	}
}
