package words

import (
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// fio's last bin begins at 17.05 s and has no end.
func TestPercentilesInTheLastBin(t *testing.T) {
	for v, want := range map[time.Duration]string{
		17 * time.Second:                 "17 s",
		17_045_651_456 * time.Nanosecond: "≥ 17 s",
		bins.Value(bins.Count - 1):       "≥ 17 s",
		bins.Value(bins.Count - 2):       "17 s",
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

// A margin follows its figure, and what is said in place of one is set off from it.
func TestWithDoubt(t *testing.T) {
	for _, c := range [][3]string{
		{"2.46 ms", "± 1.2 %", "2.46 ms ± 1.2 %"},
		{"2.46 ms", "± unknown", "2.46 ms ± unknown"},
		{"2.46 ms", "no error margin (2 s only)", "2.46 ms, no error margin (2 s only)"},
		{"2.46 ms", "", "2.46 ms"},
	} {
		if got := WithDoubt(c[0], c[1]); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}

// No free byte is not the same as none known.
func TestFree(t *testing.T) {
	for want, free := range map[string]*units.Bytes{
		"": nil, "free 0 B": new(units.Bytes(0)), "free 2 GiB": new(2 * units.GiB),
	} {
		if got := Free(topology.Target{Free: free}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
