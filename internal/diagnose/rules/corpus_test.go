package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// labelled is a case whose truth is known: the codes that must be found, and those that are true of
// it beside the point. Every other finding, an info too, is a false alarm.
type labelled struct {
	name       string
	c          diagnose.Case
	want, also string
}

// score is how the rules did on labelled cases: hits and misses of wanted codes, and wrong
// findings.
type score struct{ cases, healthy, hit, missed, wrong int }

func (s score) precision() float64 { return float64(s.hit) / float64(s.hit+s.wrong) }
func (s score) recall() float64    { return float64(s.hit) / float64(s.hit+s.missed) }

// judgeAll judges cases and tells each miss and false alarm.
func judgeAll(t testing.TB, cases []labelled) score {
	t.Helper()
	s := score{cases: len(cases)}
	for _, l := range cases {
		if sound(l.want) {
			s.healthy++
		}
		found := map[string][]finding.Finding{}
		for _, f := range Judge(&l.c, nil) {
			found[string(f.Code)] = append(found[string(f.Code)], f)
		}
		for code := range strings.FieldsSeq(l.want) {
			if found[code] == nil {
				s.missed++
				t.Logf("%s: %s was not found", l.name, code)
				continue
			}
			s.hit++
		}
		for code, fs := range found {
			if !strings.Contains(l.want+" "+l.also, code) {
				s.wrong++
				t.Logf("%s: false alarm %s (%s): %s", l.name, code, fs[0].Severity, fs[0].Message)
			}
		}
	}
	return s
}

func corpus(t testing.TB) []labelled {
	return slices.Concat(seedCases(t), labCases(), layoutCases(), synthetic(), balanceCases(), quick(), knownWeak(), roundCases(), memberCases(), importedCases(), touchCases())
}

// TestCorpus judges all labelled cases; precision and recall must be 0.95 at least. Precision is
// the share of findings (one a code and case) that are true, recall the share of wanted codes that
// were found.
func TestCorpus(t *testing.T) {
	cases := corpus(t)
	names := map[string]bool{}
	for _, l := range cases {
		if names[l.name] {
			t.Errorf("two cases are called %q", l.name)
		}
		names[l.name] = true
	}
	s := judgeAll(t, cases)
	t.Logf("%d cases, %d of them without a fault: precision %.3f (%d true, %d false), recall %.3f (%d missed)",
		s.cases, s.healthy, s.precision(), s.hit, s.wrong, s.recall(), s.missed)
	if s.cases < 40 || s.precision() < 0.95 || s.recall() < 0.95 {
		t.Errorf("%d cases, precision %.3f, recall %.3f: want 40, 0.95 and 0.95 at least", s.cases, s.precision(), s.recall())
	}
}

// BenchmarkJudge times the rules over the whole corpus and prints their precision and recall, for
// `make bench`.
func BenchmarkJudge(b *testing.B) {
	cases := corpus(b)
	for b.Loop() {
		for i := range cases {
			Judge(&cases[i].c, nil)
		}
	}
	s := judgeAll(b, cases)
	b.ReportMetric(float64(s.cases), "cases/op")
	b.ReportMetric(s.precision(), "precision")
	b.ReportMetric(s.recall(), "recall")
}

// sound says that nothing wanted of a case is a fault: reaching a ceiling, or being bound by one's
// own concurrency, is none.
func sound(want string) bool {
	return !slices.ContainsFunc(strings.Fields(want), func(c string) bool { return c != "PL501" && c != "PL502" && c != "PL505" })
}

// measured builds a run of one workload.
func measured(id int, w fio.Workload, options ...func(*diagnose.Measurement)) diagnose.Measurement {
	m := diagnose.Measurement{
		Scenario: suite.Scenario{ID: id, Name: fmt.Sprintf("case-%d", id), Role: topology.Data},
		Result: &result.Result{
			ID: id, State: result.Done, Measured: time.Minute, Workloads: []fio.Workload{w},
			Depth: result.Depth{Asked: w.InFlight()},
		},
	}
	for _, o := range options {
		o(&m)
	}
	return m
}

// took sets reads and writes per second and the mean latency in milliseconds; sizes are the
// workload's.
func took(reads, writes, ms float64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		w := m.Workloads[0]
		seconds := m.Measured.Seconds()
		direction := func(iops float64, bs units.Bytes) fio.Direction {
			if iops == 0 {
				return fio.Direction{}
			}
			return fio.Direction{
				N: uint64(iops * seconds), IOPS: units.IOPS(iops), BW: units.Rate(iops * float64(bs)),
				Bytes: units.Bytes(iops*seconds) * bs, Runtime: m.Measured,
				Clat: fio.Latency{N: uint64(iops * seconds), Mean: ms * 1e6, Percentiles: []fio.Percentile{
					{P: 50, Value: time.Duration(ms * 0.9e6)}, {P: 99, Value: time.Duration(ms * 3e6)},
				}},
			}
		}
		m.Total.Read, m.Total.Write = direction(reads, w.ReadBS), direction(writes, w.WriteBS)
		m.Jobs = []fio.Job{m.Total}
	}
}

func withCeiling(c *ceiling.Ceiling) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) { m.Ceiling = c }
}

func wal(m *diagnose.Measurement) { m.Scenario.Role = topology.WAL }

// heldBack is an import whose options are not known, and whose progress lines showed a rate (CR=).
func heldBack(m *diagnose.Measurement) { m.Paced = true }

func inPhase(p string) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) { m.Scenario.Phase = p }
}

// runFor must stand before took.
func runFor(d time.Duration) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) { m.Measured = d }
}

// random is a workload of numjobs × iodepth random I/Os of one size; read is the share of reads.
func random(read float64, bs units.Bytes, jobs, depth int) fio.Workload {
	w := fio.Workload{
		Name: "job", Engine: "libaio", Direct: true, ReadShare: read, Jobs: jobs, Depth: depth,
		TimeBased: true, Runtime: time.Minute,
	}
	if read > 0 {
		w.ReadBS = bs
	}
	if read < 1 {
		w.WriteBS = bs
	}
	if depth == 1 && jobs > 1 {
		w.Engine = "psync"
	}
	return w
}

func for180(w fio.Workload) fio.Workload {
	w.Runtime = 180 * time.Second
	return w
}

// array is n equal volumes; names are nvme1n1 and up.
func array(name string, level topology.Level, chunk units.Bytes, n int, v topology.Volume) topology.Array {
	a := topology.Array{Name: name, Level: level, Chunk: chunk, Origin: topology.Origin{Kind: topology.Declared, Where: "plimsoll.yaml"}}
	for i := range n {
		v.Device = "nvme" + string(rune('1'+i)) + "n1"
		a.Volumes = append(a.Volumes, v)
	}
	return a
}

func gp3() topology.Volume {
	return topology.Volume{
		Type: "gp3", Network: true, Size: 25 * units.GiB, CountedIO: 256 * units.KiB, Merges: true,
		Sustained: topology.Limits{IOPS: 3000, Rate: 125 * units.MiBPerSec},
		Origin:    topology.Origin{Kind: topology.Catalogue, Where: "ebs-volume-types.json, 2025-11"},
	}
}

func p4510() topology.Volume {
	return topology.Volume{
		Type: "nvme", Model: "Intel SSD DC P4510", Size: 4 * units.TiB,
		Sustained:   topology.Limits{ReadIOPS: 636500, WriteIOPS: 111500, ReadRate: 3000 * units.MBPerSec, WriteRate: 2900 * units.MBPerSec},
		ReadLatency: 77 * time.Microsecond, WriteLatency: 18 * time.Microsecond,
		Origin: topology.Origin{Kind: topology.Catalogue, Where: "nvme-datasheets.json, 2018"},
	}
}

// on makes a topology of arrays, the first under both roles unless a second is given for the WAL.
func on(instance string, arrays ...topology.Array) *topology.Topology {
	t := &topology.Topology{Instance: topology.Instance{Type: instance}, Arrays: arrays}
	for i, role := range []topology.Role{topology.Data, topology.WAL} {
		a := arrays[min(i, len(arrays)-1)]
		t.Targets = append(t.Targets, topology.Target{
			Role: role, Path: "/" + string(role), Device: a.Name, Array: a.Name,
			Mount: &block.Mount{Point: "/" + a.Name, Device: a.Name, FS: "xfs", Root: "/", Options: []string{"rw", "noatime"}},
		})
	}
	return t
}

// limit makes a bound on I/Os of one size.
func limit(kind ceiling.Kind, iops float64, bs units.Bytes) ceiling.Bound {
	return ceiling.Bound{
		Kind: kind, IOPS: units.IOPS(iops), BW: units.Rate(iops * float64(bs)), How: "declared",
		Origin: topology.Origin{Kind: topology.Catalogue, Where: "facts, 2026-11"},
	}
}

// burstOf makes a bound a burst that lasts so long.
func burstOf(b ceiling.Bound, lasts time.Duration) ceiling.Bound {
	b.Burst, b.BurstFor = true, lasts
	return b
}

func bounds(bs ...ceiling.Bound) *ceiling.Ceiling {
	slices.SortStableFunc(bs, func(a, b ceiling.Bound) int { return cmp.Compare(a.IOPS, b.IOPS) })
	return &ceiling.Ceiling{Bounds: bs}
}
