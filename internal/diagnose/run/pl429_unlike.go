package run

import (
	"fmt"
	"strings"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/text"
)

var unlike = &diagnose.Rule{
	Code:  "PL429",
	Needs: []part.Part{part.AllJobs},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			loads := m.Result.Workloads
			if len(m.Result.Seconds) > 0 || len(m.Result.Jobs) >= len(loads) || len(loads) < 2 {
				continue
			}
			var names []string
			kinds, reads, writes := map[string]bool{}, 0, 0
			for _, w := range loads {
				names = append(names, w.Name)
				kinds[kindOf(w)] = true
				reads, writes = reads+count(w.Reads()), writes+count(w.Writes())
			}
			if len(kinds) < 2 {
				continue
			}
			f := finding.Finding{
				Subject: m.Label(), Scenarios: m.IDs(),
				Message: fmt.Sprintf("%s are reported as one: a sum of unlike jobs, and no result of either.",
					text.Some(names, 4)),
				Evidence: []finding.Evidence{{
					What: "jobs in the row", Found: text.Count(len(loads)), Expected: "jobs of one kind",
					Where: "fio, the lines with (g=N)",
				}},
			}
			if reads <= 1 && writes <= 1 {
				f.Severity = finding.Info
				f.Message = strings.TrimSuffix(f.Message, ", and no result of either.") +
					", of which the reads are one job's and the writes the other's."
			}
			report(f)
		}
	},
}

func kindOf(w fio.Workload) string { return fmt.Sprint(w.RW(), w.ReadBS, w.WriteBS) }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
