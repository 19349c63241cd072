package page

import (
	"math"
	"slices"
)

// Scatter is a plot of numbered points that needs no script: what a choice gives to the right, what
// it costs upwards on a logarithmic axis.
type Scatter struct {
	Xs, Ys   []Tick // the axes
	Mark     float64
	MarkName string
	Across   string // names of the axes
	Up       string
	Points   []Point
}

// Tick is a place on an axis. Places are shares: 0 for the left or the bottom, 1 for the right or
// the top.
type Tick struct {
	At    float64
	Label string
}

// Point is one choice. Group gives its colour: read, write or trim.
type Point struct {
	X, Y  float64
	N     int
	Label string
	Group string
}

// The plot's place in its drawing.
const (
	plotLeft, plotRight = 70.0, 700.0
	plotTop, plotBottom = 20.0, 300.0
)

// X and Y are a share's place in the drawing.
func (Scatter) X(share float64) float64 { return plotLeft + (plotRight-plotLeft)*share }

// Y is a share's place in the drawing, 0 at the bottom.
func (Scatter) Y(share float64) float64 { return plotBottom - (plotBottom-plotTop)*share }

// Behind are the points, the first last: it is drawn on top.
func (s Scatter) Behind() []Point {
	points := slices.Clone(s.Points)
	slices.SortStableFunc(points, func(a, b Point) int { return b.N - a.N })
	return points
}

// RoundSteps are round values on a logarithmic axis from low to high, at most about six: 50, 100,
// 200, 500; within one decade they lie closer: 350, 400, 500.
func RoundSteps(low, high float64) []float64 {
	var all []float64
	for _, steps := range [][]float64{
		{1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9}, {1, 1.5, 2, 3, 4, 5, 7}, {1, 2, 5}, {1, 3}, {1},
	} {
		all = nil
		for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high; decade *= 10 {
			for _, f := range steps {
				if v := decade * f; v >= low && v <= high {
					all = append(all, v)
				}
			}
		}
		if len(all) <= 6 {
			break
		}
	}
	return all
}
