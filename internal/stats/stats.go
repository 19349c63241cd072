// Package stats holds the statistics that plimsoll needs on series of measurements: intervals by
// batch means, change points, comparison of rounds. Every answer carries its doubt.
package stats

import (
	"cmp"
	"encoding/json"
)

// Estimate is a number with its uncertainty: Center within [Lo, Hi] at 95 % confidence, from N
// independent batches.
type Estimate struct {
	Center float64 `json:"center"`
	Lo     float64 `json:"lo"`
	Hi     float64 `json:"hi"`
	N      int     `json:"n"`
	// None says in a few words why there is no interval: "one value", "2 s". Lo and Hi are then the
	// Center, and null in JSON.
	None string `json:"no_interval,omitempty"`
	// Doubts are printed wherever the number is.
	Doubts []string `json:"doubts,omitempty"`
}

// HasInterval says whether Lo and Hi mean anything: one value has no spread.
func (e Estimate) HasInterval() bool { return e.N >= 2 && e.None == "" }

// estimateJSON is an Estimate as it is written: what is not known is null, so that no reader takes it for
// a figure, or for certainty.
type estimateJSON struct {
	Center *float64 `json:"center"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	N      int      `json:"n"`
	None   string   `json:"no_interval,omitempty"`
	Doubts []string `json:"doubts,omitempty"`
}

// MarshalJSON writes null for the center of an estimate of nothing, and for the bounds of one without an
// interval.
func (e Estimate) MarshalJSON() ([]byte, error) {
	out := estimateJSON{N: e.N, None: e.None, Doubts: e.Doubts}
	if e.N > 0 || e.Center != 0 {
		out.Center = &e.Center
	}
	if e.HasInterval() {
		out.Lo, out.Hi = &e.Lo, &e.Hi
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote, and bounds of older files as they are.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var in estimateJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	center := cmp.Or(in.Center, new(float64))
	*e = Estimate{
		Center: *center,
		Lo:     *cmp.Or(in.Lo, center),
		Hi:     *cmp.Or(in.Hi, center),
		N:      in.N,
		None:   in.None,
		Doubts: in.Doubts,
	}
	return nil
}

// Rel is the half width of the interval as a share of the centre, 0 when there is none.
func (e Estimate) Rel() float64 {
	if e.Center == 0 || !e.HasInterval() {
		return 0
	}
	return (e.Hi - e.Lo) / 2 / e.Center
}
