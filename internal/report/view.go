package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// Unknown is printed where no ceiling is known.
const Unknown = "unknown"

const unknown = Unknown

// view is a bundle as people read it: numbers are printed, names are clean.
type view struct {
	Word    string // READY, READY WITH WARNINGS, NOT READY, INVALID, or how far the run came
	Verdict string // pass, warn, fail, invalid; empty when there is none
	Reasons []reason

	Suite, Host, ID, Created, Tool, Fio string

	Counts []count // of scenarios by verdict, worst first
	Tiles  []tile
	// NoCeiling is true when no scenario has a known ceiling: tables then have no columns for one.
	NoCeiling bool
	Facts     []fact
	Storage   table
	Notes     []string
	Rows      []row
	Findings  []problem
	Sections  []section
}

type (
	// reason is why the verdict is what it is, and what to do next.
	reason struct{ Text, Next string }
	fact   struct{ Name, Value string }
	// count is a number of scenarios with one verdict.
	count struct {
		Verdict string
		N       int
	}
	// tile is one of the few figures at the head of the report.
	tile struct{ What, Figure, Of, Anchor string }
	// table has its numbers right-aligned, but for the columns named in Text.
	table struct {
		Caption string
		Head    []string
		Text    []int
		Rows    [][]string
	}
)

// row is one line of the overview.
type row struct {
	Num, Name, Title, Role, Anchor string

	Measured  string // the key figure
	Doubt     string // its uncertainty: "± 1.2 %"
	Also      string // the figure in its other unit
	Ceiling   string
	Percent   string // measured of ceiling: "99.6 %"
	LimitedBy string
	Burst     string // how long a burst lasts and what is sustained after it; empty when the ceiling itself lasts

	Share        float64 // measured of ceiling; 0 when unknown
	latency      bool    // Measured and Ceiling are latencies, Share is of the IOPS that follow from them
	LastingShare float64 // sustained part of the ceiling; 0 when the ceiling itself lasts

	P50, P99, Sync string // of the sync where the scenario syncs; Sync then has the I/O alone
	Verdict        string // "not run" when there is no result
}

// problem is a finding.
type problem struct {
	Anchor, Code, Severity, Title, Subject, Message, Why, Fix string

	Cases     []groupCase // of a group of findings, one each
	Evidence  table
	Accounts  []table // of the gap to a ceiling, one a case
	Commands  []string
	Scenarios []row // those it concerns
}

// groupCase is one finding of a group, with its own evidence.
type groupCase struct {
	Text     string
	Evidence [][]string
}

func newView(b *bundle.Bundle) *view {
	r := &b.Run
	v := &view{
		Word:    strings.ToUpper(r.Outcome()),
		Verdict: string(r.Verdict),
		Suite:   text.Clean(r.Suite.Name, longName),
		Host:    host(&r.Topology),
		ID:      text.Clean(r.ID, 2*longName),
		Tool:    text.Clean(r.Tool, longName),
		Fio:     text.Clean(r.Fio, longName),
	}
	if !r.Created.IsZero() {
		v.Created = r.Created.UTC().Format("2006-01-02 15:04 UTC")
	}
	if r.State != bundle.Finished && r.State != "" {
		v.Verdict = ""
	}
	for i := range b.Scenarios {
		s := newSection(&b.Scenarios[i], i)
		if r := b.Scenarios[i].Result; r != nil && r.Postgres.Peak() != nil {
			if f, ok := recovery(b, r.Postgres); ok {
				s.Facts = append(s.Facts, f)
			}
		}
		v.Sections = append(v.Sections, s)
		v.Rows = append(v.Rows, s.row)
	}
	v.NoCeiling = !slices.ContainsFunc(v.Rows, func(r row) bool { return r.Ceiling != unknown })
	for _, s := range r.Reasons[:min(len(r.Reasons), 3)] {
		v.Reasons = append(v.Reasons, reason{text.Clean(s, longSentence), text.Clean(nextStep(s, b), longSentence)})
	}
	v.Counts = counts(v.Rows)
	v.Tiles = tiles(b, v.Rows)
	v.storage(b)
	for i, f := range b.Findings {
		p := newProblem(f, i, b, v.Rows)
		p.Anchor = v.group(p)
		for j := range v.Sections {
			if slices.Contains(f.Scenarios, b.Scenarios[j].ID) {
				v.Sections[j].Findings = append(v.Sections[j].Findings, p)
			}
		}
	}
	return v
}

// mostEvidence is for how many findings of a group the evidence is shown; JSON has all.
const mostEvidence = 12

// group adds a finding to those of the same rule with the same remedy, which are then shown once,
// or begins a group. It returns the group's anchor.
func (v *view) group(p problem) string {
	for i := range v.Findings {
		g := &v.Findings[i]
		if g.Code != p.Code || g.Fix != p.Fix || g.Severity != p.Severity || !slices.Equal(g.Commands, p.Commands) {
			continue
		}
		if len(g.Cases) == 0 {
			first := g.caseOf()
			g.Evidence.Head, g.Evidence.Text = append([]string{"case"}, g.Evidence.Head...), []int{0, 1, 2, 3, 4}
			g.Evidence.Rows = nil
			g.add(first)
		}
		g.add(p.caseOf())
		g.Message = fmt.Sprintf(
			"%s, %s",
			text.Sentence(g.Title)[:len(text.Sentence(g.Title))-1],
			text.Plural(len(g.Cases), "case"),
		)
		g.Scenarios = append(g.Scenarios, p.Scenarios...)
		g.Accounts = append(g.Accounts, p.Accounts...)
		return g.Anchor
	}
	v.Findings = append(v.Findings, p)
	return p.Anchor
}

// heading names the rule and, of a group, how many cases there are.
func (p *problem) heading() string {
	title := strings.TrimSpace(fmt.Sprintf("%s %s: %s", p.Code, p.Severity, p.Title))
	if len(p.Cases) > 0 {
		title += " (" + text.Plural(len(p.Cases), "case") + ")"
	}
	return title
}

// add appends a finding to a group, with a row for each piece of its evidence.
func (p *problem) add(one groupCase) {
	p.Cases = append(p.Cases, one)
	if len(p.Cases) > mostEvidence {
		return
	}
	name, _, _ := strings.Cut(one.Text, ": ")
	for i, e := range one.Evidence {
		if i > 0 {
			name = ""
		}
		p.Evidence.Rows = append(p.Evidence.Rows, append([]string{name}, e...))
	}
}

// caseOf is one finding of a group: "8 rand-write: Only 3 s were measured."
func (p *problem) caseOf() groupCase {
	of := scenarioNames(*p)
	if of == "" {
		of = p.Subject
	}
	return groupCase{strings.TrimPrefix(of+": "+p.Message, ": "), p.Evidence.Rows}
}

// host names the machine, and a simulated one as such: its rates are not those of the real thing.
func host(t *topology.Topology) string {
	name := text.Clean(t.Host.Name, longName)
	if t.Scale > 0 {
		name = fmt.Sprintf("%s (simulated, rates at %g of the real ones)", cmp.Or(name, "a machine"), t.Scale)
	}
	return name
}

func counts(rows []row) []count {
	var all []count
	for _, verdict := range []string{"invalid", "fail", "warn", "pass", "measured", notRun} {
		n := 0
		for _, r := range rows {
			if r.Verdict == verdict {
				n++
			}
		}
		if n > 0 {
			all = append(all, count{verdict, n})
		}
	}
	return all
}

const notRun = "not run"

func newRow(s *bundle.Scenario, i int) row {
	r := row{
		Num:       strconv.Itoa(cmp.Or(s.ID, i+1)),
		Name:      text.Clean(s.Name, longName),
		Title:     text.Clean(s.Title, longName),
		Role:      text.Clean(string(s.Role), 12),
		Anchor:    fmt.Sprintf("s%d", i+1),
		Verdict:   cmp.Or(text.Clean(string(s.Verdict), 12), notRun),
		Measured:  none,
		P50:       none,
		P99:       none,
		Ceiling:   unknown,
		Percent:   unknown,
		LimitedBy: unknown,
	}
	if s.Result != nil && s.Result.Postgres != nil {
		r.postgres(s)
		return r
	}
	key := result.KeyOf(s.Result)
	if c := s.Ceiling; c != nil && c.Known() {
		r.ceiling(c, key)
	}
	if s.Result == nil {
		return r
	}
	t := s.Result.Total
	n, bw := Rates(t)
	if n <= 0 && bw <= 0 {
		return r
	}
	r.Measured, r.Also = key.Print(n, bw), ""
	if n > 0 {
		r.Also = operations(n)
	}
	r.Doubt = doubt(s.Result.IOPS)
	if key == result.ByIOPS {
		r.Also = bw.String()
	}
	if key == result.ByBandwidth {
		r.Doubt = doubt(s.Result.BW)
	}
	r.Also = also(r.Also, s.Result)
	if c := s.Ceiling; c != nil && c.Known() && !c.Binding().SelfMeasured() {
		r.latency = key == result.ByLatency
		r.Share = key.Share(n, bw, c.Binding().IOPS, c.Binding().BW)
		r.Percent = text.Percent(r.Share)
	}
	all := latencyOf(t)
	r.P50, r.P99 = at(all, 50), at(all, 99)
	if l := t.Sync.Lat; l.Measured() {
		r.Sync = fmt.Sprintf("p50 and p99 are the sync's; those of the I/O alone are %s and %s", r.P50, r.P99)
		r.P50, r.P99 = at(l, 50), at(l, 99)
	}
	return r
}

// Of is the share of the ceiling that was measured, or that there is none to compare with.
func (r row) Of() string {
	if r.Share > 0 && r.latency {
		return fmt.Sprintf("%s of the IOPS that %s allows", r.Percent, r.Ceiling)
	}
	if r.Share > 0 {
		return fmt.Sprintf("%s of a ceiling of %s", r.Percent, r.Ceiling)
	}
	if r.Ceiling == none {
		return "no ceiling but its own latency"
	}
	return "ceiling " + r.Ceiling
}

func (r *row) ceiling(c *ceiling.Ceiling, key result.Key) {
	b := c.Binding()
	r.Ceiling, r.LimitedBy = key.Print(b.IOPS, b.BW), b.Label()
	if b.SelfMeasured() {
		r.Ceiling, r.Percent = none, none
		return
	}
	last := c.Sustained()
	if last == nil || last.IOPS >= b.IOPS {
		return
	}
	// What binds need not burst itself: it may stand below one resource's burst and above what that
	// sustains.
	r.Burst = "burst"
	if course := c.Course(); len(course) > 1 {
		r.Burst += ": lasts " + text.Duration(course[0].Until)
	}
	r.Burst += fmt.Sprintf("; sustained %s (%s)", key.Print(last.IOPS, last.BW), last.Kind)
	r.LastingShare = float64(last.IOPS / b.IOPS)
}

// Rates adds up all directions, over the window that they cover.
func Rates(t fio.Job) (units.IOPS, units.Rate) {
	return t.Rates()
}

// latencyOf is the completion latency of all directions together; of several it needs their
// histograms.
func latencyOf(t fio.Job) fio.Latency {
	var parts []fio.Latency
	for _, d := range []fio.Direction{t.Read, t.Write, t.Trim} {
		if l := completion(d); d.N > 0 || d.IOPS > 0 {
			parts = append(parts, l)
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	sum := &fio.Hist{}
	for _, p := range parts {
		if p.Hist.Count() == 0 {
			return fio.Latency{}
		}
		sum.Merge(p.Hist)
	}
	return fio.Latency{Hist: sum, N: sum.Count()}
}

// completion is clat, or lat where only that was recorded.
func completion(d fio.Direction) fio.Latency {
	if !d.Clat.Measured() {
		return d.Lat
	}
	return d.Clat
}

func at(l fio.Latency, p float64) string {
	if v, ok := l.At(p); ok {
		return units.Latency(float64(v)).String()
	}
	return none
}

// tiles picks the figures that people ask for first: the most random I/O, the most in either
// direction, the time of a sync.
func tiles(b *bundle.Bundle, rows []row) []tile {
	type best struct {
		value float64
		tile  tile
	}
	var all [6]best
	offer := func(i int, what, figure, share string, value float64, r row) {
		if value > 0 && value > all[i].value {
			of := r.Name
			if r.Share > 0 {
				of = share + ", " + of
			}
			all[i] = best{value, tile{what, figure, of, r.Anchor}}
		}
	}
	for i := range b.Scenarios {
		s := b.Scenarios[i].Result
		if s == nil || s.State != result.Done || b.Scenarios[i].Verdict == verdict.Invalid {
			continue
		}
		share := rows[i].Percent + " of ceiling"
		if peak := s.Postgres.Peak(); peak != nil {
			offer(5, "Peak transactions", transactions(peak.TPS), share, float64(peak.TPS), rows[i])
			continue
		}
		t := s.Total
		n, _ := Rates(t)
		offer(0, "Peak IOPS", operations(n), share, float64(n), rows[i])
		offer(1, "Peak read", t.Read.BW.String(), share, float64(t.Read.BW), rows[i])
		offer(2, "Peak write", t.Write.BW.String(), share, float64(t.Write.BW), rows[i])
		if result.KeyOf(s) != result.ByLatency || n <= 0 {
			continue
		}
		what, slot := "Read latency", 3
		if t.Write.N > 0 {
			what, slot = "Write latency", 4
		}
		if t.Sync.Lat.Measured() {
			what = "Durable-write latency"
		}
		offer(slot, what, rows[i].Measured, "expected "+rows[i].Ceiling, float64(n), rows[i])
	}
	var tiles []tile
	for _, b := range all {
		if b.value > 0 {
			tiles = append(tiles, b.tile)
		}
	}
	return tiles
}

func newProblem(f finding.Finding, i int, b *bundle.Bundle, rows []row) problem {
	p := problem{
		Anchor:   fmt.Sprintf("f%d", i+1),
		Code:     text.Clean(string(f.Code), 12),
		Severity: text.Clean(string(f.Severity), 12),
		Title:    text.Clean(f.Title, 2*longName),
		Subject:  text.Clean(f.Subject, longName),
		Message:  text.Clean(f.Message, longSentence),
		Why:      text.Clean(f.Why, longSentence),
		Fix:      text.Clean(f.Fix, longSentence),
		Evidence: table{
			Caption: "Evidence",
			Head:    []string{"what", "found", "expected", "where"},
			Text:    []int{0, 1, 2, 3},
		},
	}
	for _, e := range f.Evidence {
		p.Evidence.Rows = append(
			p.Evidence.Rows,
			[]string{
				text.Clean(e.What, longName),
				text.Clean(e.Found, longName),
				text.Clean(e.Expected, longSentence),
				text.Clean(e.Where, longName),
			},
		)
	}
	if f.Account != nil {
		p.Accounts = []table{accountTable(f.Account)}
	}
	for _, c := range f.Commands {
		p.Commands = append(p.Commands, text.Clean(c, longSentence))
	}
	for j := range b.Scenarios {
		if slices.Contains(f.Scenarios, b.Scenarios[j].ID) {
			p.Scenarios = append(p.Scenarios, rows[j])
		}
	}
	return p
}

// scenarioNames lists the scenarios that a finding concerns: "1 sync-latency, 3 rand-read-latency".
func scenarioNames(p problem) string {
	var names []string
	for _, r := range p.Scenarios {
		names = append(names, strings.TrimSpace(r.Num+" "+r.Name))
	}
	return strings.Join(names, ", ")
}
