package page

import (
	"math"
	"slices"
	"testing"
)

// No cell of a row is dropped, whatever the number of columns.
func TestRowsOfOtherLengths(t *testing.T) {
	rows := NewTable("<name", "value")
	rows.Add("a", "1")
	rows.Add("b", "2", "extra")
	rows.Add("c")
	if len(rows.Columns) != 3 || len(rows.shown()) != 3 {
		t.Fatalf("%d columns, %d shown", len(rows.Columns), len(rows.shown()))
	}
	for i, r := range rows.Rows {
		if len(r) != 3 {
			t.Errorf("row %d has %d cells", i, len(r))
		}
	}
	if rows.Rows[1][2].Text != "extra" {
		t.Errorf("%+v", rows.Rows[1])
	}
}

// A flag is not broken behind its dashes, and text of others stays text.
func TestFlagsAreKeptWhole(t *testing.T) {
	for text, want := range map[string]string{
		"plimsoll run --max-volumes 2":   `plimsoll run <span class="flag">--max-volumes</span> 2`,
		"<b>--x</b> & -- --1":            `&lt;b&gt;<span class="flag">--x</span>&lt;/b&gt; &amp; -- --1`,
		`--"onload=alert(1)`:             `--&#34;onload=alert(1)`,
		"a range 4--8, /dev/md/a--b.dev": `a range 4--8, /dev/md/a<span class="flag">--b</span>.dev`,
	} {
		if got := string(flags(text)); got != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
	}
}

// A logarithmic axis has round values, as many as can be read: two at least, unless it is too short for any.
func TestRoundSteps(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []float64
	}{
		{50, 500, []float64{50, 100, 200, 500}},
		{300, 550, []float64{300, 350, 400, 500}}, // one tick, 500, of 1, 2 and 5 alone
		{330, 480, []float64{350, 400}},
		{100, 100, []float64{100}},
		{90, 1100, []float64{100, 200, 500, 1000}},
		{20, 9000, []float64{30, 100, 300, 1000, 3000}},
		{1, 1e6, []float64{1, 10, 100, 1000, 10000, 100000, 1000000}}, // seven decades: no more can go
		{101, 119, nil},
	} {
		if got := RoundSteps(c.low, c.high); !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b }) {
			t.Errorf("%v to %v: %v, want %v", c.low, c.high, got, c.want)
		}
	}
}
