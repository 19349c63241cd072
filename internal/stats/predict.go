package stats

import (
	"fmt"
	"math"
)

// LeastBaseline is the fewest earlier runs that a new one is judged by.
const LeastBaseline = 5

// baselineConfidence: a gate that cries once in twenty runs is switched off.
const baselineConfidence = 0.99

// Expected is what a new run's figure should be, given earlier ones.
type Expected struct {
	// Level is the geometric mean of the earlier runs; Lo and Hi bound what a new run should be, at
	// 99 %.
	Level Estimate `json:"level"`
	// LeastSeen is about the least fall that would have been seen in four of five cases, as a
	// share: 0.22 is 22 %. It is +Inf when there are too few runs.
	LeastSeen float64 `json:"least_seen"`
	// TooFew is "too few runs to judge (3 of 5)", or empty.
	TooFew string `json:"too_few,omitempty"`
}

// Outside says whether a new figure is below or above what was expected: -1, 0, 1. With too few
// runs it is 0.
func (e Expected) Outside(x float64) int {
	switch {
	case e.TooFew != "":
	case x < e.Level.Lo:
		return -1
	case x > e.Level.Hi:
		return 1
	}
	return 0
}

// Expect predicts the figure of a new run, the geometric mean of its rounds, from those of earlier
// runs: the t prediction interval on logarithms. Earlier figures are of runs, too, and differ by what
// differs from run to run and from round to round; so does the new one. Where it has fewer rounds,
// fewer says how many times as many the earlier runs had (1 for as many), and its variance is taken to
// be as many times larger, as if all of it were between rounds. A rank test could not speak before 39
// runs. The interval reaches at least floor to either side (0.03, or the new run's own half width):
// runs that agree by chance make no alarm.
func Expect(earlier []float64, fewer, floor float64) (Expected, error) {
	logs, err := logsOf(earlier)
	if err != nil {
		return Expected{}, err
	}
	e := Expected{LeastSeen: math.Inf(1)}
	if len(logs) < LeastBaseline {
		e.Level, err = Level(earlier)
		e.TooFew = fmt.Sprintf("too few runs to judge (%d of %d)", len(logs), LeastBaseline)
		return e, err
	}
	n := float64(len(logs))
	se := math.Sqrt(variance(logs)) * math.Sqrt(1/n+max(1, fewer))
	half := max(tQuantile(1-(1-baselineConfidence)/2, n-1)*se, math.Log1p(floor))
	m := mean(logs)
	e.Level = Estimate{Center: math.Exp(m), Lo: math.Exp(m - half), Hi: math.Exp(m + half), N: len(logs)}
	e.LeastSeen = -math.Expm1(-(half + tQuantile(power, n-1)*se))
	return e, nil
}
