package stats

import "math"

// Quotient is b over a with a 95 % interval, from the interval of each: relative half widths add in quadrature, as for any quotient of
// independent estimates (propagation of error to first order). N is the smaller of the two.
//
// It says how well each mean is known, not how much runs of one set-up differ: that takes rounds, and Compare.
func Quotient(a, b Estimate) Estimate {
	if a.Center <= 0 || b.Center <= 0 {
		return Estimate{Doubts: []string{"a ratio needs values above 0"}}
	}
	r := b.Center / a.Center
	half := r * math.Hypot(a.Rel(), b.Rel())
	e := Estimate{Center: r, Lo: r - half, Hi: r + half, N: min(a.N, b.N)}
	e.Doubts = append(append(e.Doubts, a.Doubts...), b.Doubts...)
	return e
}
