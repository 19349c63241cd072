package stats

import (
	"fmt"
	"testing"
)

func TestBoundsDecideWhereBothEndsAgree(t *testing.T) {
	below := func(v float64) bool { return v < 0.7 }
	for _, c := range []struct {
		least, most float64
		want        Judgement
		decisive    float64
		text        string
	}{
		{0.5, 0.5, Met, 0.5, "0.5"},
		{0.8, 0.8, Missed, 0.8, "0.8"},
		{0.5, 0.6, Met, 0.6, "0.5 to 0.6"},
		{0.5, 1, CannotTell, 1, "at least 0.5"},
		{0, 0.6, Met, 0.6, "at most 0.6"},
		{0.7, 0.9, Missed, 0.7, "0.7 to 0.9"},
	} {
		b := Bounds{Least: c.least, Most: c.most}
		text := b.Print(func(v float64) string { return fmt.Sprint(v) }, 1)
		if got := b.Judge(below); got != c.want || b.Decisive(below) != c.decisive || text != c.text {
			t.Errorf("%v: %v, %v, %q", b, got, b.Decisive(below), text)
		}
	}
}
