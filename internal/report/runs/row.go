package runs

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// row is a scenario in a line: what the overview and the head of its section say.
type row struct {
	Num, Name, Title, Role, Anchor string

	Measured string // the key figure
	Doubt    string // its uncertainty: "± 1.2 %"
	Margin   string // the same in a column: "1.2 %"
	NoMargin string // why there is none
	Also     string // the figure in its other unit
	Ceiling  string
	Percent  string // measured of ceiling: "99.6 %"
	From     string // the resource that sets the ceiling
	Limited  string // what limited the run; "" where that is not known
	Burst    string // how long a burst lasts; empty when the ceiling itself lasts, as are the next two
	// Sustained is what is left after it, and Then the resource that limits it.
	Sustained, Then string

	Share        float64 // measured of ceiling; 0 when words.Unknown
	latency      bool    // Measured and Ceiling are latencies, Share is of the IOPS that follow from them
	LastingShare float64 // sustained part of the ceiling; 0 when the ceiling itself lasts

	P50, P99, Sync string // of the sync where the scenario syncs; Sync then has the I/O alone
	Syncs          string // says so
	Verdict        string // "not run" when there is no result
}

const notRun = "not run"

func newRow(s *bundle.Scenario, i int) row {
	r := row{
		Num: strconv.Itoa(cmp.Or(s.ID, i+1)), Name: s.Name, Title: s.Title, Role: string(s.Role),
		Anchor: fmt.Sprintf("s%d", i+1), Verdict: cmp.Or(string(s.Verdict), notRun),
		Measured: words.None, P50: words.None, P99: words.None,
		Ceiling: words.Unknown, Percent: words.Unknown, From: words.Unknown,
	}
	viewOf(s).fill(&r, s)
	return r
}

// mostlyIO of the time from one I/O to the next is its completion latency where that is what the storage takes.
const mostlyIO = 0.8

// label is a scenario's number and name.
func (r row) label() string { return text.Join(" ", r.Num, r.Name) }

func (operations) fill(r *row, s *bundle.Scenario) {
	key := result.KeyOf(s.Result)
	if c := s.Ceiling; c != nil && c.Known() {
		r.ceiling(c, key)
	}
	if s.Result == nil {
		return
	}
	t := s.Result.Total
	n, bw := t.Rates()
	all, whole := latencyOf(t), onlyLat(t)
	if n <= 0 && bw <= 0 {
		if all.Mean > 0 { // all that a summary may say
			r.Measured = units.Latency(all.Mean).String()
		}
		if r.P99 = timed(s.Result, 99); r.Measured == words.None && r.P99 != words.None {
			r.Measured = "p99 " + r.P99
		}
		return
	}
	r.Measured, r.Doubt = key.Print(n, bw), words.Doubt(s.Result.IOPS)
	if n > 0 {
		r.Also = words.Operations(n)
	}
	switch key { //nolint:exhaustive // a latency has the doubt of its IOPS
	case result.ByIOPS:
		r.Also = cmp.Or(words.Known("", bw), "bandwidth not known")
	case result.ByBandwidth:
		r.Doubt = words.Doubt(s.Result.BW)
	}
	r.Also = also(r.Also, s.Result)
	if margin, ok := strings.CutPrefix(r.Doubt, "± "); ok {
		r.Margin = margin
	} else if s.Result.Source == "" { // nobody repeats what others measured
		r.NoMargin = r.Doubt
	}
	// The time from one I/O to the next has fio's own, too. Where it is much longer, the I/O waits in its submission.
	if key == result.ByLatency && !t.Sync.Lat.Measured() {
		switch least := mostlyIO * 1e9 / float64(n); {
		case all.Mean >= least:
			r.Measured = units.Latency(all.Mean).String()
		case s.Result.Source == "": // its own, whose times are known
		case whole >= least:
			r.Measured = units.Latency(whole).String()
		default: // no figure that the text prints
			other := cmp.Or(words.Known("", bw), "bandwidth not known")
			main := result.MainOf(s.Result)
			if main == result.ByBandwidth {
				other = words.Operations(n)
			}
			r.Measured, r.Also = main.Print(n, bw), also(other, s.Result)
		}
	}
	if c := s.Ceiling; c != nil && c.Known() && !c.Binding().SelfMeasured() {
		r.latency, r.Share = key == result.ByLatency && c.Binding().Kind == ceiling.Concurrency, shareOf(s)
		r.Percent = text.Percent(r.Share)
	}
	r.P50, r.P99 = timed(s.Result, 50), timed(s.Result, 99)
	if l := t.Sync.Lat; l.Measured() {
		alone := text.Either(t.Read.N == 0 && t.Trim.N == 0, "write", "I/O")
		r.Sync = fmt.Sprintf("%s alone: p50 %s, p99 %s", alone, words.At(all, 50), words.At(all, 99))
		if r.P50 == words.None && r.P99 == words.None { // neither is shown
			return
		}
		if r.Syncs = "p50 and p99 are for the sync alone"; key == result.ByLatency {
			r.Syncs += "; the result includes the write"
			if s.Result.Source != "" {
				r.Syncs += " (1 ÷ IOPS)"
			}
		}
	}
}

// timed prints a percentile of a result's latency, of directions whose latencies are apart that of the slower one.
func timed(r *result.Result, p float64) string {
	says, most := words.None, time.Duration(-1)
	all := r.Latencies()
	for _, l := range all {
		if v, ok := l.At(p); ok && v > most {
			if says, most = words.At(l.Latency, p), v; len(all) > 1 {
				says = l.Of + " " + says
			}
		}
	}
	return says
}

// Of is the share of the ceiling that was measured, or that there is nothing to compare with.
func (r row) Of() string {
	switch {
	case r.Share > 0 && r.latency:
		return fmt.Sprintf("%s of the IOPS that %s allows", r.Percent, r.Ceiling)
	case r.Share > 0:
		return fmt.Sprintf("%s of the %s ceiling", r.Percent, r.Ceiling)
	case r.Ceiling == words.None:
		return "no ceiling other than its own latency"
	}
	return "ceiling " + r.Ceiling
}

func (r *row) ceiling(c *ceiling.Ceiling, key result.Key) {
	if c.Binding().SelfMeasured() {
		r.Ceiling, r.Percent, r.From = words.None, words.None, c.Binding().Label()
		return
	}
	r.held(c, func(b *ceiling.Bound) string {
		if key == result.ByLatency && b.Kind != ceiling.Concurrency { // a rate bounds no latency
			return words.Operations(b.IOPS)
		}
		return key.Print(b.IOPS, b.BW)
	})
}

// held is what limits now, and what does once bursts are spent.
func (r *row) held(c *ceiling.Ceiling, figure func(*ceiling.Bound) string) {
	held := c.Held()
	r.Ceiling, r.From = figure(held.Now), held.Now.Label()
	if held.Then == nil {
		return
	}
	r.Sustained, r.Then = figure(held.Then), held.Then.Label()
	r.LastingShare = float64(held.Then.IOPS / held.Now.IOPS)
	r.Burst = "a burst"
	if held.For > 0 {
		r.Burst += " of " + text.Duration(held.For)
	}
	r.Burst += "; then limited by " + r.Then
}

// latencyOf is the completion latency of all directions together; of several it needs their
// histograms.
func latencyOf(t fio.Job) fio.Latency {
	if all := result.Completions(t); len(all) == 1 {
		return all[0].Latency
	}
	return fio.Latency{}
}

// onlyLat is the mean from submission to completion, of a job with one direction.
func onlyLat(t fio.Job) (mean float64) {
	for _, d := range t.Directions() {
		switch {
		case d.N == 0 && d.IOPS == 0:
		case mean > 0:
			return 0
		default:
			mean = d.Lat.Mean
		}
	}
	return mean
}

// host names the machine, and a simulated one as such: its rates are not those of the real thing.
func host(t *topology.Topology) string {
	name := t.Host.Name
	if t.Scale > 0 {
		name = fmt.Sprintf("%s (simulated, rates scaled by %g)", cmp.Or(name, "a machine"), t.Scale)
	}
	return name
}
