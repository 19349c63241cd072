package run

import (
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// fewBlocks of a job's region are the same ones throughout: lint warns of as many (PL106).
	fewBlocks = 16
	// manyTimesOver is how often a region must have been worked through to be the same blocks again and
	// again, and not a job that ends with its file.
	manyTimesOver = 8
)

// driveCache is what every hard disk of the last ten years has of memory, and controllers have more.
const driveCache = 64 * units.MiB

// fewOnly finds jobs that used a few blocks again and again, and direct I/O of others to a file so small that a drive's
// cache may hold it.
func fewOnly(_ *facts, m measurement) (f fault) {
	region := units.Bytes(0)
	few, direct := true, m.Source != ""
	if !m.All(func(w fio.Workload) bool {
		jobs := units.Bytes(max(w.Jobs, 1))
		if w.SharedFile || m.Program != "" { // whose threads have their files in common
			jobs = 1
		}
		region += (w.Size + w.OffsetIncrement*jobs) * jobs
		few = few && w.Size <= fewBlocks*max(w.ReadBS, w.WriteBS) && w.Size < wholeRegion && w.OffsetIncrement == 0
		direct = direct && w.Direct && fio.UsesPageCache(w.Engine)
		return w.Size > 0
	}) {
		return f
	}
	did := m.Total.Read.Bytes + m.Total.Write.Bytes
	if did < manyTimesOver*region || !few && (!direct || region > driveCache) {
		return f
	}
	times := units.Number(float64(did) / float64(region))
	if !few {
		return m.Finds("The same %s were used %s times over: the cache of a drive or a controller may hold them.", region,
			times).As(finding.Info).
			Titled("the file is so small that a drive's cache may hold it").
			Saw("size of all files", region, "1 GiB or more", "the job's options")
	}
	w := m.Workloads[0]
	bs := max(w.ReadBS, w.WriteBS)
	return m.Finds("Each job used the same %s (%s of %s) %s times over.", w.Size,
		text.Plural(max(w.Size/bs, 1), "block"), bs, times).
		Saw("size of a job", w.Size, "1 GiB or more", "the job's options")
}

// wholeRegion is a region that is no accident: below it, a size was meant for a block.
const wholeRegion = units.MiB
