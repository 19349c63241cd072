package text

import (
	"cmp"
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
		columns := columnsOf(head)
		if !slices.ContainsFunc(columns, func(c tableColumn) bool { return strings.HasSuffix(c.metric, "iops") }) {
			if o := measuredTable(lines, i, head, title); o != nil && len(outs) < MaxRows {
				outs = append(outs, o)
			}
			continue
		}
		for at := i + 1; at < len(lines) && strings.Contains(lines[at], "|"); at++ {
			if o := tableRow(head[0], columns, tableCells(lines[at])); o != nil {
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
	value, ok := tableNumber(value)
	if !ok {
		return false
	}
	what := strings.ToLower(m[2])
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

// tableNumber writes the number at the start of a cell with a point and nothing else; false for one that may
// be read in two ways: 16.200 is 16.2, and sixteen thousand where people write commas for decimals. A time is
// not: nobody writes 1.858 ms for almost two seconds.
func tableNumber(cell string) (string, bool) {
	cell = strings.TrimLeft(cell, "~≈ ")
	number := cell[:len(cell)-len(strings.TrimLeft(cell, "0123456789.,"))]
	plain, ok := units.Plain(number)
	whole, frac, point := strings.Cut(number, ".")
	ofTime := strings.HasSuffix(cell, "s") && !strings.HasSuffix(cell, "/s") && !strings.HasSuffix(cell, "IOPS")
	if !ok || point && !ofTime && len(frac) == 3 && whole != "0" && whole != "" && !strings.Contains(whole, ",") {
		return "", number == "" && cell != ""
	}
	return plain + cell[len(number):], true
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

// tableColumn is a column of figures: "read bw (MiB/s)", "Avg Latency", "p99 clat", "read-iops-mean".
type tableColumn struct {
	metric string // as metricName has it; "" for a column of something else
	unit   string // of cells that have none
}

// columnUnit is what stands in parentheses behind a column's name.
var columnUnit = regexp.MustCompile(`^(.*?)[ _]*[(\[]([^()\[\]]+)[)\]]$`)

// columnWords are those that a column's name may have, and what they say; "" where that makes no difference. A name
// with another word, such as max or stddev, is of another figure.
var columnWords = map[string]string{
	"read": "read", "reads": "read", "write": "write", "writes": "write", "iops": "iops", "bandwidth": "bw", "bw": "bw",
	"throughput": "bw", "latency": "latency", "lat": "latency", "clat": "latency", "avg": "avg", "average": "avg",
	"mean": "avg", "random": "", "rand": "", "sequential": "", "seq": "", "measured": "", "fio": "",
}

// columnsOf are the columns of a table by their heads. Where two are of one kind (random and sequential reads in one
// row), a row is not one result, and none counts.
func columnsOf(head []string) []tableColumn {
	columns, seen := make([]tableColumn, len(head)), map[string]bool{}
	for i := 1; i < len(head); i++ {
		c := columnOf(head[i])
		if c.metric != "" && seen[c.metric] {
			return nil
		}
		columns[i], seen[c.metric] = c, true
	}
	return columns
}

func columnOf(name string) tableColumn {
	c := tableColumn{}
	if m := columnUnit.FindStringSubmatch(name); m != nil {
		name, c.unit = m[1], strings.TrimSpace(m[2])
		if said := columnWords[strings.ToLower(c.unit)]; said != "" { // IOPS (read), Latency (avg), Random Read (IOPS)
			name, c.unit = name+" "+c.unit, ""
		}
	}
	is := map[string]string{} // which, what and how
	between := func(r rune) bool { return strings.ContainsRune(" -_/", r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), between) {
		said, known := columnWords[word]
		if percentileWord.MatchString(word) {
			said, known = word, true
		}
		kind := "how"
		switch said {
		case "read", "write":
			kind = "which"
		case "iops", "bw", "latency":
			kind = "what"
		}
		if !known || said != "" && is[kind] != "" {
			return tableColumn{}
		}
		if said != "" {
			is[kind] = said
		}
	}
	switch {
	case is["what"] == "latency":
		is["what"] = "latency (" + cmp.Or(is["how"], "avg") + ")"
	case is["what"] == "" || is["how"] != "" && is["how"] != "avg":
		return tableColumn{}
	}
	c.metric = strings.TrimSpace(is["which"] + " " + is["what"])
	return c
}

var percentileWord = regexp.MustCompile(`^p[0-9.]+$`)

// tableRow is nil where the row has no figure. Its IOPS stand in a column of that name; the columns
// beside it count as far as they are known by name, with the unit that their head or their cell has.
func tableRow(first string, columns []tableColumn, cells []string) *fio.Output {
	if cells[0] == "" {
		return nil
	}
	j := fio.Job{
		Name: strings.TrimSpace(first + " " + cells[0]),
		Read: fio.Direction{Printed: map[string]string{}}, Write: fio.Direction{Printed: map[string]string{}},
	}
	said := false
	for i := 1; i < min(len(columns), len(cells)); i++ {
		c, value := columns[i], cells[i]
		said = said || strings.Contains(c.metric, " ") && !strings.HasPrefix(c.metric, "latency")
		value, _, _ = strings.Cut(value, " (") // the same in another unit
		if c.unit != "" && value != "" && value[len(value)-1]-'0' <= 9 {
			value += c.unit
		}
		metric(&j, c.metric, value)
	}
	if j.Read.IOPS+j.Write.IOPS == 0 {
		return nil
	}
	doubt := "are what a table in the text says, without fio's output: nobody can check them"
	writes, reads := tableWrites.MatchString(cells[0]), tableReads.MatchString(cells[0])
	switch {
	case said || reads && !writes:
	case writes && !reads:
		j.Read, j.Write = j.Write, j.Read
	default:
		doubt = "are what a table in the text says; whether they were read or written is not known, and they stand as reads"
	}
	iops := cmp.Or(j.Read.Printed["iops"], j.Write.Printed["iops"])
	return &fio.Output{
		Format: fio.Text, Table: true, Title: j.Name, Jobs: []fio.Job{j},
		Doubts: []string{iops + " IOPS " + doubt},
	}
}

var (
	tableReads  = regexp.MustCompile(`(?i)read`)
	tableWrites = regexp.MustCompile(`(?i)write`)
)
