package plans

import (
	"fmt"
	"strings"

	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// SeenLines say what each direction of each device did.
func SeenLines(all []workload.Seen) []string {
	var lines text.Lines
	for _, s := range all {
		verb := map[bool]string{true: "reads", false: "writes"}[s.Read]
		line := fmt.Sprintf("%s %s: %v IOPS, %v on average, I/Os of %v", text.Clean(s.Device, words.LongName), verb,
			s.Mean.IOPS, s.Mean.Rate, s.Block)
		if s.Wait > 0 {
			line += fmt.Sprintf(", %v each, %s in flight on average", s.Wait, units.Number(s.InFlight))
		}
		if s.Depth >= 1 {
			line += fmt.Sprintf(", up to %s at once", units.Number(s.Depth))
		}
		lines = append(lines, line+".")
		var most text.Lines
		for _, w := range s.Largest {
			most.Say("%v IOPS and %v over %s", w.Load.IOPS, w.Load.Rate, text.Duration(w.Len))
		}
		if len(most) > 0 {
			lines.Say("  99 of 100 intervals stay below %v IOPS and %v; at most %s.", s.P99.IOPS,
				s.P99.Rate, strings.Join(most, ", "))
		}
		if s.Burst != nil {
			lines.Say("  Bursts of %s every %s: %v in them, %v between.", text.Duration(s.Burst.For),
				text.Duration(s.Burst.Every), s.Top.Rate, s.Base.Rate)
		}
		if s.Full > 0.01 {
			lines.Say("  At its largest rate with a long queue for %s of the time.", text.Percent(s.Full))
		}
	}
	return lines
}
