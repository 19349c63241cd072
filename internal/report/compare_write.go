package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/stats"
)

func compareTTY(out io.Writer, v comparison) {
	for _, s := range v.Sides {
		fmt.Fprintln(out, s)
	}
	for i, s := range v.Suite {
		if i == 0 {
			fmt.Fprintln(out, "\nsuite as a whole (geometric mean)")
		}
		fmt.Fprintln(out, "  "+s)
	}
	for _, w := range v.Works {
		fmt.Fprintf(out, "\n%s: %s\n", w.Name, w.Work)
		compareLines(out, w)
		for _, other := range w.Others {
			fmt.Fprintln(out, "  "+other)
		}
	}
	if len(v.Apart)+len(v.Notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, a := range v.Apart {
		fmt.Fprintln(out, a)
	}
	for _, n := range v.Notes {
		fmt.Fprintln(out, "note: "+n)
	}
}

// compareLines lays out a table; the verdict goes on a line of its own where it is long.
func compareLines(out io.Writer, w comparedWork) {
	head := []string{"", "rounds", w.Unit, "of ceiling", "sustained", "change", "p (Holm)"}
	cells := [][]string{head}
	for _, l := range w.Lines {
		figure := l.Figure
		if l.Struck {
			figure += " INVALID"
		}
		cells = append(cells, []string{l.Side, l.Rounds, figure, l.Share, l.Sustained, l.Change, l.P})
	}
	used, width := make([]bool, len(head)), make([]int, len(head))
	for i, row := range cells {
		for k, c := range row {
			if i > 0 && c != "" {
				used[k] = true
			}
			width[k] = max(width[k], len([]rune(c)))
		}
	}
	for i, row := range cells {
		var line strings.Builder
		for k, c := range row {
			if !used[k] {
				continue
			}
			pad := strings.Repeat(" ", width[k]-len([]rune(c)))
			if k == 0 || k == 5 {
				line.WriteString("  " + c + pad)
			} else {
				line.WriteString("  " + pad + c)
			}
		}
		if i > 0 {
			line.WriteString("  " + w.Lines[i-1].Verdict)
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

func compareMarkdown(out io.Writer, v comparison) {
	fmt.Fprintf(out, "# %s\n\n", v.Title)
	for _, s := range v.Sides {
		fmt.Fprintf(out, "- %s\n", md(s))
	}
	for i, s := range v.Suite {
		if i == 0 {
			fmt.Fprint(out, "\nSuite as a whole (geometric mean):\n\n")
		}
		fmt.Fprintf(out, "- %s\n", md(s))
	}
	for _, w := range v.Works {
		fmt.Fprintf(out, "\n## %s\n\n%s\n\n", md(w.Name), md(w.Work))
		fmt.Fprintf(
			out,
			"| | rounds | %s | of ceiling | sustained | change | p (Holm) | verdict "+
				"|\n|---|--:|--:|--:|--:|---|--:|---|\n",
			md(w.Unit),
		)
		for _, l := range w.Lines {
			figure := md(l.Figure)
			if l.Struck {
				figure = "~~" + figure + "~~ INVALID"
			}
			fmt.Fprintf(
				out,
				"| %s | %s | %s | %s | %s | %s | %s | %s |\n",
				md(l.Side),
				l.Rounds,
				figure,
				l.Share,
				l.Sustained,
				l.Change,
				md(l.P),
				md(l.Verdict),
			)
		}
		for i, o := range w.Others {
			if i == 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintf(out, "- %s\n", md(o))
		}
	}
	if len(v.Apart)+len(v.Notes) > 0 {
		fmt.Fprint(out, "\n## Notes\n\n")
	}
	for _, n := range append(slices.Clone(v.Apart), v.Notes...) {
		fmt.Fprintf(out, "- %s\n", md(n))
	}
}

var compareColumns = []string{
	"scenario", "work", "side", "base", "rounds", "figure", "unit", "value", "low", "high", "interval_over",
	"ceiling", "percent_of_ceiling", "sustained", "ratio", "ratio_low", "ratio_high", "method", "p", "p_holm",
	"verdict", "least_seen_percent", "rounds_needed", "sustained_ratio", "invalid",
}

// compareCSV writes a row a scenario and side; rounds that are struck out are rows of their own.
func compareCSV(out io.Writer, t *compare.Table) error {
	w := csv.NewWriter(out)
	_ = w.Write(compareColumns) // errors stay with w, see below
	for i := range t.Rows {
		r := &t.Rows[i]
		for k := range r.Cells {
			c := &r.Cells[k]
			head := []string{cell(r.Name), cell(r.Work.String()), cell(t.Sides[k].Name), cell(t.Sides[t.Base].Name)}
			for _, s := range c.Invalid {
				row := make([]string, len(compareColumns))
				copy(row, append(slices.Clone(head), "0", r.Figure.Name, string(r.Figure.Unit), decimal(s.Figure, 2)))
				row[len(row)-1] = cell(s.Why)
				_ = w.Write(row)
			}
			if len(c.Rounds) == 0 {
				continue
			}
			over := "rounds"
			if c.Within {
				over = "seconds of one run"
			}
			row := append(
				slices.Clone(head),
				strconv.Itoa(len(c.Rounds)),
				r.Figure.Name,
				string(r.Figure.Unit),
				decimal(c.Figure.Center, 2),
				decimal(c.Figure.Lo, 2),
				decimal(c.Figure.Hi, 2),
				over,
				decimal(c.Ceiling, 2),
				decimal(100*c.Share, 2),
				decimal(c.Sustained, 2),
			)
			_ = w.Write(append(append(row, changeCells(c.Change)...), ""))
		}
	}
	w.Flush()
	return w.Error()
}

func changeCells(c *compare.Change) []string {
	if c == nil {
		return make([]string, 10)
	}
	p, low, high := "", "", ""
	if c.Method != stats.NoTest {
		p, low, high = decimal(c.P, 6), decimal(c.Ratio.Lo, 4), decimal(c.Ratio.Hi, 4)
	}
	holm := p
	if p != "" {
		holm = strconv.FormatFloat(c.PHolm, 'f', 6, 64)
	}
	needs := ""
	if c.Needs > 0 {
		needs = strconv.Itoa(c.Needs)
	}
	return []string{
		decimal(c.Ratio.Center, 4), low, high, string(c.Method), p, holm, string(c.Word),
		decimal(100*c.LeastSeen, 2), needs, decimal(c.Sustained, 4),
	}
}
