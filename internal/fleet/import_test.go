package fleet

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// epoch is when the hosts of these tests began.
var epoch = time.Date(2026, 11, 21, 17, 35, 21, 0, time.UTC)

// hostRun is a run to be built: n seconds of one scenario, each with as many reads of each latency.
type hostRun struct {
	name    string
	late    time.Duration // start, after epoch
	seconds int
	each    map[time.Duration]uint64 // I/Os per second by latency
	jitter  uint64                   // more of them in odd seconds
	ceiling float64
	kernel  string
}

// build writes the bundle of a host and returns its directory.
func (h hostRun) build(t *testing.T, out string) string {
	t.Helper()
	s := suite.Scenario{ID: 3, Name: "rand-read", Role: topology.Data}
	run := bundle.Run{
		Tool: "plimsoll test", Fio: "fio-3.33", Created: epoch.Add(h.late), Suite: suite.Suite{Name: "db", Scenarios: []suite.Scenario{s}},
		Topology: topology.Topology{Host: topology.Host{Name: h.name, Kernel: h.kernel}},
	}
	if h.ceiling > 0 {
		run.Ceilings = map[int]ceiling.Ceiling{3: {Bounds: []ceiling.Bound{{Kind: ceiling.VolumeIOPS, IOPS: units.IOPS(h.ceiling), BW: units.Rate(h.ceiling * 8192)}}}}
	}
	w, err := bundle.Create(out, run)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := &result.Result{ID: 3, Name: s.Name, Role: s.Role, State: result.Done, Start: epoch.Add(h.late), Planned: time.Duration(h.seconds) * time.Second}
	for k := 1; k <= h.seconds; k++ {
		i := result.Interval{Hist: &fio.Hist{}}
		for latency, n := range h.each {
			n += h.jitter * uint64(k%2)
			i.N += n
			i.Hist.Add(latency, n)
		}
		i.Bytes = units.Bytes(i.N * 8192)
		r.Seconds = append(r.Seconds, result.Second{At: time.Duration(k) * time.Second, Len: time.Second, Read: i})
		r.Total.Read.N += i.N
	}
	r.Measured = time.Duration(h.seconds) * time.Second
	dir, err := w.Begin(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Keep(s, dir, r); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(bundle.Finished, epoch.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return w.Dir
}

func importAll(t *testing.T, hosts ...hostRun) (string, *bundle.Fleet) {
	t.Helper()
	root := t.TempDir()
	var dirs []string
	for _, h := range hosts {
		dirs = append(dirs, h.build(t, filepath.Join(root, "collected")))
	}
	held, f, err := Import{Dirs: dirs, Out: filepath.Join(root, "runs"), Tool: "plimsoll test", ClockError: time.Millisecond, Now: epoch}.Run()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() //nolint:errcheck // only a handle
	dir := held.Name()
	return dir, f
}

// What Ansible collects are archives that members packed: of a hostile one, no set-ID bit, device or link comes out.
func TestImportReadsArchives(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	latencies := map[time.Duration]uint64{time.Millisecond: 100}
	var archives []string
	for _, name := range []string{"db1", "db2"} {
		at := filepath.Join(root, name)
		run := hostRun{name: name, seconds: 10, each: latencies}.build(t, filepath.Join(at, "runs"))
		shell := filepath.Join(run, "shell")
		if err := errors.Join(os.WriteFile(shell, nil, 0o755), os.Chmod(shell, 0o755|os.ModeSetuid)); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("tar", "-C", at, "-czf", at+".tgz", "runs").CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		archives = append(archives, at+".tgz")
	}
	held, f, err := Import{Dirs: archives, Out: filepath.Join(root, "out"), Now: epoch}.Run()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() //nolint:errcheck // only a handle
	if len(f.Hosts) != 2 || len(f.Scenarios) != 1 || f.Hosts[0].State != bundle.HostDone {
		t.Errorf("%+v", f)
	}
	if info, err := os.Stat(filepath.Join(held.Name(), f.Hosts[0].Dir, "shell")); err != nil || info.Mode() != 0o644 {
		t.Errorf("a set-ID program became %v, %v", info.Mode(), err)
	}
	for _, h := range []tar.Header{
		{Name: "runs/vda", Typeflag: tar.TypeBlock, Devmajor: 254, Mode: 0o666},
		{Name: "runs/l", Typeflag: tar.TypeSymlink, Linkname: "/etc"},
		{Name: "../x", Typeflag: tar.TypeReg},
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		w := tar.NewWriter(z)
		if err := errors.Join(w.WriteHeader(&h), w.Close(), z.Close(),
			os.WriteFile(archives[1], packed.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
		_, _, err := Import{Dirs: archives, Out: filepath.Join(root, "out"), Now: epoch}.Run()
		if err == nil || !strings.Contains(err.Error(), "its bundle holds") || !strings.Contains(err.Error(), archives[1]) {
			t.Errorf("%s: %v", h.Name, err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// What not everybody may read is readable by nobody else in a fleet run, either.
func TestImportOfPrivateRuns(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(filepath.Dir(root), 0o755); err != nil { // a test's own directories are its user's only
		t.Fatal(err)
	}
	run := hostRun{name: "db1", seconds: 10}.build(t, filepath.Join(root, "runs"))
	other := hostRun{name: "db2", seconds: 10}.build(t, filepath.Join(root, "others"))
	archive := filepath.Join(root, "db1.tgz")
	if out, err := exec.Command("tar", "-C", root, "-czf", archive, "runs").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, c := range []struct {
		of              string
		root, run, want os.FileMode
	}{
		{run, 0o755, 0o755, 0o755},
		{run, 0o755, 0o700, 0o700},
		{run, 0o700, 0o755, 0o700},
		{archive, 0o755, 0o644, 0o755},
		{archive, 0o755, 0o600, 0o700},
	} {
		if err := errors.Join(os.Chmod(root, c.root), os.Chmod(c.of, c.run)); err != nil {
			t.Fatal(err)
		}
		held, _, err := Import{Dirs: []string{c.of, other}, Out: t.TempDir(), Now: epoch}.Run()
		if err != nil {
			t.Fatal(err)
		}
		if info, err := held.Info(); err != nil || info.Mode().Perm() != c.want {
			t.Errorf("of %s, %o in %o: %v, want %o", c.of, c.run, c.root, info.Mode(), c.want)
		}
		_ = held.Close()
	}
}

// A link that is put in a file's place, once that was seen, is not followed.
func TestImportFollowsNoLinkSwappedIn(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	names := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for _, name := range append(names, secret) {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := files(dir, func(name string, _ *os.File, _ fs.FileInfo) error {
		if name == "a" { // the directory is listed by now
			return errors.Join(os.Remove(names[1]), os.Symlink(secret, names[1]))
		}
		return fmt.Errorf("%s was read", name)
	})
	if err == nil || strings.Contains(err.Error(), "was read") {
		t.Error(err)
	}
}

const ms = time.Millisecond

// Two hosts, one 700 ms late: the figures are those of the 9.3 s in which both measured, and the
// percentiles those of all single latencies in one sorted list, not a mean of the hosts' own.
func TestImportMergesTheCommonWindow(t *testing.T) {
	a := hostRun{name: "db1", seconds: 10, each: map[time.Duration]uint64{100 * time.Microsecond: 900, 300 * time.Microsecond: 100}}
	b := hostRun{name: "db2", seconds: 10, late: 700 * ms, each: map[time.Duration]uint64{9 * ms: 95, 40 * ms: 5}}
	dir, f := importAll(t, a, b)
	s := f.Scenarios[0]
	if s.Common.From != 700*ms || s.Common.To != 10*time.Second || math.Abs(s.Common.Share-0.93) > 1e-9 {
		t.Errorf("common window %+v", s.Common)
	}
	if !s.At.Equal(epoch) {
		t.Errorf("began at %s", s.At)
	}
	// By hand: 1,000 and 100 I/Os per second over the same 9.3 s.
	if got := float64(s.Total.IOPS); math.Abs(got-1100) > 0.001 {
		t.Errorf("total %v IOPS", got)
	}
	if got := float64(s.Total.BW); math.Abs(got-1100*8192) > 1 {
		t.Errorf("total %v bytes/s", got)
	}
	// Whole seconds inside the window: 9 of the first host (1 s to 10 s), 9 of the second (0.7 s to
	// 9.7 s).
	var list []time.Duration
	for range 9 {
		for latency, n := range a.each {
			list = append(list, slices.Repeat([]time.Duration{latency}, int(n))...)
		}
		for latency, n := range b.each {
			list = append(list, slices.Repeat([]time.Duration{latency}, int(n))...)
		}
	}
	slices.Sort(list)
	if n := s.Total.Hist.Count(); n != uint64(len(list)) {
		t.Errorf("%d latencies, by hand %d", n, len(list))
	}
	for _, p := range []float64{50, 90, 95, 99, 99.9} {
		by := bins.Value(bins.Of(list[int(math.Ceil(p/100*float64(len(list))))-1]))
		if got := s.Total.Hist.Percentile(p); got != by {
			t.Errorf("p%v is %v, by hand %v", p, got, by)
		}
	}
	mean := (s.Hosts[0].P99 + s.Hosts[1].P99) / 2
	if got := s.Total.Hist.Percentile(99); got == mean {
		t.Errorf("p99 is the mean of the hosts' %v", mean)
	}
	// What is on disk is the same document, and the bundles are whole.
	read, err := bundle.OpenFleet(dir)
	if err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(f)
	two, _ := json.Marshal(read)
	if !bytes.Equal(one, two) {
		t.Errorf("read back\n%s\nwrote\n%s", two, one)
	}
	for _, h := range read.Hosts {
		if b, err := bundle.Open(filepath.Join(dir, h.Dir)); err != nil || len(b.Damaged) > 0 {
			t.Errorf("%s: %v %v", h.Dir, err, b.Damaged)
		}
	}
}

func codes(f *bundle.Fleet) string {
	var all []string
	for _, g := range f.Findings {
		all = append(all, string(g.Code)+" "+g.Subject)
	}
	return strings.Join(all, "; ")
}

// A host at 60 % of its own ceiling is the straggler, though it does more IOPS than the others.
func TestStragglerIsJudgedByItsOwnCeiling(t *testing.T) {
	small := func(name string) hostRun {
		return hostRun{name: name, seconds: 12, jitter: 4, ceiling: 1000, each: map[time.Duration]uint64{ms: 960}}
	}
	big := hostRun{name: "db3", seconds: 12, jitter: 4, ceiling: 3000, each: map[time.Duration]uint64{ms: 1800}}
	_, f := importAll(t, small("db1"), small("db2"), big)
	if got := codes(f); got != "PL803 db3, 3 rand-read" || f.Verdict != verdict.Fail {
		t.Errorf("%s, %s", got, f.Verdict)
	}
	if g := f.Scenarios[0].Stragglers; len(g) != 1 || math.Abs(g[0].Of-0.6) > 0.01 || math.Abs(g[0].Others-0.96) > 0.01 {
		t.Errorf("%+v", g)
	}
	if c := f.Scenarios[0].Ceiling; c == nil || c.IOPS != 5000 || c.Binds != "sum of hosts" {
		t.Errorf("ceiling %+v", c)
	}
	big.each = map[time.Duration]uint64{ms: 2500} // 0.83 of the others' share: a near miss
	if _, f := importAll(t, small("db1"), small("db2"), big); codes(f) != "" {
		t.Errorf("near miss: %s", codes(f))
	}
	big.each = map[time.Duration]uint64{ms: 1800}
	if _, f := importAll(t, small("db1"), big); codes(f) != "" {
		t.Errorf("of two hosts nobody knows which is the odd one: %s", codes(f))
	}
}

// Hosts that barely overlap are no fleet run.
func TestWindowsThatHardlyOverlapAreInvalid(t *testing.T) {
	a := hostRun{name: "db1", seconds: 10, each: map[time.Duration]uint64{ms: 100}}
	b := a
	b.name, b.late = "db2", 3*time.Second
	if _, f := importAll(t, a, b); codes(f) != "PL802 3 rand-read" || f.Verdict != verdict.Invalid {
		t.Errorf("%s %s %v", codes(f), f.Verdict, f.Reasons)
	}
	b.late = time.Hour // wall clocks of which one is wrong
	_, f := importAll(t, a, b)
	if f.Verdict != verdict.Invalid || f.Scenarios[0].Total.IOPS != 0 {
		t.Errorf("%s, %v IOPS", f.Verdict, f.Scenarios[0].Total.IOPS)
	}
}

func TestSharedLimitBoundsTheFleet(t *testing.T) {
	s := &bundle.FleetScenario{Hosts: []bundle.FleetFigure{{Ceiling: 1000}, {Ceiling: 1000}}, Total: bundle.FleetTotal{IOPS: 1000, BW: 8192000}}
	for _, c := range []struct {
		shared Shared
		iops   units.IOPS
		binds  string
	}{
		{Shared{}, 2000, "sum of hosts"},
		{Shared{IOPS: 1500}, 1500, "shared IOPS"},
		{Shared{IOPS: 2500}, 2000, "sum of hosts"},
		{Shared{BW: 4096000}, 500, "shared bandwidth"},
	} {
		if got := ceilingOf(s, c.shared); got.IOPS != c.iops || got.Binds != c.binds {
			t.Errorf("%+v: %+v", c.shared, got)
		}
	}
	s.Hosts[1].Ceiling = 0
	if got := ceilingOf(s, Shared{}); got != nil {
		t.Errorf("one host's ceiling is not known, and the fleet's is %+v", got)
	}
}

// What all hosts share stays the fleet's ceiling when a fleet run is resumed, unless others are
// stated.
func TestSharedLimitsAreKept(t *testing.T) {
	dir, f := importAll(t, hostRun{name: "db1", seconds: 5, ceiling: 1000, each: map[time.Duration]uint64{ms: 90}},
		hostRun{name: "db2", seconds: 5, ceiling: 1000, each: map[time.Duration]uint64{ms: 90}})
	if c := f.Scenarios[0].Ceiling; c == nil || c.IOPS != 2000 {
		t.Fatalf("%+v", c)
	}
	fetch := func(shared Shared) *bundle.Fleet {
		held, f, err := Run{Now: time.Now, Shared: shared}.Fetch(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		_ = held.Close()
		return f
	}
	for i, want := range []units.IOPS{1500, 1500, 1200} {
		f := fetch([]Shared{{IOPS: 1500, BW: 1 << 40}, {}, {IOPS: 1200}}[i])
		if c := f.Scenarios[0].Ceiling; c == nil || c.IOPS != want || f.SharedIOPS != want || f.SharedBW != 1<<40 {
			t.Errorf("%d: %+v, %v and %v", i, c, f.SharedIOPS, f.SharedBW)
		}
	}
}

// Every form of the report has one row per host and shows hostile names as text.
func TestFleetReports(t *testing.T) {
	a := hostRun{name: "db1", seconds: 10, kernel: "6.1", each: map[time.Duration]uint64{ms: 100}, ceiling: 110}
	b := a
	b.name, b.kernel = "db2<script>\x1b[2J|`x`", "6.2"
	dir, f := importAll(t, a, b)
	if codes(f) != "PL804 kernel" { // and nothing else
		t.Error(codes(f))
	}
	for _, format := range page.Formats() {
		var out bytes.Buffer
		if err := page.Write(&out, format, runs.Fleet(f), page.Options{Details: true, Width: 120}); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if format == page.CSV { // it has one kind of row
			got += "PL804"
		}
		if format == page.SARIF || format == page.GitHub { // they have the findings only
			got += "db1 db2"
		}
		for _, want := range []string{"db1", "db2", "PL804"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %s:\n%s", format, want, got)
			}
		}
		if strings.Contains(got, "\x1b") || format == page.HTML && strings.Contains(got, "db2<script>") {
			t.Errorf("%s: hostile name came through:\n%s", format, got)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "hosts")); err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
}
