package run

import (
	"plimsoll/internal/diagnose"
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

func fewOnly(_ *diagnose.Case, m diagnose.Measurement) (f finding.Finding) {
	return first(fewBlocksOnly(m), inDriveCache(m))
}

// driveCache is what every hard disk of the last ten years has of memory, and controllers have more.
const driveCache = 64 * units.MiB

// inDriveCache finds direct I/O of others to a small file, again and again.
func inDriveCache(m diagnose.Measurement) (f finding.Finding) {
	r := m.Result
	region := units.Bytes(0)
	for _, w := range r.Workloads {
		if w.SharedFile || r.Program != "" { // whose threads have their files in common
			w.Jobs = 1
		}
		region += (w.Size + w.OffsetIncrement*units.Bytes(w.Jobs)) * units.Bytes(max(w.Jobs, 1))
	}
	did := r.Total.Read.Bytes + r.Total.Write.Bytes
	direct := m.All(func(w fio.Workload) bool { return w.Direct && w.Size > 0 && fio.UsesPageCache(w.Engine) })
	if r.Source == "" || !direct || region > driveCache || did < manyTimesOver*region {
		return f
	}
	return m.Finds("The same %s were used %s times over: the cache of a drive or a controller may hold them.", region,
		units.Number(float64(did)/float64(max(region, 1)))).
		Titled("the file is so small that a drive's cache may hold it").
		Saw("size of all files", region.String(), "1 GiB or more", "the job's options")
}

func fewBlocksOnly(m diagnose.Measurement) (f finding.Finding) {
	region := units.Bytes(0)
	few := m.All(func(w fio.Workload) bool {
		region += w.Size * units.Bytes(max(w.Jobs, 1))
		return w.Size > 0 && w.Size <= fewBlocks*max(w.ReadBS, w.WriteBS) && w.Size < wholeRegion &&
			w.OffsetIncrement == 0
	})
	t := m.Result.Total
	did := t.Read.Bytes + t.Write.Bytes
	if !few || did < manyTimesOver*region {
		return f
	}
	w := m.Result.Workloads[0]
	bs := max(w.ReadBS, w.WriteBS)
	return m.Finds("Each job used the same %s (%s of %s) %s times over.", w.Size,
		text.Plural(max(w.Size/bs, 1), "block"), bs, units.Number(float64(did)/float64(max(region, 1)))).
		Saw("size of a job", w.Size.String(), "1 GiB or more", "the job's options")
}

// wholeRegion is a region that is no accident: below it, a size was meant for a block.
const wholeRegion = units.MiB
