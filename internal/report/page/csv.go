package page

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"strconv"
	"strings"
	"unicode"

	"plimsoll/internal/text"
)

// mostCell is the longest text of a CSV cell, in columns.
const mostCell = 240

// writeCSV writes one table: a CSV file has one kind of row. Cells that a spreadsheet would take
// for a formula get an apostrophe in front, absent values are empty.
func writeCSV(out *bufio.Writer, d *Document, _ Options) error {
	t := d.records()
	w := csv.NewWriter(out)
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = cmp.Or(c.Key, key(c.Name))
	}
	_ = w.Write(head) // errors stay with w, see below
	for _, r := range t.Rows {
		row := make([]string, len(r))
		for i, c := range r {
			row[i] = c.record()
		}
		_ = w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// record is a cell in CSV.
func (c Cell) record() string {
	if c.Raw == "" && c.Text == None {
		return ""
	}
	s := text.Clean(cmp.Or(c.Raw, c.shown()), mostCell)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		if _, err := strconv.ParseFloat(s, 64); err != nil || s[0] == '+' {
			return "'" + s
		}
	}
	return s
}

// key makes a column's name one word.
func key(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' {
			return unicode.ToLower(r)
		}
		return '_'
	}, strings.NewReplacer("%", "percent", "±", "plus_minus", "#", "id").Replace(name)), "_")
}
