package ceiling

import (
	"plimsoll/internal/topology"
)

// lost is how many members the weakest part of an array lacks: of a mirrored array the worst set of
// copies, of a parity array all. Members that are there and being rebuilt count as lost; done is
// the share of the data that they hold already.
func lost(a *topology.Array, m members) (n int, done float64) {
	missing := 0
	sets := map[int]int{} // near copies lie side by side (md(4))
	for i, v := range a.Volumes {
		if v.Missing {
			missing++
			sets[i/max(m.copies, 1)]++
			n = max(n, sets[i/max(m.copies, 1)])
		}
	}
	if m.parity > 0 {
		n = max(missing, a.Degraded)
	}
	if n == 0 && a.Degraded > 0 {
		n = 1 // which one is not known: the sets are alike
	}
	if m.copies > 1 {
		n = min(n, m.copies-1) // with none left there is no array
	} else {
		n = min(n, m.parity)
	}
	if missing == 0 && a.Syncing == "recover" {
		done = min(max(a.Progress, 0), 1)
	}
	return n, done
}

// survivors is over how many volumes the reads of a mirrored array go as the busiest of them sees
// it. The copies that are left of a set serve all its reads: of eight volumes in pairs one of which
// is gone, its mate gets as many as if there were four.
func (m members) survivors() float64 {
	data, k, left := float64(m.data), float64(m.copies), float64(m.copies-m.lost)
	return data / ((1-m.done)/left + m.done/k)
}

// degradedReads is how many volume I/Os one read of a parity array costs when members are lost,
// against one of a whole array: for what lay on a lost member md reads every other one, on RAID6
// the second parity too (drivers/md/raid5.c, need_this_block).
func (m members) degradedReads() float64 {
	n, lost := float64(m.n), float64(m.lost)
	f := lost * (1 - m.done)
	return (n-f)/n + f/n*(n-lost)
}

// degradedPart is the cost of writing width bytes of each of the touched chunks of a stripe, the
// mean over which member is lost. Where parity is lost, or data that is written, md cannot read
// what it would modify and reads all data that is not written instead (reconstruct-write); what is
// lost is not written. Lost data that is not written leaves only read-modify-write, since it cannot
// be read (drivers/md/raid5.c, handle_stripe_dirtying: what is not in sync counts as 2 × disks
// reads).
func (m members) degradedPart(touched, width float64, c counting) cost {
	d, p, n := float64(m.data), float64(m.parity), float64(m.n)
	each := c.of(width)
	if touched == d {
		return cost{writeIOs: n * each * m.whole(), writeBytes: n * width * m.whole()}
	}
	var sum cost
	add := func(weight, reads, writes float64) {
		sum.add(cost{
			readIOs: reads * each, readBytes: reads * width, writeIOs: writes * each, writeBytes: writes * width,
		}, weight/n)
	}
	add(p, d-touched, touched+p-1)
	add(touched, d-touched, touched-1+p)
	add(d-touched, touched+p, touched+p)
	return sum
}

// assumeDegraded notes what the arithmetic takes for granted of an array that is not whole.
func (p *problem) assumeDegraded(a *topology.Array, m members) {
	switch {
	case m.lost == 0 && a.Degraded > 0:
		p.note("%s lacks %d members, which its level does not survive: its ceiling is that of the whole array", a.Name,
			a.Degraded)
	case m.lost > 0 && m.copies > 1:
		p.note("%s is degraded: the remaining copies serve all reads of their set, and the busiest of them sets the "+
			"pace", a.Name)
	case m.lost > 0:
		p.note("%s is degraded: data on the lost members is reconstructed from the others", a.Name)
	}
	if m.lost > 1 && m.parity > 0 {
		p.note("%s lacks two members: its writes are counted as if it lacked one", a.Name)
	}
	switch {
	case a.Syncing == "recover" && m.lost > 0:
		p.assumeRebuild(a)
	case a.Syncing != "":
		p.note("%s is busy with %s, which is not counted", a.Name, a.Syncing)
	}
}

// whole is the share of a stripe's members that are written.
func (m members) whole() float64 {
	if m.parity == 0 {
		return 1
	}
	return 1 - float64(m.lost)*(1-m.done)/float64(m.n)
}

// present is the first volume that is there, which stands for what all are like.
func present(a *topology.Array) topology.Volume {
	for _, v := range a.Volumes {
		if !v.Missing {
			return v
		}
	}
	return a.Volumes[0]
}
