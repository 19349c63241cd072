package stats

import "math"

// rhos are the lag-1 autocorrelations between which noise is not decided.
func rhos() [5]float64 { return [...]float64{0, 0.15, 0.3, 0.5, 0.7} }

// memoryOf is how many times the correlation makes the variance of a mean of many larger.
func memoryOf(rho float64) float64 { return (1 + rho) / (1 - rho) }

// scatter is how values differ around levels, for each of rhos.
type scatter struct {
	squares [5]float64 // of residuals, as if they were independent
	log     [5]float64 // what the likelihood has besides them
	df      float64
}

// change is what a level has.
type change int

const (
	flat change = iota
	step
	ramp
)

// fitted is a level and a change by generalized least squares, for one of rhos.
type fitted struct {
	size, each   float64 // of the change, and its standard error where the noise's deviation is 1
	squares, log float64
}

// fit fits a level and a change that begins with the run of[k]. Runs that are left out between two make these
// depend less on each other.
func (t *Track) fit(of []int, k int, c change) (fits [5]fitted) {
	if len(of) == 0 {
		return fits
	}
	middle := mean(t.of(of))
	for i, rho := range rhos() {
		var oo, oy, oz, zz, zy, yy, y0, z0 float64
		whitened := 1.0
		for j, at := range of {
			y, z, o := t.xs[at]-middle, 0.0, 1.0
			switch {
			case j < k || c == flat:
			case c == step:
				z = 1
			default:
				z = float64(at - of[k] + 1)
			}
			uy, uz := y, z
			if j > 0 {
				r := rho
				for range at - of[j-1] - 1 {
					r *= rho
				}
				w := 1 / math.Sqrt(1-r*r)
				uy, uz, o = (y-r*y0)*w, (z-r*z0)*w, (1-r)*w
				whitened *= w
			}
			oo, oy, oz = oo+o*o, oy+o*uy, oz+o*uz
			zz, zy, yy = zz+uz*uz, zy+uz*uy, yy+uy*uy
			y0, z0 = y, z
		}
		f := fitted{squares: yy - oy*oy/oo, log: math.Log(whitened) - math.Log(oo)/2}
		if c != flat {
			zz, zy = zz-oz*oz/oo, zy-oz*oy/oo
			f.size, f.each = zy/zz, 1/math.Sqrt(zz)
			f.squares, f.log = f.squares-f.size*zy, f.log-math.Log(zz)/2
		}
		f.squares = max(0, f.squares)
		fits[i] = f
	}
	return fits
}

// add counts the runs of a fit of so many parameters.
func (n *scatter) add(fits [5]fitted, runs, parameters int) {
	if runs <= parameters {
		return
	}
	for i, f := range fits {
		n.squares[i] += f.squares
		n.log[i] += f.log
	}
	n.df += float64(runs - parameters)
}

// weights are how likely each of rhos is, which sum to 1.
func (n scatter) weights() (w [5]float64) {
	most, sum := math.Inf(-1), 0.0
	for i := range w {
		w[i] = n.log[i] - n.df/2*math.Log(n.squares[i]+1e-18)
		most = max(most, w[i])
	}
	for i := range w {
		w[i] = math.Exp(w[i] - most)
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// sd is the standard deviation of values around their level.
func (n scatter) sd() float64 {
	sum := 0.0
	for i, w := range n.weights() {
		sum += w * n.squares[i] / n.df
	}
	return math.Sqrt(sum)
}

// blend is the mean of what each of rhos says, and its standard error: theirs, and how they differ.
func (n scatter) blend(of func(i int, rho, sd float64) (value, se float64)) (value, se float64) {
	var values, variances [5]float64
	weights := n.weights()
	for i, rho := range rhos() {
		v, e := of(i, rho, math.Sqrt(n.squares[i]/n.df))
		values[i], variances[i] = v, e*e
		value += weights[i] * v
	}
	sum := 0.0
	for i, w := range weights {
		sum += w * (variances[i] + square(values[i]-value))
	}
	return value, math.Sqrt(sum)
}
