package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// Options of a comparison.
type Options struct {
	// Margin is the change that does not matter, as a share: 0.03.
	Margin float64
	// Base names the side that the others are compared with; empty for the first.
	Base string
	// Paired: equal round numbers of two sides were measured next to each other in random order
	// (plimsoll ab).
	Paired bool
	// ByName matches scenarios by their names, whatever work they did: variants may change it.
	ByName bool
	// Layouts: the sides are layouts, built and measured in turn.
	Layouts bool
	// Missing are what the sides lack as a whole, a sentence each: a gate cannot judge them.
	Missing []string
}

// Margin is the change that does not matter unless another is given.
const Margin = 0.03

// Table is a comparison: sides are columns, works are rows.
type Table struct {
	Sides  []Column `json:"sides"`
	Base   int      `json:"base"`
	Margin float64  `json:"margin"`
	Paired bool     `json:"paired,omitempty"`
	// Suite is the geometric mean over all rows that both sides measured, a change a side; nil for
	// the base and where there are fewer than two rows.
	Suite []*Change `json:"suite,omitempty"`
	Rows  []Row     `json:"rows"`
	// Standings, one a side, and Unforeseen are of layouts.
	Standings  []LayoutResult `json:"standings,omitempty"`
	Unforeseen []Unforeseen   `json:"unforeseen,omitempty"`
	// Apart are scenarios that were not compared, with what differs.
	Apart []string `json:"not_compared,omitempty"`
	// Notes are what else differs between the sides, and what keeps the answers from being better.
	Notes []string `json:"notes,omitempty"`

	missing []string // what a gate cannot judge, besides rows
}

// Column is a side's head.
type Column struct {
	Name   string            `json:"name"`
	Runs   []string          `json:"runs"` // IDs
	Rounds int               `json:"rounds"`
	Labels map[string]string `json:"labels,omitempty"`
	Over   time.Duration     `json:"over,omitempty"` // from the first round's start to the last's
}

// Row is one work on all sides.
type Row struct {
	Name   string `json:"name"` // of the scenario, on the first side that has it
	Work   Work   `json:"work"`
	Figure Figure `json:"figure"`
	Cells  []Cell `json:"cells"`
	// Others are figures that are shown besides.
	Others []Other `json:"others,omitempty"`

	stated bool // a suite says which figure is tested
}

// Cell is one side's figure.
type Cell struct {
	// Figure is the geometric mean of the rounds with its interval over them; of one round the
	// interval is what its own seconds say, which is less than the truth: Within is set.
	Figure stats.Estimate `json:"figure"`
	Within bool           `json:"within_one_run,omitempty"`
	Rounds []float64      `json:"rounds"`
	Spread float64        `json:"spread,omitempty"` // of the rounds' logarithms
	// Ceiling is the side's own, in the figure's unit; 0 when not known. Share is the figure's part
	// of it.
	Ceiling float64 `json:"ceiling,omitempty"`
	Share   float64 `json:"share,omitempty"`
	// Sustained is the sustained part of it, where that is less than was measured, and SustainedBy the limit
	// that holds then.
	Sustained   float64 `json:"sustained,omitempty"`
	SustainedBy string  `json:"sustained_by,omitempty"`
	// Invalid are the rounds that are struck out, with the reason of each.
	Invalid []Struck `json:"invalid,omitempty"`
	Change  *Change  `json:"change,omitempty"` // against the base

	samples []Sample // the valid ones
	all     []Sample
}

// Struck is a figure that must not be trusted. It never takes part in an answer.
type Struck struct {
	Round  int     `json:"round"`
	Figure float64 `json:"figure"` // 0 when there is none
	Why    string  `json:"why"`
	Called string  `json:"-"` // "round 3", or a file
}

// Other is a figure besides the row's own, by side. The 99th percentile is tested.
type Other struct {
	Figure Figure           `json:"figure"`
	Cells  []stats.Estimate `json:"cells"` // N 0: not measured
	Ratios []stats.Estimate `json:"ratios"`
	// PHolm is corrected for all 99th percentiles of the table; 1 where nothing was tested, none of
	// other figures.
	PHolm []float64 `json:"p_holm,omitempty"`
}

// Moved says that a side's 99th percentile is not the base's.
func (o *Other) Moved(side int) bool { return len(o.PHolm) > side && o.PHolm[side] < 0.05 }

// New compares sides. The error says why nothing can be compared at all.
func New(sides []Side, o Options) (*Table, error) {
	if len(sides) < 2 {
		return nil, errors.New("one side only: there is nothing to compare it with")
	}
	t := &Table{Margin: o.Margin, Paired: o.Paired, missing: slices.Clone(o.Missing)}
	if o.Base != "" {
		t.Base = slices.IndexFunc(sides, func(s Side) bool { return s.called(o.Base) })
		if t.Base < 0 {
			return nil, fmt.Errorf("no side is called %q: there are %s", o.Base, names(sides))
		}
	}
	for _, s := range sides {
		t.Sides = append(t.Sides, columnOf(s))
		t.missing = append(t.missing, unendedOf(s)...)
	}
	t.match(sides, o.ByName)
	if len(t.Rows) == 0 && len(t.Apart) == 0 {
		return nil, errors.New("nothing was measured on any side")
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		r.nameByWork()
		r.pace()
		for k := range r.Cells {
			r.fill(k)
			t.Sides[k].Rounds = max(t.Sides[k].Rounds, len(r.Cells[k].all)) // imports are all first rounds
		}
	}
	t.test()
	t.suite()
	if o.Layouts {
		t.stand()
	}
	t.note(sides)
	return t, nil
}

// nameByWork names a row of rounds that have names of their own, as those of files, by what they all did.
func (r *Row) nameByWork() {
	for _, c := range r.Cells {
		for _, s := range c.all {
			if len(s.Run.Run.Imported) > 0 && s.Scenario.Name != c.all[0].Scenario.Name {
				r.Name = r.Work.String()
			}
		}
	}
}

func columnOf(s Side) Column {
	first, last := spanOf(s.Samples)
	c := Column{Name: s.Name, Labels: map[string]string{}, Over: last.Sub(first)}
	for i, x := range s.Samples {
		c.Rounds = max(c.Rounds, x.Round)
		c.Runs = text.Once(c.Runs, x.Run.Run.ID)
		labels := x.Run.Run.Labels
		if i == 0 {
			maps.Copy(c.Labels, labels)
		}
		maps.DeleteFunc(c.Labels, func(k, was string) bool { // not of the side as a whole
			v, ok := labels[k]
			return !ok || v != was
		})
	}
	return c
}

func names(sides []Side) string {
	var all []string
	for _, s := range sides {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

// fill works out one cell from its samples.
func (r *Row) fill(side int) {
	c := &r.Cells[side]
	c.Rounds = []float64{}
	for _, s := range c.all {
		v := r.Figure.of(s.Result)
		if s.Invalid == "" && usable(v) {
			c.samples = append(c.samples, s)
			continue
		}
		if !usable(v) {
			v = 0
		}
		why := cmp.Or(s.Invalid, "no "+r.Figure.Name+" was measured")
		c.Invalid = append(c.Invalid, Struck{Round: s.Round, Figure: v, Why: why, Called: s.title()})
	}
	if len(c.samples) == 0 {
		return
	}
	c.Rounds, c.Figure = r.Figure.over(c.samples)
	if c.Within = len(c.samples) == 1; !c.Within {
		p, _ := stats.PrecisionOf(c.Rounds, 0) // all are above 0
		c.Spread = p.Spread
	}
	limit := c.samples[0].Scenario.Ceiling
	if limit == nil || !limit.Known() || limit.Binding().SelfMeasured() {
		return
	}
	c.Ceiling = r.Figure.bound(limit.Binding())
	if c.Ceiling > 0 {
		c.Share = c.Figure.Center / c.Ceiling
	}
	// Only a burst makes a figure that does not last: one above a bound that lasts is a bound that
	// was too low.
	then := limit.Sustained()
	if lasting := r.Figure.bound(then); lasting > 0 && lasting < c.Ceiling && lasting < c.Figure.Center {
		c.Sustained, c.SustainedBy = lasting, then.Label()
	}
}

// sustained is what a side sustains: its figure, or less where that is a burst.
func (c *Cell) sustained() float64 {
	if c.Sustained > 0 {
		return c.Sustained
	}
	return c.Figure.Center
}

// measured says that a cell has a figure to compare.
func (c *Cell) measured() bool { return len(c.Rounds) > 0 }

// others adds the figures that are shown besides.
func (r *Row) others(base int) {
	for _, f := range latencyFigures() {
		n := len(r.Cells)
		o := Other{Figure: f, Cells: make([]stats.Estimate, n), Ratios: make([]stats.Estimate, n)}
		rounds := make([][]float64, n)
		if f.q == p99 {
			o.PHolm = slices.Repeat([]float64{1}, n)
		}
		seen := 0
		for k := range r.Cells {
			if rounds[k], o.Cells[k] = f.over(r.Cells[k].samples); len(rounds[k]) > 0 {
				seen++
			}
		}
		if seen < 2 {
			continue
		}
		for k := range r.Cells {
			if k == base || len(rounds[k]) == 0 || len(rounds[base]) == 0 {
				continue
			}
			c, err := stats.CompareRounds(rounds[base], rounds[k], stats.Design{Figures: math.MaxInt32})
			if err != nil {
				continue
			}
			if c.Method != stats.NoTest && inOrder(r.Cells[base].samples, r.Cells[k].samples) != 0 {
				c.Widen(stats.OrderOf(rounds[base], rounds[k]).Memory)
			}
			if o.Ratios[k] = c.Ratio; f.q == p99 {
				o.PHolm[k] = c.P
			}
		}
		r.Others = append(r.Others, o)
	}
}

// correct makes the p of all 99th percentiles one family, and leaves 1 where nothing could be tested.
func (t *Table) correct() {
	var all []*float64
	var ps []float64
	for i := range t.Rows {
		for _, o := range t.Rows[i].Others {
			for k := range o.PHolm {
				if k != t.Base && o.Ratios[k].N > 1 {
					all, ps = append(all, &o.PHolm[k]), append(ps, o.PHolm[k])
				}
			}
		}
	}
	for n, p := range stats.Holm(ps) {
		*all[n] = p
	}
}
