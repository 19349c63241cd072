package compared

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/stats"
)

// comparedTable has a row with rounds on both sides, one with a burst and one round each, and one
// that is struck out; its names are hostile.
func comparedTable() *compare.Table {
	iops := compare.Figure{Name: "IOPS", Unit: compare.PerSecond}
	est := func(c, lo, hi float64, n int) stats.Estimate { return stats.Estimate{Center: c, Lo: lo, Hi: hi, N: n} }
	return &compare.Table{
		Sides:  []compare.Column{{Name: "=cmd|'<b>before", Runs: []string{"x"}, Rounds: 5}, {Name: "after\x1b[31m", Runs: []string{"y"}, Rounds: 5}},
		Margin: 0.03,
		Suite: []*compare.Change{nil, {
			Comparison: stats.Comparison{Ratio: est(1.021, 1.009, 1.033, 5), Method: stats.WelchT, P: 0.004}, PHolm: 0.004, Word: compare.Faster,
		}},
		Rows: []compare.Row{
			{
				Name: "rand-write", Work: compare.Work{Direction: "write", Order: "random", BS: 8192}, Figure: iops,
				Cells: []compare.Cell{
					{Figure: est(1134, 1120, 1148, 5), Rounds: []float64{1, 2, 3, 4, 5}, Ceiling: 1130, Share: 1.0035},
					{Figure: est(1181, 1170, 1192, 5), Rounds: []float64{1, 2, 3, 4, 5}, Ceiling: 1190, Share: .992, Change: &compare.Change{
						Comparison: stats.Comparison{Ratio: est(1.041, 1.02, 1.063, 5), Method: stats.WelchT, P: 0.0055}, PHolm: 0.011, Word: compare.Faster,
					}},
				},
			},
			{
				Name: "burst", Work: compare.Work{Direction: "write"}, Figure: iops,
				Cells: []compare.Cell{
					{Figure: est(16030, 16030, 16030, 0), Within: true, Rounds: []float64{16030}, Ceiling: 16000, Share: 1.00188, Sustained: 6000},
					{
						Figure: est(40065, 40065, 40065, 0), Within: true, Rounds: []float64{40065}, Ceiling: 40000, Share: 1.0016, Sustained: 6000,
						Change: &compare.Change{
							Comparison: stats.Comparison{Ratio: est(2.4994, 2.4994, 2.4994, 1), P: 1}, PHolm: 1, Word: compare.CannotTell, Sustained: 1,
							Why: "one run per side",
						},
					},
				},
			},
			{
				Name: "trimmed", Work: compare.Work{}, Figure: iops,
				Cells: []compare.Cell{
					{Figure: est(137000, 137000, 137000, 0), Within: true, Rounds: []float64{137000}},
					{Invalid: []compare.Struck{{
						Round: 1, Figure: 238000, Why: "PL408: reads of deallocated blocks",
						Called: "round 1",
					}}},
				},
			},
		},
		Apart: []string{"other is only in before"}, Notes: []string{"kernel differs"},
	}
}

// What cannot be told is said of which sides and why; where any figure moved, or must not be trusted, they are counted.
func TestWhatCannotBeTold(t *testing.T) {
	c := comparedTable()
	c.Suite, c.Rows = nil, c.Rows[1:2]
	c.Sides[0].Name, c.Sides[1].Name = "before", "after"
	if got, want := Compare(c).Head.Word,
		"Cannot tell whether after is faster than before: x2.50, one run per side"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c.Rows = comparedTable().Rows[1:]
	if got := Compare(c).Head.Word; got != "1 cannot tell, 1 INVALID" {
		t.Error(got)
	}
	if c.Rows = c.Rows[1:]; Compare(c).Head.Word != "Nothing to compare: 1 figure is INVALID" {
		t.Error(Compare(c).Head.Word)
	}
}

func TestCompareFormats(t *testing.T) {
	for format, wanted := range map[page.Format][]string{
		page.Text: {
			"after\ufffd[31m: +2.1 % [+0.9, +3.3], p 0.004: faster", "1,134 ± 1.2 %", "+4.1 % [+2.0, +6.3]     0.011  faster", "100.2 %",
			"x2.50 in bursts, x1.00 sustained cannot tell", "238,000 INVALID          PL408: reads of deallocated blocks",
			"other is only in before", "note: kernel differs",
		},
		page.Markdown: {"1 faster, 1 cannot tell, 1 INVALID", "~~238,000~~ INVALID", "| 1,181 ± 0.9 % | 99.2 % |", "&lt;b&gt;before"},
		page.CSV:      {"'=cmd", "Welch's t on logarithms", "PL408"},
		page.JSON:     {`"schema_version": 3`, `"verdict": "faster"`},
		page.HTML:     {`<s>238,000</s> <span class="chip" data-verdict="invalid">INVALID</span>`, `data-chart="intervals"`, "&lt;b&gt;before"},
	} {
		var out bytes.Buffer
		if err := page.Write(&out, format, Compare(comparedTable()), page.Options{Details: true, Width: 100}); err != nil {
			t.Fatal(format, err)
		}
		for _, want := range wanted {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%.3000s", format, want, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b") && format != page.JSON || format == page.HTML && strings.Contains(out.String(), "<b>before") {
			t.Errorf("%s: hostile text went through", format)
		}
		switch format { //nolint:exhaustive // the others are text
		case page.CSV:
			if rows, err := csv.NewReader(&out).ReadAll(); err != nil || len(rows) != 7 {
				t.Errorf("csv: %d rows, %v", len(rows), err)
			}
		case page.JSON:
			if !json.Valid(out.Bytes()) {
				t.Error("not JSON")
			}
		}
	}
}
