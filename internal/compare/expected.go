package compare

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

// Expectations are a table of figures that a run should reach: the measurements of an article, a
// vendor, or an acceptance test.
type Expectations struct {
	Name   string `yaml:"name"`
	Source string `yaml:"source"` // where the figures come from, and when
	// Tolerance is how far a figure may be off, either way, unless its own says otherwise: "5%".
	Tolerance string        `yaml:"tolerance"`
	Figures   []Expectation `yaml:"figures"`
}

// Expectation is one figure of one scenario.
type Expectation struct {
	Scenario string `yaml:"scenario"`
	// Number is that of the scenario in its source, by which a document's headings call it: "Scenario 4: …".
	Number int `yaml:"number"`
	// Figure is iops, read.iops, write.iops, bw, read.bw, write.bw, or a latency: read.clat.mean,
	// write.clat.p99, sync.p99.
	Figure    string `yaml:"figure"`
	Value     string `yaml:"value"` // 536, "1,003 MiB/s", 1.858ms
	Tolerance string `yaml:"tolerance"`
}

//go:embed tables/*.yaml
var tables embed.FS

// Tables names the built-in tables of expected figures.
func Tables() []string {
	entries, _ := tables.ReadDir("tables") // it is embedded
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// ReadExpectations reads a built-in table by its name, or a file.
func ReadExpectations(name string) (*Expectations, error) {
	data, err := tables.ReadFile("tables/" + name + ".yaml")
	if err != nil {
		data, err = sys.ReadFile(name, sys.ConfigLimit)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s does not exist, and there is no built-in table of that name, only %s", name,
				strings.Join(Tables(), ", "))
		}
		if err != nil {
			return nil, err
		}
	}
	return ParseExpectations(name, data)
}

// ParseExpectations reads a table and checks each line of it; name is the file's, for errors.
func ParseExpectations(name string, data []byte) (*Expectations, error) {
	var e Expectations
	if err := yamlfile.Decode(data, &e); err != nil {
		return nil, yamlfile.Wrong(name, data, err)
	}
	if len(e.Figures) == 0 {
		return nil, yamlfile.Wrong(name, data, errors.New("no figures: want figures: with scenario, figure, value"))
	}
	for i, f := range e.Figures {
		if _, _, err := f.limits(e.Tolerance); err != nil {
			return nil, wrongFigure(name, data, i, fmt.Errorf("figure %d (%s): %w", i+1, f.Scenario, err))
		}
	}
	return &e, nil
}

// wrongFigure puts an error at the figure of an index.
func wrongFigure(name string, data []byte, i int, err error) error {
	file, broken := yamlfile.Parse(data)
	if broken != nil {
		return yamlfile.Wrong(name, data, broken)
	}
	return yamlfile.Wrong(name, data, yamlfile.At(yamlfile.Find(file, fmt.Sprintf("$.figures[%d]", i)), err))
}

// limits are the expected value, in the figure's base unit, and the tolerance as a share.
func (x Expectation) limits(tolerance string) (value, share float64, err error) {
	f, err := figureNamed(x.Figure)
	if err != nil {
		return 0, 0, err
	}
	if value, err = f.Unit.parse(x.Value); err != nil || !usable(value) {
		return 0, 0, fmt.Errorf("value %q is not an amount of %s above 0", x.Value, f.Unit)
	}
	tolerance = cmp.Or(x.Tolerance, tolerance, "5%")
	share, err = units.ParsePercent(tolerance)
	if err != nil || share <= 0 || share >= 1 {
		return 0, 0, fmt.Errorf("tolerance %q: give a share such as 5%%", tolerance)
	}
	return value, share, nil
}

// parse reads an amount of the unit.
func (u Unit) parse(s string) (float64, error) {
	switch u {
	case BytesPerSec:
		v, err := units.ParseRate(s)
		return float64(v), err
	case Nanoseconds:
		v, err := units.ParseLatency(s)
		return float64(v), err
	case PerSecond:
	}
	v, err := units.ParseIOPS(s)
	return float64(v), err
}

// figureNamed reads the name of a figure, a metric as thresholds spell it: without a direction it is the total, and a
// percentile alone is that of the completion latency.
func figureNamed(name string) (Figure, error) {
	side, what, _ := strings.Cut(name, ".")
	metric := name
	switch {
	case what == "":
		metric = "total." + name
	case side == "sync":
		metric = "write.sync." + strings.TrimPrefix(strings.TrimPrefix(what, "clat."), "lat.")
	case !strings.Contains(what, ".") && what != "iops" && what != "bw":
		metric = side + ".clat." + what
	}
	f, ok := stated(metric)
	f.Name = strings.TrimPrefix(strings.ReplaceAll(name, ".", " "), "total ")
	if ok && !f.Lower && side != "trim" {
		return f, nil
	}
	m, _ := suite.ParseMain(metric)
	for _, l := range latencyFigures() { // whose percentiles have intervals
		switch p, percentile := m.Statistic.Percentile(); {
		case !strings.HasPrefix(l.Name, side+" ") || m.Quantity == suite.Slat || m.Quantity == suite.Sync && side != "sync":
		case m.Statistic == suite.Mean:
			f.value = func(r *result.Result) float64 { return l.latency(r).Mean }
			return f, nil
		case percentile && p > 0:
			f.value, f.latency, f.hist, f.q = nil, l.latency, l.hist, p/100
			return f, nil
		}
	}
	return f, fmt.Errorf("figure %q: want one such as iops, write.iops, read.bw or read.clat.p99", name)
}

// AgainstTable judges a run by a table of expected figures.
func AgainstTable(now *bundle.Bundle, e *Expectations) *Against {
	a := &Against{Run: now.Run.ID, Baseline: e.Name, Rows: lacks(now)}
	if e.Source != "" {
		a.Notes = append(a.Notes, e.Name+": "+e.Source)
	}
	groups := byScenario(samplesOf(now))
	for _, x := range e.Figures {
		value, share, err := x.limits(e.Tolerance)
		if err != nil {
			continue // it was checked when read
		}
		f, _ := figureNamed(x.Figure)
		j := Judgment{
			Scenario: x.Scenario, Figure: f, Standing: Unjudged,
			Expected: stats.Estimate{Center: value, Lo: value * (1 - share), Hi: value * (1 + share)},
		}
		at := slices.IndexFunc(groups, func(g []Sample) bool {
			return g[0].Scenario.Name == x.Scenario || fmt.Sprint(g[0].Scenario.ID) == x.Scenario ||
				x.Number > 0 && strings.HasPrefix(g[0].Scenario.Name, fmt.Sprintf("Scenario-%d-", x.Number))
		})
		if j.unfit, j.Why = unfitMissing, "not measured in this run"; at >= 0 {
			p := pointOf(f, groups[at])
			j.Now, j.Rounds = p.Value, p.Rounds
			if j.unfit, j.Why = fitAlone(f, groups[at]); j.unfit == fit {
				j.hold()
			}
		}
		a.Rows = append(a.Rows, j)
	}
	return a
}

// hold compares the figure with the tolerance: with an interval over rounds, only what lies wholly
// outside counts.
func (j *Judgment) hold() {
	lo, hi := j.Now.Center, j.Now.Center
	if j.Rounds > 1 {
		lo, hi = j.Now.Lo, j.Now.Hi
	}
	side := 0
	switch {
	case hi < j.Expected.Lo:
		side = -1
	case lo > j.Expected.Hi:
		side = 1
	}
	if j.Figure.Lower {
		side = -side
	}
	j.Standing = standing(side)
	if j.Rounds == 1 {
		j.Why = "one run"
	}
	// A fall is seen for certain when it leaves the tolerance by the figure's own half width.
	j.LeastSeen = 1 - j.Expected.Lo/j.Expected.Center + (hi-lo)/2/j.Expected.Center
}
