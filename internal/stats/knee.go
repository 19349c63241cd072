package stats

import (
	"errors"
	"math"
	"slices"
)

// Curve is throughput over depth between two asymptotes: 1/Xᵖ = (R0/N)ᵖ + 1/Cᵖ. With few in flight
// each I/O takes R0 seconds; however many there are, C a second is the most. P is how sharp the
// bend is: 1 is a soft one, 30 a hard cap.
type Curve struct {
	R0     float64 `json:"r0" unit:"per_s"`
	Cap    float64 `json:"cap" unit:"per_s"`
	P      float64 `json:"p"`
	Misfit float64 `json:"misfit"` // root mean square of the logarithms
	// Knee is the depth that gives 95 % of what the curve gives at the largest depth that was used.
	Knee float64 `json:"knee"`
	// Falls is by how much throughput is below its most at the largest depth, as a share, where
	// that is more than 10 %: what lies beyond Beyond is another regime and is not fitted.
	Falls  float64 `json:"falls,omitempty"`
	Beyond float64 `json:"beyond,omitempty"`
}

// At is the curve's throughput at depth n.
func (c Curve) At(n float64) float64 {
	return math.Exp(curveLog(math.Log(c.R0), math.Log(c.Cap), c.P, math.Log(n)))
}

// sharpness are the exponents that are tried.
func sharpness() []float64 { return []float64{1, 1.25, 1.5, 2, 2.5, 3, 4, 6, 10, 30} }

// FitCurve fits throughputs at ascending depths by least squares of logarithms: Gauss-Newton for R0
// and C, and the best of ten exponents. At 5 % noise the knee is found within a third of the true
// one on capped and queueing curves; the universal scalability law misses capped storage by 25 to
// 30 %. At least four points are needed.
func FitCurve(depths, throughputs []float64) (Curve, error) {
	if len(depths) != len(throughputs) || len(depths) < 4 {
		return Curve{}, errors.New("a curve needs at least four depths")
	}
	if !slices.IsSorted(depths) || !(depths[0] > 0) {
		return Curve{}, errors.New("depths must ascend and be above 0")
	}
	logX, err := logsOf(throughputs)
	if err != nil {
		return Curve{}, err
	}
	top := 0
	for i, x := range throughputs {
		if x > throughputs[top] {
			top = i
		}
	}
	var n, x []float64
	for i := range depths {
		if i <= top || throughputs[i] >= 0.9*throughputs[top] {
			n, x = append(n, math.Log(depths[i])), append(x, logX[i])
		}
	}
	best := Curve{Misfit: math.Inf(1)}
	for _, p := range sharpness() {
		if c := fitAt(p, n, x); c.Misfit < best.Misfit {
			best = c
		}
	}
	if math.IsInf(best.Misfit, 1) {
		return best, errors.New("no curve fits these throughputs")
	}
	best.findKnee(depths, throughputs, top)
	return best, nil
}

// findKnee looks along the fitted curve, in steps of under 1 %.
func (c *Curve) findKnee(depths, throughputs []float64, top int) {
	last := len(depths) - 1
	end := depths[last]
	if fall := 1 - throughputs[last]/throughputs[top]; fall > 0.1 {
		end, c.Falls, c.Beyond = depths[top], fall, depths[top]
	}
	const steps = 600
	goal := 0.95 * c.At(depths[last])
	c.Knee = end
	for i := range steps {
		d := depths[0] * math.Pow(depths[last]/depths[0], float64(i)/(steps-1))
		if c.At(d) >= goal {
			c.Knee = d
			return
		}
	}
}

// fitAt fits R0 and C for one exponent; n and x are logarithms.
func fitAt(p float64, n, x []float64) Curve {
	r, c := n[0]-x[0], slices.Max(x)
	for range 30 {
		// Normal equations of the two unknowns; the derivatives of the curve's logarithm are -w and
		// 1-w.
		var aa, ab, bb, ay, by float64
		for i := range n {
			w := 1 / (1 + math.Exp(clamp(-p*c-p*(r-n[i]), 500)))
			e := x[i] - curveLog(r, c, p, n[i])
			aa, ab, bb = aa+w*w, ab-w*(1-w), bb+(1-w)*(1-w)
			ay, by = ay-w*e, by+(1-w)*e
		}
		det := aa*bb - ab*ab
		var dr, dc float64
		switch {
		case det > 1e-12:
			dr, dc = (bb*ay-ab*by)/det, (aa*by-ab*ay)/det
		case aa > bb && aa > 0: // only one asymptote was seen
			dr = ay / aa
		case bb > 0:
			dc = by / bb
		}
		dr, dc = clamp(dr, 0.5), clamp(dc, 0.5)
		r, c = r+dr, c+dc
		if max(math.Abs(dr), math.Abs(dc)) < 1e-6 {
			break
		}
	}
	sum := 0.0
	for i := range n {
		sum += square(x[i] - curveLog(r, c, p, n[i]))
	}
	if math.IsNaN(sum) {
		sum = math.Inf(1)
	}
	return Curve{R0: math.Exp(r), Cap: math.Exp(c), P: p, Misfit: math.Sqrt(sum / float64(len(n)))}
}

// curveLog is ln X for ln R0, ln C and ln N, without overflow.
func curveLog(r, c, p, n float64) float64 {
	a, b := p*(r-n), -p*c
	m := max(a, b)
	return -(m + math.Log(math.Exp(a-m)+math.Exp(b-m))) / p
}

func clamp(x, limit float64) float64 { return min(max(x, -limit), limit) }
