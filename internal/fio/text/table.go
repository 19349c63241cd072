package text

import (
	"fmt"
	"regexp"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// tableRule is the line under a Markdown table's head.
var tableRule = regexp.MustCompile(`^\s*\|?[\s:|-]*-{2,}[\s:|-]*$`)

// ReadTable reads figures that someone wrote down in a Markdown table, in a document that quotes no
// output of fio: a column named IOPS, and ahead of it what the rows are called (round 11, 137K).
// Each row becomes an output of its own, as exact as it is printed; what it read or wrote, and how
// fast, is not known.
func ReadTable(data []byte) []*fio.Output {
	lines := strings.Split(string(data), "\n")
	var outs []*fio.Output
	for i := 1; i < len(lines); i++ {
		if !tableRule.MatchString(lines[i]) || !strings.Contains(lines[i-1], "|") {
			continue
		}
		head := tableCells(lines[i-1])
		column := -1
		for c, name := range head {
			if strings.EqualFold(name, "iops") {
				column = c
			}
		}
		if column < 1 {
			continue
		}
		for at := i + 1; at < len(lines) && strings.Contains(lines[at], "|"); at++ {
			if o := tableRow(head, tableCells(lines[at]), column); o != nil {
				o.Line, o.End = at+1, at+1
				outs = append(outs, o)
			}
			if len(outs) == MaxRows {
				return outs
			}
		}
	}
	return outs
}

// tableMarks takes bold and code marks off.
var tableMarks = strings.NewReplacer("**", "", "`", "")

func tableCells(line string) []string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(strings.ToValidUTF8(tableMarks.Replace(line),
		"\uFFFD")), "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// tableRow is nil where the row has no figure.
func tableRow(head, cells []string, column int) *fio.Output {
	if column >= len(cells) || cells[0] == "" {
		return nil
	}
	n := ParseNum(strings.ReplaceAll(cells[column], ",", ""))
	k, ok := n.kilo()
	if !ok || n.Mant == 0 {
		return nil
	}
	name := strings.TrimSpace(head[0] + " " + cells[0])
	d := fio.Direction{IOPS: units.IOPS(n.Times(k)), Printed: map[string]string{"iops": cells[column]}}
	return &fio.Output{
		Format: fio.Text,
		Title:  name,
		Jobs:   []fio.Job{{Name: name, Read: d}},
		Doubts: []string{
			fmt.Sprintf(
				"%s IOPS are what a table in the text says; whether they were read or written is not known, and "+
					"they stand as reads",
				cells[column],
			),
		},
	}
}
