package runs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// A peak is one over all rows: where a row that must not be trusted has more, no tile is shown; and
// the run's limit has a name of its own beside the ceiling's.
func TestPeaksAndLimits(t *testing.T) {
	b := synthetic(10)
	names := func() map[string]string {
		all := map[string]string{}
		for _, tile := range Run(b).Head.Tiles {
			all[tile.What] = tile.Figure
		}
		return all
	}
	if names()["Peak IOPS"] == "" {
		t.Fatal("no peak although the largest row counts")
	}
	for _, tile := range Run(b).Head.Tiles { // a burst has its duration wherever it stands
		if tile.What == "Peak IOPS" && !strings.HasPrefix(tile.Of, "a burst of 30 min, ") {
			t.Errorf("%+v", tile)
		}
	}
	for i := range b.Scenarios {
		if b.Scenarios[i].Name == "mixed-stress" {
			b.Scenarios[i].Verdict = verdict.Invalid
		}
	}
	if peak := names()["Peak IOPS"]; peak != "" {
		t.Errorf("the largest row is INVALID, and the peak is %s", peak)
	}
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		r := newRow(s, i)
		got := limitedBy(b, s, r)
		if s.Verdict == verdict.Invalid && got != "" || r.Share >= atCeiling && s.Verdict != verdict.Invalid && got != "its ceiling" {
			t.Errorf("%s at %.2f of its ceiling is limited by %q", s.Name, r.Share, got)
		}
		if r.Share > 0 && r.Share < atCeiling && got == r.From {
			t.Errorf("%s is far below the ceiling from %s and said to be limited by it", s.Name, got)
		}
	}
}

// One I/O at a time has the latency of its direction, and a mix that of neither. A summary that gives
// a mean latency alone is shown with it.
func TestLatencyOfOneAtATime(t *testing.T) {
	const ms = 1e6
	at := func(read, write units.IOPS) *bundle.Scenario {
		r := &result.Result{State: result.Done, Depth: result.Depth{Asked: 1}}
		for d, n := range map[*fio.Direction]units.IOPS{&r.Total.Read: read, &r.Total.Write: write} {
			*d = fio.Direction{N: uint64(n), IOPS: n, BW: units.Rate(n) * 4096, Runtime: time.Second}
		}
		return &bundle.Scenario{Result: r}
	}
	summary := at(0, 0)
	summary.Result.Total.Read.Clat.Mean = 2 * ms
	for name, c := range map[string]struct {
		s        *bundle.Scenario
		tile     string
		measured string
	}{
		"reads":   {at(500, 0), "Read latency", "2 ms"},
		"writes":  {at(0, 250), "Write latency", "4 ms"},
		"a mix":   {at(250, 250), "", "2 ms"},
		"summary": {summary, "", "2 ms"},
	} {
		r, tile := newRow(c.s, 0), ""
		for _, o := range viewOf(c.s).offers(c.s, r) {
			if o.slot > 2 {
				tile = o.what
			}
		}
		if tile != c.tile || r.Measured != c.measured {
			t.Errorf("%s: tile %q and %s, want %q and %s", name, tile, r.Measured, c.tile, c.measured)
		}
	}
}

// One I/O at a time is shown with the latency that fio counted, not with the reciprocal of its rate, in which fio's own
// time is. A limit of the rate stays one beside it; only a declared latency is compared with it.
func TestLatencyBesideALimitOfTheRate(t *testing.T) {
	s := &bundle.Scenario{Result: &result.Result{State: result.Done, Depth: result.Depth{Asked: 1}}}
	s.Result.Total.Read = fio.Direction{N: 15000, IOPS: 15000, BW: 15000 * 4096, Clat: fio.Latency{N: 15000, Mean: 62e3}}
	bound := func(kind ceiling.Kind, iops units.IOPS) row {
		s.Ceiling = &ceiling.Ceiling{Bounds: []ceiling.Bound{
			{Kind: kind, IOPS: iops, BW: units.Rate(iops) * 4096},
			{Kind: ceiling.VolumeIOPS, IOPS: 60000},
		}}
		return newRow(s, 0)
	}
	if r := bound(ceiling.VolumeIOPS, 12000); r.Measured != "62 µs" || r.Ceiling != "12,000 IOPS" ||
		r.Percent != "125.0 %" ||
		r.Of() != "125.0 % of the 12,000 IOPS ceiling" {
		t.Errorf("beside a rate: %+v", r)
	}
	if r := bound(ceiling.Concurrency, 20000); r.Measured != "62 µs" || r.Ceiling != "50 µs" ||
		r.Of() != "75.0 % of the IOPS that 50 µs allows" {
		t.Errorf("beside a latency: %+v", r)
	}
	s.Result.Total.Read.Clat.Mean = 10e3 // the page cache, which fio asks again while it submits
	if r := bound(ceiling.VolumeIOPS, 12000); r.Measured != "66.7 µs" {
		t.Errorf("an I/O that waits in its submission: %+v", r)
	}
	s.Result.Total.Read, s.Result.Total.Write = fio.Direction{}, s.Result.Total.Read
	median := []fio.Percentile{{P: 50, Value: 5 * time.Microsecond}}
	s.Result.Total.Sync.Lat = fio.Latency{N: 15000, Mean: 5e3, Percentiles: median} // a write with its sync is what the rate says
	if r := bound(ceiling.VolumeIOPS, 12000); r.Measured != "66.7 µs" ||
		!strings.HasSuffix(r.Syncs, "the result includes the write") {
		t.Errorf("with syncs: %+v", r)
	}
	if s.Result.Depth.Asked = 4; strings.Contains(bound(ceiling.VolumeIOPS, 12000).Syncs, "result") {
		t.Error("several in flight have no latency as their result")
	}
}

// Of two limits that bind alike both are marked in the table of limits, of others the least.
func TestEqualLimitsAreBothMarked(t *testing.T) {
	for second, want := range map[units.IOPS]string{12000: "limit|limit|", 12500: "limit||"} {
		s := &bundle.Scenario{Result: &result.Result{State: result.Done}, Ceiling: &ceiling.Ceiling{Bounds: []ceiling.Bound{
			{Kind: ceiling.InstanceIOPS, IOPS: 12000},
			{Kind: ceiling.VolumeIOPS, IOPS: second},
			{Kind: ceiling.InstanceRate, IOPS: 19000},
		}}}
		var marks []string
		for _, row := range boundsTable(s).Rows {
			marks = append(marks, row[3].Text)
		}
		if got := strings.Join(marks, "|"); got != want {
			t.Errorf("12,000 and %v: %q, want %q", second, got, want)
		}
	}
}

// A summary may give a rate and no count: what is not known is no 0.
func TestRateWithoutCount(t *testing.T) {
	r := &result.Result{Total: fio.Job{Read: fio.Direction{BW: 1 << 20}, Write: fio.Direction{N: 1234, IOPS: 100, BW: 1 << 20}}}
	var got []string
	for _, row := range rawTable(r).Rows {
		for _, cell := range row[:4] {
			got = append(got, cell.Text)
		}
	}
	if want := []string{"read", words.None, words.None, "1 MiB/s", "write", "1,234", "100", "1 MiB/s"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
