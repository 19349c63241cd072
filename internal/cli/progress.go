package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"plimsoll/internal/bench"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

var progressKinds = []string{"auto", "tty", "plain", "json", "none"}

// progress is one view of a run's events.
type progress interface {
	Event(bench.Event)
	Close()
}

// newProgress picks the view: the live screen on a terminal, plain lines on a pipe.
func newProgress(env *Env, kind string) (progress, error) {
	if kind == "auto" {
		kind = "plain"
		if f, ok := env.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
			kind = "tty"
		}
	}
	switch kind {
	case "tty":
		return newScreen(env), nil
	case "plain":
		return &plainView{env: env}, nil
	case "json":
		return &jsonView{json.NewEncoder(env.Err)}, nil
	case "none":
		return noView{}, nil
	}
	return nil, fmt.Errorf("progress %q: want %s", kind, strings.Join(progressKinds, ", "))
}

type noView struct{}

func (noView) Event(bench.Event) {}
func (noView) Close()            {}

// jsonView writes one event a line to standard error; the report has standard output.
type jsonView struct{ enc *json.Encoder }

func (v *jsonView) Event(e bench.Event) {
	name := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e), "bench."))
	// A stream that is gone ends the view, not the run.
	_ = v.enc.Encode(map[string]any{"event": name, "data": e})
}

func (*jsonView) Close() {}

// progressState is what both the screen and the plain lines are drawn from: a run as far as its events tell.
type progressState struct {
	started bench.Started
	status  map[int]result.State
	results map[int]*result.Result
	running *bench.Began
	elapsed time.Duration // of the running scenario
	last    bench.Ticked
	spark   []float64 // IOPS by second of the running scenario
	laying  *bench.Laying
	cooling time.Duration
	notes   []string
}

func (p *progressState) apply(e bench.Event) {
	switch e := e.(type) {
	case bench.Started:
		p.started = e
		p.status, p.results = map[int]result.State{}, map[int]*result.Result{}
		for _, id := range e.Done {
			p.status[id] = result.Done
		}
	case bench.Laying:
		p.laying = &e
		if e.Done {
			p.laying = nil
		}
	case bench.Began:
		p.running, p.elapsed, p.spark, p.cooling, p.last = &e, 0, nil, 0, bench.Ticked{}
	case bench.Ticked:
		p.last, p.elapsed = e, e.Elapsed
		p.spark = append(p.spark, float64(e.Second.IOPS()))
	case bench.Ended:
		p.running = nil
		p.status[e.ID], p.results[e.ID] = e.Result.State, e.Result
	case bench.Cooling:
		p.cooling = e.For
	case bench.Noted:
		p.notes = append(p.notes, e.Text)
	}
}

// left is the time until the end, layout not counted.
func (p *progressState) left() time.Duration {
	var sum time.Duration
	for i, s := range p.started.Scenarios {
		if p.status[s.ID] != "" {
			continue
		}
		d := p.expected(s)
		if p.running != nil && p.running.Scenario.ID == s.ID {
			d = max(d-p.elapsed, 0)
		} else if i > 0 {
			d += p.cooling
		}
		sum += d
	}
	return sum.Round(time.Second)
}

func (p *progressState) expected(s suite.Scenario) time.Duration {
	loads, err := s.Workloads("x")
	if err != nil {
		return 0
	}
	return suite.Duration(loads)
}

// ceiling of a scenario, nil when nothing is known of the storage.
func (p *progressState) bound(id int) *ceiling.Bound {
	c, ok := p.started.Ceilings[id]
	if !ok {
		return nil
	}
	return c.Binding()
}

// live is the running second in words: "12,034 IOPS of 12,000 (volume IOPS), 94MiB/s, mean 21ms, p99 34ms".
func live(s result.Second, bound *ceiling.Bound) string {
	text := fmt.Sprintf("%s IOPS", units.IOPS(float64(s.IOPS())))
	if bound != nil {
		text += fmt.Sprintf(" of %s", bound.IOPS)
	}
	text += fmt.Sprintf(", %s", s.BW())
	if bound != nil {
		text += fmt.Sprintf(" of %s", bound.BW)
	}
	var h fio.Hist
	for _, i := range []result.Interval{s.Read, s.Write, s.Trim} {
		h.Merge(i.Hist)
	}
	if h.Count() > 0 {
		mean, _ := h.Mean()
		text += fmt.Sprintf(", %s mean, %s p99", latencyText(time.Duration(mean)), latencyText(h.Percentile(99)))
	}
	if s.Ramp {
		text += " (ramp)"
	}
	return text
}

// latencyText prints a latency with three significant digits.
func latencyText(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.3gs", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3gms", float64(d)/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.3gµs", float64(d)/1e3)
	}
	return fmt.Sprintf("%dns", d)
}

// outcome is a finished scenario in words.
func outcome(r *result.Result) string {
	if r.State == result.Invalid {
		return "invalid: " + strings.Join(r.Reasons, "; ")
	}
	t := r.Total
	var text strings.Builder
	fmt.Fprintf(&text, "%s IOPS, %s", t.Read.IOPS+t.Write.IOPS+t.Trim.IOPS, t.Read.BW+t.Write.BW+t.Trim.BW)
	for _, d := range []struct {
		name string
		fio.Direction
	}{{"read", t.Read}, {"write", t.Write}} {
		if d.N > 0 && d.Clat.Measured() {
			fmt.Fprintf(&text, ", %s %s mean", d.name, latencyText(time.Duration(d.Clat.Mean)))
			if p99, ok := d.Clat.At(99); ok {
				fmt.Fprintf(&text, " %s p99", latencyText(p99))
			}
		}
	}
	return text.String()
}

// plainView prints a line at each change and one every few seconds in between.
type plainView struct {
	env   *Env
	state progressState
	said  time.Time
}

// plainEvery is the pause between lines of a running scenario.
const plainEvery = 5 * time.Second

func (v *plainView) Event(e bench.Event) {
	v.state.apply(e)
	now := v.env.Now()
	switch e := e.(type) {
	case bench.Started:
		v.say("%s: %s, about %s, into %s", e.Suite, plural(len(e.Scenarios)-len(e.Done), "scenario", "scenarios"), e.Expected.Round(time.Second), e.Dir)
	case bench.Laying:
		if e.Done || now.Sub(v.said) >= plainEvery {
			v.say("laying out %s: %s of %s", e.File, e.Written, e.Size)
		}
	case bench.Began:
		n := 1 + slices.IndexFunc(v.state.started.Scenarios, func(s suite.Scenario) bool { return s.ID == e.Scenario.ID })
		v.say("[%d/%d] %d %s: started, %s", n, len(v.state.started.Scenarios), e.Scenario.ID, e.Scenario.Name, lasting(e.Expected))
	case bench.Ticked:
		if now.Sub(v.said) >= plainEvery {
			v.say("  %s: %s", e.Elapsed.Round(time.Second), live(e.Second, v.state.bound(e.ID)))
		}
	case bench.Ended:
		v.say("  %s: %s", e.Result.Name, outcome(e.Result))
	case bench.Noted:
		v.say("%s", e.Text)
	case bench.Cooling:
	}
}

func lasting(d time.Duration) string {
	if d == 0 {
		return "ends when its work is done"
	}
	return d.String()
}

func (v *plainView) say(format string, args ...any) {
	v.said = v.env.Now()
	fmt.Fprintln(v.env.Err, clean(fmt.Sprintf(format, args...)))
}

func (*plainView) Close() {}
