package bench

import (
	"fmt"
	"slices"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
)

// Each variant goes first about as often: of two in every block of two rounds.
func TestTurns(t *testing.T) {
	first := map[string]int{}
	for seed := range uint64(200) {
		turns := turnsOf(6, 2, seed)
		if !slices.EqualFunc(turns, turnsOf(6, 2, seed), slices.Equal) {
			t.Fatal("not the same twice")
		}
		for r := 0; r < 6; r += 2 {
			if turns[r][0] == turns[r+1][0] {
				t.Fatalf("seed %d: %v", seed, turns)
			}
		}
		first[fmt.Sprint(turns[0])]++
		three := turnsOf(3, 3, seed)
		for _, turn := range three {
			slices.Sort(turn)
			if !slices.Equal(turn, []int{0, 1, 2}) {
				t.Fatal(three)
			}
		}
	}
	if first["[0 1]"] < 70 || first["[1 0]"] < 70 {
		t.Errorf("who begins: %v", first)
	}
}

func TestWithOptions(t *testing.T) {
	s := suite.Suite{Scenarios: []suite.Scenario{{Job: fio.JobFile{Sections: []fio.Section{{Name: "a", Options: []fio.Option{{Name: "iodepth", Value: "32"}, {Name: "rw", Value: "read"}}}}}}}}
	got := WithOptions(s, []fio.Option{{Name: "iodepth", Value: "4"}})
	value := func(s suite.Suite, name string) string {
		v, _ := s.Scenarios[0].Job.Effective(s.Scenarios[0].Job.Jobs()[0]).Get(name)
		return v
	}
	if value(got, "iodepth") != "4" || value(got, "rw") != "read" || value(s, "iodepth") != "32" {
		t.Errorf("%q %q; the suite's own %q", value(got, "iodepth"), value(got, "rw"), value(s, "iodepth"))
	}
}
