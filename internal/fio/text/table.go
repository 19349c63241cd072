package text

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// tableRule is the line under a Markdown table's head.
var tableRule = regexp.MustCompile(`^\s*\|?[\s:|-]*-{2,}[\s:|-]*$`)

// ReadTable reads figures that someone wrote down in a Markdown table, in a document that quotes no
// output of fio: a column named IOPS, and ahead of it what the rows are called (round 11, 137K).
// Each row becomes an output of its own, as exact as it is printed; what it read or wrote, and how
// fast, is not known. A table with a column named Measured, whose rows are metrics (IOPS, Bandwidth,
// Latency (p99)), is one output under the heading above it.
func ReadTable(data []byte) []*fio.Output {
	lines := strings.Split(string(data), "\n")
	var outs []*fio.Output
	title := ""
	for i := 1; i < len(lines); i++ {
		if mark := strings.TrimLeft(lines[i-1], "#"); mark != lines[i-1] && strings.HasPrefix(mark, " ") {
			title = strings.TrimSpace(strings.ToValidUTF8(mark, "\uFFFD"))
		}
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
			if o := measuredTable(lines, i, head, title); o != nil && len(outs) < MaxRows {
				outs = append(outs, o)
			}
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

// measuredHead names the column of what was measured, beside a target or alone.
var measuredHead = regexp.MustCompile(`(?i)^(?:measured|actual|achieved)$`)

// metricName is the name of a row of such a table.
var metricName = regexp.MustCompile(
	`(?i)^(?:(read|write|total) )?(iops|bandwidth|throughput|bw|(?:latency|clat)(?: \((?:avg|mean|p[0-9.]+)\))?)$`)

// measuredTable reads the table under a heading whose rule is line i. Its doubts say that nobody can check it.
func measuredTable(lines []string, i int, head []string, title string) *fio.Output {
	column := slices.IndexFunc(head, measuredHead.MatchString)
	if column < 1 {
		return nil
	}
	j := fio.Job{Read: fio.Direction{Printed: map[string]string{}}, Write: fio.Direction{Printed: map[string]string{}}}
	found, end := false, i
	for at := i + 1; at < len(lines) && strings.Contains(lines[at], "|"); at++ {
		if cells := tableCells(lines[at]); column < len(cells) && metric(&j, cells[0], cells[column]) {
			found, end = true, at+1
		}
	}
	if !found {
		return nil
	}
	j.Name = cmp.Or(title, "table")
	return &fio.Output{
		Format: fio.Text, Table: true, Title: title, Line: i, End: end, Jobs: []fio.Job{j},
		Doubts: []string{"these are figures that a table in the text states, without fio's output: nobody can check them"},
	}
}

// metric puts one row of a table into a job; false where it is none that is known. Figures of no
// direction stand as reads.
func metric(j *fio.Job, name, value string) bool {
	m := metricName.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	d, which := &j.Read, strings.ToLower(m[1])
	if which == "write" {
		d = &j.Write
	}
	value, what := strings.ReplaceAll(strings.TrimLeft(value, "~≈ "), ",", ""), strings.ToLower(m[2])
	switch {
	case what == "iops":
		n := ParseNum(value)
		k, ok := n.kilo()
		if !ok || n.Mant == 0 || which == "total" && j.Read.IOPS+j.Write.IOPS > 0 {
			return false
		}
		d.IOPS, d.Printed["iops"] = units.IOPS(n.Times(k)), value
	case strings.Contains(what, "lat"):
		took, err := time.ParseDuration(strings.ReplaceAll(strings.ReplaceAll(value, " ", ""), "μ", "µ"))
		if err != nil || took <= 0 {
			return false
		}
		if _, p, ok := strings.Cut(strings.TrimSuffix(what, ")"), "(p"); ok {
			at, err := strconv.ParseFloat(p, 64)
			if err != nil || at <= 0 || at >= 100 {
				return false
			}
			d.Clat.Percentiles = append(d.Clat.Percentiles, fio.Percentile{P: at, Value: took})
			return true
		}
		d.Clat.Mean = float64(took)
	default:
		rate, err := units.ParseRate(strings.ReplaceAll(value, " ", ""))
		if err != nil || rate <= 0 {
			return false
		}
		d.BW, d.Printed["bw"] = rate, value
	}
	return true
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
		Table:  true,
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
