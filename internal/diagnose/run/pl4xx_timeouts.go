package run

import (
	"fmt"

	"plimsoll/internal/text"
)

func timedOut(c *facts, report reporter) {
	for _, m := range c.Measured() {
		for _, e := range m.Timeouts {
			report(m.Finds("%s did not answer in time while this was measured.", e.Device).
				Saw("lines about "+e.Device, e.Count, "0", "dmesg").
				Saw("last", fmt.Sprintf("%.160s", e.Text), "", "dmesg").
				Run("dmesg --ctime | grep -F " + text.ShellQuote(e.Device)))
		}
	}
}
