package bench

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// given are the flags that were typed.
func given(flags ...string) func(string) bool {
	return func(flag string) bool { return slices.Contains(flags, flag) }
}

// Values that no run can have are refused by their flag, and those beside them are not.
func TestValuesOfFlags(t *testing.T) {
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"nothing given":             {Request{Given: given()}, ""},
		"an empty path":             {Request{Given: given("data")}, "--data is empty"},
		"an empty path of the log":  {Request{Given: given("wal")}, "--wal is empty"},
		"a path":                    {Request{Given: given("data"), Data: "/d"}, ""},
		"no runtime":                {Request{Given: given("runtime")}, "--runtime 0s: use more than 0"},
		"1 ns":                      {Request{Given: given("runtime"), Runtime: 1}, ""},
		"a runtime below 0":         {Request{Given: given("runtime"), Runtime: -1}, "--runtime -1ns"},
		"a ramp below 0":            {Request{Given: given(), Ramp: -1}, "--ramp -1ns"},
		"no ramp":                   {Request{Given: given("ramp")}, ""},
		"a cooldown below 0":        {Request{Given: given(), Cooldown: -1}, "--cooldown -1ns"},
		"size 0":                    {Request{Given: given("size")}, "--size 0: use more than 0"},
		"the largest file":          {Request{Given: given("size"), Size: suite.MostSize}, ""},
		"a byte more than the most": {Request{Given: given("size"), Size: suite.MostSize + 1}, "no file is that large"},
	} {
		err := c.r.check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// One path serves both roles, and none is the current directory.
func TestPathsOfRoles(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ data, wal, wantData, wantWAL string }{
		{"", "", here, here},
		{"/d", "", "/d", "/d"},
		{"", "/w", "/w", "/w"},
		{"/d", "/w", "/d", "/w"},
		{"x", "/w", filepath.Join(here, "x"), "/w"},
	} {
		got, err := Request{Data: c.data, WAL: c.wal}.Paths()
		if err != nil || got[topology.Data] != c.wantData || got[topology.WAL] != c.wantWAL {
			t.Errorf("%q, %q: %v, %v", c.data, c.wal, got, err)
		}
	}
}

// Each device that may be overwritten has its serial, in the order in which both are given; files have none.
func TestSerialsOfDevices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		destroy, serials []string
		want             map[string]string
		err              string
	}{
		"nothing":               {nil, nil, map[string]string{}, ""},
		"two devices":           {[]string{"/dev/a", "/dev/b"}, []string{"1", "2"}, map[string]string{"/dev/a": "1", "/dev/b": "2"}, ""},
		"a file between":        {[]string{"/dev/a", file, "/dev/b"}, []string{"1", "2"}, map[string]string{"/dev/a": "1", file: "", "/dev/b": "2"}, ""},
		"a serial is missing":   {[]string{"/dev/a", "/dev/b"}, []string{"1"}, nil, "--destroy /dev/b needs its --serial"},
		"a device is missing":   {[]string{"/dev/a"}, []string{"1", "2"}, nil, "--serial 2 has no device"},
		"a file has no serial":  {[]string{file}, []string{"1"}, nil, "--serial 1 has no device"},
		"only a serial":         {nil, []string{"1"}, nil, "--serial 1 has no device"},
		"a device, no serial":   {[]string{"/dev/a"}, nil, nil, "--destroy /dev/a needs"},
		"a file without serial": {[]string{file}, nil, map[string]string{file: ""}, ""},
	} {
		got, err := Request{Destroy: c.destroy, Serials: c.serials}.destroy()
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || c.err == "" && err != nil || len(got) != len(c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		for device, serial := range c.want {
			if s, ok := got[device]; !ok || s != serial {
				t.Errorf("%s: %s has %q, want %q", name, device, s, serial)
			}
		}
	}
}

// A run that is resumed keeps what it began with: a flag that says otherwise is named, one that says the same
// is not.
func TestFlagsThatConflict(t *testing.T) {
	began := &bundle.Run{
		Settings: bundle.Settings{Runtime: time.Minute, Ramp: 5 * time.Second, Size: "1GiB", FreshExtents: true},
		Suite:    suite.Suite{Cooldown: 3 * time.Second},
		Topology: topology.Topology{Targets: []topology.Target{{Role: topology.Data, Path: "/d"}, {Role: topology.WAL, Path: "/w"}}},
	}
	same := Request{Data: "/d", WAL: "/w", Runtime: time.Minute, Ramp: 5 * time.Second, Cooldown: 3 * time.Second, Size: units.GiB, FreshExtents: true}
	typed := []string{"data", "wal", "runtime", "ramp", "cooldown", "size", "fresh-extents"}
	same.Given = given(typed...)
	if got := same.conflicts(began); len(got) > 0 {
		t.Errorf("all the same: %q", got)
	}
	other := Request{Data: "/x", WAL: "/x", Runtime: 1, Ramp: 1, Cooldown: 1, Size: 1, Given: same.Given}
	if got := other.conflicts(began); len(got) != len(typed) {
		t.Errorf("all others: %q", got)
	}
	other.Given = given("rounds", "level", "probe-time")
	if got := other.conflicts(began); !slices.Equal(got, []string{"--level", "--rounds", "--probe-time"}) {
		t.Errorf("what cannot be given again: %q", got)
	}
	other.Given = given("format")
	if got := other.conflicts(began); len(got) > 0 {
		t.Errorf("what does not concern the run: %q", got)
	}
	none := Request{Given: given("size", "data")}
	if got := none.conflicts(&bundle.Run{}); !slices.Equal(got, []string{"--data"}) {
		t.Errorf("no size then and now, and no such role: %q", got)
	}
}

// A size holds a block of each scenario.
func TestSizesThatFit(t *testing.T) {
	s := &suite.Suite{Scenarios: []suite.Scenario{{Name: "reads", Job: fio.JobFile{Sections: []fio.Section{{Name: "reads", Options: []fio.Option{{Name: "rw", Value: "randread"}, {Name: "bs", Value: "64k"}}}}}}}}
	for size, fits := range map[units.Bytes]bool{0: true, 64 * units.KiB: true, 64*units.KiB - 1: false, units.MiB: true} {
		if err := (Request{Size: size}).fits(s); (err == nil) != fits {
			t.Errorf("%v: %v", size, err)
		}
	}
}

// What is left of a volume that is being loaded, and at which rate.
func TestRateOfWarming(t *testing.T) {
	w := Warmed{Pieces: 100, Done: 60, Read: 20, Took: 10 * time.Second}
	if w.Rate() != units.Rate(units.MiB) || w.Left() != 20*time.Second {
		t.Errorf("%v, %v: 20 pieces of 512 KiB in 10 s, 40 to go", w.Rate(), w.Left())
	}
	if w.Took = 0; w.Rate() != 0 {
		t.Errorf("no time: %v", w.Rate())
	}
	w.Took = 1
	if w.Rate() == 0 {
		t.Error("a nanosecond is a time")
	}
	if w.Read = 0; w.Left() != 0 {
		t.Errorf("nothing read: %v", w.Left())
	}
	for serial, want := range map[string]string{
		"vol0AZaz09-": "vol0AZaz09-", "a/b\x00c.d_e": "a_b_c_d_e", "../x": "___x", "": "nvme1n1", "é`{@[/:": "_______",
	} {
		if got := recordName(serial, "nvme1n1"); got != want {
			t.Errorf("%q: %q, want %q", serial, got, want)
		}
	}
}

// Reading rests in the second after one in which others waited four times as long as usual, and longer than
// while it rested; never twice in a row.
func TestWhenWarmingRests(t *testing.T) {
	const usual = 1e6
	type second struct {
		ios  int64
		wait time.Duration // of each
		want bool
	}
	for name, seconds := range map[string][]second{
		"nobody is there":        {{0, 0, false}, {4, time.Second, false}},
		"five are":               {{5, 4*time.Millisecond + 1, true}},
		"as usual":               {{100, 4 * time.Millisecond, false}, {100, 4*time.Millisecond + 1, true}},
		"not twice in a row":     {{100, 10 * time.Millisecond, true}, {100, time.Millisecond, false}, {100, 10 * time.Millisecond, true}},
		"slow without it, too":   {{100, 10 * time.Millisecond, true}, {100, 10 * time.Millisecond, false}, {100, 15 * time.Millisecond, false}, {100, 15*time.Millisecond + 1, true}},
		"nobody in the rest":     {{100, 10 * time.Millisecond, true}, {0, 0, false}, {100, 10 * time.Millisecond, true}},
		"less than its own time": {{100, -time.Millisecond, false}},
	} {
		y := yielding{usual: usual}
		for i, s := range seconds {
			if got := y.rests(s.ios, s.wait*time.Duration(s.ios)); got != s.want {
				t.Errorf("%s, second %d: %t", name, i+1, got)
			}
		}
	}
	y := yielding{usual: usual}
	y.rests(100, time.Second) // 10 ms each: it rests
	y.rests(100, time.Second) // and they wait as long
	for k := range 60 {
		if y.rests(100, 1400*time.Millisecond) {
			t.Fatalf("second %d: what they waited alone is known", k)
		}
	}
	if !y.rests(100, 1400*time.Millisecond) {
		t.Error("after a minute it is not known any longer")
	}
}

// How long a job's own rate may let fio do nothing.
func TestIntervalsOfRates(t *testing.T) {
	for name, c := range map[string]struct {
		w    fio.Workload
		want time.Duration
	}{
		"no rate":             {fio.Workload{}, 0},
		"100 reads a second":  {fio.Workload{ReadIOPS: 100}, 10 * time.Millisecond},
		"the slower":          {fio.Workload{ReadIOPS: 100, WriteIOPS: 10}, 100 * time.Millisecond},
		"by bytes":            {fio.Workload{ReadBS: 64 * units.KiB, ReadRate: units.Rate(128 * units.KiB)}, 500 * time.Millisecond},
		"by bytes of writes":  {fio.Workload{WriteBS: 64 * units.KiB, WriteRate: units.Rate(256 * units.KiB), ReadIOPS: 1000}, 250 * time.Millisecond},
		"almost nothing":      {fio.Workload{ReadIOPS: 1e-9}, 50 * time.Hour},
		"once in fifty hours": {fio.Workload{ReadIOPS: units.IOPS(1 / (50 * 3600.))}, 50 * time.Hour},
	} {
		if got := interval(c.w); got < c.want-time.Microsecond || got > c.want+time.Microsecond {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := pauses(fio.JobFile{}, []fio.Workload{{StartDelay: time.Second, ThinkTime: 2 * time.Second, ReadIOPS: 100}, {StartDelay: 3 * time.Second, ThinkTime: time.Second}}); got != 3*time.Second+2*time.Second+200*time.Millisecond {
		t.Errorf("%v: want the longest delay, the longest thought, and 20 intervals", got)
	}
}

// The last round, by their number, by the goal and by the budget; and how long the others take.
func TestEndOfRounds(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		e        RoundEnded
		plan     bundle.RoundPlan
		elapsed  time.Duration
		measured float64
		want     RoundEnded
	}{
		"the second of five":   {RoundEnded{Round: 2, Planned: 5}, bundle.RoundPlan{Most: 5}, 20 * s, 2, RoundEnded{Round: 2, Planned: 5, Elapsed: 20 * s, Rest: 30 * s}},
		"the last":             {RoundEnded{Round: 5, Planned: 5}, bundle.RoundPlan{Most: 5}, 50 * s, 5, RoundEnded{Round: 5, Planned: 5, Elapsed: 50 * s, Enough: true}},
		"the goal is reached":  {RoundEnded{Round: 3, Planned: 5, Enough: true}, bundle.RoundPlan{Most: 9, Until: 0.03}, 30 * s, 3, RoundEnded{Round: 3, Planned: 3, Elapsed: 30 * s, Enough: true}},
		"the goal is missed":   {RoundEnded{Round: 9, Planned: 12}, bundle.RoundPlan{Most: 9, Until: 0.03}, 90 * s, 9, RoundEnded{Round: 9, Planned: 9, Elapsed: 90 * s, Enough: true, GoalMissed: true}},
		"never steady":         {RoundEnded{Round: 9, Planned: 12}, bundle.RoundPlan{Most: 9, Steady: true}, 90 * s, 9, RoundEnded{Round: 9, Planned: 9, Elapsed: 90 * s, Enough: true, GoalMissed: true}},
		"one more just fits":   {RoundEnded{Round: 2, Planned: 5}, bundle.RoundPlan{Most: 5, Budget: 30 * s}, 20 * s, 2, RoundEnded{Round: 2, Planned: 5, Elapsed: 20 * s, Rest: 30 * s}},
		"one more does not":    {RoundEnded{Round: 2, Planned: 5}, bundle.RoundPlan{Most: 5, Budget: 30*s - 1}, 20 * s, 2, RoundEnded{Round: 2, Planned: 2, Elapsed: 20 * s, Enough: true, BudgetSpent: true}},
		"nothing measured yet": {RoundEnded{Round: 2, Planned: 5}, bundle.RoundPlan{Most: 5, Budget: 30 * s}, 0, 0, RoundEnded{Round: 2, Planned: 5}},
		"half a round":         {RoundEnded{Round: 2, Planned: 5}, bundle.RoundPlan{Most: 5}, 5 * s, 0.5, RoundEnded{Round: 2, Planned: 5, Elapsed: 5 * s, Rest: 30 * s}},
	} {
		c.e.end(c.plan, c.elapsed, c.measured)
		got := c.e
		if got.Planned != c.want.Planned || got.Rest != c.want.Rest || got.Elapsed != c.want.Elapsed || got.Enough != c.want.Enough ||
			got.GoalMissed != c.want.GoalMissed || got.BudgetSpent != c.want.BudgetSpent {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Disks that a hypervisor made up say that they rotate.
func TestVirtualDisks(t *testing.T) {
	for name, want := range map[string]bool{"vda": true, "xvdf": true, "sda": false, "nvme0n1": false, "dm-0": false} {
		if virtual(name, "") != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
	for fs, want := range map[string]bool{"tmpfs": true, "ramfs": true, "xfs": false, "": false} {
		if memoryOnly(fs) != want {
			t.Errorf("%s: %t", fs, !want)
		}
	}
}
