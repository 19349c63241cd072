package words

import (
	"testing"
	"time"

	"plimsoll/internal/fio"
)

// fio's last bin begins at 17.05 s and has no end.
func TestPercentilesInTheLastBin(t *testing.T) {
	for v, want := range map[time.Duration]string{
		17 * time.Second:                 "17 s",
		17_045_651_456 * time.Nanosecond: "≥ 17 s",
		fio.BinValue(fio.HistBins - 1):   "≥ 17 s",
		fio.BinValue(fio.HistBins - 2):   "17 s",
		24_600 * time.Millisecond:        "≥ 17 s",
		1500 * time.Microsecond:          "1.5 ms",
	} {
		l := fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 99, Value: v}}}
		if got := At(l, 99); got != want {
			t.Errorf("%d ns: %s, want %s", v, got, want)
		}
	}
	if got := At(fio.Latency{}, 99); got != None {
		t.Error(got)
	}
}
