package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Key names a series: runs of one key measured the same thing on the same layout. Each part is in
// words, so that what differs between two keys can be shown.
type Key struct {
	Suite    string `json:"suite"`
	Scenario string `json:"scenario"`
	Work     string `json:"work"`
	Size     string `json:"size,omitempty"`
	Runtime  string `json:"runtime,omitempty"` // runs of a second and of an hour are not one series
	Layout   string `json:"layout,omitempty"`
	Scale    string `json:"scale,omitempty"` // of a simulated machine's rates
	Group    string `json:"group,omitempty"` // the host, or the value of the label that was asked for
}

// Differences names the parts in which two keys of one scenario differ: "layout: raid10 8×gp3 64
// KiB and raid0 4×gp3".
func (k Key) Differences(o Key) []string {
	var differ []string
	for _, f := range []struct{ name, a, b string }{
		{"work", k.Work, o.Work},
		{"size", k.Size, o.Size},
		{"run time", k.Runtime, o.Runtime},
		{"layout", k.Layout, o.Layout},
		{"scale", k.Scale, o.Scale},
	} {
		if f.a != f.b {
			differ = append(differ, fmt.Sprintf("%s: %s and %s", f.name, cmp.Or(f.a, "not known"), cmp.Or(f.b, "not known")))
		}
	}
	return differ
}

// Point is one run's figure in a series.
type Point struct {
	Run     string         `json:"run"` // ID
	At      time.Time      `json:"at"`
	Value   stats.Estimate `json:"value"`
	Rounds  int            `json:"rounds"`
	Share   float64        `json:"share_of_ceiling,omitempty"`
	Verdict string         `json:"verdict,omitempty"`
	// Invalid says why the point takes part in nothing, empty when it does.
	Invalid string            `json:"invalid,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	// Facts are what may explain a change: kernel, fio, scheduler, ceiling.
	Facts map[string]string `json:"facts,omitempty"`
	// Accepted says why the point is the first of a new level, empty where it is none.
	Accepted string `json:"accepted,omitempty"`
}

// Series are the points of one key, oldest first.
type Series struct {
	Key    Key     `json:"key"`
	Figure Figure  `json:"figure"`
	Points []Point `json:"points"`
	// Changes are the steps and drifts of all of its runs, oldest first.
	Changes []Lasting `json:"changes,omitempty"`
	// Expected is what the last run should have been by those before it.
	Expected stats.Expected `json:"-"`
	// Standing is how the last run that can be used compares with that.
	Standing Standing `json:"-"`
}

// followAll finds the changes of all series, and leaves the last points of each; all for 0.
func followAll(all []Series, last int) []Series {
	for i := range all {
		s := &all[i]
		if points := s.usable(); len(points) > 0 {
			side := 0
			s.Expected, side, s.Changes, _ = follow(points, s.Figure, levelOf, 1, leastFloor) // usable are above 0
			s.Standing = standing(side)
		}
		if s.Expected.TooFew != "" || s.Points[len(s.Points)-1].Invalid != "" {
			s.Standing = Unjudged
		}
		if last > 0 {
			s.Points = s.Points[max(0, len(s.Points)-last):]
		}
	}
	return all
}

// Filter picks what History shows. Empty fields pass everything.
type Filter struct {
	Suite    string
	Scenario string // name or number
	Host     string
	Labels   map[string]string
	By       string // group by this label instead of the host
	Last     int    // points a series
}

// History puts runs in order: a series for each scenario, layout and host. Runs whose clock jumped
// while they ran are noted and left out, as nobody knows when they were.
func History(runs []*bundle.Bundle, f Filter) (all []Series, notes []string) {
	runs = slices.Clone(runs)
	oldestFirst(runs)
	at := map[Key]int{}
	for i, b := range runs {
		if sentence := copyOf(b, runs[:i]); sentence != "" {
			notes = append(notes, sentence)
			continue
		}
		if why := clockJumped(b); why != "" {
			notes = append(notes, fmt.Sprintf("%s is left out: %s", b.Run.ID, why))
			continue
		}
		for _, group := range byScenario(samplesOf(b)) {
			first := group[0]
			if !f.passes(first) {
				continue
			}
			key, figure := keyOf(first, f.By), mainFigure(first.Scenario)
			i, ok := at[key]
			if !ok {
				i = len(all)
				at[key] = i
				all = append(all, Series{Key: key, Figure: figure})
			}
			all[i].Points = append(all[i].Points, pointOf(all[i].Figure, group))
		}
	}
	return followAll(all, f.Last), notes
}

// byScenario groups the rounds of each scenario of one run.
func byScenario(samples []Sample) [][]Sample {
	var groups [][]Sample
	for _, s := range samples {
		i := slices.IndexFunc(groups, func(g []Sample) bool { return g[0].Scenario == s.Scenario })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// clockJumped says what is wrong with the times of a run, empty when nothing is.
func clockJumped(b *bundle.Bundle) string {
	r := &b.Run
	if len(r.Imported) > 0 {
		return "" // an import has the time of its import
	}
	if r.Created.Year() < 2000 {
		return "its clock was not set (" + r.Created.UTC().Format(time.DateOnly) + ")"
	}
	if !r.Finished.IsZero() && r.Finished.Before(r.Created) {
		return "its clock went back while it ran"
	}
	for i := range b.Scenarios {
		if x := b.Scenarios[i].Result; x != nil && !x.Start.IsZero() && x.Start.Before(r.Created.Add(-time.Minute)) {
			return "its clock went back while it ran"
		}
	}
	return ""
}

func (f Filter) passes(s Sample) bool {
	r := &s.Run.Run
	return f.allows(r.Suite.Name, s.Scenario.Name, s.Scenario.ID, s.label) &&
		(f.Host == "" || f.Host == r.Topology.Host.Name)
}

// allows says of a scenario that its host alone may be in the way.
func (f Filter) allows(suite, scenario string, id int, label func(key string) string) bool {
	for key, value := range f.Labels {
		if label(key) != value {
			return false
		}
	}
	return (f.Suite == "" || f.Suite == suite) &&
		(f.Scenario == "" || f.Scenario == scenario || f.Scenario == fmt.Sprint(id))
}

func keyOf(s Sample, by string) Key {
	t := s.topology()
	k := Key{
		Suite:    s.Run.Run.Suite.Name,
		Scenario: s.Scenario.Name,
		Work:     workOf(s.Result).String(),
		Size:     shown(s.Scenario.Size),
		Runtime:  timeOf(s.Scenario.Runtime),
		Layout:   layoutOf(t, s.Scenario.Role),
		Group:    t.Host.Name,
	}
	if t.Scale > 0 && t.Scale != 1 {
		k.Scale = fmt.Sprintf("simulated at %g of the real rates", t.Scale)
	}
	if by != "" {
		k.Group = s.label(by)
	}
	return k
}

// timeOf is how long the work runs in words, empty where that is not known.
func timeOf(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return text.Duration(d)
}

// layoutOf is what a role's path is made of: "raid10 8×gp3, chunk 64 KiB, on c8g.2xlarge".
func layoutOf(t *topology.Topology, role topology.Role) string {
	machine, target := t.Instance.Type, t.For(role)
	if target == nil {
		return machine
	}
	a := t.Array(target.Array)
	if a == nil {
		return strings.TrimSpace(target.Device + " " + machine)
	}
	volumes := map[string]int{}
	var kinds []string
	for _, v := range a.Volumes {
		kind := cmp.Or(v.Type, "volume")
		if v.Size > 0 {
			kind += " of " + v.Size.String()
		}
		if volumes[kind] == 0 {
			kinds = append(kinds, kind)
		}
		volumes[kind]++
	}
	parts := []string{string(a.Level)}
	for _, kind := range kinds {
		parts = append(parts, fmt.Sprintf("%d×%s", volumes[kind], kind))
	}
	text := strings.Join(parts, " ")
	if a.Chunk > 0 {
		text += ", chunk " + a.Chunk.String()
	}
	if machine != "" {
		text += ", on " + machine
	}
	return text
}

// pointOf is the geometric mean of a run's valid rounds.
func pointOf(f Figure, rounds []Sample) Point {
	first := rounds[0]
	p := Point{
		Run:     first.Run.Run.ID,
		At:      first.start(),
		Verdict: string(first.Scenario.Verdict),
		Labels:  first.Run.Run.Labels,
		Facts:   map[string]string{},

		Accepted: accepted(first.Run),
	}
	if p.At.IsZero() {
		p.At = first.Run.Run.Created
	}
	values, all := f.over(rounds)
	if p.Rounds, p.Value = len(values), all; p.Rounds == 0 {
		last := rounds[len(rounds)-1]
		p.Invalid = cmp.Or(last.Invalid, "no "+f.Name+" was measured")
		if v := f.of(last.Result); usable(v) { // what is not to be trusted is shown as such
			p.Value.Center = v
		}
		return p
	}
	if c := first.Scenario.Ceiling; c != nil && c.Known() && !c.Binding().SelfMeasured() {
		if bound := f.bound(c.Binding()); bound > 0 {
			p.Share = p.Value.Center / bound
			p.Facts["ceiling"] = units.IOPS(bound).String()
			if f.Unit == BytesPerSec {
				p.Facts["ceiling"] = units.Rate(bound).String()
			}
		}
	}
	for name, value := range map[string]string{
		"kernel": first.label(ByKernel), "fio": first.label(ByFio),
		"plimsoll": first.Run.Run.Tool,
	} {
		if value != "" {
			p.Facts[name] = value
		}
	}
	return p
}

// usable are the points that take part, oldest first.
func (s Series) usable() []Point {
	return slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return p.Invalid != "" || p.Value.Center <= 0 })
}
