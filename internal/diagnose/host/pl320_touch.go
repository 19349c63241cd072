package host

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

func notLoaded(c *diagnose.Case, report diagnose.Report) {
	tried := map[string]bool{}
	for _, t := range c.Touches {
		tried[t.Device] = true
		if t.Claimed && t.File == "" {
			report(touchFinding(t))
		}
	}
	fromSnapshots(c, tried, report)
}

// fromSnapshots tells of volumes that were made from a snapshot, and that nobody has tried.
func fromSnapshots(c *diagnose.Case, tried map[string]bool, report diagnose.Report) {
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
	return finding.New(t.Device, "%s", t.Sentence()).
		Shown(t.Evidence()).
		Run("plimsoll array warm " + text.ShellQuote("/dev/"+t.Device))
}
