package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"plimsoll/internal/text"
)

const (
	leastText = 12 // columns that a name keeps
	leastFlow = 18 // columns below which sentences go below their row
)

// placed is a table's columns as they stand in a terminal.
type placed struct {
	in     []int // in the row
	below  []int // as "name value" under it
	widths map[int]int
	gap    int
	flow   int // the column whose text wraps in its place; -1 for none
}

// place is the one rule for tables that are wider than the screen: the gaps narrow, then sentences
// of the last column wrap in their place, then columns go below their row by priority, then those
// sentences do, and at last names are cut.
func place(t *Table, width int) placed {
	p := placed{in: t.shown(), widths: map[int]int{}, gap: 2, flow: -1}
	for _, i := range p.in {
		p.widths[i] = text.Width(t.Columns[i].Name)
		for _, r := range t.Rows {
			p.widths[i] = max(p.widths[i], text.Width(r[i].shown()))
		}
	}
	for p.total() > width {
		if p.gap > 1 && p.total()-len(p.in)+1 <= width {
			p.gap = 1
			break
		}
		last := p.in[len(p.in)-1]
		if over := p.total() - width; t.Columns[last].Left && len(p.in) > 1 && p.widths[last]-over >= p.least(t, last) {
			p.widths[last] -= over
			p.flow = last
			break
		}
		if p.drop(t) {
			continue
		}
		if t.Columns[last].Left && len(p.in) > 2 && p.widths[last] > leastFlow { // a sentence is never cut
			p.lower(len(p.in) - 1)
			continue
		}
		p.cut(t, width)
		break
	}
	return p
}

// least is the width below which a column's sentences do not wrap in their place: those of a column that may go below
// its row have two lines at most.
func (p *placed) least(t *Table, column int) int {
	if t.Columns[column].Priority == 0 {
		return leastFlow
	}
	return max(leastFlow, (p.widths[column]+1)/2+leastFlow/3)
}

func (p *placed) total() int {
	all := p.gap * (len(p.in) - 1)
	for _, i := range p.in {
		all += p.widths[i]
	}
	return all
}

// drop puts the column with the largest priority below the rows.
func (p *placed) drop(t *Table) bool {
	worst := -1
	for k, i := range p.in {
		if k > 0 && t.Columns[i].Priority > 0 && (worst < 0 || t.Columns[i].Priority >= t.Columns[p.in[worst]].Priority) {
			worst = k
		}
	}
	if worst >= 0 {
		p.lower(worst)
	}
	return worst >= 0
}

// lower puts a column below the rows.
func (p *placed) lower(k int) {
	p.below = append([]int{p.in[k]}, p.below...)
	p.in = slices.Delete(p.in, k, k+1)
}

// cut shortens text, the widest column first.
func (p *placed) cut(t *Table, width int) {
	p.gap = 1
	for p.total() > width {
		widest := -1
		for _, i := range p.in {
			if t.Columns[i].Left && p.widths[i] > leastText && (widest < 0 || p.widths[i] > p.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		p.widths[widest]--
	}
}

func (c Cell) shown() string { return c.Text + text.Either(c.Struck, " INVALID", "") }

// table prints a table by the rule of place. What belongs to a cell and has no column follows its
// row.
func (t *terminal) table(tab *Table, indent string) {
	if len(tab.Rows) == 0 {
		return
	}
	if tab.Caption != "" {
		t.para(indent, bold, tab.Caption)
	}
	p := place(tab, t.rows-len(indent))
	if len(p.below) > 0 && !t.all {
		t.leave(allColumns)
	}
	var head strings.Builder
	for k, i := range p.in {
		head.WriteString(p.cell(tab, k, i, tab.Columns[i].Name))
	}
	if strings.TrimSpace(head.String()) != "" {
		t.line(indent + t.in(dim, strings.TrimRight(head.String(), " ")))
	}
	for i, row := range tab.Rows {
		if most := min(cmp.Or(tab.Most, mostRows), t.most); i == most && i < len(tab.Rows)-1 && !t.all {
			t.line(indent + t.in(dim, "… "+text.Plural(len(tab.Rows)-i, "more row")))
			t.leave(cmp.Or(said(*tab), allRows))
			break
		}
		t.row(tab, p, row, indent)
	}
}

// cell pads a cell's text.
func (p *placed) cell(tab *Table, k, i int, s string) string {
	gap, pad := "", text.PadLeft
	if k > 0 {
		gap = strings.Repeat(" ", p.gap)
	}
	if tab.Columns[i].Left || i == 0 && k == 0 && len(p.in) == 1 {
		pad = text.PadRight
	}
	return gap + pad(text.Clean(s, p.widths[i]), p.widths[i])
}

func (t *terminal) row(tab *Table, p placed, row []Cell, indent string) {
	var line strings.Builder
	var rest []string
	at := 0
	for k, i := range p.in {
		s := row[i].shown()
		if i == p.flow {
			at = text.Width(line.String()) + p.gap
			lines := strings.Split(ansi.Hardwrap(strings.Join(text.Wrap(s, p.widths[i], "", ""), "\n"), p.widths[i], false),
				"\n")
			s, rest = lines[0], lines[1:]
			line.WriteString(strings.Repeat(" ", p.gap) + t.in(styleOf(row[i].Tone), s))
			continue
		}
		piece := p.cell(tab, k, i, s)
		if row[i].Tone != "" {
			bare := strings.TrimSpace(piece)
			piece = strings.Replace(piece, bare, t.in(styleOf(row[i].Tone), bare), 1)
		}
		line.WriteString(piece)
	}
	t.line(indent + line.String())
	for _, l := range rest {
		t.line(indent + strings.Repeat(" ", at) + l)
	}
	if !t.all {
		return
	}
	var more []string
	for _, i := range p.below {
		if c := row[i]; c.Text != "" && c.Text != None {
			more = append(more, strings.TrimSpace(tab.Columns[i].Name+" "+c.shown()))
		}
	}
	for _, c := range row {
		if c.Also != "" {
			more = append(more, c.Also)
		}
	}
	if len(more) > 0 {
		t.para(indent+"   ", dim, strings.Join(more, "; "))
	}
}
