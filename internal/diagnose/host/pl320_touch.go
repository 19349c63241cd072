package host

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

var notLoaded = &diagnose.Rule{
	Code:     "PL320",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "blocks are not loaded from the snapshot yet",
	When: "check --probe or run reads pairs of 4 KiB in 200 pieces of 512 KiB of a volume. At least 15 % " +
		"of first reads lie beyond the upper quartile of the second ones, less chance, with a 95 % " +
		"interval above 0, and 10 % more of them are later by 1 ms or half a median.",
	Why: "A volume made from a snapshot fetches each block from object storage at its first read, which " +
		"takes tens of milliseconds. Until all was read once, no benchmark of it means anything.",
	Fix:    "Run plimsoll array warm, or order fast snapshot restore or an initialisation rate.",
	Bad:    "first reads 32 ms, others 1.1 ms: about 96 % (90 to 100) is not loaded",
	Good:   "first reads 1.1 ms, others 1.1 ms",
	Ignore: "When only parts that were already read will be used.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		tried := map[string]bool{}
		for _, t := range c.Touches {
			tried[t.Device] = true
			if t.Claimed && t.File == "" {
				report(touchFinding(t))
			}
		}
		fromSnapshots(c, tried, report)
	},
}

// fromSnapshots tells of volumes that were made from a snapshot, and that nobody has tried.
func fromSnapshots(c *diagnose.Case, tried map[string]bool, report func(finding.Finding)) {
	if c.Topology == nil {
		return
	}
	for _, a := range c.Topology.Arrays {
		for _, v := range a.Volumes {
			if v.Snapshot == "" || tried[v.Device] {
				continue
			}
			report(finding.Finding{
				Subject: v.Device, Severity: finding.Info, Title: "made from a snapshot",
				Message:  fmt.Sprintf("%s was made from %s: whether it is loaded nobody has tried.", v.Device, v.Snapshot),
				Evidence: []finding.Evidence{{What: "snapshot", Found: v.Snapshot, Where: "EC2 API, DescribeVolumes"}},
				Commands: []string{"plimsoll check --probe " + text.ShellQuote("/dev/"+v.Device)},
			})
		}
	}
}

func touchFinding(t diagnose.Touch) finding.Finding {
	return finding.Finding{
		Subject: t.Device, Message: t.Sentence(), Evidence: t.Evidence(),
		Commands: []string{"plimsoll array warm " + text.ShellQuote("/dev/"+t.Device)},
	}
}
