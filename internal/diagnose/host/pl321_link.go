package host

import (
	"fmt"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func slowLink(c *facts, report reporter) {
	var f fault
	var names []string
	var have, want units.Rate
	for _, d := range drives(c) {
		if d.Link == nil {
			continue
		}
		if d.Link.Lanes >= d.Link.MaxLanes && d.Link.Speed >= d.Link.MaxSpeed { // as many, and as fast, as can be
			full := linkWords(d.Link.Lanes, d.Link.Speed)
			report(finding.Fine(d.Name, "PCIe link of %s has its full %s", d.Name, full))
			continue
		}
		names = append(names, d.Name)
		have, want = have+d.Link.Rate(), want+d.Link.MaxRate()
		f = f.Saw("link of "+d.Name, linkWords(d.Link.Lanes, d.Link.Speed), linkWords(d.Link.MaxLanes, d.Link.MaxSpeed),
			"/sys/block/"+d.Name+"/device/device/current_link_*")
	}
	if len(names) == 0 {
		return
	}
	f.Subject = strings.Join(names, ", ")
	f.Say("The PCIe link of %s carries %s of the %s that the drive can use.", names,
		have.SI(), want.SI())
	if len(names) > 1 {
		f.Say("The PCIe links of %s carry %s together, of the %s that the drives can use.",
			names, have.SI(), want.SI())
	}
	f.Commands = []string{"lspci -vv"}
	report(f)
}

func linkWords(lanes int, speed float64) string {
	return fmt.Sprintf("%s of %s GT/s", text.Plural(lanes, "lane"), units.Number(speed))
}
