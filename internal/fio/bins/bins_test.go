package bins

import "testing"

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
