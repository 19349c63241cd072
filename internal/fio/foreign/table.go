package foreign

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

//go:embed columns.tsv
var columnsText string

// columnWords are the words of columns.tsv, with their kind and what they say.
var columnWords = sync.OnceValue(func() map[string][2]string {
	words := map[string][2]string{}
	for line := range strings.Lines(columnsText) {
		if col := strings.Split(strings.TrimRight(line, "\n"), "\t"); len(col) == 3 {
			words[col[0]] = [2]string{col[1], col[2]}
		}
	}
	return words
})

// column is what the cells of a column are.
type column struct{ which, what, how, unit, option, order, bs string }

func (c column) rate() bool { return c.what == "iops" || c.what == "bw" && c.which != "" }

var (
	perSecond  = regexp.MustCompile(`(?i)\b([kmg]i?b)(?:_s|/sec)\b|([_ (\d][kmg]i?b)(?:_s|/sec)\b`)
	together   = regexp.MustCompile(`(?i)\b(rand|seq)(read|write)\b`)
	blockSize  = regexp.MustCompile(`^\d+[kmg](?:i?b)?$`)
	percentile = regexp.MustCompile(`^p?([0-9.]+)(?:th|%)?$`)
	tableRule  = regexp.MustCompile(`^\s*\|?[\s:|-]*-[\s:|-]*$`)
	// ahead names the columns of a table that are no results, though its rows are figures.
	ahead = regexp.MustCompile(
		`(?i)target|expected|ceiling|limit|goal|required|diff|delta|change|%|notes?|metric|spec|value|price|cost`,
	)
)

// expectedHead names the column of what was to be reached.
var expectedHead = regexp.MustCompile(`(?i)^(?:target|expected|goal|required)$`)

// columnOf says what a column is by its name: "read bw (MiB/s)", "p99_ms", "Avg Latency", "read-iops-mean", "iodepth".
func columnOf(name string) column {
	is := map[string]string{}
	name = strings.ToLower(together.ReplaceAllString(perSecond.ReplaceAllString(name, "$1$2/s"), "$1 $2"))
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(" -_()[]:,", r) }) {
		for part := range strings.SplitSeq(word, ".") { // data.read-iops, but p99.9
			said, known := columnWords()[part]
			if p := percentile.FindStringSubmatch(word); p != nil && (word[0] == 'p' || is["what"] != "") {
				said, known = [2]string{"how", "p" + p[1]}, true
			}
			if !known && blockSize.MatchString(word) {
				said, known = [2]string{"bs", word}, true
			}
			if !known || said[1] != "" && is[said[0]] != "" && is[said[0]] != said[1] {
				return column{}
			}
			if said[1] != "" {
				is[said[0]] = said[1]
			}
			if said[0] == "how" && word != part {
				break
			}
		}
	}
	c := column{is["which"], is["what"], is["how"], is["unit"], is["option"], is["order"], is["bs"]}
	timed := strings.HasSuffix(c.unit, "s") && !strings.Contains(c.unit, "/")
	if c.how != "" && c.what == "" && (timed || c.which+c.unit == "" && c.how != "avg") {
		c.what = "latency" // p99_ms
	}
	if c.what == "" && strings.HasSuffix(c.unit, "/s") {
		c.what = "bw" // Read (MB/s)
	}
	if c.what == "" && c.option == "" || c.what != "" && c.what != "latency" && c.how != "" && c.how != "avg" {
		return column{}
	}
	if c.what != "" {
		c.option = ""
	}
	return c
}

// ReadTable reads figures that someone wrote down in a table of Markdown or CSV, in a text that quotes no output of
// fio: each row with a rate is an output of its own, as exact as it is printed, named by what stands ahead of its
// figures. In a table whose rows are figures each column is one (Measured, beside a target; or two systems).
func ReadTable(data []byte) []*fio.Output {
	lines := strings.Split(string(data), "\n")
	var outs []*fio.Output
	title, text := "", 0 // above the table, below the one before
	for i := 0; i+1 < len(lines) && len(outs) < most; i++ {
		if mark := strings.TrimLeft(lines[i], "#"); mark != lines[i] && strings.HasPrefix(mark, " ") {
			title, text = strings.TrimSpace(strings.ToValidUTF8(mark, "\uFFFD")), i
		}
		by, head := separated(lines[i])
		if by == "" || by == "|" && !strings.Contains(lines[i+1], "|") {
			continue
		}
		from, above := i+1, title+" "+strings.Join(lines[text:i], "\n")
		if by == "|" && tableRule.MatchString(lines[from]) {
			from++
		}
		columns, rates := make([]column, len(head)), 0
		first := cells(lines[min(from, len(lines)-1)], by)
		for at, name := range head {
			c := columnOf(name)
			if c == (column{}) && at < len(first) { // Read | Write, and the unit in the cells
				c = columnOf(name + " " + unitIn(first[at]))
			}
			if columns[at] = c; c.rate() && (at > 0 || by != "|") {
				rates += 2
			} else if strings.HasPrefix(c.how, "p") { // two make a result
				rates++
			}
		}
		var rows [][]string
		for i = from; i < len(lines) && strings.Contains(lines[i], by); i++ {
			if next := lines[min(i+1, len(lines)-1)]; strings.Contains(next, "---") && tableRule.MatchString(next) && i > from {
				break // the head of another
			}
			rows = append(rows, cells(lines[i], by))
		}
		text = i
		i--
		uncertain(rows)
		switch {
		case rates > 1:
			kinds, apart := kindsOf(columns, rows)
			for at, row := range rows {
				of := kinds
				if !apart && mixed.MatchString(above+" "+strings.Join(row, " ")) {
					of = []column{all}
				}
				for _, kind := range of {
					if o := rowResult(head, columns, row, kind, by != "|"); o != nil && len(outs) < most {
						o.Line, o.End = from+at+1, from+at+1
						if slices.ContainsFunc(outs, func(x *fio.Output) bool { return x.Title == o.Title }) { // of another disk
							o.Title = strings.TrimSpace(o.Title + " " + title)
							o.Jobs[0].Name = o.Title
						}
						outs = append(outs, o)
					}
				}
			}
		case by == "|":
			outs = append(outs, byColumn(head, rows, title, from)...)
		}
	}
	return outs[:min(len(outs), most)]
}

// HasTable says that a text has a table of Markdown.
func HasTable(data []byte) bool {
	return slices.ContainsFunc(strings.Split(string(data), "\n"), func(line string) bool {
		return strings.Contains(line, "|") && tableRule.MatchString(line)
	})
}

// crystal is what CrystalDiskMark calls a test, which it reads and then writes: "SEQ1M Q8T1", "RND4K (Q= 32, T= 1)",
// "512K", "4KQD32".
var crystal = regexp.MustCompile(`(?i)^(?:(seq|rnd|rand)[a-z]*)? *(?:(\d+[km])(?:i?b)?)? *` +
	`\(?(?:qd?[ =]*\d+)?,? *(?:t[ =]*\d+)?\)?(?: *\(.*)?$`)

// testOf takes such a name apart: order and size; nil for another.
func testOf(name string) []string {
	if m := crystal.FindStringSubmatch(name); m != nil && m[1]+m[2] != "" {
		return m[1:]
	}
	return nil
}

// unitIn is what stands behind the number of a cell, "" where there is none.
func unitIn(cell string) string {
	cell, _, _ = strings.Cut(cell, "(")
	if unit := strings.TrimLeft(cell, "~≈0123456789., "); unit != cell {
		return unit
	}
	return ""
}

// all stands for the kind of a table in whose rows all figures are of one result.
var all = column{how: "all"}

// kind is what a column is of beside others with the same figure: random reads, or those of 4k.
func (c column) kind() column { return column{which: c.which, order: c.order, bs: c.bs} }

// mixed matches what says that reads and writes beside each other ran together.
var mixed = regexp.MustCompile(`(?i)\bmix|randrw|readwrite|rwmix|\brw(?:[^=,\w]|$)|\b[1-9]0[/:][1-9]0\b`)

// kindsOf says of what results a row is: of one, or of one for each kind of read and write; of none where two of its
// columns cannot be distinguished, or where reads and writes are parts of a row of totals. apart says that they cannot
// be a mix.
func kindsOf(columns []column, rows [][]string) (kinds []column, apart bool) {
	seen, figures, sides, orders, one := map[column]bool{}, map[column]bool{}, map[string]bool{}, map[string]bool{}, false
	for _, c := range columns {
		if one = one || c.option == "rw"; c.what == "" { // each row says what it is of
			continue
		}
		c.unit = ""
		sides[c.which] = true
		if seen[c] {
			return nil, false
		}
		seen[c] = true
		if !slices.Contains(kinds, c.kind()) {
			kinds = append(kinds, c.kind())
		}
		orders[c.order] = true
		sized := c.bs != ""
		if c.order, c.bs = "", ""; sized && slices.ContainsFunc(rows, func(row []string) bool { return row[0] == "Total" }) {
			return nil, false
		}
		apart = apart || sized || figures[c] || orders["random"] && orders["sequential"]
		figures[c] = true
	}
	if !apart && (one || len(sides) != 2 || sides[""] || sides["total"]) {
		return []column{all}, false
	}
	return kinds, apart
}

// separated splits a line that may head a table.
func separated(line string) (by string, head []string) {
	for _, by := range []string{"|", "\t", ";", ","} {
		head := cells(line, by)
		if by == "|" && len(head) > 1 ||
			len(head) > 2 && slices.ContainsFunc(head, func(s string) bool { return columnOf(s).rate() }) {
			return by, head
		}
	}
	return "", nil
}

// marks are what Markdown and CSV put around a cell.
var marks = strings.NewReplacer("**", "", "`", "", `"`, "")

func cells(line, by string) (list []string) {
	line = strings.TrimSpace(strings.ToValidUTF8(marks.Replace(line), "\uFFFD"))
	if by == "|" {
		line = strings.Trim(line, "|")
	}
	for cell := range strings.SplitSeq(line, by) {
		list = append(list, strings.TrimSpace(cell))
	}
	return list
}

func written() fio.Job {
	return fio.Job{
		Read: fio.Direction{Printed: map[string]string{}}, Write: fio.Direction{Printed: map[string]string{}},
		Options: fio.Options{},
	}
}

// byColumn reads a table whose rows are figures and whose columns are what they are of. Beside others a column whose
// figures are all about something or bounds (~540, <2ms) is what was expected, whatever the language of its head.
func byColumn(head []string, rows [][]string, title string, from int) (outs []*fio.Output) {
	var results []int
	expected := 0
	for at := 1; at < len(head) && columnOf(head[0]).option == ""; at++ {
		switch {
		case expectedHead.MatchString(head[at]):
			expected = at
		case !ahead.MatchString(head[at]) && head[at] != "":
			results = append(results, at)
		}
	}
	bounds := func(at int) bool {
		return !slices.ContainsFunc(rows, func(row []string) bool { return !bound(row, at) })
	}
	if i := slices.IndexFunc(results, bounds); i >= 0 && len(results) > 1 && expected == 0 {
		expected = results[i]
		results = slices.Delete(results, i, i+1)
	}
	for _, at := range results {
		j, found := written(), false
		var unclear []string
		for _, row := range rows {
			if c := columnOf(row[0]); c.what != "" && at < len(row) {
				if metric(&j, c, row[at]) {
					found = true
				} else if strings.Trim(row[at], "0123456789.,") == "" && row[at] != "" {
					unclear = append(unclear, row[at]+" can be read in two ways, and is left out")
				}
			}
		}
		named := columnWords()[strings.ToLower(head[at])] == [2]string{"none", ""} || measuredHead.MatchString(head[at]) ||
			len(results) == 1 && expected > 0
		if j.Name = strings.TrimSpace(head[at]); named {
			j.Name = cmp.Or(title, "table")
		}
		if found && (named || j.Read.IOPS+j.Write.IOPS > 0) {
			outs = append(outs, &fio.Output{
				Format: fio.Text, Table: true, Title: j.Name, Line: from, End: from + len(rows), Jobs: []fio.Job{j},
				Goals: goals(rows, expected),
				Doubts: append(unclear,
					"these figures come from a table in the text, without fio's output: they cannot be checked"),
			})
		}
	}
	return outs
}

// bound says that a cell of a row of figures is empty, about something or a bound.
func bound(row []string, at int) bool {
	return columnOf(row[0]).what == "" || at >= len(row) || row[at] == "" || strings.IndexAny(row[at], "~<>≈≤≥") == 0
}

// goals are the figures of a column that were to be reached; of those that are about something 95 % is enough, and so
// are times that are 5 % longer.
func goals(rows [][]string, at int) (all []fio.Goal) {
	for _, row := range rows {
		c := columnOf(row[0])
		if at == 0 || at >= len(row) || c.what == "" {
			continue
		}
		j, g := written(), fio.Goal{Side: c.which, Figure: c.what, MB: strings.Contains(row[at], "MB")}
		c.which = ""
		if !metric(&j, c, strings.TrimLeft(row[at], "<>≤≥= ")) {
			continue
		}
		percent, d := 95.0, j.Read
		switch c.what {
		case "iops":
			g.Value = float64(d.IOPS)
		case "bw":
			g.Value = float64(d.BW)
		default:
			g.Figure, g.Statistic, g.Value, percent = "clat", "mean", d.Clat.Mean, 105
			if c.how == "max" {
				g.Statistic, g.Value = c.how, float64(d.Clat.Max)
			} else if len(d.Clat.Percentiles) > 0 {
				g.Statistic, g.Value = c.how, float64(d.Clat.Percentiles[0].Value)
			}
		}
		if strings.ContainsAny(row[at], "~≈") {
			g.Value = g.Value * percent / 100
		}
		all = append(all, g)
	}
	return all
}

// measuredHead names the column of what was measured, beside a target or alone.
var measuredHead = regexp.MustCompile(`(?i)^(?:measured|actual|achieved)$`)

// metric takes in one cell; false where it is no figure. Figures of no direction are kept as reads.
func metric(j *fio.Job, c column, value string) bool {
	d := &j.Read
	if c.which == "write" {
		d = &j.Write
	}
	value, other, _ := strings.Cut(value, "(") // the same in another unit, or the I/Os beside the rate
	value, other = strings.TrimSpace(value), strings.TrimSuffix(other, ")")
	if (c.what == "iops" || c.what == "bw" && strings.HasSuffix(other, "IOPS")) && strings.HasSuffix(value, "/s") {
		other = strings.TrimSpace(strings.TrimSuffix(other, "IOPS"))
		return metric(j, column{which: c.which, what: "bw"}, value) && metric(j, column{which: c.which, what: "iops"}, other)
	}
	value = strings.TrimSpace(strings.TrimSuffix(strings.TrimLeft(value, "~≈ "), "IOPS"))
	if c.unit != "" && value != "" && value[len(value)-1]-'0' <= 9 {
		value += c.unit
	}
	if !certain(value) {
		return false
	}
	switch c.what {
	case "iops":
		n := number(value)
		if n <= 0 || c.which == "total" && j.Read.IOPS+j.Write.IOPS > 0 {
			return false
		}
		d.IOPS, d.Printed["iops"] = units.IOPS(n), value
	case "bw":
		if d.BW = rate(perSecond.ReplaceAllString(value, "$1$2/s")); d.BW <= 0 {
			return false
		}
		d.Printed["bw"] = value
	default:
		t := took(strings.ReplaceAll(value, "μ", "µ"))
		switch p, ok := strings.CutPrefix(c.how, "p"); {
		case t <= 0:
			return false
		case ok:
			at := number(p)
			if at <= 0 || at >= 100 {
				return false
			}
			d.Clat.Percentiles = append(d.Clat.Percentiles, fio.Percentile{P: at, Value: t})
			slices.SortFunc(d.Clat.Percentiles, func(a, b fio.Percentile) int { return cmp.Compare(a.P, b.P) })
		case c.how == "max":
			d.Clat.Max = t
		default:
			d.Clat.Mean = float64(t)
		}
	}
	return true
}

// certain says that a figure can be read in one way only: 16.200 is 16.2, and sixteen thousand where people write
// commas for decimals. A time is: nobody writes 1.858 ms for almost two seconds.
func certain(value string) bool {
	number := value[:len(value)-len(strings.TrimLeft(value, "0123456789.,"))]
	_, ok := units.Plain(number)
	whole, frac, point := strings.Cut(number, ".")
	ofTime := strings.HasSuffix(value, "s") && !strings.HasSuffix(value, "/s")
	return ok && (!point || ofTime || len(frac) != 3 || whole == "0" || whole == "" || len(whole) > 3 ||
		strings.Contains(whole, ","))
}

var (
	parted  = regexp.MustCompile(`\d,\d{3}(?:\D|$)`)
	decimal = regexp.MustCompile(`^\d+,\d{1,2}$`)
	pointed = regexp.MustCompile(`^(?:\d{4,}|0)\.\d{3}\b`)
	// threeDigits finds a number whose point would part thousands, if nothing said otherwise.
	threeDigits = regexp.MustCompile(`^(\d{1,3}\.\d{3})\b`)
)

// uncertain empties cells that would have a decimal comma in a table whose commas part thousands: 36,92 beside
// 40,074 lost a digit. Where a point cannot part thousands in one cell, it does not in the others.
func uncertain(rows [][]string) {
	if slices.ContainsFunc(rows, func(r []string) bool { return slices.ContainsFunc(r, pointed.MatchString) }) {
		for _, row := range rows {
			for at, cell := range row {
				row[at] = threeDigits.ReplaceAllString(cell, "${1}0")
			}
		}
	}
	for _, row := range rows {
		for at, cell := range row {
			if decimal.MatchString(cell) && slices.ContainsFunc(rows, func(r []string) bool {
				return slices.ContainsFunc(r, parted.MatchString)
			}) {
				row[at] = ""
			}
		}
	}
}

// rowResult makes a result of a row's figures of a kind; nil where it has neither a rate nor two percentiles. whole
// says that each cell is of the row's name.
func rowResult(head []string, columns []column, row []string, kind column, whole bool) *fio.Output {
	if row[0] == "" {
		return nil
	}
	j, said, order, side := written(), false, kind.order, kind.which
	test := testOf(row[0])
	if test != nil {
		order = strings.Replace(strings.ToLower(test[0]), "rnd", "rand", 1)
		if test[1] != "" {
			j.Options["bs"] = strings.ToLower(test[1])
		}
	}
	var name []string
	for i := range min(len(columns), len(row)) {
		c, value := columns[i], row[i]
		switch {
		case c.what != "" && kind != all && c.kind() != kind:
			continue
		case c.what != "" && (i > 0 || whole):
			if metric(&j, c, value) {
				said = said || c.which != "" && c.what != "latency"
			}
			continue
		case c.option == "order":
			order = strings.ToLower(value)
		case c.option == "bs":
			if b := size(value + c.unit); b > 0 {
				j.Options["bs"] = b.Suffixed()
			}
		case c.option != "" && value != "":
			j.Options[c.option] = strings.ToLower(value)
		}
		switch {
		case i > 0 && c.option == "" && !whole, value == "":
		case strings.Trim(value, "0123456789.,") == "":
			name = append(name, head[i], value)
		default:
			name = append(name, value)
		}
	}
	if len(j.Read.Clat.Percentiles) < 2 && j.Read.IOPS+j.Write.IOPS == 0 && (!said || j.Read.BW+j.Write.BW == 0) {
		return nil
	}
	if kind != all {
		name = append(name, kind.order, kind.which, kind.bs)
		if b := size(kind.bs); b > 0 {
			j.Options["bs"] = b.Suffixed()
		}
	}
	j.Name = cmp.Or(strings.Join(strings.Fields(strings.Join(name, " ")), " "), row[0])
	if order+kind.bs == "" { // of reads, random or not
		side = ""
	}
	rw := strings.ToLower(cmp.Or(j.Options["rw"], side, row[0]))
	delete(j.Options, "rw")
	if slices.Contains(strings.Fields("read write randread randwrite rw randrw readwrite"), rw) {
		if strings.HasPrefix(order, "rand") && !strings.HasPrefix(rw, "rand") {
			rw = "rand" + rw
		}
		if kind.which == "" || test == nil { // whose depth is not fio's default
			j.Options["rw"] = rw
		}
		b := powerOfTwo(max(j.Read.IOPS, j.Write.IOPS), max(j.Read.BW, j.Write.BW))
		if b > 0 && j.Options["bs"] == "" { // fio's default would be taken
			j.Options["bs"] = b.Suffixed()
		}
	}
	doubt := " come from a table in the text, without fio's output: nobody can check them"
	writes, reads := strings.Contains(rw, "write"), strings.Contains(rw, "read")
	switch {
	case said || reads && !writes:
	case writes && !reads:
		j.Read, j.Write = j.Write, j.Read
	default:
		j.Read.Unknown = true
		doubt = " come from a table in the text; whether they are reads or writes is not known"
	}
	figures := "its figures"
	if iops := cmp.Or(j.Read.Printed["iops"], j.Write.Printed["iops"]); iops != "" {
		figures = iops + " IOPS"
	}
	return &fio.Output{Format: fio.Text, Table: true, Title: j.Name, Jobs: []fio.Job{j}, Doubts: []string{figures + doubt}}
}
