package fio

import "testing"

func TestBinsCoverEveryLatencyOnce(t *testing.T) {
	for i := range HistBins - 1 {
		lo, hi := BinRange(i)
		if next, _ := BinRange(i + 1); next != hi {
			t.Fatalf("bin %d ends at %d, bin %d starts at %d", i, hi, i+1, next)
		}
		if BinOf(lo) != i || BinOf(hi-1) != i || BinOf(BinValue(i)) != i {
			t.Fatalf("bin %d [%d,%d) value %d: BinOf says %d, %d, %d", i, lo, hi, BinValue(i), BinOf(lo), BinOf(hi-1), BinOf(BinValue(i)))
		}
	}
}
