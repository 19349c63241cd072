package stats

// Bounds is a figure that may be known in part: it is at least Least and at most Most, in the unit of
// whoever made it. How says what that follows from.
type Bounds struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	How   string  `json:"how,omitempty"`
}

// Judgement is what bounds say of a demand.
type Judgement int

// The judgements. What is known in part may decide nothing.
const (
	CannotTell Judgement = iota
	Met
	Missed
)

// Exact says that the figure is known.
func (b Bounds) Exact() bool { return b.Least == b.Most }

// Judge asks whether the figure fulfils a demand that is monotone, such as "below 1 %": it is met or
// missed where both ends say so.
func (b Bounds) Judge(holds func(float64) bool) Judgement {
	switch least, most := holds(b.Least), holds(b.Most); {
	case least && most:
		return Met
	case !least && !most:
		return Missed
	}
	return CannotTell
}

// Decisive is the end that is nearest to failing or to passing: of a demand that is met the worse one.
// Of a figure that is known both are it.
func (b Bounds) Decisive(holds func(float64) bool) float64 {
	if holds(b.Least) {
		return b.Most
	}
	return b.Least
}

// Print writes the figure by what prints one of its ends; end is the largest it can be at all, so that
// "0.6 to 1" of a share is "at least 0.6".
func (b Bounds) Print(one func(float64) string, end float64) string {
	switch least, most := one(b.Least), one(b.Most); {
	case least == most:
		return least
	case b.Most >= end:
		return "at least " + least
	case b.Least <= 0:
		return "at most " + most
	default:
		return least + " to " + most
	}
}

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
