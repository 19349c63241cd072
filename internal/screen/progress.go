// Package screen shows a run and a fleet while they work: on a terminal, as plain lines, as JSON
// events. It draws what the events say, and decides nothing.
package screen

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"plimsoll/internal/bench"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Out is where a screen is shown: standard error, and the clock that says when a line is due.
type Out struct {
	io.Writer
	Now func() time.Time
	// File is what Writer leads to, nil where that is no file. A screen is painted on it, since the
	// sequences that move the cursor do not pass a text.Door.
	File *os.File
	// Plain leaves colours and weights out.
	Plain bool
	// Environ is what the terminal is known by, as os.Environ has it.
	Environ []string
}

// canvas is what a screen is painted on. What is drawn is to be cleaned before (text.Clean).
func (o Out) canvas() io.Writer {
	if o.File != nil {
		return o.File
	}
	return o.Writer
}

// None is the way to show nothing.
const None = "none"

// Kinds are the ways to show a run; the first is what is shown without a choice.
func Kinds() []string { return []string{"auto", "tty", "plain", "json", None} }

// View shows the events of a run.
type View interface {
	Event(bench.Event)
	Close()
}

// Of picks the view: the live screen on a terminal, plain lines on a pipe.
func Of(out Out, kind string) View {
	switch out.kind(kind) {
	case "tty":
		return newPainter(out, &screenModel{})
	case "plain":
		return &plainView{out: out}
	case "json":
		return &jsonView{out}
	}
	return noView{}
}

// kind is the way to show: of auto the screen where progress goes to a terminal that can be painted.
func (o Out) kind(kind string) string {
	switch {
	case kind != "auto":
		return kind
	case o.File != nil && term.IsTerminal(int(o.File.Fd())) && !slices.Contains(o.Environ, "TERM=dumb"):
		return "tty"
	}
	return "plain"
}

type noView struct{}

func (noView) Event(bench.Event) {}
func (noView) Close()            {}

// jsonView writes one small object per line to standard error; the report has standard output.
type jsonView struct{ out io.Writer }

// progressLine is one event as JSON, with units in the names of fields (page.Fields).
type progressLine struct {
	Event    string
	Schema   int           `json:"schema_version,omitempty"` // of the first line
	Dir      string        `json:"dir,omitempty"`
	Suite    string        `json:"suite,omitempty"`
	Count    int           `json:"scenarios,omitempty"`
	Scenario int           `json:"scenario,omitempty"`
	Name     string        `json:"name,omitempty"`
	Role     string        `json:"role,omitempty"`
	File     string        `json:"file,omitempty"`
	Expected time.Duration `json:"expected,omitempty"`
	Elapsed  time.Duration `json:"elapsed,omitempty"`
	Ramp     bool          `json:"ramp,omitempty"`
	Written  units.Bytes   `json:"written,omitempty"`
	Size     units.Bytes   `json:"size,omitempty"`
	State    result.State  `json:"state,omitempty"`
	Reasons  []string      `json:"reasons,omitempty"`
	Round    int           `json:"round,omitempty"`
	Rounds   int           `json:"rounds,omitempty"`
	// Of a database.
	TPS      float64       `json:"tps,omitempty"`
	TookMean time.Duration `json:"transaction_mean,omitempty"`
	*flow
	Note string `json:"note,omitempty"`
}

// flow is how fast a scenario runs; absent where nothing is running.
type flow struct {
	IOPS float64
	BW   units.Rate
	Mean time.Duration `json:"mean,omitempty"` // completion latency
	P99  time.Duration `json:"p99,omitempty"`
}

func (v *jsonView) Event(e bench.Event) {
	if line := lineOf(e); line.Event != "" {
		_ = page.Line(v.out, line) // a stream that is gone ends the view, not the run
	}
}

func (*jsonView) Close() {}

// lineOf is an event in JSON, nothing of a kind that the format does not have. The names of events are part of the
// format: they stay when types of the program are renamed.
func lineOf(e bench.Event) (l progressLine) {
	switch e := e.(type) {
	case bench.Started:
		return progressLine{
			Event: "started", Schema: page.Schema, Dir: e.Dir, Suite: e.Suite, Count: len(e.Scenarios), Expected: e.Expected,
		}
	case bench.Laying:
		return progressLine{Event: "prefill", Role: string(e.Role), File: e.File, Written: e.Written, Size: e.Size}
	case bench.Began:
		return progressLine{Event: "began", Scenario: e.Scenario.ID, Name: e.Scenario.Name, Expected: e.Expected}
	case bench.Ticked:
		l = progressLine{Event: "second", Scenario: e.ID, Elapsed: e.Elapsed}
		if s := e.Transactions; s != nil {
			l.TPS, l.TookMean = float64(s.TPS), time.Duration(s.Latency)
			break
		}
		mean, p99 := completion(e.Second)
		l.Ramp, l.flow = e.Second.Ramp, &flow{float64(e.Second.IOPS()), e.Second.BW(), mean, p99}
	case bench.Ended:
		r := e.Result
		l = progressLine{Event: "ended", Scenario: e.ID, Name: r.Name, State: r.State, Reasons: r.Reasons}
		if peak := r.Peak(); peak != nil {
			l.TPS, l.TookMean = float64(peak.TPS), time.Duration(peak.Latency.Mean)
			break
		}
		n, bw := r.Total.Rates()
		l.flow = &flow{IOPS: float64(n), BW: bw}
	case bench.Cooling:
		return progressLine{Event: "cooldown", Expected: e.For}
	case bench.RoundBegan:
		return progressLine{Event: "round", Round: e.Round, Rounds: e.Of}
	case bench.RoundEnded:
		return progressLine{Event: "round-ended", Round: e.Round, Rounds: e.Planned, Expected: e.Rest, Note: roundText(e)}
	case bench.Added:
		return progressLine{Event: "added", Scenario: e.Scenario.ID, Name: e.Scenario.Name}
	case bench.Noted:
		return progressLine{Event: "note", Note: e.Text}
	}
	return l
}

// completion is the mean and the 99th percentile of a second's completion latencies, 0 where there
// are none.
func completion(s result.Second) (mean, p99 time.Duration) {
	var h fio.Hist
	for _, i := range []result.Interval{s.Read, s.Write, s.Trim} {
		h.Merge(i.Hist)
	}
	if h.Count() == 0 {
		return 0, 0
	}
	m, _ := h.Mean()
	return time.Duration(m), h.Percentile(99)
}

// progressState is what both the screen and the plain lines are drawn from: a run as far as its
// events tell.
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
	round   bench.RoundBegan // of a run with rounds
	rest    time.Duration    // of the rounds after this one
}

func (p *progressState) apply(e bench.Event) {
	switch e := e.(type) {
	case bench.Started:
		p.started = e
		p.status, p.results = map[int]result.State{}, map[int]*result.Result{}
		for _, id := range e.Done {
			p.status[id] = result.Done
		}
	case bench.Added:
		p.started.Scenarios = append(slices.Clip(p.started.Scenarios), e.Scenario)
		if e.Ceiling != nil && p.started.Ceilings != nil {
			p.started.Ceilings = maps.Clone(p.started.Ceilings)
			p.started.Ceilings[e.Scenario.ID] = *e.Ceiling
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
		if e.Transactions != nil {
			p.spark = append(p.spark, float64(e.Transactions.TPS))
		} else {
			p.spark = append(p.spark, float64(e.Second.IOPS()))
		}
	case bench.Ended:
		p.running = nil
		p.status[e.ID], p.results[e.ID] = e.Result.State, e.Result
	case bench.Cooling:
		p.cooling = e.For
	case bench.RoundBegan:
		p.round, p.status = e, map[int]result.State{}
	case bench.RoundEnded:
		p.rest = e.Rest
		p.notes = append(p.notes, roundText(e))
	case bench.Noted:
		p.notes = append(p.notes, e.Text)
	}
}

// roundText is "round 3/5: rand-write 1,190 IOPS ± 4.1 % (goal 3.0 %); about 4 more rounds, 9 min".
func roundText(e bench.RoundEnded) string {
	var figures []string
	for _, f := range e.Figures {
		level := units.Rate(f.Precision.Level.Center).String()
		if f.Figure == "TPS" || f.Figure == "IOPS" {
			level = units.IOPS(f.Precision.Level.Center).String() + " " + f.Figure
		}
		words := f.Name + " " + level
		switch {
		case f.Rounds < 2:
		case f.Rounds < stats.LeastRounds:
			words += fmt.Sprintf(" (spread %s so far)", text.Percent(f.Precision.Spread))
		default:
			words += " " + text.PlusMinus(f.Precision.Half)
		}
		figures = append(figures, words)
	}
	line := fmt.Sprintf("round %d/%d: %s", e.Round, max(e.Planned, e.Round), strings.Join(figures, ", "))
	if e.Goal > 0 {
		line += fmt.Sprintf(" (goal %s)", text.Percent(e.Goal))
	}
	if e.Steady {
		most := "the last"
		if !e.Enough {
			most = fmt.Sprintf("at most %d", e.Planned)
		}
		line = fmt.Sprintf("round %d, %s: %d of %d figures are settled", e.Round, most, e.Settled, len(e.Figures))
		if e.Written > 0 {
			line += fmt.Sprintf("; the files were written %s (at least 2)", text.Times(e.Written))
		}
	}
	return line + roundsLeft(e)
}

// roundsLeft is how a round's line ends: "; about 4 more rounds, 9 min", or why there are no more.
func roundsLeft(e bench.RoundEnded) string {
	switch {
	case e.BudgetSpent:
		return "; another round would not fit the budget"
	case e.GoalMissed:
		return fmt.Sprintf("; not reached in %s, the most that were allowed", text.Plural(e.Round, "round"))
	case e.Enough, e.Steady:
		return ""
	}
	more := text.Plural(e.Planned-e.Round, "more round")
	return fmt.Sprintf("; about %s, %s", more, text.Duration(e.Rest.Round(time.Second)))
}

// left is the time until the end, layout not counted.
func (p *progressState) left() time.Duration {
	var sum time.Duration
	for i, s := range p.started.Scenarios {
		if p.status[s.ID] != "" {
			continue
		}
		d := s.Takes()
		if p.running != nil && p.running.Scenario.ID == s.ID {
			d = max(d-p.elapsed, 0)
		} else if i > 0 {
			d += p.cooling
		}
		sum += d
	}
	return (sum + p.rest).Round(time.Second)
}

// bound is what limits a scenario, nil where that is not known: one I/O in flight is limited by its own latency, so
// that another limit says nothing of it. The other result says whether a limit of the storage is known at all.
func (p *progressState) bound(id int) (b *ceiling.Bound, known bool) {
	c, ok := p.started.Ceilings[id]
	if !ok || !c.Known() {
		return nil, false
	}
	inFlight := 0
	for _, w := range p.loads(id) {
		inFlight += w.InFlight()
	}
	if b = c.Binding(); inFlight == 1 && b.Kind != ceiling.Concurrency {
		return nil, true
	}
	return b, true
}

// loads are the loads of a scenario of fio, none where they cannot be read.
func (p *progressState) loads(id int) []fio.Workload {
	i := slices.IndexFunc(p.started.Scenarios, func(s suite.Scenario) bool { return s.ID == id })
	if i < 0 || p.started.Scenarios[i].Kind() != suite.OfFio {
		return nil
	}
	loads, _ := p.started.Scenarios[i].Workloads()
	return loads
}

// live is the running second in words: "12,034 IOPS of 12,000, 94 MiB/s of 93.8 MiB/s, latency 21
// ms mean, 34 ms p99". The time of syncs is known when the scenario has ended.
func (p *progressState) live(e bench.Ticked, bound *ceiling.Bound) string {
	if e.Transactions != nil {
		return runs.LiveTransactions(e.Transactions)
	}
	s := e.Second
	words := fmt.Sprintf("%v IOPS, %v", s.IOPS(), s.BW())
	if bound != nil {
		words = fmt.Sprintf("%v IOPS of %v, %v of %v", s.IOPS(), bound.IOPS, s.BW(), bound.BW)
	}
	if mean, p99 := completion(s); p99 > 0 {
		syncs := slices.ContainsFunc(p.loads(e.ID), func(w fio.Workload) bool { return w.SyncEvery > 0 })
		of := text.Either(syncs, "without the syncs", "latency")
		words += fmt.Sprintf(", %s %v mean, %v p99", of, units.LatencyOf(mean), units.LatencyOf(p99))
	}
	if s.Ramp {
		words += " (ramp)"
	}
	return words
}

// outcome is a finished scenario in words.
func outcome(r *result.Result) string {
	if r.State == result.Invalid {
		return "invalid: " + strings.Join(r.Reasons, "; ")
	}
	if r.Kind() == suite.OfServer {
		return runs.Transactions(r.Postgres)
	}
	n, bw := r.Total.Rates()
	var words strings.Builder
	fmt.Fprintf(&words, "%v IOPS, %v", n, bw)
	sync := r.Total.Sync.Lat
	for _, d := range []struct {
		name string
		fio.Latency
	}{{"read", r.Total.Read.Clat}, {"write", r.Total.Write.Clat}, {"sync", sync}} {
		if d.Measured() && (d.name != "write" || !sync.Measured()) { // a durable write takes as long as its sync
			fmt.Fprintf(&words, ", %s %v mean", d.name, units.Latency(d.Mean))
			if p99, ok := d.At(99); ok {
				fmt.Fprintf(&words, ", %v p99", units.LatencyOf(p99))
			}
		}
	}
	return words.String()
}

// plainView prints a line at each change and one every few seconds in between.
type plainView struct {
	out   Out
	state progressState
	last  time.Time // when a line was printed
}

// plainEvery is the pause between lines of a running scenario.
const plainEvery = 5 * time.Second

func (v *plainView) Event(e bench.Event) {
	v.state.apply(e)
	now := v.out.Now()
	switch e := e.(type) {
	case bench.Started:
		v.print("%s: %s, about %s, into %s", e.Suite, text.Plural(len(e.Scenarios)-len(e.Done), "scenario"),
			text.Duration(e.Expected.Round(time.Second)), e.Dir)
	case bench.Laying:
		if e.Done || now.Sub(v.last) >= plainEvery {
			file := e.File
			if e.Files > 0 {
				file += fmt.Sprintf(" (%s)", text.Plural(e.Files, "file"))
			}
			v.print("prefilling %s: %v of %v", file, e.Written, e.Size)
		}
	case bench.Began:
		n := 1 + slices.IndexFunc(v.state.started.Scenarios, func(s suite.Scenario) bool { return s.ID == e.Scenario.ID })
		v.print("[%d/%d] %d %s: started, %s", n, len(v.state.started.Scenarios), e.Scenario.ID, e.Scenario.Name,
			plans.Expected(e.Expected))
	case bench.Ticked:
		if now.Sub(v.last) >= plainEvery {
			bound, _ := v.state.bound(e.ID)
			v.print("  %s: %s", text.Duration(e.Elapsed.Round(time.Second)), v.state.live(e, bound))
		}
	case bench.Ended:
		v.print("  %s: %s", e.Result.Name, outcome(e.Result))
	case bench.Noted:
		v.print("%s", e.Text)
	case bench.RoundBegan:
		if e.Round == 1 {
			count := text.Plural(e.Of, "round")
			if e.Most > e.Of {
				count = fmt.Sprintf("%d to %s", e.Of, text.Plural(e.Most, "round"))
			}
			v.print("%s, seed %d", count, e.Seed)
		}
	case bench.RoundEnded:
		v.print("%s", roundText(e))
	case bench.Cooling, bench.Added:
	}
}

func (v *plainView) print(format string, args ...any) {
	v.last = v.out.Now()
	fmt.Fprintln(v.out, indented(fmt.Sprintf(format, args...)))
}

func (*plainView) Close() {}

// indented cleans a line and keeps the spaces that it begins with.
func indented(line string) string {
	body := strings.TrimLeft(line, " ")
	return line[:len(line)-len(body)] + text.Clean(body, 0)
}
