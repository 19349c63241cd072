package page

import (
	"bufio"
	"bytes"
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
	all   bool        // also the details
	most  int         // rows of a table, and remarks on documents, that fit the screen
	begun bool        // something was printed
	left  text.Groups // what was left out, by its name
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

// The lines of a screen: as many as its document has at most, where its tables keep the least of their rows. A
// command may add a line.
const screen, leastRows = 39, 5

// writeText leaves out rows of tables until the document fits a screen. A pipe gets every remark on a document, since
// editors read those.
func writeText(out *bufio.Writer, d *Document, o Options) error {
	width := max(cmp.Or(o.Width, 80), 40)
	for most := screen; ; most-- {
		var printed bytes.Buffer
		t := &terminal{
			out: bufio.NewWriter(&printed), width: width, rows: max(o.Rows, width), color: o.Color, all: o.Details, most: most,
		}
		t.head(d.Head)
		t.blocks(d.Blocks, "")
		t.rest(d.More)
		if err := t.out.Flush(); err != nil {
			return err
		}
		if o.Details || most == leastRows || height(printed.String(), t.rows) <= screen {
			_, err := out.Write(printed.Bytes())
			return err
		}
	}
}

// height is how many lines a terminal needs.
func height(printed string, width int) (n int) {
	for line := range strings.Lines(printed) {
		n += max(1, (ansi.StringWidth(strings.TrimSuffix(line, "\n"))+width-1)/width)
	}
	return n
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
	for _, name := range t.left.Heads {
		if n := len(t.left.Of[name]); n > 1 && !slices.Contains([]string{evidence, fixes, allRows, allColumns}, name) {
			name = text.Plural(n, name, strings.TrimSuffix(name, "s")+"s") // two series
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		t.gap()
		t.para("", dim, cmp.Or(command, "--details")+" adds: "+text.Some(names, mostLeft))
	}
}

// What the last line does not count.
const evidence, fixes, allRows, allColumns = "evidence", "fixes", "all rows", "all columns"

// leave says that a block is left out.
func (t *terminal) leave(name string) {
	if name != "" {
		t.left.Add(name, name)
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
// the next line. One that a shell would not take as it is, is none.
func broken(line string, width int) []string {
	if strings.Contains(line, "/") && !strings.ContainsAny(line, " <>|\"`") && text.Width(line) <= longestPath {
		return []string{line}
	}
	return strings.Split(ansi.Hardwrap(line, width, false), "\n")
}

// mostWrapped is how many lines a paragraph has that is no detail.
const mostWrapped = 4

// paraTail is para with something in a style of its own after the text.
func (t *terminal) paraTail(prefix string, s lipgloss.Style, paragraph, tail string) {
	indent := strings.Repeat(" ", text.Width(prefix))
	lines := text.Wrap(paragraph, t.width-ansi.StringWidth(tail), prefix, indent)
	printed := 0
	for i, line := range lines {
		lead := indent
		if i == 0 {
			lead = prefix
		}
		// A word wider than the terminal is broken after all: a hostile name must not push the rest
		// away.
		body := broken(strings.TrimPrefix(line, lead), max(t.width-text.Width(lead)-ansi.StringWidth(tail), 20))
		for k, piece := range body {
			if printed++; printed > mostWrapped && !t.all {
				t.line(indent + "…")
				return
			}
			piece = lead + t.in(s, strings.TrimLeft(piece, " "))
			if i == len(lines)-1 && k == len(body)-1 {
				piece += tail
			}
			t.line(piece)
			lead = indent
		}
	}
}

// mostSays is how many sentences of the answer are no details.
const mostSays = 4

func (t *terminal) head(h Headline) {
	if first := h.first(); first != "" {
		t.para("", styleOf(h.Tone).Bold(true), first)
	}
	for i, r := range h.Says {
		if i >= mostSays && !t.all {
			t.leave("reason")
			continue
		}
		if i > 0 || !h.joins() {
			t.para("- ", plain, r.Text)
		}
		switch {
		case r.Next == "":
		case i == 0 || t.all:
			t.para("  fix: ", plain, r.Next)
		default:
			t.leave(fixes)
		}
	}
	if h.About != "" {
		t.para("", dim, h.About)
	}
}

func parens(s string) string { return text.Either(s != "", " ("+s+")", "") }

// blocks prints blocks, with an empty line before each that is more than a line of its neighbour.
func (t *terminal) blocks(all []Block, indent string) {
	var last Block
	found := 0
	for i, b := range all {
		f, ok := b.(Finding)
		if b.level() == Detail && !t.all || ok && t.passes(&f) {
			t.leave(said(b))
			continue
		}
		if ok && f.Folded {
			continue
		} else if ok && f.File == "" && !t.all {
			if found++; found > mostFindings {
				t.others(all[i:])
				return
			}
		}
		if s, ok := b.(Section); ok && !t.titled(s) {
			t.blocks(s.Blocks, indent)
			last = b
			continue
		}
		if !near(last, b, indent, t.all) {
			t.gap()
		}
		t.block(b, indent)
		last = b
	}
}

// near says that a block needs no empty line before it.
func near(last, b Block, indent string, all bool) bool {
	if c, ok := b.(Charts); ok && len(c.Table.Rows) == 0 {
		return true
	}
	if indent != "" { // a section is read as one piece
		_, finding := b.(Finding)
		return last == nil || !finding || !all
	}
	if f, ok := last.(Finding); ok {
		g, ok := b.(Finding)
		return ok && (!all || f.File != "" && g.File != "") // a line each, as compilers print
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
		t.title(b.Title, indent)
		for _, f := range b.Rows {
			t.para(indent+f.Name+": ", plain, f.Value)
		}
	case Table:
		t.table(&b, indent)
	case Finding:
		t.finding(&b)
	case Charts:
		if t.all {
			t.table(&b.Table, indent)
		}
	case Note:
		t.note(b, indent)
	case Code:
		t.code(b, indent)
	}
}

// title is that of a block, "" for none.
func (t *terminal) title(s, indent string) {
	if s != "" {
		t.line(indent + t.in(bold, s))
	}
}

func (t *terminal) section(s Section) {
	tone := text.Either(s.Tone != "", "  "+t.in(styleOf(s.Tone), s.Tone), "")
	t.paraTail("", bold, s.Title, tone)
	if s.About != "" {
		t.para("  ", dim, s.About)
	}
	t.blocks(s.Blocks, "  ")
}

// titled says that a section has its heading here: those to which the head of a page leads are short
// without.
func (t *terminal) titled(s Section) bool {
	return s.Title != "" && (t.all || s.Nav == "") || s.About != ""
}

func (t *terminal) note(n Note, indent string) {
	t.title(n.Title, indent)
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
	t.title(c.Title, indent)
	if c.Headed && !t.all {
		t.leave("command")
		return
	}
	lines, style := c.Lines, plain
	if c.Fit != nil {
		width := t.width
		if c.Wraps && t.rows > width {
			width = 1 << 16 // into a pipe: a sentence is a line, which a filter finds
		}
		lines = c.Fit(width, t.all)
		if whole := c.Fit(width, true); !t.all && len(whole) > len(lines) {
			t.leave("settings")
		}
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

func (t *terminal) finding(f *Finding) {
	switch {
	case f.File != "": // as a compiler prints it, in one line for editors
		t.line(t.in(bold, fmt.Sprintf("%s: %s %s: %s", f.Subject, f.Code, f.Severity, f.Message)))
		if f.Severity == "info" && t.short() {
			t.unproven(f)
			return
		}
	case !t.all:
		t.shortly(f)
		return
	default:
		t.para("", bold, f.heading())
		if len(f.Cases) == 0 {
			t.para("  ", styleOf(f.Severity), f.Message)
		}
	}
	for _, c := range f.Cases {
		t.para("  - ", plain, c)
	}
	if of := f.Where.Names(); of != "" {
		t.para("  scenarios: ", plain, of)
	}
	for _, e := range f.Evidence.Rows {
		t.para("  - ", dim, evidenceText(e))
	}
	for i := range f.Tables {
		t.table(&f.Tables[i], "  ")
	}
	if f.Fix != "" && !f.Brief {
		t.para("  fix: ", plain, f.Fix)
	}
	t.commands(f.Commands)
}

// shortly prints what was found and what to do: the commands where there are some.
func (t *terminal) shortly(f *Finding) {
	said := f.Message
	if len(f.Cases) > 0 {
		said = f.Cases[0]
		if more := len(f.Cases) - 1; more > 0 {
			said += parens(text.Plural(more, "more case"))
		}
	}
	t.para(strings.TrimSpace(f.Code+" "+f.Severity)+": ", styleOf(f.Severity), said)
	t.unproven(f)
	if f.Severity == "info" {
		return
	}
	if len(f.Commands) == 0 && f.Fix != "" {
		t.para("  fix: ", plain, f.Fix)
	}
	t.commands(f.Commands)
}

// unproven leaves the evidence of a finding.
func (t *terminal) unproven(f *Finding) {
	if len(f.Where)+len(f.Evidence.Rows)+len(f.Tables)+len(f.Cases) > 0 {
		t.leave(evidence)
	}
}

// short says that a screen is to be enough.
func (t *terminal) short() bool { return !t.all && t.rows == t.width }

// passes says that a remark on a document has no room on the screen.
func (t *terminal) passes(f *Finding) bool {
	if f.File == "" || f.Folded || f.Severity != "info" || !t.short() {
		return false
	}
	t.most--
	return t.most < leastRows
}

// commands are printed as they are, never wrapped, to be copied.
func (t *terminal) commands(all []string) {
	for _, c := range all {
		t.line("  $ " + c)
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
	t.para("", dim, text.Several(rest, "more finding")+": "+codesOf(rest))
}

// heading names the rule and, of a group, how many cases there are.
func (f *Finding) heading() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s: %s", f.Code, f.Severity, f.several()))
}

// several is the title of a finding, with the number of its cases.
func (f *Finding) several() string {
	return f.Title + text.Either(len(f.Cases) > 0, parens(text.Several(f.Cases, "case")), "")
}

// evidenceText is a row of evidence (what, found, expected, where) as a phrase.
func evidenceText(e []Cell) string {
	return e[0].Text + ": " + e[1].Text + text.Either(e[2].Text != "", ", expected "+e[2].Text, "") + parens(e[3].Text)
}
