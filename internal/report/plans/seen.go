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
		verb := text.Either(s.Read, "reads", "writes")
		wait := fmt.Sprintf(", %v each, %s in flight on average", s.Wait, units.Number(s.InFlight))
		lines.Say("%s %s: %v IOPS, %v on average, I/Os of %v%s%s.", text.Clean(s.Device, words.LongName), verb,
			s.Mean.IOPS, s.Mean.Rate, s.Block, words.When(s.Wait > 0, wait),
			words.When(s.Depth >= 1, ", up to "+units.Number(s.Depth)+" at once"))
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
			lines.Say("  It ran at its highest rate, with a long queue, for %s of the time.", text.Percent(s.Full))
		}
	}
	return lines
}
