package workload

import (
	"errors"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

func read(t *testing.T, name string) *Demand {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Parse(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.001*math.Abs(want) }

// The figures of workload-to-jobfile.md, worked out from its description.
func TestLoggingApplication(t *testing.T) {
	d := read(t, "logging-app.yaml")
	peak, mean := d.Peak(), d.Mean()
	if peak.IOPS != 2304 || peak.Rate != 336*units.MiBPerSec {
		t.Errorf("peak %v, %v; want 2,304 and 336 MiB/s", peak.IOPS, peak.Rate)
	}
	if !near(float64(mean.Rate/units.MiBPerSec), 122.667) {
		t.Errorf("mean %v, want 122.7 MiB/s", mean.Rate)
	}
	var each, merged units.IOPS
	for i := range d.Streams {
		e, m := d.Streams[i].Counted()
		each, merged = each+e, merged+m
	}
	if each != 2304 || merged != 1344 {
		t.Errorf("counted %v, merged %v; want 2,304 and 1,344", each, merged)
	}
	bytes, ios, quiet := d.Written()
	if !near(bytes, 0.652) || !near(ios, 0.882) || !near(quiet, 0.833) {
		t.Errorf("writes are %.3f of bytes, %.3f of I/Os, alone %.3f of the time; want 0.652, 0.882, 0.833", bytes, ios,
			quiet)
	}
	if in := d.Streams[0].InFlight(2 * time.Millisecond); !near(in, 2.56) {
		t.Errorf("%.2f in flight at 2 ms, want 2.56", in)
	}
	if over := d.MeanOver(30 * time.Minute); over != mean {
		t.Errorf("30 minutes are whole periods: %+v, want %+v", over, mean)
	}
}

// TestSeedJob compares the job of the description with the seed's, option by option as fio
// understands them.
func TestSeedJob(t *testing.T) {
	seed, err := os.ReadFile("../../testdata/seeds/workload-to-jobfile.md")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile("(?s)```ini\n(.*?)```").FindSubmatch(seed)
	env := map[string]string{"NUM_JOBS": "16", "IO_DEPTH": "64"}
	parsed, err := fio.ParseJobFile("nvme1.fio", text[1],
		fio.ParseOptions{Env: func(k string) (string, bool) { v, ok := env[k]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	want := asks(t, *parsed)
	d := read(t, "logging-app.yaml")
	d.Capacity = 0 // the seed's jobs have no size
	job := d.Job(JobOptions{Filename: "/dev/nvme1n1", Depth: 64})
	got := asks(t, reparse(t, job))
	if len(got) != len(want) {
		t.Fatalf("%d sections, want %d", len(got), len(want))
	}
	for i := range want {
		// rate=16m,5m stands for both; a section has only the direction that it runs.
		if want[i].Reads() {
			want[i].WriteRate, got[i].WriteRate = 0, 0
		} else {
			want[i].ReadRate, got[i].ReadRate = 0, 0
		}
		want[i].NewGroup = true // the seed reports both streams as one group, which changes no I/O
		want[i].Name = strings.ReplaceAll(want[i].Name, "_", "-")
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("section %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	for _, want := range []string{"1,024 in flight", "512"} {
		if all := read(t, "logging-app.yaml").Job(JobOptions{Depth: 64}).Text(); !strings.Contains(all, want) {
			t.Errorf("the job does not say %q:\n%s", want, all)
		}
	}
}

// reparse reads the text of a job as fio would.
func reparse(t *testing.T, j *Job) fio.JobFile {
	t.Helper()
	f, err := fio.ParseJobFile(j.Name, []byte(j.Text()),
		fio.ParseOptions{Env: func(string) (string, bool) { return "/dev/x", true }})
	if err != nil {
		t.Fatalf("%v in\n%s", err, j.Text())
	}
	return *f
}

func asks(t *testing.T, f fio.JobFile) []fio.Workload {
	t.Helper()
	var all []fio.Workload
	for _, i := range f.Jobs() {
		s := f.Effective(i)
		w, err := fio.WorkloadOf(s.Name, s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	return all
}

func parse(t *testing.T, text string) *Demand {
	t.Helper()
	d, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return d
}

func TestJobRules(t *testing.T) {
	stream := func(lines string) *Demand {
		return parse(t,
			"workload: x\ncapacity: 100GiB\nstreams:\n  - name: s\n    "+strings.ReplaceAll(lines, "; ", "\n    ")+"\n")
	}
	for _, c := range []struct {
		name, lines string
		options     JobOptions
		want        []string
		not         []string
	}{
		// 700 × (0.6 × 8 + 0.4 × 32) KiB = 12,320 KiB/s, the figure of the specification
		{
			"mixed sizes", "does: random read; block: {8KiB: 60%, 32KiB: 40%}; rate: 700 IOPS",
			JobOptions{},
			[]string{"bssplit=8k/60:32k/40", "rate=12320k", "rw=randread"},
			[]string{"\nrate_iops"},
		},
		{
			"two directions", "does: random readwrite; reads: 70%; block: 8KiB; rate: 1000 IOPS",
			JobOptions{},
			[]string{"[s-read]", "[s-write]", "rate=5600k", "rate=2400k"},
			[]string{"rwmixread"},
		},
		{
			"depth", "does: random read; block: 8KiB; rate: 8000 IOPS; threads: 4",
			JobOptions{},
			[]string{"iodepth=8", "ioengine=libaio", "2,000 IOPS per job × 1 ms = 2 in flight, × 4 for room: 8"},
			[]string{"psync"},
		},
		{"shallow", "does: random read; block: 8KiB; rate: 100 IOPS; threads: 4", JobOptions{}, []string{"iodepth=1", "ioengine=psync"}, nil},
		{"most depth", "does: random read; block: 4KiB; rate: 100000 IOPS", JobOptions{}, []string{"iodepth=64"}, nil},
		{"many threads", "does: random write; block: 4KiB; rate: 128 IOPS; threads: 128", JobOptions{}, []string{"numjobs=64", "iodepth=2", "128 threads are 64 jobs"}, nil},
		{"sync", "does: sequential write; block: 8KiB; rate: 100 IOPS; sync: fdatasync", JobOptions{}, []string{"fdatasync=1"}, nil},
		{"dsync", "does: sequential write; block: 8KiB; rate: 100 IOPS; sync: dsync", JobOptions{}, []string{"sync=dsync"}, nil},
		{"poisson", "does: random write; block: 8KiB; rate: 100 IOPS; arrivals: poisson", JobOptions{}, []string{"rate_process=poisson"}, nil},
		{
			"poisson, mixed", "does: random write; block: {8KiB: 50%, 4KiB: 50%}; rate: 100 IOPS; arrivals: poisson",
			JobOptions{},
			[]string{"arrivals are paced"},
			[]string{"rate_process"},
		},
		{"regions", "does: sequential write; block: 64KiB; rate: 80MiB/s; threads: 16", JobOptions{}, []string{"size=6400m", "offset_increment=6400m"}, nil},
		{"random has it all", "does: random write; block: 8KiB; rate: 80MiB/s; threads: 16", JobOptions{}, []string{"size=100g"}, []string{"offset_increment"}},
		{
			"bursts", "does: sequential read; block: 64KiB; rate: 1MiB/s; burst: {for: 2s, every: 10s, after: 3s}",
			JobOptions{},
			[]string{"[s-1]", "[s-3]", "startdelay=3s", "startdelay=23s", "runtime=2s", "runtime=30s"},
			[]string{"[s-4]"},
		},
		{
			"many bursts", "does: sequential read; block: 64KiB; rate: 1MiB/s; burst: {for: 1s, every: 2s}",
			JobOptions{Runtime: time.Hour},
			[]string{"[s-20]", "runtime=40s", "Cut to 40s"},
			[]string{"[s-21]"},
		},
		{"a directory", "does: random read; block: 4KiB; rate: 10 IOPS", JobOptions{Directory: "/mnt"}, []string{"directory=/mnt", "filename=x.data"}, nil},
	} {
		job := stream(c.lines).Job(c.options)
		text := job.Text()
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", c.name, want, text)
			}
		}
		for _, not := range c.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: %q is in\n%s", c.name, not, text)
			}
		}
		sum := units.Rate(0)
		for _, w := range asks(t, reparse(t, job)) {
			if w.Name == "s" || w.Name == "s-1" || w.Name == "s-read" || w.Name == "s-write" { // the first burst alone
				sum += (w.ReadRate*units.Rate(w.ReadShare) + w.WriteRate*units.Rate(1-w.ReadShare)) * units.Rate(w.Jobs)
			}
		}
		if want := stream(c.lines).Peak().Rate; !near(float64(sum), float64(want)) {
			t.Errorf("%s: the job asks for %v, the demand is %v", c.name, sum, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	const head = "workload: x\nstreams:\n  - name: s\n    does: random write\n    block: 8KiB\n    threads: 4\n"
	for text, want := range map[string]string{
		"":                              "x.yaml: a demand needs streams",
		"workload: x\n":                 "a demand needs streams",
		"[global]\nrw=read\n":           "x.yaml: this is a job file of fio, not a demand",
		"; mine\n\n# a\r\n[a] ; b\n":    "this is a job file of fio, not a demand",
		"[a, b]: 3\n":                   "this is a job file of fio", // to fio, which ends the name before the last character
		"- [a, b]\n":                    "x.yaml:1",                  // YAML, if not a demand
		"workload: ../x\nstreams: []\n": "x.yaml:1: workload \"../x\"",
		"wrokload: x\n":                 `x.yaml:1: unknown field "wrokload"`,
		head + "    rtae: 5\n":          `x.yaml:7: unknown field "rtae"`,
		head:                            "x.yaml:3: s: rate is missing",
		head + "    rate: 5\n":          "5 of what? say 5MiB/s, 5MB/s or 5 IOPS",
		head + "    rate: 5M/s\n":       "M is 1,048,576 to fio and 1,000,000 to others; say 5MiB/s or 5MB/s",
		head + "    rate: 0MiB/s\n":     "want more than 0",
		head + "    rate: 0 IOPS\n":     "want more than 0",
		head + "    rate: 5 MB\n":       "want a number with its unit",
		head + "    rate: 80MiB/s\n    iops: 1280\n":                                       "rate 1280: 1280 of what",
		head + "    rate: 80MiB/s\n    iops: 1280 IOPS\n":                                  "1280 IOPS contradicts rate: 80MiB/s",
		head + "    rate: 8MiB/s\n    burst: {for: 31s, every: 30s}\n":                     "31s is longer than its period of 30s",
		head + "    rate: 8MiB/s\n    burst: {for: 5s}\n":                                  "every is missing",
		head + "    rate: 8MiB/s\n    burst: {for: 5, every: 30s}\n":                       "want a duration with its unit",
		head + "    rate: 8MiB/s\n    burst: {for: 5s, every: 9s, after: 9s}\n":            "after 9s is not within",
		head + "    rate: 8MiB/s\n    latency: {p99: 5}\n":                                 "want a duration with its unit",
		head + "    rate: 8MiB/s\n    latency: {p100: 5ms}\n":                              `"p100": want p50`,
		head + "    rate: 8MiB/s\n    latency: {over: {1s: 1}}\n":                          "want a share from 0% to 100%",
		head + "    rate: 8MiB/s\n    sync: flush\n":                                       `sync "flush"`,
		head + "    rate: 8MiB/s\n    threads: 0\n":                                        "mapping key \"threads\" already defined",
		head + "    rate: 8MiB/s\n    arrivals: often\n":                                   `arrivals "often"`,
		head + "    rate: 8MiB/s\n  - name: s\n    does: random read\n":                    "another stream has it",
		"streams:\n  - does: random write\n    block: {8KiB: 60%, 32KiB: 30%}\n":           "add up to 90 %, not to 100 %",
		"streams:\n  - does: random write\n    block: 8000\n":                              "8000 of what",
		"streams:\n  - does: random write\n    block: 64KB\n    rate: 1MiB/s per thread\n": "per thread needs threads",
		"streams:\n  - does: random write\n    block: 100B\n":                              "not a whole number of sectors",
		"streams:\n  - does: random readwrite\n    block: 8KiB\n    rate: 1 IOPS\n":        "readwrite needs reads:",
		"streams:\n  - does: random readwrite\n    reads: 0.7\n    block: 8KiB\n":          `reads "0.7": want a share`,
		"streams:\n  - does: sometimes\n":                                                  "want sequential or random",
		"streams:\n  - does: [a, b]\n":                                                     "want a single value here",
		"streams: 3\n":                                                                     "x.yaml:1",
		"capacity: 8\nstreams:\n  - does: random read\n":                                   "capacity 8: 8 of what",
		"durability: {afr: 0%}\nstreams:\n  - does: random read\n":                         "no storage never fails",
		"durability: {survives: all}\nstreams:\n  - does: random read\n":                   "want volume, instance or none",
		"commits: {rate: 1000}\nstreams: []\n":                                             "want one such as 1000/s",
	} {
		_, err := Parse("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
		if m, ok := errors.AsType[*yamlfile.Mistake](err); err != nil &&
			(!ok || m.Line > 0 && !strings.HasSuffix(m.Excerpt(), "^")) {
			t.Errorf("%q: %#v has no caret", text, err)
		}
	}
}

func TestUnitsThatLookAlike(t *testing.T) {
	d := parse(t, "streams:\n  - does: random write\n    block: 64KiB\n    threads: 16\n    rate: 5MB/s per thread\n")
	if d.Streams[0].Rate != 80e6 || len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "4.9 % more") {
		t.Errorf("%v, %q", d.Streams[0].Rate, d.Notes)
	}
}

func TestApart(t *testing.T) {
	d := parse(t, `streams:
  - {name: a, does: random write, block: 8KiB, rate: 1000 IOPS}
  - {name: b, does: sequential read, block: 1MiB, rate: 1000MiB/s, apart: true}
`)
	if p := d.Peak(); p.IOPS != 1000 || p.Rate != 1000*units.MiBPerSec {
		t.Errorf("peak %+v", p)
	} else if m := d.Mean(); m != p {
		t.Errorf("a mean of %+v above the peak %+v", m, p)
	}
	if each, _ := d.Streams[1].Counted(); each != 4000 {
		t.Errorf("1,000 MiB/s count as %v I/Os, want 4,000", each)
	}
}

func TestCommits(t *testing.T) {
	d := parse(t, "commits: {rate: 1000/s, clients: 4}\n")
	if s := d.Streams[0]; !s.Commits || s.IOPS != 1000 || s.Threads != 4 || s.Sync.Each != 1 {
		t.Errorf("%+v", s)
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/logging-app.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add(
		"streams:\n  - {does: random readwrite, reads: 70%, block: {8k: 50%, 4k: 50%}, iops: 5 IOPS, sync: {fsync: 3}}\n",
	)
	f.Add("commits: {rate: 1000/s}\n")
	bounded.Fuzz(f, func(t *testing.T, text string) {
		d, err := Parse("x.yaml", []byte(text))
		if err != nil {
			if m, ok := errors.AsType[*yamlfile.Mistake](err); ok {
				_ = m.Excerpt()
			}
			return
		}
		if p := d.Peak(); !(p.IOPS > 0 && p.Rate > 0) {
			t.Errorf("%q: a demand of nothing: %+v", text, p)
		}
		job := d.Job(JobOptions{})
		if _, err := fio.ParseJobFile(
			"x.fio",
			[]byte(job.Text()),
			fio.ParseOptions{Env: func(string) (string, bool) { return "/x", true }},
		); err != nil {
			t.Errorf("%q: the job cannot be read: %v\n%s", text, err, job.Text())
		}
	})
}
