package text

import (
	"os"
	"testing"
)

// TestRoundsOfATable: the article that quotes no output has its rounds in a table, by number.
func TestRoundsOfATable(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/seeds/striped-8xnvme-rounds.md")
	if err != nil {
		t.Fatal(err)
	}
	outs := ReadTable(data)
	if len(outs) != 3 {
		t.Fatalf("%d rows", len(outs))
	}
	for i, want := range []struct {
		title string
		iops  float64
	}{{"round 11", 137000}, {"round 15", 137000}, {"round 16", 238000}} {
		if o := outs[i]; o.Title != want.title || float64(o.Jobs[0].Read.IOPS) != want.iops {
			t.Errorf("%s: %v IOPS, want %+v", o.Title, o.Jobs[0].Read.IOPS, want)
		}
	}
	for _, none := range []string{"", "a | b\n---|---\n1 | 2\n", "IOPS | x\n---|---\n1 | 2\n", "round | IOPS\n---|---\n11 |\n| \n"} {
		if outs := ReadTable([]byte(none)); len(outs) != 0 {
			t.Errorf("%q: %d rows", none, len(outs))
		}
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add([]byte("round | IOPS\n---|----\n11 | 137K\n|16|238.1k|\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, o := range ReadTable(data) {
			if o.Title == "" || o.Jobs[0].Read.IOPS <= 0 {
				t.Errorf("%+v", o)
			}
		}
	})
}
