package page

import "testing"

// No cell of a row is dropped, whatever the number of columns.
func TestRowsOfOtherLengths(t *testing.T) {
	rows := NewTable("", "<name", "value")
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
