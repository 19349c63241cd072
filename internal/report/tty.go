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
)

// terminal lays a view out in columns.
type terminal struct {
	out   *bufio.Writer
	width int
	color bool
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
	return &terminal{out: bufio.NewWriter(w), width: max(cmp.Or(o.Width, 80), 40), color: o.Color}
}

func writeTTY(out *bufio.Writer, v *view, o Options) {
	t := newTerminal(out, o)
	t.head(v)
	t.overview(v.Rows)
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
func (t *terminal) in(s lipgloss.Style, text string) string {
	if !t.color {
		return text
	}
	return s.Render(text)
}

// para prints text behind a prefix, wrapped, the lines after the first indented as far.
func (t *terminal) para(prefix string, s lipgloss.Style, text string) {
	indent := strings.Repeat(" ", ansi.StringWidth(prefix))
	lines := strings.Split(ansi.Wrap(text, max(t.width-len(indent), 20), ""), "\n")
	for i, line := range lines {
		if i > 0 {
			prefix = indent
		}
		fmt.Fprintln(t.out, strings.TrimRight(prefix+t.in(s, strings.TrimSpace(line)), " "))
	}
}

func (t *terminal) head(v *view) {
	fmt.Fprintln(t.out, t.in(styleOf(v.Verdict).Bold(true), v.Word))
	for _, r := range v.Reasons {
		t.para("- ", plain, r)
	}
	about := []string{v.Suite, v.Host, v.Created, v.Tool, v.Fio}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	fmt.Fprintln(t.out)
	t.para("", dim, strings.Join(about, ", "))
	fmt.Fprintln(t.out)
}

// overview gives each scenario a line of figures and, below it, a line for what has no column at 80: the doubt, what binds,
// how long a burst lasts.
func (t *terminal) overview(rows []row) {
	widths := []int{2, 17, 4, 11, 11, 7, 6, 6, 7} // 79 with the gaps
	if spare := t.width - 80; spare > 0 {
		widths[1] += min(spare, 23)
	}
	line := func(cells ...string) string {
		var s strings.Builder
		for i, c := range cells {
			c = ansi.Truncate(c, widths[i], "…")
			pad := strings.Repeat(" ", widths[i]-ansi.StringWidth(c))
			if i == 1 || i == 2 || i == len(cells)-1 {
				c += pad
			} else {
				c = pad + c
			}
			s.WriteString(c)
			if i < len(cells)-1 {
				s.WriteByte(' ')
			}
		}
		return strings.TrimRight(s.String(), " ")
	}
	fmt.Fprintln(t.out, t.in(bold, line("#", "scenario", "role", "measured", "ceiling", "%", "p50", "p99", "verdict")))
	for _, r := range rows {
		share := strings.TrimSuffix(r.Percent, " %")
		text := line(r.Num, r.Name, r.Role, r.Measured, r.Ceiling, share, tight(r.P50), tight(r.P99), r.Verdict)
		figures := strings.TrimSuffix(text, r.Verdict)
		fmt.Fprintln(t.out, figures+t.in(styleOf(r.Verdict), text[len(figures):]))
		var more []string
		for _, s := range []string{r.Doubt, r.Also, r.Sync} {
			if s != "" {
				more = append(more, s)
			}
		}
		binds := "binds: " + r.Binds
		if r.Burst != "" {
			binds += ", " + r.Burst
		}
		t.para("   ", dim, strings.Join(append(more, binds), "; "))
	}
}

// tight saves a column where each counts: "14.1ms".
func tight(s string) string { return strings.ReplaceAll(s, " ", "") }

func (t *terminal) problem(p problem) {
	fmt.Fprintln(t.out)
	t.para("", bold, strings.TrimSpace(fmt.Sprintf("%s %s: %s", p.Code, p.Severity, p.Title)))
	t.para("  ", styleOf(p.Severity), p.Says)
	for _, e := range p.Evidence.Rows {
		text := e[0] + ": " + e[1]
		if e[2] != "" {
			text += ", expected " + e[2]
		}
		if e[3] != "" {
			text += " (" + e[3] + ")"
		}
		t.para("  - ", dim, text)
	}
	if p.Fix != "" {
		t.para("  fix: ", plain, p.Fix)
	}
	for _, c := range p.Commands {
		fmt.Fprintf(t.out, "  $ %s\n", c) // never wrapped, to be copied
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
	if len(s.Depth) > 0 {
		var all []string
		for _, d := range s.Depth {
			all = append(all, d.Value+" "+d.How)
		}
		t.para("  in flight: ", plain, strings.Join(all, ", "))
	}
	if s.Told != "" {
		t.para("    ", plain, s.Told)
	}
	for _, r := range s.Targets.Rows {
		text := fmt.Sprintf("%s: %s", r[3], r[0])
		if r[1] != none {
			text += fmt.Sprintf(" (measured %s, expected %s)", r[1], r[2])
		}
		t.para("  target ", styleOf(r[3]), text)
	}
	for _, r := range s.Bounds.Rows {
		text := fmt.Sprintf("%s IOPS, %s", r[1], r[2])
		if r[3] != "" {
			text += ", " + r[3]
		}
		t.para("  "+r[0]+": ", plain, text+" = "+r[4]+" ["+r[5]+"]")
	}
	t.table(s.Devices)
	for _, d := range s.Doubts {
		t.para("  doubt: ", fair, d)
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
		var text strings.Builder
		for k, j := range columns {
			pad := strings.Repeat(" ", widths[k]-ansi.StringWidth(cells[j]))
			if k == 0 {
				text.WriteString("  " + cells[j] + pad)
			} else {
				text.WriteString(gap + pad + cells[j])
			}
		}
		return strings.TrimRight(text.String(), " ")
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
		t.para("  array "+r[0]+": ", plain, fmt.Sprintf("%s, chunk %s, size %s, each %s [%s]", r[1], r[2], r[3], r[4], r[5]))
	}
	for _, n := range v.Notes {
		t.para("  note: ", dim, n)
	}
}
