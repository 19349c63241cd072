package advise

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// reached is the share of a rate from which on it counts as met: fio holds a rate within some
// tenths of a percent.
const reached = 0.98

// Met is how far measured results meet a demand.
type Met struct {
	Demand *workload.Demand `json:"demand"`
	Sides  []MetSide        `json:"sides"`
	// Moved is what the demand moves in the time that its job runs.
	Moved    units.Bytes   `json:"moved"`
	Time     time.Duration `json:"time"`
	Decision string        `json:"decision"`
	Notes    []string      `json:"notes,omitempty"`
}

// MetSide is one result compared with the demand.
type MetSide struct {
	Name    string      `json:"name"`
	Streams []MetStream `json:"streams"`
	Moved   units.Bytes `json:"moved"`
	Share   float64     `json:"moved_share"`
	Limits  []MetLimit  `json:"limits,omitempty"`
	// Sustained is what the instance sustains of Steady, the streams that always run; zero where
	// nothing is known of it.
	Instance  string        `json:"instance,omitempty"`
	Sustained units.Rate    `json:"sustained,omitempty"`
	Steady    units.Rate    `json:"steady,omitempty"`
	BurstFor  time.Duration `json:"burst_for,omitempty"`
	Met       bool          `json:"met"`
	// Missed says that a part of the demand is not met for certain, Open that of a part nothing can be said.
	Missed bool `json:"missed,omitempty"`
	Open   bool `json:"open,omitempty"`
	// Invalid is why the result must not be trusted, whatever it shows; nil where it may be.
	Invalid []string `json:"invalid,omitempty"`
}

// MetStream is a stream's rate as it was measured; Known is false where the result does not hold
// it.
type MetStream struct {
	Name     string     `json:"name"`
	Wanted   units.Rate `json:"wanted"`
	Measured units.Rate `json:"measured"`
	Share    float64    `json:"share"`
	Known    bool       `json:"known"`
}

// MetLimit is a limit of latency: the share of I/Os above it, or a percentile.
type MetLimit struct {
	Text     string        `json:"text"` // "I/Os above 1 s < 1 %"
	Over     time.Duration `json:"over,omitempty"`
	Share    float64       `json:"share,omitempty"`   // allowed above Over
	Above    *stats.Bounds `json:"above,omitempty"`   // measured above Over, a share of all I/Os
	Latency  units.Latency `json:"latency,omitempty"` // measured percentile
	Known    bool          `json:"known"`
	Exceeded bool          `json:"exceeded,omitempty"`
	// Open says that what was measured is on neither side of the limit for certain.
	Open bool `json:"open,omitempty"`
}

// Side is a measured result with the machine it was measured on.
type Side struct {
	Name     string
	Result   *result.Result
	Topology *topology.Topology // nil where nothing is known of it
	Invalid  []string           // why it must not be trusted; nil where it may be
}

// Meets holds results against a demand: each stream's rate, the bytes moved, the latency limits,
// and what the instance sustains once its burst is over.
func Meets(d *workload.Demand, sides []Side) *Met {
	m := &Met{Demand: d}
	for _, s := range sides {
		m.Time = max(m.Time, s.Result.Total.Window, s.Result.Measured)
	}
	m.Time = d.Runtime(m.Time) // whole periods of its bursts
	for _, s := range streams(d) {
		m.Moved += units.Bytes(float64(s.Rate) * s.MeanOver(m.Time) * m.Time.Seconds())
	}
	for _, s := range sides {
		m.Sides = append(m.Sides, m.side(s))
	}
	m.Decision = m.decide()
	return m
}

func (m *Met) side(s Side) MetSide {
	out := MetSide{Name: s.Name, Invalid: s.Invalid}
	for _, st := range streams(m.Demand) {
		one := MetStream{Name: st.Name, Wanted: st.Rate}
		if rate, ok := m.measured(st, s.Result); ok {
			one.Measured, one.Share, one.Known = rate, float64(rate/st.Rate), true
		}
		out.Missed = out.Missed || one.Known && one.Share < reached
		out.Open = out.Open || !one.Known
		out.Streams = append(out.Streams, one)
	}
	if out.Moved = s.Result.Bytes(); m.Moved > 0 {
		out.Share = float64(out.Moved) / float64(m.Moved)
	}
	out.Limits = limitsOf(m.Demand, s.Result)
	for _, l := range out.Limits {
		out.Open = out.Open || !l.Known || l.Open
		out.Missed = out.Missed || l.Exceeded
	}
	m.sustained(&out, s)
	out.Missed = out.Missed || out.Sustained > 0 && out.Sustained < out.Steady
	out.Met = !out.Missed && !out.Open && len(s.Invalid) == 0
	return out
}

// measured is a stream's rate, of each direction in which it runs. Streams differ by what
// they do and not by their names, since fio names a group of jobs after its first section: a stream
// that has a direction for itself has all of it; of several, each has the rows whose blocks are
// nearest to its own, by name only where two are as near. Where fio has fewer rows than there are
// streams, those that share them have met the same share of what they ask for together.
func (m *Met) measured(s *workload.Stream, r *result.Result) (units.Rate, bool) {
	sum := units.Rate(0)
	for _, read := range []bool{true, false} {
		if wantedOf(s, read) == 0 {
			continue
		}
		rate, ok := m.direction(s, r, read)
		if !ok {
			return 0, false
		}
		sum += rate
	}
	return sum, sum > 0
}

// wantedOf is what a stream asks for in one direction.
func wantedOf(s *workload.Stream, read bool) units.Rate {
	if read {
		return s.Rate * units.Rate(s.ReadShare)
	}
	return s.Rate * units.Rate(1-s.ReadShare)
}

// rowOf is what the jobs of one name did in one direction.
type rowOf struct {
	name  string
	rate  units.Rate
	block float64
}

func rowsOf(r *result.Result, read bool) []rowOf {
	var rows []rowOf
	for _, j := range r.Jobs {
		d := side(j, read)
		if d.BW <= 0 {
			continue
		}
		name := strings.ReplaceAll(j.Name, "_", "-")
		at := slices.IndexFunc(rows, func(o rowOf) bool { return o.name == name })
		if at < 0 {
			at = len(rows)
			rows = append(rows, rowOf{name: name, block: float64(d.BW) / max(float64(d.IOPS), 1e-9)})
		}
		rows[at].rate += d.BW
	}
	return rows
}

// direction is what a stream reads, or writes.
func (m *Met) direction(s *workload.Stream, r *result.Result, read bool) (units.Rate, bool) {
	total := side(r.Total, read).BW
	var some []*workload.Stream
	asked := units.Rate(0)
	for _, o := range streams(m.Demand) {
		if wanted := wantedOf(o, read); wanted > 0 {
			some = append(some, o)
			asked += wanted
		}
	}
	rows := rowsOf(r, read)
	switch {
	case len(some) == 1:
		return total, total > 0
	case len(rows) < len(some):
		return total * wantedOf(s, read) / asked, total > 0
	}
	sum := units.Rate(0)
	for _, row := range rows {
		if nearest(row, some) == s {
			sum += row.rate
		}
	}
	return sum, sum > 0
}

// nearest is the stream whose blocks are nearest in size to those of a row, of equal ones that whose
// name begins it.
func nearest(row rowOf, streams []*workload.Stream) *workload.Stream {
	return slices.MinFunc(streams, func(a, b *workload.Stream) int {
		off := func(s *workload.Stream) float64 {
			apart := math.Abs(math.Log2(row.block / max(s.MeanBlock(), 1)))
			if apart < 0.05 && (row.name == s.Name || strings.HasPrefix(row.name, s.Name+"-")) {
				return -1
			}
			return max(apart, 0.05)
		}
		return cmp.Compare(off(a), off(b))
	})
}

// limitsOf holds the latency limits against what was measured, all I/Os together, the strictest of
// each kind.
func limitsOf(d *workload.Demand, r *result.Result) []MetLimit {
	over := map[time.Duration]float64{}
	var out []MetLimit
	for _, s := range d.Streams {
		for _, o := range s.Latency.Over {
			if was, ok := over[o.Limit]; !ok || o.Share < was {
				over[o.Limit] = o.Share
			}
		}
		for _, p := range s.Latency.Percentiles {
			l := MetLimit{Text: fmt.Sprintf("%s p%g < %v", s.Name, p.P, units.LatencyOf(p.Limit))}
			if at, ok := side(r.Total, s.Reads()).Clat.At(p.P); ok {
				l.Known, l.Latency, l.Exceeded = true, units.LatencyOf(at), at >= p.Limit
			}
			out = append(out, l)
		}
	}
	for _, limit := range slices.Sorted(maps.Keys(over)) {
		l := MetLimit{
			Over:  limit,
			Share: over[limit],
			Text:  fmt.Sprintf("I/Os above %s < %s", text.Duration(limit), text.Percent(over[limit])),
		}
		if above, ok := diagnose.Above(r.Total, limit); ok {
			judged := above.Judge(func(v float64) bool { return v < l.Share })
			l.Known, l.Above = true, &above
			l.Exceeded, l.Open = judged == stats.Missed, judged == stats.CannotTell
		}
		out = append(out, l)
	}
	return out
}

// sustained asks package ceiling what the instance lasts for of the streams that always run.
func (m *Met) sustained(out *MetSide, s Side) {
	if s.Topology == nil {
		return
	}
	var steady []*workload.Stream
	for _, st := range streams(m.Demand) {
		if st.Burst == nil {
			steady = append(steady, st)
			out.Steady += st.Rate
		}
	}
	if len(steady) == 0 {
		return
	}
	c := ceiling.Of(s.Topology, s.Result.Role, requested(steady))
	b := c.Least(func(b ceiling.Bound) bool {
		return !b.Burst && (b.Kind == ceiling.InstanceIOPS || b.Kind == ceiling.InstanceRate)
	})
	if b == nil {
		out.Steady = 0
		return
	}
	out.Instance, out.Sustained, out.BurstFor = s.Topology.Instance.Type, b.BW, s.Topology.Instance.BurstFor
}

// decide is the verdict in a sentence or two.
func (m *Met) decide() string {
	var good []string
	for _, s := range m.Sides {
		if s.Met {
			good = append(good, s.Name)
		}
	}
	n := len(m.Sides)
	switch {
	case len(good) == n && n != 1:
		return "All meet the demand."
	case n == 1 && len(m.Sides[0].Invalid) > 0:
		return m.Sides[0].Name + " is INVALID and cannot be judged."
	case n == 1 && !m.Sides[0].Missed && m.Sides[0].Open:
		return m.Sides[0].Name + " cannot tell: " + m.Sides[0].open() + "."
	case len(good) > 0:
		return text.List(good) + " " + meet(good) + " the demand."
	}
	who := []string{m.Sides[0].Name + " does not meet", "Neither meets", "None meets"}[min(n, 3)-1]
	parts := []string{who + " the demand."}
	var partly text.Groups
	for _, s := range m.Sides {
		if part := s.partly(); part != "" && len(s.Invalid) == 0 {
			partly.Add(part, s.Name)
		}
	}
	for _, part := range partly.Heads {
		names := partly.Of[part]
		parts = append(parts, fmt.Sprintf("%s %s %s.", text.Some(names, 2), meet(names), part))
	}
	return strings.Join(parts, " ")
}

// meet is the verb for so many.
func meet(names []string) string {
	if len(names) == 1 {
		return "meets"
	}
	return "meet"
}

// open is what a side cannot tell of the demand.
func (s *MetSide) open() string {
	for _, l := range s.Limits {
		if l.Known && l.Open {
			return fmt.Sprintf("%s of its I/Os took longer than %s, but less than %s is allowed",
				l.Above.Print(text.Percent, 1), text.Duration(l.Over), text.Percent(l.Share))
		}
	}
	return "not everything that the demand states was recorded"
}

// partly says which streams a side that fails does meet, and for how long.
func (s *MetSide) partly() string {
	var met []string
	for _, st := range s.Streams {
		if st.Known && st.Share >= reached {
			met = append(met, st.Name)
		}
	}
	if len(met) == 0 {
		return ""
	}
	out := text.List(met)
	if s.Sustained > 0 && s.Sustained < s.Steady {
		share := text.Percent(float64(s.Sustained / s.Steady))
		if s.BurstFor > 0 {
			out += fmt.Sprintf(", for %s a day: then the %s limits it to %s", text.Duration(s.BurstFor), s.Instance, share)
		} else {
			out += fmt.Sprintf(", but the %s sustains %s of it", s.Instance, share)
		}
	}
	return out
}
