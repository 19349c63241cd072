package stats

import "math"

// Order is what rounds say of themselves that were measured one side after the other: a trend that both
// sides share, and how a round depends on the one before it.
type Order struct {
	// Slope is the change from round to round, as a share, and Explains says that it may be what
	// makes the sides differ: it has the sign of the change, and what is left of the change where
	// one side follows the other is not certain.
	Slope    float64
	Explains bool
	// Memory is how many times the variance of a mean is larger than that of independent rounds.
	Memory float64
}

// leastOrdered rounds per side have a trend that can be distinguished from their spread.
const leastOrdered = 3

// The least trend, in its standard errors, that may explain a change; and the correlation of neighbouring
// rounds that is believed at most.
const (
	leastTrend     = 0.5
	mostCorrelated = 0.9
)

// OrderOf looks at the rounds of two sides in the order in which they were measured, a before b. Values
// must be above 0.
func OrderOf(a, b []float64) Order {
	la, err1 := logsOf(a)
	lb, err2 := logsOf(b)
	o := Order{Memory: 1}
	df := float64(len(a) + len(b) - 3)
	if err1 != nil || err2 != nil || min(len(a), len(b)) < leastOrdered {
		return o
	}
	// One slope within both sides, by least squares.
	var xy, xx float64
	for _, side := range [][]float64{la, lb} {
		m, middle := mean(side), float64(len(side)-1)/2
		for i, y := range side {
			xy, xx = xy+(float64(i)-middle)*(y-m), xx+square(float64(i)-middle)
		}
	}
	slope := xy / xx
	var squares, products float64
	for _, side := range [][]float64{la, lb} {
		m, middle, before := mean(side), float64(len(side)-1)/2, 0.0
		for i, y := range side {
			e := y - m - slope*(float64(i)-middle)
			squares += e * e
			if i > 0 {
				products += e * before
			}
			before = e
		}
	}
	if squares == 0 {
		return o
	}
	// The correlation r of what a fit of a level and a slope to n values leaves is 2/n and some 2r/n
	// too low.
	n := float64(len(a)+len(b)) / 2
	if r := min(mostCorrelated, (products/squares+2/n)*(1+2/n)); r > 0 {
		o.Memory = memoryOf(r)
	}
	sd := math.Sqrt(squares / df * o.Memory)
	o.Slope = math.Expm1(slope)
	change := mean(lb) - mean(la)
	apart := n // rounds between the middles of the sides
	jump := change - slope*apart
	se := sd * math.Sqrt(1/float64(len(a))+1/float64(len(b))+square(apart)/xx)
	o.Explains = slope*change > 0 && math.Abs(slope) > leastTrend*sd/math.Sqrt(xx) &&
		(jump*change <= 0 || tTwoSided(jump/se, df) >= 1-confidence)
	return o
}

// Widen makes the interval and P those of rounds that depend on each other: with as many times the variance.
func (c *Comparison) Widen(memory float64) {
	if c.Method == NoTest || memory <= 1 {
		return
	}
	p := c.P
	c.SE *= math.Sqrt(memory)
	ratio := c.Ratio
	c.student(math.Log(ratio.Center), ratio.N, WelchT)
	c.P = max(p, c.P)
	c.Ratio.Lo, c.Ratio.Hi = min(ratio.Lo, math.Exp(c.Ratio.Lo)), max(ratio.Hi, math.Exp(c.Ratio.Hi))
	c.Ratio.Center = ratio.Center
}
