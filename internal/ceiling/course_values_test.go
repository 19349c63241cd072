package ceiling

import (
	"math"
	"strconv"
	"testing"
	"time"

	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What is divided between roles is divided in each of its figures.
func TestBoundsAreDividedInEachFigure(t *testing.T) {
	b := Bound{IOPS: 10, ReadIOPS: 6, WriteIOPS: 4, BW: 80}.times(0.5)
	if b.IOPS != 5 || b.ReadIOPS != 3 || b.WriteIOPS != 2 || b.BW != 40 {
		t.Errorf("%+v", b)
	}
	// The I/Os of a database's data device by their mean sizes; of one direction alone its own.
	top := machine(t, 1, gp3, topology.Single, 0, "")
	for name, c := range map[string]struct {
		s    result.PgStep
		want float64 // transactions per second; 0 for no bound
	}{
		"reads":          {result.PgStep{Transactions: 10, Reads: 20, ReadBytes: 20 * 8192}, 1500},
		"writes":         {result.PgStep{Transactions: 10, Writes: 30, WriteBytes: 30 * 8192}, 1000},
		"both":           {result.PgStep{Transactions: 10, Reads: 10, ReadBytes: 81920, Writes: 10, WriteBytes: 81920}, 1500},
		"one read":       {result.PgStep{Transactions: 10, Reads: 1, ReadBytes: 8192}, 30000},
		"large reads":    {result.PgStep{Transactions: 10, Reads: 10, ReadBytes: 10 << 20}, 125}, // 125 MiB/s of 1 MiB
		"hardly any":     {result.PgStep{Transactions: 10000, Reads: 9, ReadBytes: 9 * 8192}, 0},
		"a thousandth":   {result.PgStep{Transactions: 10000, Reads: 10, ReadBytes: 81920}, 3e6},
		"none":           {result.PgStep{Transactions: 10}, 0},
		"no transaction": {result.PgStep{Reads: 10, ReadBytes: 81920}, 0},
	} {
		var of Ceiling
		of.data(top, &c.s)
		got := iopsOf(of.Least(func(b Bound) bool { return b.Kind == DataVolumes }))
		if math.Abs(got-c.want) > 1e-6*(1+c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// Half of four cores' time is the server's: 2 s of 8 in 4 s, 0.2 s a transaction; pgbench takes one core.
	for name, c := range map[string]struct {
		cores           int
		server, pgbench time.Duration
		measured        time.Duration
		want            float64
	}{
		"three cores left":   {4, 2 * time.Second, 4 * time.Second, 4 * time.Second, 3 / 0.2},
		"at least its own":   {1, 2 * time.Second, 4 * time.Second, 4 * time.Second, 0.5 / 0.2},
		"of no CPU":          {4, 0, 4 * time.Second, 4 * time.Second, 0},
		"of no time":         {4, 2 * time.Second, 4 * time.Second, 0, 0},
		"without pgbench":    {4, 2 * time.Second, 0, 4 * time.Second, 4 / 0.2},
		"little of a second": {4, 2 * time.Millisecond, 0, 500 * time.Millisecond, 4 / 0.0002},
	} {
		var of Ceiling
		s := &result.PgStep{Transactions: 10, ServerCPU: c.server, PgbenchCPU: c.pgbench, Measured: c.measured}
		of.cores(&result.Postgres{Cores: c.cores}, s)
		got := iopsOf(of.Least(func(b Bound) bool { return b.Kind == CPU }))
		if math.Abs(got-c.want) > 1e-6*(1+c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The steps of a course from bounds that are made up: a burst of each resource ends, and what is left binds.
func TestCourseOfBounds(t *testing.T) {
	lasting := func(name string, n units.IOPS) Bound { return Bound{Kind: VolumeIOPS, Name: name, IOPS: n} }
	burst := func(name string, n units.IOPS, for_ time.Duration) Bound {
		return Bound{Kind: VolumeIOPS, Name: name, IOPS: n, Burst: true, BurstFor: for_}
	}
	for name, c := range map[string]struct {
		bounds []Bound
		want   string
	}{
		"one that lasts":       {[]Bound{lasting("a", 100)}, "100 for ever"},
		"a burst":              {[]Bound{lasting("a", 100), burst("a", 300, time.Minute)}, "300 to 1m0s, 100 for ever"},
		"of a nanosecond":      {[]Bound{lasting("a", 100), burst("a", 300, 1)}, "300 to 1ns, 100 for ever"},
		"of no known length":   {[]Bound{lasting("a", 100), burst("a", 300, 0)}, "300 for ever"},
		"two bursts":           {[]Bound{lasting("a", 100), lasting("b", 150), burst("a", 300, 2*time.Minute), burst("b", 200, time.Minute)}, "200 to 1m0s, 150 to 2m0s, 100 for ever"},
		"that end together":    {[]Bound{lasting("a", 100), lasting("b", 150), burst("a", 300, time.Minute), burst("b", 200, time.Minute)}, "200 to 1m0s, 100 for ever"},
		"held back by another": {[]Bound{lasting("a", 100), lasting("c", 120), burst("a", 300, time.Minute)}, "120 to 1m0s, 100 for ever"},
		"no less afterwards":   {[]Bound{lasting("a", 100), lasting("c", 90), burst("a", 300, time.Minute)}, "90 for ever"},
		"as much afterwards":   {[]Bound{lasting("a", 99.995), lasting("c", 100), burst("a", 300, time.Minute)}, "100 for ever"},
		"a little less":        {[]Bound{lasting("a", 99.98), lasting("c", 100), burst("a", 300, time.Minute)}, "100 to 1m0s, 99.98 for ever"},
		"two limits of one":    {[]Bound{lasting("a", 100), lasting("a", 200)}, "100 for ever"},
		"a ten thousandth":     {[]Bound{lasting("a", 9999), lasting("c", 10000), burst("a", 20000, time.Minute)}, "10000 to 1m0s, 9999 for ever"},
		"a burst of nothing":   {[]Bound{burst("a", 300, time.Minute)}, ""},
		"none":                 {nil, ""},
	} {
		got := ""
		for _, s := range (Ceiling{Bounds: sorted(c.bounds)}).Course() {
			if got != "" {
				got += ", "
			}
			got += strconv.FormatFloat(float64(s.Bound.IOPS), 'f', -1, 64)
			if s.Until > 0 {
				got += " to " + s.Until.String()
			} else {
				got += " for ever"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
