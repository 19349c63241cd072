package report

import (
	"cmp"

	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	longName     = 80  // characters of a name outside a narrow table
	longSentence = 900 // of a sentence, which may quote names
	none         = text.None
)

// operations prints IOPS with their unit.
func operations(n units.IOPS) string { return n.String() + " IOPS" }

// doubt is the half width of an estimate's 95 % interval, "± 1.2 %", or why there is none: "no
// interval (2 s only)".
func doubt(e stats.Estimate) string {
	switch {
	case e.Center == 0:
		return ""
	case !e.HasInterval():
		return "no interval (" + cmp.Or(e.None, "one value") + ")"
	}
	return text.PlusMinus(e.Rel())
}
