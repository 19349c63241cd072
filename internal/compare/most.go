package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

const (
	// ProbeTime is how long a probe of a search runs, unless less was asked for.
	ProbeTime = 10 * time.Second
	// bracketWithin ends a search: the highest load is known to this share.
	bracketWithin = 0.03
	// leastAchieved is the share of the load asked for below which a probe fell behind.
	leastAchieved = 0.98
	// checkedAt is where the bracket is checked over a whole run time, as a share of its lower end.
	checkedAt = 0.97
	// settleTime comes before each probe: the threads of an open load issue what is due since they
	// were made when they begin, and that burst is not the load asked for.
	settleTime = 2 * time.Second
	// mostStreams of an open load: fio keeps a thread for each.
	mostStreams = 256
)

// MostSearch looks for the highest load of a scenario that meets a threshold on a latency. The load
// is open: I/Os arrive at random (a Poisson process) at a rate, whatever the storage does.
type MostSearch struct {
	Base      suite.Scenario // as in its suite; it runs first, with its own depth
	Threshold suite.Threshold
	Seed      uint64
}

// NewMostSearch checks that a scenario can be searched.
func NewMostSearch(s suite.Scenario, threshold string, seed uint64) (MostSearch, error) {
	m := MostSearch{Base: s, Seed: seed}
	t, err := suite.ParseThreshold(threshold)
	if err != nil {
		return m, err
	}
	m.Threshold = t
	_, isPercentile := t.Metric.Statistic.Percentile()
	latency := t.Metric.Quantity.IsLatency() && t.Metric.Side != suite.Transactions &&
		(isPercentile || t.Metric.Statistic == suite.Mean)
	if !latency || t.Op != "<" && t.Op != "<=" {
		return m, fmt.Errorf("%q: want a percentile or mean of a latency and its maximum, such as read.clat.p99 <= "+
			"2ms", t.Text)
	}
	if s.AsIs || s.Kind() != suite.OfFio || len(s.Job.Sections) != 1 {
		return m, fmt.Errorf("%s is a job file of its own, or several jobs: the search sets the rate of one job", s.Name)
	}
	loads, err := s.Workloads()
	if err != nil {
		return m, err
	}
	if len(loads) != 1 || loads[0].Sequential || loads[0].TrimShare > 0 {
		return m, fmt.Errorf("%s is sequential, or trims: the streams of an open load would do other work; "+
			"name a scenario of random reads or writes", s.Name)
	}
	return m, nil
}

// Next is the scenario to measure after those that were, in their order; false at the end. The
// first is the scenario itself, the last a check of the bracket over the whole run time.
func (m MostSearch) Next(measured []bundle.Scenario) (suite.Scenario, bool) {
	s := m.Base
	s.ID, s.Name, s.Phase, s.Thresholds = len(measured)+1, m.Base.Name, "search", nil
	s.Runtime = min(m.Base.Runtime, ProbeTime)
	if len(measured) == 0 {
		return s, true
	}
	o := m.outcome(measured)
	if o.next <= 0 {
		return s, false
	}
	if o.check {
		s.Runtime = m.Base.Runtime
	}
	return m.at(s, o.next), true
}

// at is a scenario under an open load: as many synchronous threads as keep their own queues short,
// each with random arrivals.
func (m MostSearch) at(s suite.Scenario, rate float64) suite.Scenario {
	loads, _ := s.Workloads() // NewMostSearch has seen it
	streams, read, write := streamsFor(rate, loads[0].ReadShare, m.Threshold.Limit.Latency.Duration())
	job := s.Job
	job.Sections = slices.Clone(job.Sections)
	i := job.Jobs()[0]
	job.Sections[i].Options = slices.DeleteFunc(slices.Clone(job.Sections[i].Options), func(o fio.Option) bool {
		return slices.Contains(closedOptions(), o.Name)
	})
	s.Ramp = max(s.Ramp, settleTime)
	s.Job = WithOptions(job, map[string]string{
		"ioengine": "psync", "iodepth": "1", "numjobs": strconv.Itoa(streams), "thread": "1",
		"rate_process": "poisson", "rate_iops": fmt.Sprintf("%d,%d", read, write),
		"randseed": strconv.FormatUint(rand.New(rand.NewPCG(m.Seed, uint64(s.ID))).Uint64()>>1, 10),
	})
	s.Name = sweepName(m.Base.Name, map[string]string{"rate": strconv.FormatFloat(rate, 'f', 0, 64)})
	return s
}

// closedOptions mean nothing to synchronous threads under an open load, or work against it.
func closedOptions() []string {
	return strings.Fields(`iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min
	iodepth_batch_complete_max iodepth_low io_submit_mode rate rate_min rate_iops_min thinktime
	latency_target latency_window latency_percentile hipri fixedbufs registerfiles sqthread_poll
	sqthread_poll_cpu nonvectored uncached nowait force_async userspace_reap randrepeat
	offset_increment`)
}

// streamsFor splits a rate over threads. A thread that waits for an I/O cannot issue the next one:
// there are four times as many as are busy where every I/O takes as long as the threshold, so that
// few arrivals find theirs busy where it is met, and no more than leave each an I/O per second of the
// rarer direction: with more the mix would be another one. fio takes whole numbers of I/Os per second: of
// the numbers of threads that are enough, the one that loses least to rounding is taken.
func streamsFor(rate, reads float64, limit time.Duration) (streams, read, write int) {
	enough := int(math.Ceil(4 * rate * limit.Seconds()))
	enough = min(max(enough, 4), mostStreams, max(1, int(rate)/4))
	for _, share := range []float64{reads, 1 - reads} {
		if share > 0 {
			enough = min(enough, max(1, int(rate*share)))
		}
	}
	part := func(n int, share float64) int {
		if share == 0 {
			return 0
		}
		return max(1, int(math.Round(rate*share/float64(n))))
	}
	best := math.Inf(1)
	for n := enough; n <= 2*enough && n <= mostStreams; n++ {
		r, w := part(n, reads), part(n, 1-reads)
		off := math.Abs(float64(n*r)-rate*reads) + math.Abs(float64(n*w)-rate*(1-reads))
		if off < best {
			best, streams, read, write = off, n, r, w
		}
	}
	return streams, read, write
}

// MostProbe is one measurement of a search.
type MostProbe struct {
	ID int `json:"id"`
	// Asked is the load in IOPS, 0 for the scenario itself, which keeps its own depth; Achieved is
	// what was done.
	Asked    float64 `json:"asked_iops,omitempty"`
	Achieved float64 `json:"achieved_iops"`
	// Latency is the threshold's figure in nanoseconds, 0 where there is none: of an open load from
	// the moment at which each I/O was due, so what a caller sees. Service is what fio measured,
	// from the moment at which its thread could issue it.
	Latency float64 `json:"latency_ns,omitempty"`
	Service float64 `json:"service_latency_ns,omitempty"`
	Streams int     `json:"streams,omitempty"`
	// Busy is the share of arrivals that found their thread waiting for an earlier I/O, and Lag
	// what that delays an arrival on average, in nanoseconds (of a queue with Poisson arrivals and
	// the measured times): it is not in fio's latencies, but in Latency.
	Busy float64 `json:"busy,omitempty"`
	Lag  float64 `json:"lag_ns,omitempty"`
	// Outcome is met, missed, behind (less was done than asked for) or invalid, with the reason.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// The outcomes of a probe.
const (
	ProbeMet     = "met"
	ProbeMissed  = "missed"
	ProbeBehind  = "behind"
	ProbeInvalid = "invalid"
)

// Most is the outcome of a search.
type Most struct {
	Scenario  string `json:"scenario"`
	Threshold string `json:"threshold"`
	// Limit is the threshold's, in nanoseconds.
	Limit float64 `json:"limit_ns"`
	// Bracket holds the highest load that meets the threshold: Low met it and High missed it, in
	// IOPS; 0 where none did.
	Bracket stats.Bracket `json:"bracket"`
	// Closed is the scenario itself, with its own depth.
	Closed *MostProbe  `json:"closed,omitempty"`
	Probes []MostProbe `json:"probes"`
	// Check is the load a little below the bracket over the whole run time.
	Check     *MostProbe    `json:"check,omitempty"`
	CheckTime time.Duration `json:"check_time,omitempty"`
	// Ceiling is the storage's own limit in IOPS, 0 where it is not known; Sustained what is left
	// of a burst.
	Ceiling   float64 `json:"ceiling_iops,omitempty"`
	Sustained float64 `json:"sustained_iops,omitempty"`

	next  float64
	check bool
}

// FindMost reads a run that was made by a search.
func FindMost(b *bundle.Bundle) (*Most, error) {
	if b.Run.Settings.Most == "" || len(b.Scenarios) == 0 {
		return nil, errors.New("not made by plimsoll sweep --most")
	}
	m, err := MostSearchOf(b)
	if err != nil {
		return nil, err
	}
	measured := slices.Clone(b.Scenarios)
	if c, ok := b.Run.Ceilings[measured[0].ID]; ok { // as it was known before anything was measured
		measured[0].Ceiling = &c
	}
	o := m.outcome(measured)
	for _, c := range b.Run.Ceilings { // with many I/Os in flight more volumes may take part
		if bound := c.Hardware(); bound != nil {
			o.Ceiling = max(o.Ceiling, float64(bound.IOPS))
		}
	}
	return &o, nil
}

// MostSearchOf is the search that a run was made by.
func MostSearchOf(b *bundle.Bundle) (MostSearch, error) {
	m, err := NewMostSearch(b.Run.Suite.Scenarios[0], b.Run.Settings.Most, b.Run.Settings.Seed)
	m.Base.Runtime = cmp.Or(b.Run.Settings.Runtime, suite.DefaultRuntime)
	return m, err
}

// outcome reads what was measured so far, the scenario itself first.
func (m MostSearch) outcome(measured []bundle.Scenario) Most {
	o := Most{Scenario: m.Base.Name, Threshold: m.Threshold.Text, Limit: m.Threshold.Limit.Base(), Probes: []MostProbe{}}
	first := &measured[0]
	if c := first.Ceiling; c != nil && c.Hardware() != nil {
		o.Ceiling = float64(c.Hardware().IOPS)
		if last := c.Lasting(); last != nil { // not what the scenario's own depth allows: it does not limit an open load
			o.Sustained = float64(last.IOPS)
		}
	}
	if first.Result == nil {
		return o
	}
	closed := m.probe(first)
	o.Closed = &closed
	capacity := max(o.Ceiling, closed.Achieved)
	if capacity <= 0 || closed.Outcome == ProbeInvalid && o.Ceiling == 0 {
		return o
	}
	search := stats.Search{
		Low: max(1, math.Round(.05*capacity)), High: math.Ceil(1.02 * capacity), Within: bracketWithin, Step: 1,
	}
	var probes []stats.Probe
	for i := range measured[1:] {
		s := &measured[i+1]
		if s.Result == nil {
			break
		}
		p := m.probe(s)
		load, known := further(search, probes)
		if known.Done {
			o.Check, o.CheckTime = &p, s.Runtime
			break
		}
		o.Probes = append(o.Probes, p)
		probes = append(probes, asProbe(p, load, m.Threshold))
	}
	o.next, o.Bracket = further(search, probes)
	if o.Bracket.Done && o.Bracket.Low > 0 && o.Check == nil {
		o.next, o.check = max(1, math.Round(checkedAt*o.Bracket.Low)), true
	}
	return o
}

// further searches above the ceiling where all of it met the threshold: that of a scenario with few
// I/Os in flight may count a part of the volumes only.
func further(s stats.Search, probes []stats.Probe) (load float64, b stats.Bracket) {
	for range 6 {
		if load, b = s.Next(probes); !b.Done || b.Low == 0 || b.High > 0 {
			break
		}
		s.High *= 2
	}
	return load, b
}

// asProbe is a measurement as the search sees it, at the load that it asked for.
func asProbe(p MostProbe, load float64, t suite.Threshold) stats.Probe {
	over := math.NaN()
	if p.Outcome != ProbeInvalid && p.Latency > 0 {
		over = math.Log(p.Latency / t.Limit.Base())
	}
	return stats.Probe{Load: load, Over: over, Behind: p.Outcome == ProbeBehind}
}

// probe reads one measurement.
func (m MostSearch) probe(s *bundle.Scenario) MostProbe {
	r := s.Result
	p := MostProbe{ID: s.ID, Outcome: ProbeInvalid}
	done, _ := r.Total.Rates()
	p.Achieved = float64(done)
	p.Asked, p.Streams = askedOf(s.Scenario)
	if r.State != result.Done {
		p.Reason = strings.Join(r.Reasons, "; ")
		return p
	}
	t := verdict.Evaluate(m.Threshold, diagnose.Measurement{Scenario: s.Scenario, Ceiling: s.Ceiling, Result: r}, 0)
	if p.Latency = t.Measured.Base(); !usable(p.Latency) {
		p.Latency, p.Reason = 0, cmp.Or(t.Reason, "no latency was measured")
		return p
	}
	p.busy(r)
	p.Service = p.Latency
	p.Latency = p.fromDue(m.Threshold.Metric, r)
	// The number of arrivals of a Poisson process varies by its root.
	seconds := max(r.Measured.Seconds(), 1)
	switch least := leastAchieved*p.Asked - 2*math.Sqrt(p.Asked/seconds); {
	case p.Achieved < least:
		p.Outcome = ProbeBehind
	case m.Threshold.Op.Holds(m.Threshold.Metric.Value(p.Latency), m.Threshold.Limit):
		p.Outcome = ProbeMet
	default:
		p.Outcome = ProbeMissed
	}
	return p
}

// askedOf is the load of a probe's job and its threads; 0 for the scenario itself.
func askedOf(s suite.Scenario) (iops float64, streams int) {
	job := s.Job.Effective(s.Job.Jobs()[0])
	if process, _ := job.Get("rate_process"); process != "poisson" {
		return 0, 0
	}
	threads, _ := job.Get("numjobs")
	streams, _ = strconv.Atoi(threads)
	rates, _ := job.Get("rate_iops")
	for part := range strings.SplitSeq(rates, ",") {
		n, _ := strconv.Atoi(part)
		iops += float64(n * streams)
	}
	return iops, streams
}

// busy estimates what the threads' own queues hide: the Pollaczek-Khinchine formula on the measured
// times of each thread, W = λ E[S²] / 2(1-ρ).
func (p *MostProbe) busy(r *result.Result) {
	if p.Streams == 0 {
		return
	}
	var n, sum, squares float64
	for _, d := range r.Total.Directions() {
		d.Completion().Hist.Each(func(bin int, count uint64) {
			lo, hi := bins.Range(bin)
			at := (float64(lo) + float64(hi)) / 2
			n, sum, squares = n+float64(count), sum+float64(count)*at, squares+float64(count)*at*at
		})
	}
	if n == 0 {
		return
	}
	each := p.Achieved / float64(p.Streams) / 1e9 // arrivals a nanosecond
	p.Busy = min(each*sum/n, 1)
	if p.Busy < 1 {
		p.Lag = each * squares / n / 2 / (1 - p.Busy)
	}
}

// fromDue is a latency counted from the moment at which an I/O was due. An arrival that finds its
// thread busy, a share Busy of all, waits for a time whose tail is exponential with a mean of Lag
// over all arrivals (the heavy part of an M/G/1 queue's waiting time); that and the measured times
// are independent, since a wait depends on earlier I/Os only.
func (p *MostProbe) fromDue(m suite.Metric, r *result.Result) float64 {
	if p.Streams == 0 || p.Busy <= 0 {
		return p.Latency
	}
	if p.Busy >= 1 { // the queue grows for as long as the load lasts
		return p.Latency + float64(r.Measured)
	}
	if m.Statistic == suite.Mean {
		return p.Latency + p.Lag
	}
	q, percentile := m.Statistic.Percentile()
	if !percentile {
		return p.Latency
	}
	var times []stats.Weighted
	total := 0.0
	for side, d := range map[suite.Side]fio.Direction{suite.ReadSide: r.Total.Read, suite.WriteSide: r.Total.Write} {
		if m.Side != side && m.Side != suite.TotalSide {
			continue
		}
		d.Completion().Hist.Each(func(bin int, count uint64) {
			times = append(times, stats.Weighted{Value: float64(bins.Value(bin)), Weight: float64(count)})
			total += float64(count)
		})
	}
	if total == 0 {
		return p.Latency + p.Lag
	}
	above := func(t float64) float64 { // the share of I/Os that took longer from when they were due
		sum := 0.0
		for _, s := range times {
			switch {
			case s.Value > t:
				sum += s.Weight
			case p.Lag > 0:
				sum += s.Weight * p.Busy * math.Exp(-(t-s.Value)*p.Busy/p.Lag)
			}
		}
		return sum / total
	}
	low, high := p.Latency, 2*p.Latency+p.Lag
	for above(high) > 1-q/100 {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; above(mid) > 1-q/100 {
			low = mid
		} else {
			high = mid
		}
	}
	return max(high, p.Latency)
}

// IOPSOf prints a load.
func (p MostProbe) IOPSOf() units.IOPS { return units.IOPS(cmp.Or(p.Asked, p.Achieved)) }
