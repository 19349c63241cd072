package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/compare"
	"plimsoll/internal/fio"
	"plimsoll/internal/permit"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/workload"
)

// dangerous are lines of a job that no run may have without more consent than a --data.
func dangerous(t *testing.T) []string {
	t.Helper()
	table, err := os.ReadFile("../permit/reach.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"rw=write", "ioengine=external:/x.so", "ioengine=exec", "filename=/etc/passwd", "mem=mmap:/etc/passwd"}
	for line := range strings.Lines(string(table)) {
		if col := strings.Split(line, "\t"); len(col) == 3 && (col[1] == "exec" || col[1] == "refused") {
			lines = append(lines, col[0]+"=7")
		}
	}
	return lines
}

// spellings hide a line of a job in what looks like one value.
func spellings() []string {
	return []string{
		"4k\n%s", "4k\r\n%s", "4k\n\t %s", "4k\n[x]\n%s", "4k;\n%s", "4k # \n%s", "4k\x00\n%s", "4k\v\n%s\n#", "4k\\\n%s",
		"\n\n%s\n", "4k\f\n%s", "4k ; %s", "4k\r%s", "4k\x00%s", "4k\x85%s",
	}
}

// doors are the ways in which words of a user become a part of a job.
func doors() map[string]func(part string) (*suite.Suite, error) {
	base := sync.OnceValues(func() (suite.Suite, error) {
		s, err := suite.Builtin("quick")
		if err != nil {
			return suite.Suite{}, err
		}
		at := slices.IndexFunc(s.Scenarios, func(c suite.Scenario) bool { return c.Name == "rand-read-latency" })
		s.Scenarios = []suite.Scenario{s.Scenarios[max(at, 0)]}
		return *s, nil
	})
	with := func(o fio.Option) (*suite.Suite, error) {
		s, err := base()
		s = WithOptions(s, []fio.Option{o})
		return &s, err
	}
	yaml := func(form string) func(string) (*suite.Suite, error) {
		return func(part string) (*suite.Suite, error) {
			quoted, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			return suite.Parse("s.yaml", fmt.Appendf(nil, form, quoted))
		}
	}
	return map[string]func(string) (*suite.Suite, error){
		"ab, value":     func(part string) (*suite.Suite, error) { return with(fio.Option{Name: "bs", Value: part}) },
		"ab, new value": func(part string) (*suite.Suite, error) { return with(fio.Option{Name: "description", Value: part}) },
		"ab, name":      func(part string) (*suite.Suite, error) { return with(fio.Option{Name: part, Value: "1"}) },
		"bare":          func(part string) (*suite.Suite, error) { return with(fio.Option{Name: part, Bare: true}) },
		"axis": func(part string) (*suite.Suite, error) {
			s, err := base()
			if err != nil {
				return nil, err
			}
			axis, err := compare.ParseAxis("bs=4k," + part)
			if err != nil {
				return nil, err
			}
			s.Scenarios, err = compare.Grid(s.Scenarios[0], []compare.Axis{axis})
			return &s, err
		},
		"yaml, value":  yaml("scenarios:\n  - {id: 1, name: a, role: data, fio: {rw: randread, bs: %s}}\n"),
		"yaml, option": yaml("scenarios:\n  - {id: 1, name: a, role: data, fio: {rw: randread, %s: 1}}\n"),
		"yaml, name":   yaml("scenarios:\n  - {id: 1, name: %s, role: data, fio: {rw: randread}}\n"),
		"yaml, of all": yaml("fio: {rw: randread, bs: %s}\nscenarios:\n  - {id: 1, name: a, role: data}\n"),
		"job file": func(part string) (*suite.Suite, error) {
			job, err := fio.ParseJobFile("j.fio", []byte("[a]\nrw=randread\nsize=1m\nbs="+part+"\n"), fio.ParseOptions{})
			if err != nil {
				return nil, err
			}
			return &suite.Suite{Scenarios: []suite.Scenario{{ID: 1, Name: "a", Role: topology.Data, AsIs: true, Job: *job}}}, nil
		},
		"record": func(part string) (*suite.Suite, error) {
			s, err := base()
			s.Scenarios = slices.Clone(s.Scenarios)
			s.Scenarios[0].Job.Sections = []fio.Section{{Name: part, Options: []fio.Option{{Name: "rw", Value: "randread"}}}}
			return &s, err
		},
		"demand": func(part string) (*suite.Suite, error) {
			d, err := workload.Parse("d.yaml", []byte("workload: a\nstreams:\n"+
				"  - {name: a, does: random read, block: 4KiB, rate: 100 IOPS, threads: 1}\n"))
			if err != nil {
				return nil, err
			}
			d.Name, d.Streams[0].Name = part, part
			return suite.FromDemand(d)
		},
	}
}

// Whatever is put into a door, in whatever spelling, no job comes out that has another line than
// those it was looked at for: it is refused at the door or when consent is decided, on the joined job.
func TestJoinedJobsAreRefused(t *testing.T) {
	dir := t.TempDir()
	tried, looked, refused := 0, 0, 0
	all := doors()
	for _, door := range slices.Sorted(maps.Keys(all)) {
		passed, first := 0, error(nil)
		for _, line := range dangerous(t) {
			if door == "job file" && !strings.HasSuffix(line, "=7") {
				continue // there it is its own line, and stands for itself
			}
			for _, spelling := range spellings() {
				if tried++; os.Getenv("PLIMSOLL_JOINED_ALL") == "" && tried%13 != 0 {
					continue // 13 and the number of spellings have no divisor in common
				}
				looked++
				s, err := all[door](fmt.Sprintf(spelling, line))
				if err != nil {
					if refused++; passed == 0 {
						first = err
					}
					continue
				}
				c := s.Scenarios[len(s.Scenarios)-1]
				topo := &topology.Topology{Tree: &block.Tree{}}
				p, err := permit.Open(topo, topology.Target{Role: topology.Data, Path: dir}, s.Scenarios, permit.Consent{})
				if err != nil {
					t.Fatal(err)
				}
				err = p.Check(c)
				file := p.FileFor(c)
				p.Close()
				if err != nil {
					refused++
					continue
				}
				job := c.Place(file)
				if has(job.Text(), line) {
					t.Errorf("%s: %q lets %s through", door, spelling, line)
				}
				passed++
			}
		}
		t.Logf("%s: %d let through as harmless; one refusal at the door: %.150v", door, passed, first)
	}
	if looked < 1000 {
		t.Errorf("%d spellings: want at least 1,000", looked)
	}
	t.Logf("%d of %d tried, %d refused", looked, tried, refused)
}

// has tells whether fio would read a line as an option of its own.
func has(text []byte, line string) bool {
	for at := range strings.Lines(string(text)) {
		at, _, _ = strings.Cut(at, "\x00") // what fgets has read ends there for fio
		if before, _, _ := strings.Cut(strings.TrimSpace(at), "="); strings.TrimSpace(before)+"=" == line[:strings.Index(line, "=")+1] &&
			strings.Contains(at, strings.TrimSpace(line[strings.Index(line, "=")+1:])) {
			return true
		}
	}
	return false
}

// A variant of plimsoll ab that brings a line with it is refused by name.
func TestVariantWithALineBreak(t *testing.T) {
	s, err := doors()["ab, value"]("4k\nexec_prerun=touch " + filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	table := fio.BuiltinOptions()
	if err := s.Check(table); err == nil || !strings.Contains(err.Error(), "line breaks") {
		t.Errorf("%v, want a refusal that names the line break", err)
	}
}
