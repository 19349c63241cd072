package compare

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// LayoutResult is how one layout stands among those that were built, measured and taken down in turn.
type LayoutResult struct {
	Name string `json:"name"`
	// Words counts what its scenarios are against the base's.
	Words map[Word]int `json:"words,omitempty"`
	// Best are the scenarios in which its figure is the best one and surely better than the base's.
	Best []string `json:"best_in,omitempty"`
	// Slow are its members that were slower than their peers, with the build in which they were.
	Slow []string `json:"slow_members,omitempty"`
}

// Unforeseen is a difference between two layouts that was measured and that the model does not have.
type Unforeseen struct {
	Scenario  string  `json:"scenario"`
	Layout    string  `json:"layout"`
	Predicted float64 `json:"predicted_ratio"`
	Measured  float64 `json:"measured_ratio"`
}

// LayoutYAML is the plimsoll.yaml of a layout that was measured in dir.
func LayoutYAML(dir, layout string) ([]byte, error) {
	ab, found, err := ReadAB(dir)
	if err != nil {
		return nil, err
	}
	if !found || !ab.Layouts || !slices.Contains(ab.Variants, layout) {
		return nil, fmt.Errorf("%s: no layout %.40q was measured there", dir, layout)
	}
	return sys.ReadFile(filepath.Join(dir, layout+".yaml"), sys.ConfigLimit)
}

// stand fills in how layouts stand, after the changes are known.
func (t *Table) stand() {
	for k := range t.Sides {
		s := LayoutResult{Name: t.Sides[k].Name, Words: map[Word]int{}}
		for i := range t.Rows {
			r := &t.Rows[i]
			c := &r.Cells[k]
			for _, x := range c.all {
				for _, f := range x.Run.Findings {
					if f.Code == "PL204" {
						s.Slow = text.Once(s.Slow, fmt.Sprintf("build %d: %s", x.Round, f.Title))
					}
				}
			}
			if c.Change == nil {
				continue
			}
			s.Words[c.Change.Word]++
			if c.Change.Word == Faster && t.bestOf(r) == k {
				s.Best = append(s.Best, r.Name)
			}
			predicted, known := t.foreseen(r, k)
			measured := c.Change.Ratio.Center
			if !known || c.Change.Word != Faster && c.Change.Word != Slower {
				continue
			}
			if gap := math.Abs(
				math.Log(measured / predicted),
			); gap > t.Margin &&
				(math.Abs(math.Log(predicted)) < ceiling.Alike ||
					(predicted > 1) != (measured > 1)) {
				t.Unforeseen = append(t.Unforeseen, Unforeseen{r.Name, s.Name, predicted, measured})
			}
		}
		t.Standings = append(t.Standings, s)
	}
}

// bestOf is the side with the best figure of a row.
func (t *Table) bestOf(r *Row) int {
	best := t.Base
	for k := range r.Cells {
		c, b := r.Cells[k].Figure.Center, r.Cells[best].Figure.Center
		if r.Cells[k].measured() && (c > b) != r.Figure.Lower && c != b {
			best = k
		}
	}
	return best
}

// foreseen is what the ceilings of a side and of the base say of their ratio.
func (t *Table) foreseen(r *Row, side int) (ratio float64, known bool) {
	a, b := r.Cells[t.Base].samples, r.Cells[side].samples
	if len(a) == 0 || len(b) == 0 || a[0].Scenario.Ceiling == nil || b[0].Scenario.Ceiling == nil || r.Figure.Lower {
		return 1, false
	}
	return b[0].Scenario.Ceiling.Against(*a[0].Scenario.Ceiling)
}
