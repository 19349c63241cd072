package stats

// The errors that ShareBelow allows: to say that a share is below its limit where it is not is worse than
// the other way round.
const (
	wronglyBelow = 0.01
	wronglyAbove = 0.025
)

// ShareBelow judges by n independent samples, of which a share was seen that b bounds, whether that of the
// whole population is below a limit: by Clopper and Pearson's exact limits (Biometrika 26, 1934). A
// percentile is such a share: p99 is below 10 ms where less than 1 % of all are above it.
func ShareBelow(b Bounds, n, limit float64) Judgement {
	switch {
	case n <= 0:
		return CannotTell
	case upperShare(b.Most*n, n) < limit:
		return Met
	case b.Least > 0 && betaQuantile(wronglyAbove, max(b.Least*n, 1e-9), n-b.Least*n+1) > limit:
		return Missed
	}
	return CannotTell
}

// upperShare is the largest share that k of n do not refute.
func upperShare(k, n float64) float64 { return betaQuantile(1-wronglyBelow, k+1, max(n-k, 1e-9)) }

// SamplesFor is how many samples would say that a share is below a limit if as large a part of them were
// above it as now; 0 where no number would.
func SamplesFor(share, limit float64) float64 {
	if share >= limit {
		return 0
	}
	n := 1.0
	for n < 1<<40 && upperShare(share*n, n) >= limit {
		n *= 2
	}
	lo, hi := n/2, n
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; upperShare(share*mid, mid) < limit {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// QuantileShares are the shares of n ascending samples between which the quantile q of all lies with 95 %.
func QuantileShares(q, n float64) (lo, hi float64) {
	below, above := shareLimits(1-q, n)
	return 1 - above, 1 - below
}
