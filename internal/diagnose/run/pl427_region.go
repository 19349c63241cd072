package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
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

var fewOnly = &diagnose.Rule{
	Code:  "PL427",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			region := units.Bytes(0)
			few := m.All(func(w fio.Workload) bool {
				region += w.Size * units.Bytes(max(w.Jobs, 1))
				return w.Size > 0 && w.Size <= fewBlocks*max(w.ReadBS, w.WriteBS) && w.Size < wholeRegion &&
					w.OffsetIncrement == 0
			})
			t := m.Result.Total
			did := t.Read.Bytes + t.Write.Bytes
			if !few || did < manyTimesOver*region {
				continue
			}
			w := m.Result.Workloads[0]
			report(finding.Finding{
				Subject: m.Label(), Scenarios: m.IDs(),
				Message: fmt.Sprintf("Each job used the same %s (%s of %s) %s times over.", w.Size,
					text.Plural(int(max(w.Size/max(w.ReadBS, w.WriteBS), 1)), "block"), max(w.ReadBS, w.WriteBS),
					units.Number(float64(did)/float64(max(region, 1)))),
				Evidence: []finding.Evidence{{
					What: "size of a job", Found: w.Size.String(), Expected: "1 GiB or more", Where: "the job's options",
				}},
			})
		}
	},
}

// wholeRegion is a region that is no accident: below it, a size was meant for a block.
const wholeRegion = units.MiB
