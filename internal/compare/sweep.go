package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// Axis is a fio option that a sweep varies.
type Axis struct {
	Option string   `json:"option"`
	Values []string `json:"values"`
}

// axisOptions are those that a sweep may vary.
func axisOptions() []string { return []string{"iodepth", "bs", "numjobs", "rwmixread"} }

// mostPoints bounds a sweep: more would take days.
const mostPoints = 400

// ParseAxis reads iodepth=1..256 (powers of two from the first value to the last) or
// rwmixread=0,70,100 (these values).
func ParseAxis(s string) (Axis, error) {
	name, values, ok := strings.Cut(s, "=")
	bad := fmt.Errorf("axis %.60q: use iodepth=1..256 or iodepth=1,4,16; likewise bs, numjobs and rwmixread", s)
	if !ok || !slices.Contains(axisOptions(), name) {
		return Axis{}, bad
	}
	a := Axis{Option: name}
	isRange := strings.Contains(values, "..")
	switch {
	case isRange && name != "rwmixread":
		all, ok := ceiling.Doubled(name, values, 1<<16)
		if !ok {
			return Axis{}, bad
		}
		for _, v := range all {
			if name == "bs" {
				a.Values = append(a.Values, units.Bytes(v).Arg())
			} else {
				a.Values = append(a.Values, strconv.Itoa(v))
			}
		}
	case isRange:
		return Axis{}, bad
	default:
		for v := range strings.SplitSeq(values, ",") {
			if err := checkValue(name, v); err != nil || slices.Contains(a.Values, v) {
				return Axis{}, bad
			}
			a.Values = append(a.Values, v)
		}
	}
	return a, nil
}

func checkValue(option, v string) error {
	if option == "bs" {
		n, err := units.ParseBytes(v)
		if err == nil && n < 512 {
			err = fmt.Errorf("%s is less than a sector", v)
		}
		return err
	}
	n, err := strconv.Atoi(v)
	if err == nil && (n < 0 || option != "rwmixread" && n < 1 || option == "rwmixread" && n > 100) {
		err = fmt.Errorf("%d is out of range", n)
	}
	return err
}

// sweepName is a point's scenario: rand-read@iodepth=8,bs=4k.
func sweepName(base string, at map[string]string) string {
	var parts []string
	for _, o := range slices.Sorted(maps.Keys(at)) {
		parts = append(parts, o+"="+at[o])
	}
	return base + "@" + strings.Join(parts, ",")
}

// Grid makes a scenario of each point of the axes.
func Grid(s suite.Scenario, axes []Axis) ([]suite.Scenario, error) {
	if s.AsIs || len(s.Job.Sections) != 1 {
		return nil, fmt.Errorf("%s is a job file of its own, or several jobs: a sweep varies one job of a suite", s.Name)
	}
	points := []map[string]string{{}}
	for i, a := range axes {
		if slices.ContainsFunc(axes[:i], func(o Axis) bool { return o.Option == a.Option }) {
			return nil, fmt.Errorf("%s is varied twice", a.Option)
		}
		var next []map[string]string
		for _, p := range points {
			for _, v := range a.Values {
				q := maps.Clone(p)
				q[a.Option] = v
				next = append(next, q)
			}
		}
		if points = next; len(points) > mostPoints {
			return nil, fmt.Errorf("over %d points: use fewer values", mostPoints)
		}
	}
	var all []suite.Scenario
	for i, at := range points {
		point := s
		point.ID, point.Name, point.Phase, point.Thresholds = i+1, sweepName(s.Name, at), "sweep", nil
		point.Job = WithOptions(s.Job, at)
		all = append(all, point)
	}
	return all, nil
}

// Swept is a sweep's outcome: its points, and a curve over depth for each combination of the other
// axes.
type Swept struct {
	Scenario string       `json:"scenario,omitempty"`
	Axes     []string     `json:"axes"`
	Points   []SweptPoint `json:"points"`
	Curves   []SweptCurve `json:"curves"`
}

// SweptPoint is one point of a sweep.
type SweptPoint struct {
	At       map[string]string `json:"at"`
	InFlight int               `json:"in_flight"`
	IOPS     stats.Estimate    `json:"iops"`
	BW       float64           `json:"bw" unit:"bytes_per_s"`
	Rounds   int               `json:"rounds"`
	P50      float64           `json:"p50_ns,omitempty"`
	P99      float64           `json:"p99_ns,omitempty"`
	Ceiling  float64           `json:"ceiling_iops,omitempty"`
	Invalid  string            `json:"invalid,omitempty"`
	// Struck is what an invalid point measured, to be shown struck out; 0 for a valid one.
	Struck float64 `json:"struck_iops,omitempty"`
}

// SweptCurve is throughput over depth with the other axes fixed.
type SweptCurve struct {
	At    map[string]string `json:"at,omitempty"`
	Curve stats.Curve       `json:"curve"`
	// Predicted is the knee that the ceiling and the time of one I/O predict: C × R0; 0 when the
	// ceiling is not known.
	Predicted float64 `json:"predicted_knee,omitempty"`
	// Knee and Deepest are the points nearest to the knee and at the largest depth.
	Knee    SweptPoint `json:"knee"`
	Deepest SweptPoint `json:"deepest"`
	Why     string     `json:"why,omitempty"` // why there is no curve
}

// Sweep reads a run that was made of a grid.
func Sweep(b *bundle.Bundle) *Swept {
	s := &Swept{}
	if len(b.Run.Suite.Scenarios) > 0 {
		s.Scenario, _, _ = strings.Cut(b.Run.Suite.Scenarios[0].Name, "@")
	}
	for _, group := range byScenario(samplesOf(b)) {
		p := sweptPoint(group)
		s.Points = append(s.Points, p)
		for o := range p.At {
			if !slices.Contains(s.Axes, o) {
				s.Axes = append(s.Axes, o)
			}
		}
	}
	slices.Sort(s.Axes)
	s.curves()
	return s
}

func sweptPoint(rounds []Sample) SweptPoint {
	first := rounds[0]
	p := SweptPoint{At: map[string]string{}, InFlight: max(1, first.Result.Depth.Asked)}
	_, at, _ := strings.Cut(first.Scenario.Name, "@")
	for part := range strings.SplitSeq(at, ",") {
		if o, v, ok := strings.Cut(part, "="); ok {
			p.At[o] = v
		}
	}
	if w := workOf(first.Result); w.Depth*w.Jobs > 0 {
		p.InFlight = w.Depth * w.Jobs
	}
	point := pointOf(iops(), rounds)
	p.IOPS, p.Rounds, p.Invalid = point.Value, point.Rounds, point.Invalid
	// The figures of a point are of the same rounds, by the same mean; of an invalid one, of its first.
	of := func(f Figure) float64 { return pointOf(f, rounds).Value.Center }
	if p.Invalid != "" {
		of = func(f Figure) float64 { return f.of(first.Result) }
		if v := of(iops()); usable(v) {
			p.Struck = v
		}
	}
	p.BW = of(bandwidth())
	for _, l := range latencyFigures() {
		v := of(l)
		switch {
		case !usable(v) || strings.HasPrefix(l.Name, "sync"):
		case strings.HasSuffix(l.Name, "p50"):
			p.P50 = max(p.P50, v)
		case strings.HasSuffix(l.Name, "p99"):
			p.P99 = max(p.P99, v)
		}
	}
	if c := first.Scenario.Ceiling; c != nil && c.Hardware() != nil {
		p.Ceiling = float64(c.Hardware().IOPS)
	}
	return p
}

// curves fits throughput over what is in flight, where depth or jobs were varied.
func (s *Swept) curves() {
	groups := map[string][]SweptPoint{}
	var order []string
	for _, p := range s.Points {
		fixed := maps.Clone(p.At)
		delete(fixed, "iodepth")
		delete(fixed, "numjobs")
		if len(fixed) == len(p.At) {
			return
		}
		key := sweepName("", fixed)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	for _, key := range order {
		s.Curves = append(s.Curves, curveOf(groups[key]))
	}
}

func curveOf(points []SweptPoint) SweptCurve {
	c := SweptCurve{At: maps.Clone(points[0].At)}
	delete(c.At, "iodepth")
	delete(c.At, "numjobs")
	points = slices.DeleteFunc(slices.Clone(points),
		func(p SweptPoint) bool { return p.Invalid != "" || p.IOPS.Center <= 0 })
	slices.SortStableFunc(points, func(a, b SweptPoint) int { return cmp.Compare(a.InFlight, b.InFlight) })
	points = slices.CompactFunc(points, func(a, b SweptPoint) bool { return a.InFlight == b.InFlight })
	if len(points) == 0 {
		c.Why = "no valid point"
		return c
	}
	var depths, iops []float64
	for _, p := range points {
		depths, iops = append(depths, float64(p.InFlight)), append(iops, p.IOPS.Center)
	}
	curve, err := stats.FitCurve(depths, iops)
	if err != nil {
		c.Why = err.Error()
		return c
	}
	c.Curve, c.Deepest = curve, points[len(points)-1]
	c.Knee = slices.MinFunc(points, func(a, b SweptPoint) int {
		return cmp.Compare(distance(a, curve.Knee), distance(b, curve.Knee))
	})
	if limit := c.Deepest.Ceiling; limit > 0 {
		c.Predicted = limit * curve.R0
	}
	return c
}

// distance of a point from a depth, as a factor.
func distance(p SweptPoint, depth float64) float64 {
	return max(float64(p.InFlight)/depth, depth/float64(p.InFlight))
}

// WithOptions sets fio options in every job of a file, in place of those of the same name.
func WithOptions(job fio.JobFile, set map[string]string) fio.JobFile {
	job.Sections = slices.Clone(job.Sections)
	for _, k := range job.Jobs() {
		others := slices.DeleteFunc(slices.Clone(job.Sections[k].Options),
			func(o fio.Option) bool { _, given := set[o.Name]; return given })
		for _, name := range slices.Sorted(maps.Keys(set)) {
			others = append(others, fio.Option{Name: name, Value: set[name]})
		}
		job.Sections[k].Options = others
	}
	return job
}
