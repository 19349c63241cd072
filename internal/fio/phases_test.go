package fio

import (
	"slices"
	"testing"
	"time"

	"plimsoll/internal/units"
)

// TestPercentileBelowMaximum: a bin's middle may be above the largest value in it (ux.md D20).
func TestPercentileBelowMaximum(t *testing.T) {
	h := &Hist{}
	h.Add(25_820_243, 10)
	l := Latency{N: 10, Max: 25_820_243, Hist: h}
	if v, _ := l.At(99.99); v > l.Max {
		t.Errorf("p99.99 %s, max %s", v, l.Max)
	}
	m := mergeLatencies([]Latency{
		{N: 10, Max: l.Max, Hist: h, Percentiles: []Percentile{{99, l.Max}}}, {N: 10, Max: l.Max, Hist: h, Percentiles: []Percentile{{99, l.Max}}},
	})
	if m.Percentiles[0].Value > m.Max {
		t.Errorf("merged %+v", m)
	}
}

func TestPhasesOfJobFile(t *testing.T) {
	const text = "[global]\nrw=read\n[a]\n[b]\n[global]\nbs=8k\n[c]\nstonewall\n[d]\nnew_group\n[e]\nwait_for_previous\n"
	f, err := ParseJobFile("x.fio", []byte(text), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	phases := f.Phases()
	if len(phases) != 3 || !slices.Equal(phases[0], []int{1, 2}) || !slices.Equal(phases[1], []int{4, 5}) || !slices.Equal(phases[2], []int{6}) {
		t.Fatalf("%v", phases)
	}
	part := f.Only(phases[0])
	if len(part.Sections) != 3 || part.Sections[2].Name != "b" {
		t.Errorf("%+v", part.Sections)
	}
	if part := f.Only(phases[2]); len(part.Jobs()) != 1 || len(part.Effective(part.Jobs()[0]).Options) != 3 {
		t.Errorf("%+v", part.Sections)
	}
	tied, err := ParseJobFile("y.fio", []byte("[a]\nrw=read\n[b]\nstonewall\nwait_for=a\nrw=read\n"), ParseOptions{})
	if err != nil || len(tied.Phases()) != 1 {
		t.Errorf("%v, %v", tied.Phases(), err)
	}
}

// TestBytesCountIOs: a status group gives bytes alone; the block size makes I/Os of them (seeds.md
// wrong 3: 629 MiB of 256 KiB are 2,516 reads, 2,400 MiB of 64 KiB 38,400 writes), and each
// direction keeps its own time.
func TestBytesCountIOs(t *testing.T) {
	rows := []Job{{
		Name:  "all jobs",
		Read:  Direction{Bytes: 629 * units.MiB, Runtime: 5324 * time.Millisecond},
		Write: Direction{Bytes: 2400 * units.MiB, Runtime: 30006 * time.Millisecond},
	}}
	loads := []Workload{
		{Name: "steady_write", WriteBS: 64 * units.KiB, Runtime: 30 * time.Second},
		{Name: "burst_read", ReadShare: 1, ReadBS: 256 * units.KiB, StartDelay: 10 * time.Second, Runtime: 5 * time.Second},
	}
	CountIOs(rows, nil, loads)
	rows[0].Runtime = rows[0].Write.Runtime
	Time(rows, nil, loads)
	j := rows[0]
	if j.Read.N != 2516 || j.Write.N != 38400 || j.Window != 30006*time.Millisecond {
		t.Errorf("%d reads, %d writes, window %s", j.Read.N, j.Write.N, j.Window)
	}
	if n, _ := j.Rates(); n < 1363 || n > 1364 { // 40,916 in 30.006 s
		t.Errorf("%v IOPS", n)
	}
}

// Counts that fio read later than bytes come back to them where blocks have one size, and nowhere
// else.
func TestAlign(t *testing.T) {
	const k = units.KiB
	of := func(size units.Bytes) Workload { return Workload{ReadShare: 1, ReadBS: size} }
	several := of(32 * k)
	several.ReadLeast = 4 * k
	for _, tt := range []struct {
		name     string
		loads    []Workload
		n, bytes uint64
		want     uint64
	}{
		{"40 I/Os later", []Workload{of(32 * k)}, 1640, 1600 << 15, 1600},
		{"two jobs of the same size", []Workload{of(32 * k), of(32 * k)}, 1640, 1600 << 15, 1600},
		{"two jobs of different sizes", []Workload{of(32 * k), of(64 * k)}, 1640, 1600 << 15, 1640},
		{"several sizes in a job", []Workload{several}, 1640, 1600 << 15, 1640},
		{"a part of a block", []Workload{of(32 * k)}, 1640, 1600<<15 + 512, 1640},
		{"more bytes than I/Os", []Workload{of(32 * k)}, 1600, 1640 << 15, 1600},
		{"nothing known", nil, 1640, 1600 << 15, 1640},
		{"I/Os of a ramp", []Workload{of(32 * k)}, 1640, 0, 1640},
	} {
		rows := []Job{{Name: "j", Read: Direction{N: tt.n, Bytes: units.Bytes(tt.bytes)}}}
		Align(rows, nil, tt.loads)
		if rows[0].Read.N != tt.want {
			t.Errorf("%s: %d I/Os, want %d", tt.name, rows[0].Read.N, tt.want)
		}
	}
	// After the first instant of the measurement, before its first block.
	rows := []Job{{Read: Direction{N: 1, Runtime: time.Second}}}
	if Align(rows, nil, []Workload{of(32 * k)}); rows[0].Read.N != 0 {
		t.Errorf("%d I/Os without bytes in a second", rows[0].Read.N)
	}
	// Each direction by its own size.
	rows = []Job{{
		Read:  Direction{N: 12, Bytes: 40 * k},
		Write: Direction{N: 12, Bytes: 80 * k},
		Trim:  Direction{N: 12, Bytes: 160 * k},
	}}
	Align(rows, nil, []Workload{{ReadBS: 4 * k, WriteBS: 16 * k, TrimBS: 32 * k}})
	if n := [3]uint64{rows[0].Read.N, rows[0].Write.N, rows[0].Trim.N}; n != [3]uint64{10, 5, 5} {
		t.Errorf("%d reads, writes and trims, want 10, 5 and 5", n)
	}
}

// TestRowsThatStartedApart: rows of one group are added only where they ran at the same time, as far
// as their starts are known.
func TestRowsThatStartedApart(t *testing.T) {
	row := func(name string, start, runtime int, options Options) Job {
		run := time.Duration(runtime) * time.Second
		return Job{
			Name: name, Start: time.Unix(1_700_000_000+int64(start), 0), Runtime: run, Options: options,
			Read: Direction{N: uint64(1000 * runtime), IOPS: 1000, Bytes: 4096_000 * units.Bytes(runtime), Runtime: run},
		}
	}
	unknown := row("b", 300, 30, nil)
	unknown.Start = time.Time{}
	host := row("b", 300, 30, nil)
	host.Host = "h2"
	for _, c := range []struct {
		name string
		rows []Job
		runs int
		iops units.IOPS // of all rows together
	}{
		{"five minutes apart", []Job{row("a", 0, 30, nil), row("b", 300, 30, nil)}, 2, 1000},
		{"the later first", []Job{row("b", 300, 30, nil), row("a", 0, 30, nil)}, 2, 1000},
		{"one behind two", []Job{row("a", 0, 30, nil), row("b", 1, 30, nil), row("c", 31, 62, nil)}, 2, 122_000. / 92},
		{"together", []Job{row("a", 0, 30, nil), row("b", 0, 30, nil)}, 1, 2000},
		{"the later in the ramp of the earlier", []Job{row("a", 0, 30, Options{"ramp_time": "5m"}), row("b", 300, 30, nil)}, 1, 2000},
		{"by a plan", []Job{row("a", 0, 30, nil), row("b", 300, 30, Options{"startdelay": "300"})}, 1, 2000},
		{"clones", []Job{row("a", 0, 30, nil), row("a", 30, 30, nil)}, 1, 2000},
		{"one start is not known", []Job{row("a", 0, 30, nil), unknown}, 1, 2000},
		{"clocks of two hosts", []Job{row("a", 0, 30, nil), host}, 1, 2000},
	} {
		o := &Output{Jobs: c.rows}
		if parts := o.Phases(); len(parts) != c.runs {
			t.Errorf("%s: %d runs, want %d", c.name, len(parts), c.runs)
		}
		if total, _ := o.Total().Rates(); total < c.iops-1 || total > c.iops+1 {
			t.Errorf("%s: %v IOPS, want %v", c.name, total, c.iops)
		}
	}
}
