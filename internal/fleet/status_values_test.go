package fleet

import (
	"archive/tar"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	machine "plimsoll/internal/host"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What a host is doing, from being connected to, to its end.
func TestWhatAHostIsDoing(t *testing.T) {
	second := message{Event: "second", Scenario: 3, Elapsed: 4600 * time.Millisecond, IOPS: 1000, BW: 4096000}
	ramp := second
	ramp.Ramp = true
	hello := message{Plimsoll: 1}
	for name, c := range map[string]struct {
		h    *host
		want string
		iops units.IOPS
		done bool
		lost bool
	}{
		"begun":       {&host{}, "is connected to", 0, false, false},
		"is copied":   {&host{copied: true}, "plimsoll is copied there", 0, false, false},
		"was copied":  {&host{copied: true, binary: "/tmp/p"}, "is connected to", 0, false, false},
		"greeted":     {&host{hello: hello}, "its clock is compared", 0, false, false},
		"planned":     {&host{hello: hello, planned: true}, "prepares", 0, false, false},
		"ready":       {&host{hello: hello, planned: true, waits: true, waiting: 4}, "is ready for scenario 4", 0, false, false},
		"in its ramp": {&host{hello: hello, planned: true, second: ramp}, "measures scenario 3, 5 s (ramp)", 1000, false, false},
		"measures":    {&host{hello: hello, planned: true, second: second}, "measures scenario 3, 5 s", 1000, false, false},
		"ready again": {&host{hello: hello, planned: true, second: second, waits: true, waiting: 4}, "is ready for scenario 4", 1000, false, false},
		"sends":       {&host{hello: hello, planned: true, second: second, ended: true}, "sends its run", 1000, false, false},
		"done":        {&host{FleetHost: bundle.FleetHost{State: bundle.HostDone}, closed: true, second: second}, "done", 0, true, false},
		"was lost":    {&host{FleetHost: bundle.FleetHost{State: bundle.HostLost, Why: "it is silent"}, closed: true, second: second}, "lost: it is silent", 0, false, true},
		"was refused": {&host{FleetHost: bundle.FleetHost{State: bundle.HostRefused, Why: "another version"}, closed: true}, "refused: another version", 0, false, true},
	} {
		now := time.Now()
		c.h.Name, c.h.heard = "db1", now.Add(-3*time.Second)
		got := (&coordinator{hosts: []*host{c.h}}).statuses(now)
		if len(got) != 1 || got[0].Host != "db1" || got[0].What != c.want || got[0].IOPS != c.iops || got[0].BW != units.Rate(c.iops)*4096 ||
			got[0].Done != c.done || got[0].Lost != c.lost || got[0].Age != 3*time.Second {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
}

// What no bundle holds is refused, up to its bounds and not below.
func TestWhatABundleHolds(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("a/", n) + "b" }
	for name, c := range map[string]struct {
		h    tar.Header
		n    int
		want string
	}{
		"a file":              {tar.Header{Name: "run.json", Size: 10}, 0, ""},
		"a byte more":         {tar.Header{Name: "run.json", Size: 11}, 0, "more than it may"},
		"a size below 0":      {tar.Header{Name: "run.json", Size: -1}, 0, "more than it may"},
		"the last file":       {tar.Header{Name: "run.json"}, mostFiles - 1, ""},
		"one more":            {tar.Header{Name: "run.json"}, mostFiles, "too many files"},
		"as deep as may be":   {tar.Header{Name: deep(mostDepth)}, 0, ""},
		"deeper":              {tar.Header{Name: deep(mostDepth + 1)}, 0, "a name that is too long"},
		"500 letters":         {tar.Header{Name: strings.Repeat("a", 500)}, 0, ""},
		"501 letters":         {tar.Header{Name: strings.Repeat("a", 501)}, 0, "a name that is too long"},
		"a link":              {tar.Header{Name: "a", Typeflag: tar.TypeSymlink}, 0, "not a regular file"},
		"elsewhere":           {tar.Header{Name: "../a"}, 0, "leads elsewhere"},
		"from the root":       {tar.Header{Name: "/a"}, 0, "leads elsewhere"},
		"not clean":           {tar.Header{Name: "a//b"}, 0, "leads elsewhere"},
		"a backslash":         {tar.Header{Name: `a\b`}, 0, "leads elsewhere"},
		"another fleet's":     {tar.Header{Name: "x/fleet.json"}, 0, "another fleet's document"},
		"a name that is like": {tar.Header{Name: "x/fleet.json5"}, 0, ""},
	} {
		if c.h.Typeflag == 0 {
			c.h.Typeflag = tar.TypeReg
		}
		err := fitting(&c.h, c.n, 10)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range []string{"run.json", "01-a/fio.jsonl", "01-a/result.json"} {
		if err := place(root, name, 3, strings.NewReader("abcd")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(filepath.Join(root.Name(), name)); err != nil || string(got) != "abc" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if err := place(root, "run.json", 3, strings.NewReader("abc")); err == nil {
		t.Error("a file twice")
	}
	if err := place(root, "short", 3, strings.NewReader("ab")); err == nil {
		t.Error("less than was said")
	}
}

// A host's findings are taken as far as a check may find them.
func TestFindingsOfAHost(t *testing.T) {
	many := make([]finding.Finding, mostFindings+5)
	for i := range many {
		many[i] = finding.Finding{Code: "PL301", Severity: finding.Warn}
	}
	for name, c := range map[string]struct {
		all  []finding.Finding
		want int
	}{
		"one":              {[]finding.Finding{{Code: "PL301", Severity: finding.Info}}, 1},
		"no code":          {[]finding.Finding{{Code: "PL30", Severity: finding.Info}}, 0},
		"a longer one":     {[]finding.Finding{{Code: "PL3011", Severity: finding.Info}}, 0},
		"an unknown grade": {[]finding.Finding{{Code: "PL301", Severity: "grave"}}, 0},
		"neither":          {[]finding.Finding{{Code: "x", Severity: "grave"}}, 0},
		"too many":         {many, mostFindings},
	} {
		if got := (&Checkup{Findings: c.all}).tame(); len(got.Findings) != c.want {
			t.Errorf("%s: %d, want %d", name, len(got.Findings), c.want)
		}
	}
	one := finding.Finding{Code: "PL301", Severity: finding.Warn, Title: "t\x1b[2J", Message: strings.Repeat("m", longText+50), Commands: []string{"a\x00b"}}
	for range mostFindings {
		one.Evidence = append(one.Evidence, finding.Evidence{What: "w"})
	}
	got := (&Checkup{Findings: []finding.Finding{one}, Facts: map[string]string{"a\n": "b"}, Notes: []string{"n"}}).tame()
	f := got.Findings[0]
	if strings.ContainsAny(f.Title+f.Commands[0], "\x1b\x00") || len(f.Message) > longText+4 || len(f.Evidence) != mostFindings/10 || len(got.Notes) != 1 || len(got.Facts) != 1 {
		t.Errorf("%d of the message, %d of evidence, %+v", len(f.Message), len(f.Evidence), got.Facts)
	}
}

// The settings that should be the same on all hosts; what is not known is left out.
func TestFactsOfHosts(t *testing.T) {
	topo := &topology.Topology{
		Host:    topology.Host{Kernel: "6.1"},
		Targets: []topology.Target{{Role: topology.Data, Array: "md0", Device: "md0", Mount: &block.Mount{FS: "xfs", Options: []string{"rw", "noatime", "rw"}}}, {Role: topology.WAL}},
		Arrays:  []topology.Array{{Name: "md0", Level: topology.RAID0, Chunk: 64 * units.KiB, Volumes: []topology.Volume{{Type: "gp3"}, {Type: "gp3"}}}},
		Tree:    &block.Tree{Devices: map[string]*block.Device{"md0": {Name: "md0", Queue: block.Queue{Scheduler: "none"}}}},
	}
	h := &machine.Facts{Fio: "fio-3.33", CPU: machine.CPU{Clock: "tsc", Governors: []string{"performance", "powersave"}}}
	h.Memory = machine.Memory{Known: true, Swappiness: 10, BackgroundRatio: 10, DirtyRatio: 20, DirtyBytes: units.GiB}
	want := map[string]string{
		"plimsoll": "1.0", "fio": "fio-3.33", "kernel": "6.1", "data mount": "xfs noatime,rw", "data layout": "raid0 of 2 gp3", "data chunk": "64 KiB",
		"data scheduler": "none", "clock source": "tsc", "CPU governor": "performance, powersave", "swappiness": "10", "dirty pages": "10 %, 1 GiB",
	}
	check := func(got map[string]string) {
		t.Helper()
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s is %q, want %q", name, got[name], value)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d facts, want %d: %q", len(got), len(want), got)
		}
	}
	check(FactsOf(topo, h, "1.0"))
	h.Memory.Known, h.CPU, topo.Tree, topo.Arrays[0].Chunk, topo.Arrays[0].Volumes[0].Type = false, machine.CPU{}, nil, 0, ""
	for _, name := range []string{"data chunk", "data scheduler", "clock source", "CPU governor", "swappiness", "dirty pages"} {
		delete(want, name)
	}
	want["data layout"] = "raid0 of 2"
	check(FactsOf(topo, h, "1.0"))
}

// How long a host's bundle may take, and what it says of its time is believed up to the longest phase.
func TestLimitsOfHosts(t *testing.T) {
	l := limits{send: time.Minute, rate: 1024, phase: time.Hour}
	for claims, want := range map[time.Duration]time.Duration{-1: 0, 0: 0, time.Minute: time.Minute, time.Hour: time.Hour, time.Hour + 1: time.Hour} {
		if got := l.claimed(claims); got != want {
			t.Errorf("%v: %v, want %v", claims, got, want)
		}
	}
	h := &host{size: 10 * 1024}
	h.begun, h.since = time.Unix(100, 0), time.Unix(200, 0)
	if h.bundleDue(l); h.allow != 70*time.Second || !h.since.Equal(h.begun) {
		t.Errorf("%v since %v: want a minute and 10 s for 10 KiB", h.allow, h.since)
	}
}
