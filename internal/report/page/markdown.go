package page

import (
	"bufio"
	"fmt"
	"regexp"
	"strings"

	"plimsoll/internal/text"
)

// escapes of Markdown: GitHub then shows text as it is, without markup, HTML, links, mentions or
// broken table cells.
var escapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "{", `\{`, "}", `\}`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;",
	"&", "&amp;", "#", `\#`, "!", `\!`, "|", `\|`, "~", `\~`, "@", "@\u200b", "://", ":\u200b//", "www.", "www\u200b.",
	"\n", " ",
)

// cited are addresses of the vendors whose pages the catalogue cites. No one else can put a page
// there, so that a link to one is harmless whoever wrote it; any other address is foreign text, of
// which a renderer must make no link.
var cited = regexp.MustCompile(
	`https://(?:docs\.aws\.amazon\.com|aws\.amazon\.com|learn\.microsoft\.com|azure\.microsoft\.com|` +
		`docs\.cloud\.google\.com|cloud\.google\.com|ark\.intel\.com)/[A-Za-z0-9/._~%#?=&-]*[A-Za-z0-9/]`,
)

// md escapes text. An address that the catalogue cites stays as it is, between angle brackets: it can be copied.
func md(s string) string {
	var b strings.Builder
	done := 0
	for _, at := range cited.FindAllStringIndex(s, -1) {
		b.WriteString(escapes.Replace(s[done:at[0]]) + "<" + s[at[0]:at[1]] + ">")
		done = at[1]
	}
	return b.String() + escapes.Replace(s[done:])
}

// fence quotes lines as code, whatever backticks they hold.
func fence(language string, lines ...string) string {
	ticks := "```"
	for strings.Contains(strings.Join(lines, "\n"), ticks) {
		ticks += "`"
	}
	return ticks + language + "\n" + strings.Join(lines, "\n") + "\n" + ticks + "\n"
}

// mdWidth is for which width lines that lay themselves out do so in Markdown and HTML.
const mdWidth = 100

type mdPage struct{ out *bufio.Writer }

func writeMarkdown(out *bufio.Writer, d *Document, _ Options) error {
	m := mdPage{out}
	m.head(d)
	m.blocks(d.Blocks, 2)
	return nil
}

func (m mdPage) printf(format string, args ...any) { fmt.Fprintf(m.out, format, args...) }

func (m mdPage) head(d *Document) {
	h := d.Head
	if first := h.first(); first != "" {
		m.printf("# %s\n\n", md(first))
	}
	for i, r := range h.Says {
		if i > 0 || !h.joins() {
			m.printf("- %s\n", md(r.Text))
		}
		if r.Next != "" {
			m.printf("  Next: %s\n", md(r.Next))
		}
	}
	if h.About != "" {
		m.printf("\n%s\n", md(h.About))
	}
}

func (m mdPage) heading(level int, title string) {
	if title != "" {
		m.printf("\n%s %s\n", strings.Repeat("#", level), md(title))
	}
}

func (m mdPage) blocks(all []Block, level int) {
	for _, b := range all {
		switch b := b.(type) {
		case Section:
			m.heading(level, b.Title+parens(b.Tone))
			if b.About != "" {
				m.printf("\n%s\n", md(b.About))
			}
			m.blocks(b.Blocks, level+1)
		case Facts:
			m.heading(level, b.Title)
			for i, f := range b.Rows {
				m.item(i, md(f.Name)+": "+md(f.Value))
			}
		case Table:
			m.table(&b)
		case Finding:
			m.finding(&b, level)
		case Charts:
			m.table(&b.Table)
		case Note:
			m.note(b, level)
		case Code:
			m.heading(level, b.Title)
			m.printf("\n%s", fence(text.Either(b.Fit != nil, "text", "sh"), b.text()...))
		}
	}
}

// item is an entry of a list, which an empty line precedes.
func (m mdPage) item(i int, s string) {
	if i == 0 {
		m.printf("\n")
	}
	m.printf("- %s\n", s)
}

func (c Cell) markdown() string {
	s := md(c.Text)
	switch {
	case c.Struck && c.Text == None:
		s += " INVALID"
	case c.Struck:
		s = "~~" + s + "~~ INVALID"
	case c.Gauge > 0:
		s = strings.TrimSpace(text.Bar(c.Gauge, 10) + " " + s)
	}
	if c.Also != "" {
		s = strings.TrimSpace(s + " " + md(c.Also))
	}
	return s
}

func (m mdPage) table(t *Table) {
	if len(t.Rows) == 0 {
		return
	}
	m.printf("\n")
	if t.Caption != "" {
		m.printf("%s:\n\n", md(t.Caption))
	}
	shown := t.shown()
	var rule strings.Builder
	for _, i := range shown {
		m.printf("| %s ", md(t.Columns[i].Name))
		rule.WriteString(text.Either(t.Columns[i].Left, " --- |", " ---: |"))
	}
	m.printf("|\n|%s\n", rule.String())
	for _, r := range t.Rows {
		for _, i := range shown {
			m.printf("| %s ", r[i].markdown())
		}
		m.printf("|\n")
	}
}

func (m mdPage) finding(f *Finding, level int) {
	if f.Folded {
		return
	}
	m.heading(level, f.heading())
	if len(f.Cases) == 0 {
		m.printf("\n%s\n", md(strings.TrimSpace(f.Message)))
	}
	if of := f.Where.Names(); of != "" {
		m.printf("\nScenarios: %s\n", md(of))
	} else if f.File != "" {
		m.printf("\nIn %s\n", md(f.Subject))
	}
	for i, c := range f.Cases {
		m.item(i, md(c))
	}
	for _, t := range append([]Table{f.Evidence}, f.Tables...) {
		m.table(&t)
	}
	for _, part := range [][2]string{{"Why it matters", f.Why}, {"What to do", f.Fix}} {
		if part[1] != "" {
			m.printf("\n%s: %s\n", part[0], md(part[1]))
		}
	}
	if len(f.Commands) > 0 {
		m.printf("\n%s", fence("sh", f.Commands...))
	}
}

func (m mdPage) note(n Note, level int) {
	m.heading(level, n.Title)
	for i, l := range n.Lines {
		switch lead := n.Lead; {
		case lead != "":
			m.item(i, md(strings.ToUpper(lead[:1])+lead[1:])+": "+md(l))
		case n.Title != "":
			m.item(i, md(l))
		case n.Bold:
			m.printf("\n**%s**\n", md(l))
		default:
			m.printf("\n%s\n", md(l))
		}
	}
}

// text is the lines of code where they are not broken for a terminal.
func (c Code) text() []string {
	switch {
	case c.Fit != nil:
		return c.Fit(mdWidth, true)
	case len(c.Args) > 0:
		return []string{strings.Join(c.Args, " ")}
	}
	return c.Lines
}
