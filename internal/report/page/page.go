// Package page holds the one model of everything that plimsoll prints for people, and its renderers.
// Rooms that know a kind of report (a run, a comparison, a ceiling) build a Document of blocks; this
// package prints blocks for a terminal, as Markdown, HTML, CSV, JUnit XML, SARIF and annotations.
// JSON is the data itself. So every kind has every format, a wide table wraps by one rule, and text
// from outside is neutralised in one place (neutral.go), whoever built the block.
package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"plimsoll/internal/text"
)

// None is what a cell shows for an absent value.
const None = text.None

// Document is what a command has to say.
type Document struct {
	Kind   string // of report: "run", "comparison"; names the page and its tests
	Head   Headline
	Blocks []Block
	Foot   []Note // explains words and signs; HTML only
	// Records is what CSV prints; what it prints where there is none, records.go has.
	Records Table
	// Tests are the cases of JUnit; where there are none, each finding is one.
	Tests []Suite
	// Silenced are findings that comments in the documents silence: SARIF has them as suppressed.
	Silenced []Finding
	Data     Data      // what JSON prints
	Run      any       // what SARIF has as the properties of its run; may be nil
	More     string    // the command that prints the details, where it is not the same with --details
	Tool     string    // version of plimsoll, for SARIF
	Gated    []Finding // what a gate says
}

// New begins the document of a kind with its first line and what JSON prints: a value under the document's name.
func New(kind, word, name string, data any) *Document {
	return &Document{Kind: kind, Head: Headline{Word: word}, Data: Data{Name: name, Value: data}}
}

// Level says who sees a block. The answer itself is the headline, above both.
type Level int

func (l Level) level() Level { return l }

// The levels: Main is the table and what must be done, which a terminal prints; Detail is evidence,
// sources, assumptions and what is in order: a terminal prints it when asked, HTML folds it.
const (
	Main Level = iota
	Detail
)

// Block is a part of a document: Section, Facts, Table, Finding, Charts, Note or Code.
type Block interface{ level() Level }

// Headline is the answer: it comes first in every format.
type Headline struct {
	Word  string // READY, or the answer as a short sentence
	Tone  string // verdict or severity that colours it
	Says  []Say
	About string // what was looked at, where and when
	Tiles []Tile
	Main  *Figure // what JSON has as the headline's value
}

// longestVerdict is from how many columns a headline's word is a sentence by itself.
const longestVerdict = 28

// joins says that the first reason stands in the line of the verdict.
func (h *Headline) joins() bool {
	return h.Word != "" && len(h.Says) > 0 && text.Width(h.Word) <= longestVerdict
}

// first is the first line: what was asked, and of a verdict its first reason.
func (h *Headline) first() string {
	if h.joins() {
		return h.Word + ": " + h.Says[0].Text
	}
	return h.Word
}

// Say is a sentence of the answer, with what to do next.
type Say struct{ Text, Next string }

// Say adds a sentence to the answer.
func (h *Headline) Say(text string) { h.Says = append(h.Says, Say{Text: text}) }

// Figure is the one of a document that is asked for first: whose it is, what it is, and in which unit.
type Figure struct {
	Of, Name string
	Value    float64
	Unit     string
}

// NewFigure is a figure in a unit.
func NewFigure[T ~float64 | ~int | ~int64](of, name string, v T, unit string) *Figure {
	return &Figure{of, name, float64(v), unit}
}

// Tile is one of the few figures that people ask for first.
type Tile struct {
	What, Figure, Of, Anchor string

	Main *Figure // the same to programs
}

// Section is blocks under a heading.
type Section struct {
	Anchor, Title string
	Tone          string // shown beside the title
	About         string // a sentence below the title
	Nav           string // the name by which the head of the page leads here; "" for no link
	Of            string // what it is one of, such as "scenario", where many are details
	Level
	Blocks []Block
}

// Part is a section to which the head of the page leads by a name. Its blocks are those that hold something.
func Part(nav, anchor, title string, blocks ...Block) Section {
	return Section{Nav: nav, Anchor: anchor, Title: title, Blocks: Full(blocks...)}
}

// Facts are names with values.
type Facts struct {
	Title string
	Level
	Rows []Fact
}

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// Add appends a fact that is known.
func (f *Facts) Add(name string, value any) {
	if s := fmt.Sprint(value); s != "" {
		f.Rows = append(f.Rows, Fact{name, s})
	}
}

// Say appends a fact in a format.
func (f *Facts) Say(name, format string, args ...any) { f.Add(name, fmt.Sprintf(format, args...)) }

// Column of a table.
type Column struct {
	Name string
	Left bool // text; figures are aligned to the right
	// Priority says what gives way where the table does not fit: the column with the largest goes
	// below its row first, those of 0 stay.
	Priority int
	Key      string // heading in CSV, with the unit: "iops", "clat_p99_ns"; made of Name where empty
}

// Cell of a table.
type Cell struct {
	Text   string
	Also   string  // what belongs to it and has no column: smaller, below
	Tone   string  // verdict or severity that colours it
	Link   string  // the anchor that it leads to
	File   string  // the file beside the page that it leads to
	Struck bool    // a figure that must not be trusted
	Gauge  float64 // a bar: share of what Mark stands at; 0 for none
	Low    float64 // a second mark on the bar, as a share of the first
	Raw    string  // in CSV, where it is not Text
}

// T is a cell that holds text only.
func T(s string) Cell { return Cell{Text: s} }

// Toned is a word that colours itself.
func Toned[T ~string](word T) Cell { return Cell{Text: string(word), Tone: string(word)} }

// Keys names the columns of CSV, with their units.
func (t *Table) Keys(keys string) {
	for i, k := range strings.Split(keys, between) {
		t.Columns[i].Key = k
	}
}

// Cells are cells of values that print themselves: a cell as it is, a list as several.
func Cells(all ...any) []Cell {
	var cells []Cell
	for _, v := range all {
		switch v := v.(type) {
		case Cell:
			cells = append(cells, v)
		case []Cell:
			cells = append(cells, v...)
		case []string:
			for _, s := range v {
				cells = append(cells, T(s))
			}
		default:
			cells = append(cells, T(fmt.Sprint(v)))
		}
	}
	return cells
}

// Table is rows of figures.
type Table struct {
	Caption string
	Screen  bool // not on paper
	Level
	Most    int // rows that are no detail; mostRows when 0
	Columns []Column
	Rows    [][]Cell
}

// mostRows are those of a table that a terminal prints where the table does not say how many.
const mostRows = 20

// NewTable begins a table by its heads, "<host, IOPS, wait?": one that begins with "<" is of a
// column of text; one that ends in "?" may go below its row, "??" does so earlier.
func NewTable(heads string) (t Table) {
	for n := range strings.SplitSeq(heads, between) {
		c := Column{Name: strings.TrimRight(n, "?")}
		c.Priority = len(n) - len(c.Name)
		c.Name, c.Left = strings.CutPrefix(c.Name, "<")
		t.Columns = append(t.Columns, c)
	}
	return t
}

// between separates the heads of a table.
const between = ", "

// Captioned begins a table with a caption.
func Captioned(caption, heads string) Table {
	t := NewTable(heads)
	t.Caption = caption
	return t
}

// Add appends a row of Cells. A row with more cells than there are columns gets columns without a name, and a
// shorter one empty cells, so that nothing is dropped.
func (t *Table) Add(cells ...any) {
	t.Rows = append(t.Rows, Cells(cells...))
	for i := range t.Rows {
		for len(t.Columns) < len(t.Rows[i]) {
			t.Columns = append(t.Columns, Column{})
		}
		for len(t.Rows[i]) < len(t.Columns) {
			t.Rows[i] = append(t.Rows[i], Cell{})
		}
	}
}

// Turned has the rows of a table as columns, of which those between the first few and the last go below a row first.
func (t *Table) Turned(first int) Table {
	turned := Table{Columns: []Column{{Name: t.Columns[0].Name, Left: true}}}
	for i, row := range t.Rows {
		c := Column{Name: row[0].Text}
		if i >= first && i < len(t.Rows)-1 {
			c.Priority = 1
		}
		turned.Columns = append(turned.Columns, c)
	}
	for i, c := range t.Columns[1:] {
		cells := []Cell{T(c.Name)}
		for _, row := range t.Rows {
			cells = append(cells, row[i+1])
		}
		turned.Add(cells)
	}
	return turned
}

// shown are the columns in which a row has anything; the first is always shown.
func (t *Table) shown() []int {
	var all []int
	for i := range t.Columns {
		if i == 0 || slices.ContainsFunc(t.Rows, func(r []Cell) bool {
			return r[i].Text != "" && r[i].Text != None ||
				r[i].Gauge > 0 || r[i].Struck
		}) {
			all = append(all, i)
		}
	}
	return all
}

// Finding is a diagnosis with its evidence.
type Finding struct {
	Anchor, Code, Severity, Title, Subject, Message, Why, Fix string

	// Cases are the findings of one rule with one remedy, which are shown once.
	Cases    []string
	Where    Links // scenarios that it concerns
	Evidence Table
	Tables   []Table
	Commands []string
	Level
	File      string // of a finding on a document
	Line, Col int
	Brief     bool // its page has the remedy
	// Folded is for machines only: a note says for people what findings like it have in common.
	Folded bool
	// EndCol, Fingerprint and Edits are what code hosts show and follow of a finding on a document.
	EndCol      int
	Fingerprint string
	Edits       []Edit
}

// Edit replaces columns of a line.
type Edit struct {
	Line, Col, EndCol int
	New               string
}

// Link leads to an anchor.
type Link struct{ Text, Anchor string }

// Links are several.
type Links []Link

// Names are the texts of links.
func (l Links) Names() string {
	var names []string
	for _, one := range l {
		names = append(names, one.Text)
	}
	return strings.Join(names, ", ")
}

// Charts are drawn by a script from one value. Their figures stand as text in Table, in the block
// that See names, or both.
type Charts struct {
	Draw  func() Drawing
	Table Table
	Level
	See string // where else the figures stand: "the table Measured"
	// Seconds says that the script can write the figures of each second as a table.
	Seconds bool
}

// Drawing is what the script draws, web/src/charts.js.
type Drawing struct {
	Data   any
	Charts []Chart
}

// Chart is one figure of the page.
type Chart struct {
	Kind        string
	Part        int
	Caption     string
	Says        string // for those who do not see it: names its own quantity
	Wide        bool
	Screen      bool   // not on paper
	Least, Most string // ends of a heat map's shades
}

// Note is sentences: paragraphs, or a list where it has a title or a lead.
type Note struct {
	Title string
	Lead  string // stands before each in a terminal: "note", "caveat"
	text.Lines
	Tone string
	Bold bool
	Level
	Of string // what it is one of, as of a Section
}

// Sentences are paragraphs, those that are not empty.
func Sentences(lines ...string) Note { return Lead("", lines...) }

// Lead is sentences behind a word, those that are not empty.
func Lead(lead string, lines ...string) Note {
	return Note{Lead: lead, Lines: text.Present(lines...)}
}

// Detailed is the note as a detail.
func (n Note) Detailed() Note {
	n.Level = Detail
	return n
}

// Code is lines to copy or to read as they are: never wrapped, for they are run.
type Code struct {
	Title string
	Level
	text.Lines
	Args []string // a command's quoted arguments, between which a terminal may break the line
	// Fit lays lines out for a width, such as those of a tree, all of them or without details; it has the
	// place of Lines.
	Fit func(width int, all bool) []string
	// Wraps says that the lines are sentences, which a page may wrap.
	Wraps  bool
	Free   bool // not indented
	Headed bool // the lines below the title are details
	// Screen says that paper goes without it.
	Screen bool
}

// Suite is the tests of one thing.
type Suite struct {
	Name, Time, Timestamp string
	Tests                 []Test
}

// Test is one judged claim.
type Test struct {
	Name, Time string
	Outcome    Outcome
	Message    string // in one line
	Text       string
	Type       string // the rule that it fails by
}

// Outcome of a test.
type Outcome int

// The outcomes: a warning passes.
const (
	Passed Outcome = iota
	Failed
	Errored
	Skipped
)

// Add appends blocks to a document, those that hold something.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, Full(blocks...)...) }

// Add appends blocks to a section, those that hold something.
func (s *Section) Add(blocks ...Block) { s.Blocks = append(s.Blocks, Full(blocks...)...) }

// Full are the blocks that hold something.
func Full(blocks ...Block) []Block {
	return slices.DeleteFunc(blocks, func(b Block) bool {
		switch b := b.(type) {
		case Section:
			return len(b.Blocks) == 0
		case Facts:
			return len(b.Rows) == 0
		case Table:
			return len(b.Rows) == 0
		case Note:
			return len(b.Lines) == 0
		}
		return false
	})
}

// Walk calls with every block of the document, sections before what is in them.
func (d *Document) Walk(each func(Block)) { walk(d.Blocks, each) }

func walk(blocks []Block, each func(Block)) {
	for _, b := range blocks {
		each(b)
		if s, ok := b.(Section); ok {
			walk(s.Blocks, each)
		}
	}
}

// Findings are all findings of the document.
func (d *Document) Findings() []Finding {
	var all []Finding
	d.Walk(func(b Block) {
		if f, ok := b.(Finding); ok {
			all = append(all, f)
		}
	})
	return all
}

// said is what a block that is left out or folded is called inside a sentence.
func said(b Block) string {
	name := ""
	switch b := b.(type) {
	case Section:
		name = cmp.Or(b.Of, b.Title)
	case Facts:
		name = b.Title
	case Table:
		name = b.Caption
	case Finding:
		name = "finding"
	case Charts:
		name = b.Table.Caption
	case Note:
		name = cmp.Or(b.Of, b.Title, b.Lead, "note")
	case Code:
		name = cmp.Or(b.Title, "command")
	}
	if r := []rune(name); len(r) > 1 && unicode.IsLower(r[1]) {
		name = string(unicode.ToLower(r[0])) + string(r[1:])
	}
	return name
}
