package page

import (
	"testing"
)

// No cell of a row is dropped, whatever the number of columns.
func TestRowsOfOtherLengths(t *testing.T) {
	rows := NewTable("<name, value")
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
