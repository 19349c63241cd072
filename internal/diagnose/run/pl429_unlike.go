package run

import (
	"fmt"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

func unlike(_ *facts, m measurement) (f fault) {
	loads := m.Workloads
	if len(m.Seconds) > 0 || len(m.Jobs) >= len(loads) || len(loads) < 2 {
		return f
	}
	var names []string
	kinds, reads, writes := map[string]bool{}, 0, 0
	for _, w := range loads {
		names = append(names, w.Name)
		kinds[kindOf(w)] = true
		reads, writes = reads+count(w.Reads()), writes+count(w.Writes())
	}
	if len(kinds) < 2 {
		return f
	}
	f = m.Finds("%s are reported as one: a sum of unlike jobs, not a result of either.", text.Some(names, 4)).
		Saw("jobs in the row", len(loads), "jobs of one kind", "fio, the lines with (g=N)")
	if reads <= 1 && writes <= 1 {
		f.Severity = finding.Info
		f.Message = strings.TrimSuffix(f.Message, ", not a result of either.") +
			", of which the reads are one job's and the writes the other's."
	}
	return f
}

func kindOf(w fio.Workload) string { return fmt.Sprint(w.RW(), w.ReadBS, w.WriteBS) }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
