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
