package stats

import (
	"math"

	"github.com/aclements/go-moremath/mathx"
	moremath "github.com/aclements/go-moremath/stats"
)

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
