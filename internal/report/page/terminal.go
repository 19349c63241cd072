package page

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"plimsoll/internal/text"
)

// terminal lays blocks out in columns.
type terminal struct {
	out   *bufio.Writer
	width int
	rows  int // width of tables
	color bool
	all   bool     // also the details
	begun bool     // something was printed
	left  []string // what was left out, a name for each block
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
func styleOf(tone string) lipgloss.Style {
	switch tone {
	case "pass", "met":
		return good
	case "warn", "warning":
		return fair
	case "fail", "invalid", "error", "missed":
		return bad
	case "":
		return plain
	}
	return dim
}

func writeText(out *bufio.Writer, d *Document, o Options) error {
	t := &terminal{out: out, width: max(cmp.Or(o.Width, 80), 40), color: o.Color, all: o.Details}
	t.rows = max(o.Rows, t.width)
	t.head(d.Head)
	t.blocks(d.Blocks, "")
	t.rest(d.More)
	return nil
}

// in styles text when colours are wanted.
func (t *terminal) in(s lipgloss.Style, phrase string) string {
	if !t.color || phrase == "" {
		return phrase
	}
	return s.Render(phrase)
}

func (t *terminal) line(s string) {
	fmt.Fprintln(t.out, strings.TrimRight(s, " "))
	t.begun = true
}

// mostLeft is how many kinds of details the last line names.
const mostLeft = 6

// rest is the last line: what was left out, and what prints it.
func (t *terminal) rest(command string) {
	var names []string
	count := map[string]int{}
	for _, name := range t.left {
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if n := count[name]; n > 1 {
			names[i] = text.Plural(n, name)
		}
	}
	if len(names) == 0 {
		return
	}
	t.gap()
	t.para("", dim, cmp.Or(command, "--details")+" shows "+text.Some(names, mostLeft))
}

// evidence is what findings have that the last line does not count.
const evidence = "evidence"

// leave says that a block is left out.
func (t *terminal) leave(name string) {
	if name != "" && (name != evidence || !slices.Contains(t.left, evidence)) {
		t.left = append(t.left, name)
	}
}

// gap is an empty line between parts, none before the first.
func (t *terminal) gap() {
	if t.begun {
		fmt.Fprintln(t.out)
	}
}

// para prints text behind a prefix, wrapped, the lines after the first indented as far.
func (t *terminal) para(prefix string, s lipgloss.Style, paragraph string) {
	t.paraTail(prefix, s, paragraph, "")
}

// longestPath is the widest path that is kept in one piece, in columns: beyond it a name is not one to copy.
const longestPath = 256

// broken is a line that fits the width. A path stays whole, so that it can be copied: the terminal itself goes on in
// the next line.
func broken(line string, width int) []string {
	if strings.Contains(line, "/") && !strings.Contains(line, " ") && text.Width(line) <= longestPath {
		return []string{line}
	}
	return strings.Split(ansi.Hardwrap(line, width, false), "\n")
}

// paraTail is para with something in a style of its own after the text.
func (t *terminal) paraTail(prefix string, s lipgloss.Style, paragraph, tail string) {
	indent := strings.Repeat(" ", text.Width(prefix))
	lines := text.Wrap(paragraph, t.width-ansi.StringWidth(tail), prefix, indent)
	for i, line := range lines {
		lead := indent
		if i == 0 {
			lead = prefix
		}
		// A word wider than the terminal is broken after all: a hostile name must not push the rest
		// away.
		body := broken(strings.TrimPrefix(line, lead), max(t.width-text.Width(lead)-ansi.StringWidth(tail), 20))
		for k, piece := range body {
			piece = lead + t.in(s, strings.TrimLeft(piece, " "))
			if i == len(lines)-1 && k == len(body)-1 {
				piece += tail
			}
			t.line(piece)
			lead = indent
		}
	}
}

func (t *terminal) head(h Headline) {
	if h.Word != "" {
		t.para("", styleOf(h.Tone).Bold(true), h.Word)
	}
	for _, r := range h.Says {
		t.para("- ", plain, r.Text)
		if r.Next != "" {
			t.para("  Next: ", dim, r.Next)
		}
	}
	if h.About != "" {
		t.gap()
		t.para("", dim, h.About)
	}
	if len(h.Tiles) > 0 {
		t.gap()
	}
	for _, one := range h.Tiles {
		t.para("  "+text.PadRight(one.What, 22)+"  ", plain, one.Figure+parens(one.Of))
	}
}

func parens(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// blocks prints blocks, with an empty line before each that is more than a line of its neighbour.
func (t *terminal) blocks(all []Block, indent string) {
	var last Block
	found := 0
	for i, b := range all {
		if b.level() == Detail && !t.all {
			t.leave(said(b))
			continue
		}
		if f, ok := b.(Finding); ok && !f.Folded && f.File == "" && !t.all {
			if found++; found > mostFindings {
				t.others(all[i:])
				return
			}
		}
		if !near(last, b, indent) {
			t.gap()
		}
		t.block(b, indent)
		last = b
	}
}

// near says that a block needs no empty line before it.
func near(last, b Block, indent string) bool {
	if c, ok := b.(Charts); ok && len(c.Table.Rows) == 0 {
		return true
	}
	if indent != "" { // a section is read as one piece
		_, finding := b.(Finding)
		return last == nil || !finding
	}
	if f, ok := last.(Finding); ok && f.File != "" { // a line each, as compilers print
		g, ok := b.(Finding)
		return ok && g.File != ""
	}
	_, was := last.(Note)
	n, is := b.(Note)
	return was && is && n.Title == ""
}

func (t *terminal) block(b Block, indent string) {
	switch b := b.(type) {
	case Section:
		t.section(b)
	case Facts:
		if b.Title != "" {
			t.line(indent + t.in(bold, b.Title))
		}
		for _, f := range b.Rows {
			t.para(indent+f.Name+": ", plain, f.Value)
		}
	case Table:
		t.table(&b, indent)
	case Finding:
		t.finding(&b)
	case Charts:
		if t.all && len(b.Table.Rows) > 0 {
			t.table(&b.Table, indent)
		}
	case Note:
		t.note(b, indent)
	case Code:
		t.code(b, indent)
	}
}

func (t *terminal) section(s Section) {
	if s.Title != "" {
		tone := ""
		if s.Tone != "" {
			tone = "  " + t.in(styleOf(s.Tone), s.Tone)
		}
		t.paraTail("", bold, s.Title, tone)
	}
	if s.About != "" {
		t.para("  ", dim, s.About)
	}
	t.blocks(s.Blocks, "  ")
}

func (t *terminal) note(n Note, indent string) {
	if n.Title != "" {
		t.line(indent + t.in(bold, n.Title))
	}
	prefix := indent
	switch {
	case n.Lead != "":
		prefix += n.Lead + ": "
	case n.Title != "":
		prefix += "- "
	}
	style := styleOf(n.Tone)
	if n.Bold {
		style = style.Bold(true)
	}
	for _, l := range n.Lines {
		t.para(prefix, style, l)
	}
}

func (t *terminal) code(c Code, indent string) {
	if c.Title != "" {
		t.line(indent + t.in(bold, c.Title))
	}
	lines, style := c.Lines, plain
	if c.Fit != nil {
		width := t.width
		if c.Wraps && t.rows > width {
			width = 1 << 16 // into a pipe: a sentence is a line, which a filter finds
		}
		lines = c.Fit(width)
	} else if !c.Free {
		indent += "  "
	}
	if len(c.Args) > 0 {
		lines, style = t.command(c.Args, indent), dim
	}
	for _, l := range lines {
		t.line(indent + t.in(style, l))
	}
}

// command breaks a command's line between arguments, so that what is copied from the screen runs.
func (t *terminal) command(args []string, indent string) []string {
	var lines []string
	line := "$"
	for _, arg := range args {
		if line != "$" && len(indent)+text.Width(line)+1+text.Width(arg) > t.width-2 {
			lines = append(lines, line+" \\")
			line = " "
		}
		line += " " + arg
	}
	return append(lines, line)
}

// mostCases is how many findings of one rule are printed in full in a terminal.
const mostCases = 3

func (t *terminal) finding(f *Finding) {
	if f.Folded {
		return
	}
	if f.File != "" { // as a compiler prints it
		t.line(t.in(bold, fmt.Sprintf("%s: %s %s: %s", f.Subject, f.Code, f.Severity, f.Message))) // for editors: one line
	} else {
		t.para("", bold, f.heading())
		if len(f.Cases) == 0 {
			t.para("  ", styleOf(f.Severity), f.Message)
		}
	}
	if !t.all && len(f.Cases) == 0 && len(f.Where)+len(f.Evidence.Rows)+len(f.Tables) > 0 {
		t.leave(evidence)
	}
	for i, c := range f.Cases {
		if i == mostCases && len(f.Cases) > mostCases+1 && !t.all {
			t.leave("case")
			t.para("  - ", dim, text.Plural(len(f.Cases)-i, "more case")+" like "+
				map[bool]string{true: "these", false: "this"}[i > 1])
			break
		}
		t.para("  - ", plain, c)
	}
	if t.all {
		if of := f.where(); of != "" {
			t.para("  scenarios: ", plain, of)
		}
		for _, e := range f.Evidence.Rows {
			t.para("  - ", dim, evidenceText(e))
		}
		for i := range f.Tables {
			t.table(&f.Tables[i], "  ")
		}
	}
	if f.Fix != "" && !f.Brief {
		t.para("  fix: ", plain, f.Fix)
	}
	for _, c := range f.Commands {
		t.line("  $ " + c) // never wrapped, to be copied
	}
}

// mostFindings is how many findings of a part of a document are printed by themselves.
const mostFindings = 5

// others is a line for the findings of a list that are not printed by themselves.
func (t *terminal) others(all []Block) {
	var rest []Finding
	for _, b := range all {
		if f, ok := b.(Finding); ok && !f.Folded && f.Level == Main {
			rest = append(rest, f)
			t.leave(said(f))
		}
	}
	t.para("", dim, text.Plural(len(rest), "more finding")+": "+codesOf(rest))
}

// heading names the rule and, of a group, how many cases there are.
func (f *Finding) heading() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s: %s", f.Code, f.Severity, f.several()))
}

// several is the title of a finding, with the number of its cases.
func (f *Finding) several() string {
	if len(f.Cases) == 0 {
		return f.Title
	}
	return f.Title + " (" + text.Plural(len(f.Cases), "case") + ")"
}

// where names the scenarios that a finding concerns.
func (f *Finding) where() string {
	var names []string
	for _, w := range f.Where {
		names = append(names, w.Text)
	}
	return strings.Join(names, ", ")
}

// evidenceText is a row of evidence (what, found, expected, where) as a phrase.
func evidenceText(e []Cell) string {
	phrase := e[0].Text + ": " + e[1].Text
	if e[2].Text != "" {
		phrase += ", expected " + e[2].Text
	}
	return phrase + parens(e[3].Text)
}
