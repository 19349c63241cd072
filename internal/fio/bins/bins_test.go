package bins

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestBinsCoverEveryLatencyOnce(t *testing.T) {
	for i := range Count - 1 {
		lo, hi := Range(i)
		if next, _ := Range(i + 1); next != hi {
			t.Fatalf("bin %d ends at %d, bin %d starts at %d", i, hi, i+1, next)
		}
		if Of(lo) != i || Of(hi-1) != i || Of(Value(i)) != i {
			t.Fatalf("bin %d [%d,%d) value %d: Of says %d, %d, %d", i, lo, hi, Value(i), Of(lo), Of(hi-1), Of(Value(i)))
		}
	}
}

// What was read is what was added, also of a document that MarshalJSON would not have written, and stays
// so when more is added.
func TestReadIsAdded(t *testing.T) {
	for text, want := range map[string][][2]int{
		`[[3,1],[1700,5]]`:        {{3, 1}, {1700, 5}},
		`[[9,2],[3,1],[9,4]]`:     {{3, 1}, {9, 6}},
		`[[3,0],[4,1],[4,0]]`:     {{4, 1}},
		`[[3,5000000000],[4,1]]`:  {{3, 5000000000}, {4, 1}},
		`[[2,1],[3,5000000000]]`:  {{2, 1}, {3, 5000000000}},
		`[[2,4294967295],[1,18]]`: {{1, 18}, {2, 4294967295}},
		`[]`:                      nil,
	} {
		var read, added Hist
		if err := json.Unmarshal([]byte(text), &read); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			added.AddBin(w[0], uint64(w[1])) //nolint:gosec // above 0
		}
		for range 2 {
			var seen [][2]int
			read.Each(func(at int, n uint64) { seen = append(seen, [2]int{at, int(n)}) }) //nolint:gosec // small
			mean, sd := read.Mean()
			mean2, sd2 := added.Mean()
			if !slices.Equal(seen, want) || read.Count() != added.Count() || mean != mean2 || sd != sd2 ||
				read.Percentile(60) != added.Percentile(60) || read.Above(Value(4)) != added.Above(Value(4)) ||
				read.Minus(&added).Count()+added.Clone().Minus(read.Clone()).Count() != 0 {
				t.Errorf("%s: %v, want %v", text, seen, want)
			}
			read.AddBin(5, 2)
			added.AddBin(5, 2)
			want = slices.Clone(want)
			i := slices.IndexFunc(want, func(w [2]int) bool { return w[0] > 5 })
			if i < 0 {
				i = len(want)
			}
			want = slices.Insert(want, i, [2]int{5, 2})
		}
	}
	if json.Unmarshal([]byte(`[[1856,1]]`), &Hist{}) == nil {
		t.Error("a bin that fio does not have passed")
	}
}
