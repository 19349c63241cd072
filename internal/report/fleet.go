package report

import (
	"bufio"
	"cmp"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/bundle"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// fleetView is a fleet run as people read it.
type fleetView struct {
	Word, Verdict, About string
	Reasons              []string
	Hosts                table
	Works                []fleetWork
	Findings             []problem
}

// fleetWork is one scenario on all hosts.
type fleetWork struct {
	Name    string
	Facts   []fact
	Invalid []string
	Rows    table
}

// FleetFormats are the formats of a fleet's report; the first is for the terminal.
func FleetFormats() []Format { return []Format{TTY, Markdown, HTML, JSON} }

// WriteFleet renders a fleet run.
func WriteFleet(w io.Writer, f Format, run *bundle.Fleet, o Options) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch f {
	case TTY:
		fleetTTY(out, newFleetView(run), o)
	case Markdown:
		fleetMarkdown(out, newFleetView(run))
	case HTML:
		err = fleetHTML(out, newFleetView(run))
	case JSON:
		err = json.NewEncoder(out).Encode(struct {
			Schema  int    `json:"schema_version"`
			Outcome string `json:"outcome"`
			*bundle.Fleet
		}{Schema, run.Outcome(), run})
	default:
		return unknownFormat(f, FleetFormats())
	}
	if err != nil {
		return fmt.Errorf("report as %s: %w", f, err)
	}
	return out.Flush()
}

func newFleetView(f *bundle.Fleet) *fleetView {
	v := &fleetView{Word: strings.ToUpper(f.Outcome()), Verdict: string(f.Verdict)}
	if f.State != bundle.Finished {
		v.Verdict = ""
	}
	for _, r := range f.Reasons {
		v.Reasons = append(v.Reasons, text.Clean(r, longSentence))
	}
	about := []string{text.Plural(len(f.Hosts), "host"), "via " + text.Clean(f.Via, longName), f.Order}
	if !f.Created.IsZero() {
		about = append(about, f.Created.UTC().Format("2006-01-02 15:04 UTC"))
	}
	v.About = strings.Join(append(about, text.Clean(f.Tool, longName)), ", ")
	v.Hosts = table{
		Caption: "Hosts",
		Head:    []string{"host", "state", "its own verdict", "clock error", "fio"},
		Text:    []int{0, 1, 2, 4},
	}
	for _, h := range f.Hosts {
		state := string(h.State)
		if h.Why != "" {
			state += ": " + text.Clean(h.Why, longName)
		}
		v.Hosts.Rows = append(v.Hosts.Rows, []string{
			text.Clean(h.Name, longName), state, cmp.Or(text.Clean(string(h.Verdict), 24), none), clockError(h.Clock),
			text.Clean(h.Fio, 24),
		})
	}
	for i := range f.Scenarios {
		v.Works = append(v.Works, newFleetWork(&f.Scenarios[i]))
	}
	for i, found := range f.Findings {
		if found.Subject != "" {
			found.Title += " (" + found.Subject + ")"
		}
		v.Findings = append(v.Findings, newProblem(found, i, &bundle.Bundle{}, nil))
	}
	return v
}

// clockError prints how far off a host's clock may be.
func clockError(c bundle.FleetClock) string {
	if c.Error == 0 {
		return none
	}
	return units.LatencyOf(c.Error).String()
}

func newFleetWork(s *bundle.FleetScenario) fleetWork {
	w := fleetWork{Name: text.Clean(fmt.Sprintf("%d %s", s.ID, s.Name), longName)}
	add := func(name, value string) { w.Facts = append(w.Facts, fact{name, text.Clean(value, longSentence)}) }
	total := s.Total.IOPS.String() + " IOPS"
	if e := s.Total.Interval; e.HasInterval() {
		total += fmt.Sprintf(", 95 %% between %s and %s", units.IOPS(e.Lo), units.IOPS(e.Hi))
	}
	if s.Total.IOPS > 0 {
		add("together", total+", "+s.Total.BW.String())
	}
	if s.Ceiling != nil && s.Ceiling.IOPS > 0 {
		add(
			"ceiling",
			fmt.Sprintf(
				"%s IOPS, limited by the %s; reached %s",
				s.Ceiling.IOPS,
				s.Ceiling.Binds,
				text.Percent(float64(s.Total.IOPS/s.Ceiling.IOPS)),
			),
		)
	}
	if s.Total.Hist.Count() > 0 {
		add(
			"latency",
			fmt.Sprintf(
				"p50 %s, p99 %s, p99.9 %s (bins of all hosts added)",
				histAt(s, 50),
				histAt(s, 99),
				histAt(s, 99.9),
			),
		)
	}
	if s.Total.Sync.Count() > 0 {
		add(
			"sync",
			fmt.Sprintf(
				"p50 %s, p99 %s",
				units.LatencyOf(s.Total.Sync.Percentile(50)),
				units.LatencyOf(s.Total.Sync.Percentile(99)),
			),
		)
	}
	if s.Common.Length() > 0 {
		add(
			"common window",
			fmt.Sprintf("%s, %s of what was planned", text.Duration(s.Common.Length()), text.Percent(s.Common.Share)),
		)
	}
	for _, why := range s.Invalid {
		w.Invalid = append(w.Invalid, text.Clean(why, longSentence))
	}
	w.Rows = table{
		Head: []string{"host", "IOPS", "", "bandwidth", "of its ceiling", "limited by", "alone", "p50", "p99", ""},
		Text: []int{0, 2, 5, 9},
	}
	for _, h := range s.Hosts {
		doubt, of, alone, mark := "", none, none, ""
		if h.Interval.HasInterval() {
			doubt = text.PlusMinus(h.Interval.Rel())
		}
		if h.Ceiling > 0 {
			of = text.Percent(h.Of())
		}
		if h.Alone > 0 {
			alone = h.Alone.String()
		}
		if slices.ContainsFunc(s.Stragglers, func(g bundle.FleetStraggler) bool { return g.Host == h.Host }) {
			mark = "straggler"
		}
		w.Rows.Rows = append(w.Rows.Rows, []string{
			text.Clean(h.Host, longName),
			h.IOPS.String(),
			doubt,
			h.BW.String(),
			of,
			cmp.Or(text.Clean(h.Limit, 40), none),
			alone,
			units.LatencyOf(h.P50).String(),
			units.LatencyOf(h.P99).String(),
			mark,
		})
	}
	w.Rows.dropEmpty()
	return w
}

// dropEmpty leaves columns out in which no row has anything.
func (t *table) dropEmpty() {
	for i := len(t.Head) - 1; i > 0; i-- {
		if slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" && row[i] != none }) {
			continue
		}
		t.Head = slices.Delete(t.Head, i, i+1)
		for k := range t.Rows {
			t.Rows[k] = slices.Delete(t.Rows[k], i, i+1)
		}
		var columns []int
		for _, c := range t.Text {
			if c < i {
				columns = append(columns, c)
			} else if c > i {
				columns = append(columns, c-1)
			}
		}
		t.Text = columns
	}
}

func histAt(s *bundle.FleetScenario, p float64) string {
	return units.LatencyOf(s.Total.Hist.Percentile(p)).String()
}

func fleetTTY(out *bufio.Writer, v *fleetView, o Options) {
	t := newTerminal(out, o)
	fmt.Fprintln(t.out, t.in(styleOf(v.Verdict).Bold(true), v.Word))
	for _, r := range v.Reasons {
		t.para("- ", plain, r)
	}
	fmt.Fprintln(t.out)
	t.para("", dim, v.About)
	for _, w := range v.Works {
		fmt.Fprintf(t.out, "\n%s\n", t.in(bold, w.Name))
		for _, f := range w.Facts {
			t.para("  "+text.PadRight(f.Name, 14)+"  ", plain, f.Value)
		}
		for _, why := range w.Invalid {
			t.para("  ", bad, why)
		}
		t.fleetTable(w.Rows)
	}
	fmt.Fprintf(t.out, "\n%s\n", t.in(bold, "Hosts"))
	t.fleetTable(v.Hosts)
	for _, p := range v.Findings {
		t.problem(p)
	}
	_ = t.out.Flush() // into out, whose own flush reports the error
}

// fleetTable prints a table whose rows are few enough to be read whole, below one another.
func (t *terminal) fleetTable(rows table) {
	widths := make([]int, len(rows.Head))
	for _, row := range append([][]string{rows.Head}, rows.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	for n, row := range append([][]string{rows.Head}, rows.Rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = text.PadLeft(cell, widths[i]); slices.Contains(rows.Text, i) {
				cells[i] = text.PadRight(cell, widths[i])
			}
		}
		line := "  " + strings.Join(cells, "  ")
		style := plain
		if n == 0 {
			style = dim
		}
		fmt.Fprintln(t.out, t.in(style, strings.TrimRight(line, " ")))
	}
}

func fleetMarkdown(out *bufio.Writer, v *fleetView) {
	fmt.Fprintf(out, "# Fleet: %s\n\n%s\n", v.Word, md(v.About))
	for _, r := range v.Reasons {
		fmt.Fprintf(out, "\n- %s", md(r))
	}
	for _, w := range v.Works {
		fmt.Fprintf(out, "\n\n## %s\n\n", md(w.Name))
		for _, f := range w.Facts {
			fmt.Fprintf(out, "- %s: %s\n", f.Name, md(f.Value))
		}
		for _, why := range w.Invalid {
			fmt.Fprintf(out, "- not to be trusted: %s\n", md(why))
		}
		mdTable(out, w.Rows)
	}
	fmt.Fprint(out, "\n\n## Hosts\n")
	mdTable(out, v.Hosts)
	for _, p := range v.Findings {
		mdProblem(out, p)
	}
}

//go:embed assets/fleet.html
var fleetMarkup string

var fleetTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("fleet").Funcs(template.FuncMap{
		"text": func(t table, column int) bool { return slices.Contains(t.Text, column) },
	}).Parse(fleetMarkup))
})

// fleetHTML writes one file that needs nothing else and runs no script.
func fleetHTML(out io.Writer, v *fleetView) error {
	return fleetTemplate().Execute(out, struct {
		*fleetView
		Style template.CSS
	}{v, template.CSS(style)}) //nolint:gosec // our own file
}
