// Package stats holds the statistics that plimsoll needs on series of measurements: intervals by
// batch means, change points, comparison of rounds. Every answer carries its doubt.
package stats

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/aclements/go-moremath/mathx"
	moremath "github.com/aclements/go-moremath/stats"
)

// Estimate is a number with its uncertainty: Center within [Lo, Hi] at 95 % confidence, from N
// independent batches.
type Estimate struct {
	Center float64 `json:"center"`
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
	N      int     `json:"n"`
	// None says in a few words why there is no interval: "one value", "2 s". Lo and Hi are then the
	// Center, and null in JSON.
	None string `json:"no_interval,omitempty"`
	// Doubts are printed wherever the number is.
	Doubts []string `json:"doubts,omitempty"`
}

// HasInterval says whether Lo and Hi mean anything: one value has no spread.
func (e Estimate) HasInterval() bool { return e.N >= 2 && e.None == "" }

// estimateJSON is an Estimate as it is written: what is not known is null, so that no reader takes it for
// a figure, or for certainty.
type estimateJSON struct {
	Center *float64 `json:"center"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	*plainEstimate
}

type plainEstimate Estimate

// MarshalJSON writes null for the center of an estimate of nothing, and for the bounds of one without an
// interval.
func (e Estimate) MarshalJSON() ([]byte, error) {
	out := estimateJSON{plainEstimate: (*plainEstimate)(&e)}
	if e.N > 0 || e.Center != 0 {
		out.Center = &e.Center
	}
	if e.HasInterval() {
		out.Lo, out.Hi = &e.Lo, &e.Hi
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote, and bounds of older files as they are.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	*e = Estimate{}
	in := estimateJSON{plainEstimate: (*plainEstimate)(e)}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	center := cmp.Or(in.Center, new(float64))
	e.Center, e.Lo, e.Hi = *center, *cmp.Or(in.Lo, center), *cmp.Or(in.Hi, center)
	return nil
}

// Rel is the half width of the interval as a share of the centre, 0 when there is none.
func (e Estimate) Rel() float64 {
	if e.Center == 0 || !e.HasInterval() {
		return 0
	}
	return (e.Hi - e.Lo) / 2 / e.Center
}

// manyDegrees is where Student's distribution is the normal one to four digits; beyond it
// moremath's continued fraction may not converge.
const manyDegrees = 5000

// tQuantile is the value below which a share p of Student's distribution with df degrees lies.
func tQuantile(p, df float64) float64 {
	if df > manyDegrees {
		return normal().InvCDF(p)
	}
	return moremath.InvCDF(moremath.TDist{V: df})(p)
}

// tTwoSided is the chance of a score at least as far from 0 as t.
func tTwoSided(t, df float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	if df > manyDegrees {
		return 2 * normal().CDF(-math.Abs(t))
	}
	// Iₓ(df/2, ½) is both tails together and does not lose small ones, as 1-CDF would.
	return mathx.BetaInc(df/(df+t*t), df/2, 0.5)
}

func normal() moremath.NormalDist { return moremath.NormalDist{Sigma: 1} }

// betaQuantile inverts the regularized incomplete beta function by bisection.
func betaQuantile(p, a, b float64) float64 {
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := (lo + hi) / 2
		if mathx.BetaInc(mid, a, b) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// variance is that of a sample, 0 for fewer than two values.
func variance(xs []float64) float64 {
	if len(xs) < 2 {
		return 0
	}
	return lagged(xs, mean(xs), 0) / float64(len(xs)-1)
}
