package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Method is how two groups of rounds were compared.
type Method string

// The methods of CompareRounds.
const (
	NoTest     Method = "" // one round on a side, or nothing varies: there is no test
	WelchT     Method = "Welch's t on logarithms"
	PairedT    Method = "paired t on logarithms"
	RankSum    Method = "U test"
	SignedRank Method = "signed rank test"
)

// Design says how rounds were made and how many figures are tested together.
type Design struct {
	// Paired: a[i] and b[i] were measured next to each other, in random order.
	Paired bool
	// Figures are tested together, and Holm will correct for them: at least 1. A rank test is used
	// only where it could still make a claim after that.
	Figures int
}

// Comparison is the change of a figure from one group of rounds to another.
type Comparison struct {
	// Ratio is b/a with its 95 % interval, not corrected for other figures; N is the rounds of the
	// smaller side, or the pairs. There is no interval when N < 2.
	Ratio  Estimate `json:"ratio"`
	Method Method   `json:"method,omitempty"`
	// P is the chance of rounds this different when nothing changed, 1 without a test.
	P float64 `json:"p"`
	// Spread is the standard deviation of the logarithms of one side's rounds, or of pairs'
	// differences: 0.03 is 3 %.
	Spread float64 `json:"spread"`
	// SE and DF are the standard error of the ratio's logarithm and its degrees of freedom.
	SE float64 `json:"se,omitempty"`
	DF float64 `json:"df,omitempty"`
	// Paired repeats the design.
	Paired bool `json:"paired,omitempty"`
}

const (
	// rankFrom: below seven rounds per side the rank tests lose to the t test on clean and on dirty
	// data alike.
	rankFrom = 7
	// leastRoom is the least p, after Holm, that a rank test must be able to reach to be used.
	leastRoom = 0.025
	// mostExact bounds exact rank distributions; beyond it the t test is used, which is as good
	// there.
	mostExact = 50
)

// CompareRounds compares a figure that was measured once a round on two sides, on logarithms:
// changes multiply, and the spread of rounds is a share of their level. Values must be above 0 and
// finite; the error says which is not.
//
// Pairs: Student's t of the differences; Wilcoxon's signed rank with the interval from Walsh
// averages where it has room below Holm. No pairs: Welch's t; from seven rounds per side on the U
// test with the Hodges-Lehmann interval. One round on a side has no test and never will: P is 1 and
// Ratio has no interval.
func CompareRounds(a, b []float64, d Design) (c Comparison, err error) {
	if len(a) == 0 || len(b) == 0 {
		return c, errors.New("no rounds to compare")
	}
	if d.Paired && len(a) != len(b) {
		return c, fmt.Errorf("%d and %d rounds are not pairs", len(a), len(b))
	}
	la, err := logsOf(a)
	if err != nil {
		return c, err
	}
	lb, err := logsOf(b)
	if err != nil {
		return c, err
	}
	c.P, c.Paired = 1, d.Paired
	if d.Paired {
		c.pairs(la, lb, max(1, d.Figures))
	} else {
		c.groups(la, lb, max(1, d.Figures))
	}
	c.Ratio.Center, c.Ratio.Lo, c.Ratio.Hi = math.Exp(c.Ratio.Center), math.Exp(c.Ratio.Lo), math.Exp(c.Ratio.Hi)
	return c, nil
}

// pairs fills in c from logarithms of pairs.
func (c *Comparison) pairs(a, b []float64, figures int) {
	diffs := make([]float64, len(a))
	for i := range a {
		diffs[i] = b[i] - a[i]
	}
	n := float64(len(diffs))
	c.Spread = math.Sqrt(variance(diffs))
	c.SE, c.DF = c.Spread/math.Sqrt(n), n-1
	c.student(mean(diffs), len(diffs), PairedT)
	if c.Method == PairedT && len(diffs) <= mostExact && float64(figures)*math.Exp2(1-n) <= leastRoom {
		c.Method = SignedRank
		c.P, c.Ratio = signedRank(diffs)
	}
}

// groups fills in c from logarithms of rounds that are not pairs.
func (c *Comparison) groups(a, b []float64, figures int) {
	na, nb := float64(len(a)), float64(len(b))
	va, vb := variance(a), variance(b)
	if na+nb > 2 {
		c.Spread = math.Sqrt(((na-1)*va + (nb-1)*vb) / (na + nb - 2))
	}
	least := min(len(a), len(b))
	if least < 2 {
		center := mean(b) - mean(a)
		c.Ratio = Estimate{Center: center, Lo: center, Hi: center, N: least}
		return
	}
	c.SE = math.Sqrt(va/na + vb/nb)
	c.DF = square(va/na+vb/nb) / (square(va/na)/(na-1) + square(vb/nb)/(nb-1))
	c.student(mean(b)-mean(a), least, WelchT)
	if c.Method == WelchT && least >= rankFrom && max(len(a), len(b)) <= mostExact &&
		float64(figures)*leastRankSum(len(a), len(b)) <= leastRoom {
		c.Method = RankSum
		c.P, c.Ratio = rankSum(a, b)
	}
}

// student fills in the interval and P of a difference of logarithms with standard error SE and DF
// degrees.
func (c *Comparison) student(center float64, n int, m Method) {
	c.Ratio = Estimate{Center: center, Lo: center, Hi: center, N: n}
	if n < 2 {
		return
	}
	if !(c.SE > 1e-12) { // copied figures: no spread, so nothing to test by
		c.SE, c.DF = 0, 0
		c.Ratio.N, c.Ratio.Doubts = 1, []string{"the rounds do not vary at all: are they copies of one?"}
		return
	}
	half := tQuantile(upper, c.DF) * c.SE
	c.Ratio.Lo, c.Ratio.Hi = center-half, center+half
	c.Method, c.P = m, tTwoSided(center/c.SE, c.DF)
}

func square(x float64) float64 { return x * x }

// logsOf takes logarithms; a value that has none is an error, as a stalled round is no measurement.
func logsOf(xs []float64) ([]float64, error) {
	logs := make([]float64, len(xs))
	for i, x := range xs {
		if !(x > 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("round %d: %v cannot be compared: a figure must be above 0", i+1, x)
		}
		logs[i] = math.Log(x)
	}
	return logs, nil
}

// Level is the geometric mean of rounds with its 95 % interval by Student's t on logarithms. With
// fewer than two rounds there is no interval, and Lo and Hi are the Center. Values must be above 0.
func Level(rounds []float64) (Estimate, error) {
	logs, err := logsOf(rounds)
	if err != nil || len(logs) == 0 {
		return Estimate{Doubts: []string{"no values"}}, err
	}
	m, half := mean(logs), 0.0
	if n := float64(len(logs)); n > 1 {
		half = tQuantile(upper, n-1) * math.Sqrt(variance(logs)/n)
	}
	return Estimate{Center: math.Exp(m), Lo: math.Exp(m - half), Hi: math.Exp(m + half), N: len(logs)}, nil
}

// Together is the geometric mean over scenarios in each round: rounds[s][r] is scenario s in round
// r. All scenarios must have the same number of rounds.
func Together(rounds [][]float64) ([]float64, error) {
	if len(rounds) == 0 {
		return nil, errors.New("no scenarios")
	}
	sums := make([]float64, len(rounds[0]))
	for s, of := range rounds {
		if len(of) != len(sums) {
			return nil, fmt.Errorf("scenario %d has %d rounds, the first has %d", s+1, len(of), len(sums))
		}
		logs, err := logsOf(of)
		if err != nil {
			return nil, err
		}
		for r, y := range logs {
			sums[r] += y / float64(len(rounds))
		}
	}
	for r := range sums {
		sums[r] = math.Exp(sums[r])
	}
	return sums, nil
}

// Holm corrects the p values of figures that are tested together, so that the chance of any false
// claim among them stays below the level of one (Holm, Scandinavian Journal of Statistics 6, 1979).
// The order is kept.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(ps[i], ps[j]) })
	out, most := make([]float64, len(ps)), 0.0
	for rank, i := range order {
		most = max(most, min(1, ps[i]*float64(len(ps)-rank)))
		out[i] = most
	}
	return out
}

// Answer is what may be claimed of a change.
type Answer string

// The answers. Unknown is not "no difference": it is "this was too little to see one".
const (
	More    Answer = "more"
	Less    Answer = "less"
	Same    Answer = "same"
	Unknown Answer = "unknown"
)

// Answer says what c shows, given its p after Holm and the margin below which a change does not
// matter (0.03 is 3 %). within is set when the whole interval lies inside the margin; with More or
// Less both hold.
func (c Comparison) Answer(pHolm, margin float64) (answer Answer, within bool) {
	if c.Method == NoTest {
		return Unknown, false
	}
	lo, hi, m := math.Log(c.Ratio.Lo), math.Log(c.Ratio.Hi), math.Log1p(margin)
	within = -m < lo && hi < m
	switch {
	case pHolm < 1-confidence && lo > 0:
		return More, within
	case pHolm < 1-confidence && hi < 0:
		return Less, within
	case within:
		return Same, true
	}
	return Unknown, false
}
