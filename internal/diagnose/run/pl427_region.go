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
	Code:     "PL427",
	Since:    "0.3",
	Severity: finding.Warn,
	Title:    "the same few blocks were used over and over",
	When: "Every job has a region (size=) of at most 16 blocks and below 1 MiB, and did at least 8 times " +
		"as much.",
	Why:    "A drive answers repeated I/O to one block from its own memory, and a stripe uses one member.",
	Fix:    "Give each job a gigabyte or more: size=1G. (size=16K is the region; bs=16k is the block.)",
	Read:   "It says nothing about the volume.",
	Bad:    "--bs=16k --size=16K --numjobs=16 --time_based --runtime=180      # 16 blocks, 40,000 times a second",
	Good:   "--bs=16k --size=1G --numjobs=16 --time_based --runtime=180",
	Ignore: "On a volume that limits I/Os alone, such as EBS's.",
	After:  []finding.Code{"PL401", "PL402", "PL418", "PL419"},
	Needs:  []part.Part{part.AllJobs, part.AllSides},
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
