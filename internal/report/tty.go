package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"plimsoll/internal/text"
)

// terminal lays a view out in columns.
type terminal struct {
	out   *bufio.Writer
	width int
	color bool
	brief bool
}

var (
	dim   = lipgloss.NewStyle().Faint(true)
	bold  = lipgloss.NewStyle().Bold(true)
	good  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	fair  = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	bad   = lipgloss.NewStyle().Foreground(lipgloss.Red)
	plain = lipgloss.NewStyle()
)

// styleOf is the colour of a verdict or severity.
func styleOf(word string) lipgloss.Style {
	switch word {
	case "pass", "met":
		return good
	case "warn", "warning":
		return fair
	case "fail", "invalid", "error", "missed":
		return bad
	}
	return dim
}

// newTerminal writes to w, whose buffer the caller flushes.
func newTerminal(w io.Writer, o Options) *terminal {
	return &terminal{out: bufio.NewWriter(w), width: max(cmp.Or(o.Width, 80), 40), color: o.Color, brief: o.Brief}
}

func writeTTY(out *bufio.Writer, v *view, o Options) {
	t := newTerminal(out, o)
	t.head(v)
	t.tiles(v.Tiles)
	t.overview(v)
	for _, p := range v.Findings {
		t.problem(p)
	}
	if o.Brief {
		return
	}
	for _, s := range v.Sections {
		t.section(s)
	}
	t.facts(v)
}

// in styles text when colours are wanted.
func (t *terminal) in(s lipgloss.Style, phrase string) string {
	if !t.color {
		return phrase
	}
	return s.Render(phrase)
}

// para prints text behind a prefix, wrapped, the lines after the first indented as far.
func (t *terminal) para(prefix string, s lipgloss.Style, paragraph string) {
	indent := strings.Repeat(" ", text.Width(prefix))
	for i, line := range text.Wrap(paragraph, t.width, prefix, indent) {
		lead := indent
		if i == 0 {
			lead = prefix
		}
		// A word wider than the terminal is broken after all: a hostile name must not push the rest
		// away.
		body := ansi.Hardwrap(strings.TrimPrefix(line, lead), max(t.width-text.Width(lead), 20), false)
		for piece := range strings.SplitSeq(body, "\n") {
			fmt.Fprintln(t.out, strings.TrimRight(lead+t.in(s, strings.TrimLeft(piece, " ")), " "))
			lead = indent
		}
	}
}

func (t *terminal) head(v *view) {
	fmt.Fprintln(t.out, t.in(styleOf(v.Verdict).Bold(true), v.Word))
	for _, r := range v.Reasons {
		t.para("- ", plain, r.Text)
		if r.Next != "" {
			t.para("  Next: ", dim, r.Next)
		}
	}
	about := []string{v.Suite, v.Host, v.Created, v.Tool, v.Fio}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	fmt.Fprintln(t.out)
	t.para("", dim, strings.Join(about, ", "))
	fmt.Fprintln(t.out)
}

// tiles prints the key figures.
func (t *terminal) tiles(all []tile) {
	for _, one := range all {
		t.para("  "+text.PadRight(one.What, 22)+"  ", plain, one.Figure+" ("+one.Of+")")
	}
	if len(all) > 0 {
		fmt.Fprintln(t.out)
	}
}

// column is one of the overview.
type column struct {
	head string
	left bool // aligned
	cell func(row) string
}

func overviewColumns(v *view) []column {
	all := []column{
		{"#", false, func(r row) string { return r.Num }},
		{"scenario", true, func(r row) string { return r.Name }},
		{"role", true, func(r row) string { return r.Role }},
		{"measured", false, func(r row) string { return r.Measured }},
	}
	if !v.NoCeiling {
		all = append(all,
			column{"ceiling", false, func(r row) string { return r.Ceiling }},
			column{"%", false, func(r row) string {
				if r.Percent == unknown {
					return none // ceiling is unknown in the cell before
				}
				return strings.TrimSuffix(r.Percent, " %")
			}})
	}
	return append(all,
		column{"p50", false, func(r row) string { return r.P50 }},
		column{"p99", false, func(r row) string { return r.P99 }},
		column{"verdict", true, func(r row) string { return r.Verdict }})
}

// shortestName is the least that the overview leaves of a scenario's name, in columns.
const shortestName = 12

// overview gives each scenario a line of figures and, below it, a line for what has no column: the
// doubt, the limit, how long a burst lasts. Names are cut where the figures need the room.
func (t *terminal) overview(v *view) {
	columns := overviewColumns(v)
	widths := make([]int, len(columns))
	total := len(columns) - 1
	for i, c := range columns {
		widths[i] = text.Width(c.head)
		for _, r := range v.Rows {
			widths[i] = max(widths[i], text.Width(c.cell(r)))
		}
		total += widths[i]
	}
	widths[1] = max(widths[1]-max(total-t.width+1, 0), shortestName)
	line := func(cell func(column) string) string {
		var b strings.Builder
		for i, c := range columns {
			s := text.Clean(cell(c), widths[i])
			if i > 0 {
				b.WriteByte(' ')
			}
			if c.left {
				b.WriteString(text.PadRight(s, widths[i]))
			} else {
				b.WriteString(text.PadLeft(s, widths[i]))
			}
		}
		return strings.TrimRight(b.String(), " ")
	}
	fmt.Fprintln(t.out, t.in(bold, line(func(c column) string { return c.head })))
	for _, r := range v.Rows {
		all := line(func(c column) string { return c.cell(r) })
		figures := strings.TrimSuffix(all, r.Verdict)
		fmt.Fprintln(t.out, figures+t.in(styleOf(r.Verdict), all[len(figures):]))
		limit := ""
		if r.LimitedBy != unknown {
			limit = "limited by " + join(", ", r.LimitedBy, r.Burst)
		}
		if more := join("; ", r.Doubt, r.Also, r.Sync, limit); more != "" {
			t.para("   ", dim, more)
		}
	}
	if v.NoCeiling && len(v.Rows) > 0 {
		fmt.Fprintln(t.out)
		t.para("", dim, noCeiling)
	}
}

// noCeiling stands once below a table that has no column for ceilings.
const noCeiling = "No ceiling: the limits of this storage are unknown. Declare its volumes: plimsoll run " +
	"--volumes 8xgp3, or in plimsoll.yaml."

func (t *terminal) problem(p problem) {
	fmt.Fprintln(t.out)
	t.para("", bold, p.heading())
	if len(p.Cases) == 0 {
		t.para("  ", styleOf(p.Severity), p.Message)
	}
	t.cases(p.Cases)
	if of := scenarioNames(p); of != "" && len(p.Cases) == 0 {
		t.para("  scenarios: ", plain, of)
	}
	if len(p.Cases) == 0 {
		t.evidence("  - ", p.Evidence.Rows)
	}
	for _, a := range p.Accounts {
		t.account(a)
	}
	if p.Fix != "" {
		t.para("  fix: ", plain, p.Fix)
	}
	for _, c := range p.Commands {
		fmt.Fprintf(t.out, "  $ %s\n", c) // never wrapped, to be copied
	}
}

// cases lists the findings of a group. Their messages have their figures; a brief report leaves the
// evidence to the other formats.
func (t *terminal) cases(all []groupCase) {
	for i, c := range all {
		t.para("  - ", plain, c.Text)
		if !t.brief && i < mostEvidence {
			t.evidence("    - ", c.Evidence)
		}
	}
}

func (t *terminal) evidence(prefix string, rows [][]string) {
	for _, e := range rows {
		phrase := e[0] + ": " + e[1]
		if e[2] != "" {
			phrase += ", expected " + e[2]
		}
		if e[3] != "" {
			phrase += " (" + e[3] + ")"
		}
		t.para(prefix, dim, phrase)
	}
}

func (t *terminal) section(s section) {
	fmt.Fprintln(t.out)
	title := s.Num + " " + s.Name
	if s.Title != "" {
		title += ": " + s.Title
	}
	t.para("", bold, title)
	for _, why := range s.Invalid {
		t.para("  ", bad, "invalid: "+why)
	}
	t.command(s.Args)
	for _, f := range s.Facts {
		t.para("  "+f.Name+": ", plain, f.Value)
	}
	t.table(s.Raw)
	for _, p := range s.Postgres {
		t.table(p)
	}
	if len(s.Depth) > 0 {
		var all []string
		for _, d := range s.Depth {
			all = append(all, d.Value+" "+d.How)
		}
		t.para("  queue depth: ", plain, strings.Join(all, ", "))
	}
	if s.Note != "" {
		t.para("    ", plain, s.Note)
	}
	for _, r := range s.Targets.Rows {
		phrase := fmt.Sprintf("%s: %s", r[3], r[0])
		if r[1] != none {
			phrase += fmt.Sprintf(" (measured %s, expected %s)", r[1], r[2])
		}
		t.para("  threshold ", styleOf(r[3]), phrase)
	}
	if len(s.Postgres) > 0 {
		t.postgresBounds(s.Bounds)
		s.Bounds.Rows = nil
	}
	for _, r := range s.Bounds.Rows {
		phrase := fmt.Sprintf("%s IOPS, %s", r[1], r[2])
		if r[3] != "" {
			phrase += ", " + r[3]
		}
		t.para("  "+r[0]+": ", plain, phrase+" = "+r[4]+" ["+r[5]+"]")
	}
	t.table(s.Devices)
	for _, d := range s.Doubts {
		t.para("  caveat: ", fair, d)
	}
}

// command breaks lines between arguments, so that what is copied from the screen still runs.
func (t *terminal) command(args []string) {
	line := "  $"
	for _, arg := range args {
		if line != "  $" && ansi.StringWidth(line)+1+ansi.StringWidth(arg) > t.width-2 {
			fmt.Fprintln(t.out, t.in(dim, line+" \\"))
			line = "   "
		}
		line += " " + arg
	}
	if len(args) > 0 {
		fmt.Fprintln(t.out, t.in(dim, line))
	}
}

// table prints columns that hold anything, and names with values where the columns do not fit.
func (t *terminal) table(tab table) {
	if len(tab.Rows) == 0 {
		return
	}
	var columns []int
	var widths []int
	all := 1
	for j, head := range tab.Head {
		wide, something := ansi.StringWidth(head), j == 0
		for _, r := range tab.Rows {
			wide = max(wide, ansi.StringWidth(r[j]))
			something = something || r[j] != none && r[j] != "0" && r[j] != "0 MiB/s"
		}
		if something {
			columns, widths, all = append(columns, j), append(widths, wide), all+wide+1
		}
	}
	if all > t.width {
		for i := range tab.Rows {
			t.pairs(tab, i)
		}
		return
	}
	gap := " "
	if all+len(columns) <= t.width {
		gap = "  "
	}
	line := func(cells []string) string {
		var phrase strings.Builder
		for k, j := range columns {
			pad := strings.Repeat(" ", widths[k]-ansi.StringWidth(cells[j]))
			if k == 0 {
				phrase.WriteString("  " + cells[j] + pad)
			} else {
				phrase.WriteString(gap + pad + cells[j])
			}
		}
		return strings.TrimRight(phrase.String(), " ")
	}
	fmt.Fprintln(t.out, t.in(dim, line(tab.Head)))
	for _, r := range tab.Rows {
		fmt.Fprintln(t.out, line(r))
	}
}

// pairs prints a table's row as names and values.
func (t *terminal) pairs(tab table, i int) {
	var all []string
	for j, cell := range tab.Rows[i][1:] {
		if cell != none {
			all = append(all, strings.ReplaceAll(tab.Head[j+1]+" "+cell, " ", "\u00a0"))
		}
	}
	prefix := "  " + tab.Rows[i][0] + ": "
	indent := ansi.StringWidth(prefix)
	for k, line := range strings.Split(ansi.Wrap(strings.Join(all, ", "), max(t.width-indent, 20), ""), "\n") {
		if k > 0 {
			prefix = strings.Repeat(" ", indent)
		}
		fmt.Fprintln(t.out, prefix+strings.TrimSpace(strings.ReplaceAll(line, "\u00a0", " ")))
	}
}

func (t *terminal) facts(v *view) {
	fmt.Fprintf(t.out, "\n%s\n", t.in(bold, "machine"))
	for _, f := range v.Facts {
		t.para("  "+f.Name+": ", plain, f.Value)
	}
	for _, r := range v.Storage.Rows {
		t.para(
			"  array "+r[0]+": ",
			plain,
			fmt.Sprintf("%s, chunk %s, size %s, each %s [%s]", r[1], r[2], r[3], r[4], r[5]),
		)
	}
	for _, n := range v.Notes {
		t.para("  note: ", dim, n)
	}
}
