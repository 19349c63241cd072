package compare

import (
	"fmt"

	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// Gate says what makes a comparison fail.
type Gate struct {
	Regression bool
	// By is the loss that must be certain, as a share; 0 for any that has the word slower.
	By float64
	// CannotTell fails where the loss cannot be excluded either: a gate that could not have seen it
	// says so.
	CannotTell bool
}

// Fails lists what does not pass the gate, a sentence each.
func (t *Table) Fails(g Gate) []string {
	var reasons []string
	for i := range t.Rows {
		r := &t.Rows[i]
		for k := range r.Cells {
			c := &r.Cells[k]
			name := r.Name + " in " + t.Sides[k].Name
			switch {
			case k == t.Base || !g.Regression && !g.CannotTell:
			case c.Change == nil && g.CannotTell:
				reasons = append(reasons, name+" has no valid figure to compare")
			case c.Change == nil:
			case g.Regression && c.Change.regressed(g.By, r.Figure.Lower):
				reasons = append(reasons, fmt.Sprintf("%s is slower: %s %s", name,
					text.Change(c.Change.Ratio.Center-1), text.Between(c.Change.Ratio.Lo-1, c.Change.Ratio.Hi-1)))
			case g.CannotTell && c.Change.mayHaveLost(g.By, t.Margin, r.Figure.Lower):
				reasons = append(reasons, name+" may be slower: these rounds cannot tell")
			}
		}
	}
	return reasons
}

// regressed says that the figure is worse, and by at least a share where one is given.
func (c *Change) regressed(by float64, lower bool) bool {
	if c.Word != Slower {
		return false
	}
	if lower {
		return c.Ratio.Lo >= 1+by
	}
	return c.Ratio.Hi <= 1-by
}

// mayHaveLost says that a loss of the size is not excluded.
func (c *Change) mayHaveLost(by, margin float64, lower bool) bool {
	if by == 0 {
		by = margin
	}
	if c.Method == stats.NoTest {
		return true
	}
	if lower {
		return c.Ratio.Hi > 1+by
	}
	return c.Ratio.Lo < 1-by
}
