package page

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/units"
)

// records are the rows of CSV: what the document states; else its table, where that is its only one
// and there are no facts; else its findings; else all that it says, a value in each row.
func (d *Document) records() Table {
	if len(d.Records.Columns) > 0 {
		return d.Records
	}
	said := sayings{rows: NewTable("<section, <item, <name, value, <unit")}
	said.add("", "", "headline", d.inALine())
	said.add("", "", "about", d.Head.About)
	said.blocks(d.Blocks, "")
	findings := len(d.Findings()) > 0
	switch {
	case len(said.tables) > 0 && (findings || len(said.tables) == 1 && !said.facts):
		return said.tables[0].plain()
	case findings:
		return d.FindingRecords()
	}
	return said.rows
}

// FindingRecords are the findings of the document as rows. Where these are all that a document is
// about, it states them, and has the same columns where there are none.
func (d *Document) FindingRecords() Table {
	t := NewTable("<code, <severity, <title, <subject, <message, <fix")
	for _, f := range d.Findings() {
		t.Add(f.Code, f.Severity, f.Title, f.Subject, f.Message, f.Fix)
	}
	return t
}

// Exact is a cell of a figure that CSV has as a plain number. The column's key has its unit.
func Exact[T ~float64 | ~int | ~int64 | ~uint64](s string, v T) Cell {
	c := Cell{Text: s}
	if s != None && s != "" {
		c.Raw = plainNumber(float64(v))
	}
	return c
}

// Record appends a row of CSV: figures are plain numbers in the unit of their type, bytes, 1/s and nanoseconds, and
// those that are not known, which are 0, are empty.
func (t *Table) Record(values ...any) {
	for i, v := range values {
		values[i] = bare(v)
	}
	t.Add(values...)
}

func bare(v any) any {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		if v == 0 {
			return ""
		}
		if math.Abs(v) >= 10 {
			v = math.Round(v*100) / 100
		}
		return plainNumber(v)
	case units.IOPS:
		return bare(float64(v))
	case units.Rate:
		return bare(math.Round(float64(v)))
	case units.Latency:
		return bare(math.Round(float64(v)))
	case time.Duration:
		return bare(float64(v))
	case units.Bytes:
		return bare(float64(v))
	}
	return v
}

// plainNumber is a number without separators and without more digits than anything is measured to.
func plainNumber(v float64) string {
	if w := math.Round(v); math.Abs(v-w) < 1e-6*max(1, math.Abs(v)) {
		v = w
	}
	return units.TrimZeros(strconv.FormatFloat(v, 'f', 6, 64))
}

// sayings gather what a document says, below the headings where it stands.
type sayings struct {
	tables []Table
	facts  bool
	rows   Table
}

func (s *sayings) add(section, item, name, value string) {
	if value == "" || value == None {
		return
	}
	for _, v := range figureEach(value) {
		n, unit := figure(v)
		s.rows.Add(section, item, name, n, unit)
	}
}

// figureEach are the figures of a text that is nothing but figures with units, such as 12,800 IOPS
// 424 MB/s; else the text.
func figureEach(s string) []string {
	var all []string
	for pair := range slices.Chunk(strings.Fields(s), 2) {
		all = append(all, strings.Join(pair, " "))
		if _, unit := figure(all[len(all)-1]); unit == "" {
			return []string{s}
		}
	}
	return all
}

func (s *sayings) blocks(all []Block, section string) {
	lines := func(title, name string, lines []string) {
		for _, l := range lines {
			s.add(cmp.Or(title, section), "", name, strings.TrimSpace(l))
		}
	}
	for _, b := range all {
		switch b := b.(type) {
		case Section:
			s.add(b.Title, "", "state", b.Tone)
			s.add(b.Title, "", "about", b.About)
			s.blocks(b.Blocks, b.Title)
		case Facts:
			s.facts = s.facts || len(b.Rows) > 0
			for _, f := range b.Rows {
				s.add(cmp.Or(b.Title, section), "", f.Name, f.Value)
			}
		case Table:
			s.table(b, cmp.Or(b.Caption, section))
		case Charts:
			s.table(b.Table, cmp.Or(b.Table.Caption, section))
		case Note:
			lines(b.Title, b.Lead, b.Lines)
		case Code:
			if b.Fit != nil {
				b.Lines = b.Fit(mdWidth, true)
			}
			lines(b.Title, "", append(slices.Clone(b.Lines), b.Args...))
		}
	}
}

// table adds the cells of a table, each under its row's first one.
func (s *sayings) table(t Table, section string) {
	if len(t.Rows) == 0 {
		return
	}
	s.tables = append(s.tables, t)
	for _, r := range t.Rows {
		for i, c := range r {
			switch {
			case i == 0 && len(r) > 1: // it names the others
			case c.Raw != "" && t.Columns[i].Key != "":
				s.rows.Add(section, r[0].Text, t.Columns[i].Key, c.Raw, "")
			default:
				s.add(section, r[0].Text, t.Columns[i].Name, c.record())
			}
		}
	}
}

// A figure as reports print them: 6,000 or 156.2 MB/s, $0.0194, 24.3 % or 77µs.
var figures = regexp.MustCompile(`^([+−-]?)(\$?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?: (\pL[\pL/]*|%)|([nµm]?s))?$`)

// figure is a text's number without separators and its unit, or the text as it is.
func figure(s string) (value, unit string) {
	m := figures.FindStringSubmatch(s)
	if m == nil {
		return s, ""
	}
	if m[2] == "$" {
		m[5] = "USD"
	}
	return strings.Replace(m[1], "−", "-", 1) + strings.ReplaceAll(m[3], ",", "") + m[4], m[5] + m[6]
}

// based is a figure in the unit in which all figures of its kind are, and that unit as keys of CSV
// have it; ok is false for a text that is none.
func based(s string) (value, unit string, ok bool) {
	value, unit = figure(s)
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return s, "", false
	}
	switch unit {
	case "", "IOPS", "USD":
		return value, strings.ToLower(unit), true
	case "%":
		return value, "percent", true
	case "x":
		return value, "times", true
	case "min":
		return plainNumber(v * 60e9), "ns", true
	case "h":
		return plainNumber(v * 3600e9), "ns", true
	}
	if r, err := units.ParseRate(s); err == nil {
		return plainNumber(float64(r)), "bytes_per_s", true
	}
	if b, err := units.ParseBytes(s); err == nil {
		return plainNumber(float64(b)), "bytes", true
	}
	if l, err := units.ParseLatency(s); err == nil {
		return plainNumber(float64(l)), "ns", true
	}
	return s, "", false
}

// plain is the table with plain numbers in the columns of figures, whose keys have the unit. A column
// that has a key holds what its document says.
func (t Table) plain() Table {
	t.Columns = slices.Clone(t.Columns)
	rows := make([][]Cell, len(t.Rows))
	for i := range t.Rows {
		rows[i] = slices.Clone(t.Rows[i])
	}
	t.Rows = rows
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Key != "" || c.Left {
			continue
		}
		kinds := map[string]bool{}
		for _, r := range rows {
			if _, unit, ok := based(r[i].Text); ok {
				kinds[unit] = true
			}
		}
		if len(kinds) != 1 {
			continue // words, or figures of several kinds, which keep their units
		}
		for unit := range kinds {
			c.Key = key(c.Name)
			if !strings.Contains(c.Key, unit) {
				c.Key = strings.Trim(c.Key+"_"+unit, "_")
			}
		}
		for _, r := range rows {
			if v, _, ok := based(r[i].Text); ok && r[i].Raw == "" && !r[i].Struck {
				r[i].Raw = v
			}
		}
	}
	return t
}
