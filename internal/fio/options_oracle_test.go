package fio

import (
	"bufio"
	"compress/gzip"
	"os"
	"slices"
	"strings"
	"testing"
)

// oraclePair is an option with a value and what real binaries did with it: a job of ioengine and
// size=1m was read by each, up to the start of the jobs. The file was made on 2026-11-22 from
// Debian's fio 3.33, the newest commit at hand (2026-08-21), 2.1.11 and 3.33 with all libraries.
type oraclePair struct {
	option, engine, value string
	verdict               map[string]string // by binary; with _parse_only behind it, of --parse-only
}

func oraclePairs(t *testing.T) []oraclePair {
	t.Helper()
	f, err := os.Open("testdata/fio-oracle.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	var pairs []oraclePair
	for lines := bufio.NewScanner(z); lines.Scan(); {
		col := strings.Split(lines.Text(), "\t")
		if head == nil {
			head = col
			continue
		}
		p := oraclePair{col[0], col[1], col[2], map[string]string{}}
		for i, name := range head[3:] {
			p.verdict[name] = col[i+3]
			if col[i+3] == "=" {
				p.verdict[name] = col[i+2]
			}
		}
		pairs = append(pairs, p)
	}
	if len(pairs) != 9643 {
		t.Fatalf("%d pairs, want 9,643", len(pairs))
	}
	return pairs
}

// text is the job file that the binaries were given.
func (p oraclePair) text() string {
	text := "[a]\n"
	if p.option != "ioengine" {
		text += "ioengine=" + p.engine + "\n"
	}
	if p.option != "size" {
		text += "size=1m\n"
	}
	switch {
	case strings.HasPrefix(p.option, "@"):
		text += p.option[1:]
	case p.value == `\0`:
		text += p.option
	default:
		text += p.option + "=" + p.value
	}
	return text + "\n"
}

// section is that job as fio judges it.
func (p oraclePair) section() JobText {
	env := map[string]string{"SZ": "1m"}
	f, err := ParseJobFile("a", []byte(p.text()), ParseOptions{
		Env:     func(name string) (string, bool) { return env[name], true },
		Include: func(string) ([]byte, error) { return nil, nil },
	})
	if err != nil {
		return JobText{Own: []Option{{Name: err.Error()}}}
	}
	s := f.Effective(0)
	return JobText{Own: s.Options, All: s.Options, Before: []string{}, Open: func(o Option) bool { return strings.Contains(o.Value, "$") }}
}

// ofTheMachine says whether a refusal depends on the machine or on how fio was built: an engine
// that is not loadable, folders, CPUs and NUMA nodes, memory; or is a crash of fio.
func (p oraclePair) ofTheMachine(verdict string) bool {
	main := EveryOption().Main(p.option)
	return strings.HasPrefix(verdict, "X") || strings.Contains(verdict, "engine-not-loadable") ||
		slices.Contains([]string{
			"directory", "opendir", "cpus_allowed", "cpumask", "numa_cpu_nodes", "numa_mem_policy",
			"log_compression_cpus", "verify_async_cpus", "nrfiles", "gtod_cpu",
		}, main) &&
			(strings.HasSuffix(verdict, "failed-parsing") && !strings.Contains(p.verdict["debian_3.33_parse_only"], "failed") ||
				strings.Contains(verdict, "OOM") || main == "cpumask")
}

// kindOfMiss names why a refusal is not found; empty when it should be.
func (p oraclePair) kindOfMiss(binary string) string {
	main := EveryOption().Main(p.option)
	switch {
	case p.value == "cudamalloc":
		return "a word of builds with CUDA"
	case strings.Contains(p.value, "("):
		return "a sum is not worked out"
	case strings.Contains(p.value, "$"):
		return "a variable is not known"
	case strings.HasPrefix(p.value, "'"):
		return "a file is not looked for"
	case strings.HasPrefix(p.value, "external"):
		return "a plugin is not looked for"
	case slices.Contains([]string{"size", "numjobs", "zonesize", "bs", "rate_min", "ratemin", "rate_iops_min", "steadystate_duration"}, main):
		return "what options do together, of a list, a share or a negative number"
	case strings.Contains(p.verdict[binary], "too-long"):
		return "a list of one element"
	case main == "random_distribution":
		return "a comma in random_distribution"
	case binary == "newest" && slices.Contains([]string{"atomic", "sprandom", "log_issue_time", "write_mode", "fdp_pli", "plids", "dp_scheme", "steadystate_duration"}, main),
		binary == "2.1.11" && (main == "rate_iops" || main == "bssplit" || strings.HasPrefix(p.option, "@include")):
		return "a check of one version only"
	}
	return ""
}

// Every pair of option and value against what real binaries said of it: nothing that one of them
// takes is refused here, in any version, and at most 3 % of what they refuse is missed.
func TestRefusalsAgainstRealBinaries(t *testing.T) {
	pairs := oraclePairs(t)
	for _, c := range []struct {
		binary string
		table  *OptionTable
		most   float64 // share of refusals that may be missed
	}{
		{"debian_3.33", OptionsOf(Version{3, 33}).WithoutSums(), 0.03},
		{"built_3.33", OptionsOf(Version{3, 33}), 0.03},
		{"newest", OptionsOf(Version{3, 43}), 0.03},
		{"2.1.11", OptionsOf(Version{2, 1}), 0.03},
	} {
		wrong, missed, refused, taken := 0, map[string]int{}, 0, 0
		for _, p := range pairs {
			verdict := p.verdict[c.binary]
			if verdict == "N" || p.ofTheMachine(verdict) {
				continue
			}
			said := c.table.Refusals(p.section())
			if only := p.verdict[c.binary+"_parse_only"]; strings.HasPrefix(only, "A") {
				for _, r := range said { // what --parse-only takes is refused by a run only
					if !r.InRun {
						t.Errorf("%s --parse-only takes %s=%s (%s); said: %s", c.binary, p.option, p.value, p.engine, r.Says)
					}
				}
			}
			switch {
			case strings.HasPrefix(verdict, "A"):
				taken++
				if len(said) > 0 {
					wrong++
					t.Errorf("%s takes %s=%s (%s); refused: %s %s", c.binary, p.option, p.value, p.engine, said[0].Kind, said[0].Says)
				}
			default:
				refused++
				if len(said) == 0 {
					kind := p.kindOfMiss(c.binary)
					missed[kind]++
					if kind == "" {
						t.Errorf("%s refuses %s=%s (%s): %s; nothing is said, and no kind of miss is known for it", c.binary, p.option, p.value, p.engine, verdict)
					}
					if os.Getenv("MISSED") != "" {
						t.Logf("missed: %s %s=%s (%s): %s", c.binary, p.option, p.value, p.engine, verdict)
					}
				}
			}
		}
		all := 0
		for _, n := range missed {
			all += n
		}
		t.Logf("%s: %d of %d taken values refused; %d of %d refusals missed: %v", c.binary, wrong, taken, all, refused, missed)
		if float64(all) > c.most*float64(refused) {
			t.Errorf("%s: %d of %d refusals missed", c.binary, all, refused)
		}
	}
}

// What fio 3.33 did with each number below 0 of the oracle file: where it took one that is no sign, lint says that
// it is another number or none, and where it said "out of range" and went on, that it went on.
func TestNumbersBelowZeroAgainstRealBinaries(t *testing.T) {
	table := OptionsOf(Version{3, 33}).WithoutSums()
	ignored, read, refused := 0, 0, 0
	for _, p := range oraclePairs(t) {
		verdict := p.verdict["debian_3.33"]
		row := table.row(p.option, versionIndex(Version{3, 33}), "", true)
		if row == nil || verdict == "N" || !minus.MatchString(p.value) {
			continue
		}
		_, counts := row.negative(p.value, build{version: Version{3, 33}, k: 1024})
		said := table.Misreadings(p.section())
		says := ""
		if len(said) > 0 {
			says = said[0].Says
		}
		switch {
		case !counts:
			if slices.Contains([]optionType{typeNumber, typeLarge, typeSize, typeTime, typeZones}, row.kind) &&
				row.least >= 0 && len(row.engines) == 0 && !slices.Contains(signed, row.name) {
				t.Errorf("%s=%s is not looked at", p.option, p.value)
			}
		case strings.HasPrefix(verdict, "D"):
			refused++
			if says != "" {
				t.Errorf("%s refuses %s=%s, said: %s", verdict, p.option, p.value, says)
			}
		case verdict == "A:out-of-range" && row.least > 0:
			ignored++
			if !strings.Contains(says, "runs the job without it") {
				t.Errorf("%s=%s: %q", p.option, p.value, says)
			}
		case strings.HasPrefix(verdict, "A"):
			read++
			if !strings.HasPrefix(says, "is read as") && says != "is not a power of 2: fio runs the job without it" {
				t.Errorf("%s=%s: %q", p.option, p.value, says)
			}
		}
	}
	t.Logf("%d ignored, %d read as another number, %d refused", ignored, read, refused)
	if ignored < 2 || read < 50 || refused < 5 {
		t.Error("want 2, 50 and 5 at least")
	}
}

// WithoutSums is the table of a build without flex and bison, which refuses sums in parentheses.
func (t *OptionTable) WithoutSums() *OptionTable {
	c := *t
	c.noSums = true
	return &c
}
