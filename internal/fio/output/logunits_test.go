package output

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/fio"
)

// TestUnitOfOldLogs: logs of four columns are fio 2's (microseconds) or those of 2.99 to 3.18
// (nanoseconds). Each case has the latency that the log prints and the rate of the log beside it.
func TestUnitOfOldLogs(t *testing.T) {
	for _, c := range []struct {
		name      string
		lat, iops int
		version   string
		columns   int
		want      time.Duration
		said      string
	}{
		{"32 in flight in microseconds", 1930, 16119, "", 4, 1930 * time.Microsecond, "as microseconds"},
		{"1 in flight in nanoseconds", 80_000, 12_000, "", 4, 80 * time.Microsecond, "as nanoseconds"},
		{"the version of the output decides", 80_000, 12, "fio-2.2.10", 4, 80 * time.Millisecond, "in microseconds"},
		{"so does a newer one", 1930, 12, "fio-3.7", 4, 1930, ""},
		{"without a rate a physical bound decides", 60, 0, "", 4, 60 * time.Microsecond, "no I/O takes"},
		{"without a rate and a bound", 80_000, 0, "", 4, 80 * time.Microsecond, "do not say"},
		{"five columns are of 3.19 or later", 1930, 16119, "", 5, 1930, ""},
	} {
		tail := strings.Repeat(", 0", c.columns-3)
		files := fstest.MapFS{}
		var names []string
		for kind, v := range map[string]int{"lat": c.lat, "iops": c.iops} {
			if v == 0 {
				continue
			}
			var b strings.Builder
			for at := range 8 {
				fmt.Fprintf(&b, "%d, %d, 0%s\n", 250*(at+1), v, tail)
			}
			name := "x_" + kind + ".log"
			files[name] = &fstest.MapFile{Data: []byte(b.String())}
			names = append(names, name)
		}
		out, err := ReadLogs(files, names, c.version)
		if err != nil {
			t.Fatal(err)
		}
		l := out.Jobs[0].Read.Lat
		if time.Duration(l.Mean) != c.want {
			t.Errorf("%s: mean %v, want %v", c.name, time.Duration(l.Mean), c.want)
		}
		if len(l.Percentiles) > 0 || l.Hist.Count() > 0 || l.Max > 0 {
			t.Errorf("%s: means of windows have percentiles: %+v", c.name, l)
		}
		if doubts := strings.Join(out.Doubts, "\n"); !strings.Contains(doubts, c.said) ||
			c.said == "" && strings.Contains(doubts, "seconds") && !strings.Contains(doubts, "windows") {
			t.Errorf("%s: doubts %q", c.name, doubts)
		}
	}
}

// TestSingleIOsInMicroseconds: bins follow the unit.
func TestSingleIOsInMicroseconds(t *testing.T) {
	l := fio.Latency{N: 3, Mean: 2000, Min: 1000, Max: 3000, Hist: &fio.Hist{}}
	for _, v := range []time.Duration{1000, 2000, 3000} {
		l.Hist.Add(v, 1)
	}
	j := fio.Job{Read: fio.Direction{Lat: l}}
	inMicroseconds(&j)
	got := j.Read.Lat
	if p, _ := got.At(50); p < 1980*time.Microsecond || p > 2020*time.Microsecond || got.Max != 3*time.Millisecond {
		t.Errorf("%v %v", p, got.Max)
	}
}
