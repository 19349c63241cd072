package host

import (
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

func notLoaded(c *facts, report reporter) {
	tried := map[string]bool{}
	for _, t := range c.Touches {
		tried[t.Device] = true
		if t.Claimed && t.File == "" {
			report(t.Shown(finding.New(t.Device, "%s", t.Sentence())).
				Run("plimsoll array warm " + text.ShellQuote("/dev/"+t.Device)))
		}
	}
	// Volumes that were made from a snapshot, and that nobody has tried.
	for _, a := range c.Arrays() {
		for _, v := range a.Volumes {
			if v.Snapshot == "" || tried[v.Device] {
				continue
			}
			report(finding.New(v.Device, "%s was made from %s, and may not be loaded yet.", v.Device,
				v.Snapshot).As(finding.Info).
				Titled("made from a snapshot").
				Saw("snapshot", v.Snapshot, "", "EC2 API, DescribeVolumes").
				Run("plimsoll check --probe " + text.ShellQuote("/dev/"+v.Device)))
		}
	}
}
