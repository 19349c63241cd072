package page

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/text"
)

//go:embed assets/charts.js
var chartScript string

//go:embed assets/page.js
var plainScript string

//go:embed assets/tables.js
var tableScript string

//go:embed assets/report.css
var style string

//go:embed assets/page.html
var markup string

// The page is parsed when first used: no command but those that write HTML pays for it.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"cards":   cards,
		"rows":    htmlRows,
		"bar":     func(share float64) float64 { return 100 * min(share/fullBar, 1) },
		"code":    func(c Code) string { return strings.Join(c.text(), "\n") },
		"flags":   flags,
		"several": func(f Finding) string { return f.several() },
		"open":    func(f Finding) bool { return f.Severity != "info" && f.Level == Main },
		// An answer of several words is set smaller than a verdict.
		"sentence": func(s string) bool { return text.Width(s) > longestTitle },
	}).Parse(markup))
})

// longestTitle is from how many characters a heading is a sentence.
const longestTitle = 48

// flag is a flag of the command line, which a browser would break behind its dashes.
var flag = regexp.MustCompile(`--[a-z][a-z-]*`)

// flags is escaped text whose flags are not broken.
func flags(s string) template.HTML {
	return template.HTML(
		flag.ReplaceAllString(template.HTMLEscapeString(s), `<span class="flag">$0</span>`),
	) //nolint:gosec // escaped
}

// fullBar is the share of its mark that fills a bar; the mark itself is drawn on it.
const fullBar = 1.15

// htmlPage is what the template sees. The trusted types hold our own files and encoded JSON, never
// text from outside.
type htmlPage struct {
	*Document
	Title        string
	Nav          []Link
	Policy       string
	Style        template.CSS
	Script, Data template.JS
	Full         float64 // where the mark stands on a bar, in percent

	drawings []any
	ids      int
}

// writeHTML writes one file that needs nothing else. Its policy allows the one script and no
// request to anywhere; styles are inline because ECharts' tooltips set them so.
func writeHTML(out *bufio.Writer, d *Document, _ Options) error {
	p := &htmlPage{Document: d, Title: d.Head.first(), Full: 100 / fullBar, drawings: []any{}}
	p.Style = template.CSS(style + cardStyles(d)) //nolint:gosec // our own file
	view := p.view(panels(d.Blocks))
	d.Walk(func(b Block) {
		if s, ok := b.(Section); ok && s.Nav != "" {
			p.Nav = append(p.Nav, Link{s.Nav, s.Anchor})
		}
	})
	script := text.Either(len(p.drawings) > 0, chartScript, plainScript)
	script += ";\n" + tableScript
	p.Script = template.JS(script) //nolint:gosec // our own file
	sum := sha256.Sum256([]byte(script))
	p.Policy = "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
	data, err := marshal(p.drawings, true) // it escapes <, > and &, so it cannot end its element
	if err != nil {
		return err
	}
	p.Data = template.JS(data) //nolint:gosec // escaped JSON
	return pageTemplate().Execute(out, struct {
		*htmlPage
		Blocks []part
	}{p, view})
}

// panels puts blocks that are in no section into one without a title, for a page is made of panels.
func panels(all []Block) []Block {
	var sections []Block
	loose := -1 // the section that takes them
	for _, b := range all {
		if _, ok := b.(Section); ok {
			sections, loose = append(sections, b), -1
			continue
		}
		if loose < 0 {
			sections, loose = append(sections, Section{}), len(sections)
		}
		s, _ := sections[loose].(Section)
		s.Blocks = append(s.Blocks, b)
		sections[loose] = s
	}
	return sections
}

// part is a block with what the template needs of it.
type part struct {
	Kind, ID string
	Block    Block
	Parts    []part
	Names    []string // of folded details
	Fold     bool     // a section that is closed at first
	Drawing  Drawing
	Index    int // of the drawing in the data
}

func (p *htmlPage) view(all []Block) []part {
	var parts []part
	for _, b := range all {
		one, ok := p.part(b)
		if !ok {
			continue
		}
		if one.Kind == "Section" || one.Kind == "Finding" || b.level() == Main { // these two are folded by themselves
			parts = append(parts, one)
			continue
		}
		if k := len(parts) - 1; k < 0 || parts[k].Kind != folded { // neighbours are folded together
			parts = append(parts, part{Kind: folded, ID: one.ID + "-d"})
		}
		fold := &parts[len(parts)-1]
		fold.Parts = append(fold.Parts, one)
		fold.Names = text.Once(fold.Names, said(b))
	}
	return parts
}

// folded is the kind of a part that holds details.
const folded = "Details"

// Summary is the line under which details are folded.
func (p part) Summary() string {
	return strings.TrimSuffix(folded+": "+text.List(p.Names), ": ")
}

func (p *htmlPage) part(b Block) (part, bool) {
	p.ids++
	one := part{Kind: strings.TrimPrefix(fmt.Sprintf("%T", b), "page."), ID: fmt.Sprintf("p%d", p.ids), Block: b}
	switch b := b.(type) {
	case Finding:
		return one, !b.Folded
	case Section:
		one.ID = cmp.Or(b.Anchor, one.ID)
		one.Fold = b.Level == Detail
		one.Parts = p.view(b.Blocks)
	case Charts:
		one.Drawing = b.Draw()
		clean(reflect.ValueOf(&one.Drawing), mostText)
		if len(one.Drawing.Charts) == 0 && len(b.Table.Rows) == 0 {
			return one, false
		}
		if one.Drawing.Data != nil {
			one.Index = len(p.drawings)
			p.drawings = append(p.drawings, one.Drawing.Data)
		}
	}
	return one, true
}

// htmlCell is a cell under its column's name.
type htmlCell struct {
	Cell
	Label string
	Left  bool
	Long  bool // a sentence: as a card it has a line of its own
	List  bool // of figures, which may stand below one another
	Empty bool
}

// longCell is from how many characters a cell is a sentence.
const longCell = 28

func htmlRows(t Table) [][]htmlCell {
	shown := t.shown()
	var rows [][]htmlCell
	for _, r := range t.Rows {
		var row []htmlCell
		for _, i := range shown {
			c := htmlCell{Cell: r[i], Label: t.Columns[i].Name, Left: t.Columns[i].Left || i == 0}
			c.List = strings.Contains(c.Text, ", ")
			c.Long = text.Width(c.Text) > longCell || text.Width(c.Also) > longCell
			c.Empty = (c.Text == "" || c.Text == None) && c.Also == "" && c.Gauge == 0
			row = append(row, c)
		}
		rows = append(rows, row)
	}
	return rows
}

// Heads are the columns that the page shows.
func (t Table) Heads() []Column {
	var all []Column
	for k, i := range t.shown() {
		c := t.Columns[i]
		c.Left = c.Left || k == 0
		all = append(all, c)
	}
	return all
}

const cardStep = 8 // em

// cards is the width, in em of the table's own font, below which its rows become cards: what its
// figures need, which are never wrapped, and twelve characters for each column of text.
func cards(t Table) int {
	need := 0.0
	for k, i := range t.shown() {
		wide := longestWord(t.Columns[i].Name)
		for _, r := range t.Rows {
			c := r[i]
			if t.Columns[i].Left || k == 0 {
				wide = max(wide, min(text.Width(c.Text), 14), longestWord(c.Text))
			} else {
				for figure := range strings.SplitSeq(c.shown(), ", ") { // several stand below one another
					wide = max(wide, text.Width(figure))
				}
			}
			wide = max(wide, min(text.Width(c.Also)*8/10, 14))
			if c.Gauge > 0 {
				wide = max(wide, text.Width(c.Text)+10)
			}
			if c.Tone != "" {
				wide = max(wide, text.Width(c.Text)+2)
			}
		}
		need += float64(min(wide, 60))*0.54 + 1.2
	}
	return (int(need)/cardStep + 1) * cardStep
}

func longestWord(s string) int {
	longest := 0
	for w := range strings.FieldsSeq(s) {
		longest = max(longest, min(text.Width(w), 24))
	}
	return longest
}

// cardRules are one table's rows as cards: its cells with their own labels.
const cardRules = `@container (max-width: %[1]dem) {
.w%[1]d, .w%[1]d>tbody { display: block }
.w%[1]d>caption { display: block }
.w%[1]d>thead { position: absolute; left: -999rem }
.w%[1]d>tbody>tr {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5em, 1fr)); gap: .2em 1em; padding: .7em 0;
  border-bottom: 1px solid var(--line);
}
.w%[1]d>tbody>tr>* {
  display: block; border: 0; padding: 0; text-align: left; white-space: normal; min-width: 0; overflow-wrap: anywhere;
}
.w%[1]d>tbody>tr>th, .w%[1]d>tbody>tr>.long { grid-column: 1 / -1 }
.w%[1]d>tbody>tr>.empty { display: none }
.w%[1]d .gauge { width: 3.6em } /* its share beside it in 8.5em */
.w%[1]d>tbody>tr>[data-label]::before {
  content: attr(data-label); display: block; color: var(--muted); font-size: .85em; font-weight: 400;
}
}
`

// cardStyles are the rules for the widths that the document's tables have.
func cardStyles(d *Document) string {
	widths := map[int]bool{}
	add := func(t Table) {
		if len(t.Rows) > 0 {
			widths[cards(t)] = true
		}
	}
	d.Walk(func(b Block) {
		switch b := b.(type) {
		case Table:
			add(b)
		case Charts:
			add(b.Table)
		case Finding:
			add(b.Evidence)
			for _, t := range b.Tables {
				add(t)
			}
		}
	})
	var all strings.Builder
	for _, w := range slices.Sorted(maps.Keys(widths)) {
		fmt.Fprintf(&all, cardRules, w)
	}
	return all.String()
}
