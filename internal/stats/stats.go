// Package stats holds the statistics that plimsoll needs on series of measurements: intervals by batch means, change
// points, comparison of rounds. Every answer carries its doubt.
package stats

// Estimate is a number with its uncertainty: Center within [Lo, Hi] at 95 % confidence, from N independent batches.
type Estimate struct {
	Center float64 `json:"center"`
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
	N      int     `json:"n"`
	// Doubts are printed wherever the number is.
	Doubts []string `json:"doubts,omitempty"`
}

// Rel is the half width of the interval as a share of the centre, 0 when there is none.
func (e Estimate) Rel() float64 {
	if e.Center == 0 || e.N < 2 {
		return 0
	}
	return (e.Hi - e.Lo) / 2 / e.Center
}
