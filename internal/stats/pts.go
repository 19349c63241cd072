package stats

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/text"
)

// Window is the steady-state test of SNIA's Solid State Storage Performance Test Specification on
// the last rounds.
type Window struct {
	// Steady: the range is at most 20 % of the mean and the least-squares line changes by at most
	// 10 % of it.
	Steady bool
	// Settled: Steady, and the mean of the last five rounds is within 5 % of that of the five
	// before. The window alone passes on a slow decay.
	Settled bool
	Slope   float64 // of the line from end to end, as a share of the mean; negative when it falls
	Range   float64 // as a share of the mean
	Why     string  // says what is in the way
}

// windowRounds is SNIA's.
const windowRounds = 5

// WindowOf judges the last five of rounds. A volume that has not been written over yet passes it
// too: the caller must know how much was written.
func WindowOf(rounds []float64) Window {
	n := len(rounds)
	if n < windowRounds {
		return Window{Why: fmt.Sprintf("%d of %d rounds", n, windowRounds)}
	}
	last := rounds[n-windowRounds:]
	if _, err := logsOf(last); err != nil {
		return Window{Why: err.Error()}
	}
	m := mean(last)
	w := Window{Slope: drift(last) / m, Range: (slices.Max(last) - slices.Min(last)) / m}
	w.Steady = w.Range <= 0.20 && math.Abs(w.Slope) <= 0.10
	switch {
	case !w.Steady:
		w.Why = fmt.Sprintf("range %s, slope %s over five rounds", text.Percent(w.Range), text.Change(w.Slope))
	case n < 2*windowRounds:
		w.Why = fmt.Sprintf("%d of %d rounds", n, 2*windowRounds)
	default:
		before := mean(rounds[n-2*windowRounds : n-windowRounds])
		change := m/before - 1
		w.Settled = math.Abs(change) <= 0.05
		switch {
		case change < -0.05:
			w.Why = fmt.Sprintf("still falling, by %s in five rounds", text.Percent(-change))
		case change > 0.05:
			w.Why = fmt.Sprintf("still rising, by %s in five rounds", text.Percent(change))
		}
	}
	return w
}
