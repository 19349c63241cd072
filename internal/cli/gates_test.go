package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// gateState is what a new measurement came to.
type gateState string

const (
	gateValid       gateState = "valid"
	gateSlower      gateState = "slower"
	gateInvalid     gateState = "INVALID"
	gateMissing     gateState = "missing"
	gateTooFew      gateState = "too few"
	gateInterrupted gateState = "interrupted"
	gateDamaged     gateState = "damaged" // after it was sealed
	gateCut         gateState = "cut"     // a result of it is gone
	gateTwice       gateState = "twice"   // a copy of it lies beside it
	gateElsewhere   gateState = "elsewhere"
)

// gateStates are all of them, in the order of the table of codes.
func gateStates() []gateState {
	return []gateState{
		gateValid, gateSlower, gateInvalid, gateMissing, gateTooFew, gateInterrupted, gateDamaged, gateCut, gateTwice,
		gateElsewhere,
	}
}

// gateRun stores a run of one or two scenarios; w is what its state says.
func gateRun(t *testing.T, dir, side string, at time.Time, iops float64, state gateState) string {
	t.Helper()
	r := bundle.Run{
		Tool: "test", Fio: "fio-3.41", Created: at, Imported: []string{"a test"}, Labels: map[string]string{"side": side},
		Suite: suite.Suite{Name: "gates"},
	}
	for pair := range strings.SplitSeq(side, ",") { // more labels
		if k, v, more := strings.Cut(pair, "="); more {
			r.Labels[k] = v
		}
	}
	if state == gateElsewhere {
		r.Topology.Host.Name = "another"
	}
	for i, name := range []string{"v", "w"} {
		r.Suite.Scenarios = append(r.Suite.Scenarios, suite.Scenario{ID: i + 1, Name: name, Role: topology.Data, AsIs: true})
	}
	if state == gateMissing {
		r.Suite.Scenarios = r.Suite.Scenarios[:1]
	}
	b, err := bundle.Create(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i, s := range b.Run.Suite.Scenarios {
		if state == gateInterrupted && i > 0 {
			break
		}
		res := &result.Result{ID: s.ID, Name: s.Name, Role: topology.Data, State: result.Done, Start: at, Measured: time.Minute}
		if state == gateInvalid && i > 0 {
			res.State, res.Reasons = result.Invalid, []string{"nobody should trust it"}
		}
		res.Total.Write.IOPS = units.IOPS(iops)
		res.Total.Write.BW = units.Rate(iops * 8192)
		res.IOPS = stats.Estimate{Center: iops, Lo: iops, Hi: iops}
		// Each does work of its own, else they would be rounds of one thing.
		res.Workloads = []fio.Workload{{Engine: "libaio", Direct: true, WriteBS: 8192 << i, Jobs: 4, Depth: 32}}
		tmp, err := b.Begin(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Keep(s, tmp, res); err != nil {
			t.Fatal(err)
		}
	}
	end := bundle.Finished
	if state == gateInterrupted {
		end = bundle.Interrupted
	}
	whole, err := b.Finish(end, at)
	if err != nil {
		t.Fatal(err)
	}
	switch name := filepath.Join(whole.Dir, "02-w", "result.json"); state { //nolint:exhaustive // others are made before
	case gateDamaged:
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, bytes.Replace(data, []byte(`"state": "done"`), []byte(`"state":  "done"`), 1), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	case gateCut:
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	case gateTwice:
		if err := os.CopyFS(whole.Dir+"-copy", os.DirFS(whole.Dir)); err != nil {
			t.Fatal(err)
		}
	}
	return whole.Dir
}

// typedCommand runs a command line and returns its exit code and what it says on standard error.
func typedCommand(t *testing.T, line string) (code int, errs string) {
	t.Helper()
	code, _, errs = typed(t, line)
	return code, errs
}

// typed returns what the command prints, too.
func typed(t *testing.T, line string) (code int, said, errs string) {
	t.Helper()
	var out, errors bytes.Buffer
	args := strings.Fields(line)
	env := &form.Env{Machine: sys.Host(), Version: Version, In: strings.NewReader(""), Out: &out, Err: &errors, Args: args}
	root := newRootCmd(env)
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	if err != nil && err.Error() != "" {
		errors.WriteString(form.Readable(err))
	}
	return form.ExitCode(err), out.String(), errors.String()
}

// gateRounds are the deviations of five rounds.
var gateRounds = []float64{1, 1.012, 0.99, 1.004, 0.994}

// TestWhatCannotBeJudgedIsNeverGreen: each command that is a gate, each state that a measurement
// can be in, each option (G2 of the third review by users: an INVALID side ended with 0).
func TestWhatCannotBeJudgedIsNeverGreen(t *testing.T) {
	t.Chdir(t.TempDir())
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for i, deviation := range gateRounds {
		gateRun(t, "base", "base", began.Add(time.Duration(i)*time.Hour), 1000*deviation, gateValid)
	}
	gateRun(t, "four", "base", began, 1000, gateValid)
	table := "name: mine\nfigures:\n  - {scenario: v, figure: iops, value: \"1000\"}\n" +
		"  - {scenario: w, figure: iops, value: \"1000\"}\n"
	if err := os.WriteFile("table.yaml", []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	demand := "workload: log\ncapacity: 1GiB\nstreams:\n  - {name: log, does: random write, block: 8KiB, rate: 7MiB/s, " +
		"arrivals: paced, sync: none}\n"
	if err := os.WriteFile("demand.yaml", []byte(demand), 0o600); err != nil {
		t.Fatal(err)
	}
	states := gateStates()
	one := map[gateState]string{}
	for _, state := range states {
		rounds, iops := gateRounds, 1000.0
		if state == gateTooFew {
			rounds = rounds[:1]
		}
		if state == gateSlower {
			iops = 500
		}
		for i, deviation := range rounds {
			at := began.Add(time.Duration(24+i) * time.Hour)
			one[state] = gateRun(t, string(state)+"s", "new", at, iops*deviation, state)
		}
		if err := os.Rename(string(state)+"s", strings.ReplaceAll(string(state), " ", "-")); err != nil {
			t.Fatal(err)
		}
		one[state] = filepath.Join(strings.ReplaceAll(string(state), " ", "-"), filepath.Base(one[state]))
	}
	kinds := []string{ // of gates, whose files are looked at, too
		"compare base NEW --fail-on regression:5%", "compare base NEW --fail-on cannot-tell --margin 10%",
		"compare ONE --against last:10 --in base --fail-on regression",
		"compare ONE --against table.yaml --fail-on cannot-tell",
	}
	// What a gate ends with by state: valid, slower, INVALID, missing, too few, interrupted, damaged, cut, twice,
	// elsewhere.
	for _, c := range []struct {
		command string // NEW is the side, ONE a single run of it
		codes   [10]int
	}{
		{"compare base NEW", [10]int{}},
		{"compare base NEW --fail-on regression", [10]int{0, 3, 4, 1, 1, 1, 4, 4, 1, 0}},
		{"compare base NEW --fail-on regression:5%", [10]int{0, 3, 4, 1, 1, 1, 4, 4, 1, 0}},
		{"compare base NEW --fail-on cannot-tell --margin 10%", [10]int{0, 3, 4, 3, 3, 3, 4, 4, 3, 0}},
		{"compare NEW base --fail-on regression", [10]int{0, 0, 4, 1, 1, 1, 4, 4, 1, 0}},
		{"compare --by side base NEW --fail-on regression", [10]int{0, 3, 4, 1, 1, 1, 4, 4, 1, 0}},
		{"compare ONE --against last:10 --in base", [10]int{}},
		{"compare ONE --against last:10 --in base --fail-on regression", [10]int{0, 3, 4, 1, 0, 1, 4, 4, 0, 1}},
		{"compare ONE --against last:10 --in twice --fail-on regression", [10]int{1, 1, 4, 1, 1, 1, 4, 4, 1, 1}},
		{"compare ONE --against last:10 --in four --fail-on regression", [10]int{1, 1, 4, 1, 1, 1, 4, 4, 1, 1}},
		{"compare ONE --against last:10 --in four --fail-on cannot-tell", [10]int{3, 3, 4, 3, 3, 3, 4, 4, 3, 3}},
		{"compare ONE --against table.yaml --fail-on regression", [10]int{0, 3, 4, 1, 0, 1, 4, 4, 0, 0}},
		{"compare ONE --against table.yaml --fail-on cannot-tell", [10]int{0, 3, 4, 3, 0, 3, 4, 4, 0, 0}},
		{"compare ONE --against BASE --fail-on regression", [10]int{1, 1, 4, 1, 1, 1, 4, 4, 1, 1}},
		// what it does not have it was not to have
		{"compare ONE --demand demand.yaml", [10]int{0, 3, 4, 0, 0, 1, 4, 4, 0, 0}},
	} {
		for i, state := range states {
			side := strings.ReplaceAll(string(state), " ", "-")
			bases, _ := filepath.Glob("base/*") // the pattern is a good one
			line := strings.NewReplacer("NEW", side, "ONE", one[state], "BASE", bases[0]).Replace(c.command)
			code, errs := typedCommand(t, line)
			if code != c.codes[i] {
				t.Errorf("plimsoll %s: exit %d, want %d: %s", line, code, c.codes[i], errs)
			}
			unjudged := strings.Count(errs, "cannot be judged: ")
			if (code == 1 || code == 4) && unjudged == 0 || code == 0 && errs != "" {
				t.Errorf("plimsoll %s: exit %d and %q", line, code, errs)
			}
			if slices.Contains(kinds, c.command) && !testing.Short() {
				filesAgree(t, line, code)
			}
		}
	}
	for _, state := range states {
		b, err := bundle.Open(one[state])
		if err != nil {
			t.Fatal(err)
		}
		if got := form.ExitCode(form.RunError(b)); (got == 4) != (state == gateInvalid || state == gateDamaged ||
			state == gateCut) {
			t.Errorf("run, %s: exit %d", state, got)
		}
	}
}

// loose is a document without blanks: some are dense.
func loose(s string) string { return strings.ReplaceAll(s, " ", "") }

// filesAgree holds that each file of a gate is as red as its exit code, and names why.
func filesAgree(t *testing.T, line string, code int) {
	t.Helper()
	for format, red := range map[string]func(file string) bool{
		"junit": func(file string) bool {
			return strings.Contains(file, "<failure") || strings.Contains(file, "<error")
		},
		"sarif":  func(file string) bool { return strings.Contains(file, `"level": "error"`) },
		"github": func(file string) bool { return strings.Contains(file, "::error") },
		"json": func(file string) bool {
			var document struct{ Headline struct{ Verdict string } }
			return json.Unmarshal([]byte(file), &document) != nil || document.Headline.Verdict != "pass"
		},
	} {
		got, file, errs := typed(t, line+" --format "+format)
		if got != code || red(file) != (code != 0) {
			t.Errorf("plimsoll %s --format %s: exit %d, as text %d:\n%s", line, format, got, code, file)
		}
		reason, _, _ := strings.Cut(strings.TrimSpace(errs), "\n")
		_, reason, _ = strings.Cut(reason, "cannot be judged: ")
		reason, _, _ = strings.Cut(reason, "; ")
		plain := strings.NewReplacer("&#39;", "'", "&amp;", "&", "%25", "%").Replace(file)
		if format != "json" && !strings.Contains(plain, reason) {
			t.Errorf("plimsoll %s --format %s does not say %q:\n%s", line, format, reason, file)
		}
	}
}

// A run whose files were changed, or of which one is gone, is red wherever it is shown: in each form of its report, in
// the list, in the history, to Prometheus, and as a host of a fleet, whose record is sealed as well.
func TestDamageIsNamedEverywhere(t *testing.T) {
	t.Chdir(t.TempDir())
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, state := range []gateState{gateDamaged, gateCut} {
		in := string(state)
		dir := gateRun(t, in, "base", began, 1000, state)
		for format, want := range map[string]string{
			"text": "INVALID", "json": `"verdict": "invalid"`, "junit": "<error", "sarif": `"level": "error"`,
			"github": "::error", "md": "INVALID", "csv": "invalid",
		} {
			_, said, errs := typed(t, "report "+dir+" --format "+format)
			if !strings.Contains(loose(said), loose(want)) || format != "csv" && !strings.Contains(said, "result.json") {
				t.Errorf("%s, %s: want %s:\n%s%s", state, format, want, said, errs)
			}
		}
		if _, said, _ := typed(t, "report "+in+" --format openmetrics"); !strings.Contains(said, `verdict="invalid"`) {
			t.Errorf("%s, openmetrics:\n%s", state, said)
		}
		if _, said, _ := typed(t, "runs "+in); !strings.Contains(said, "INVALID") {
			t.Errorf("%s, runs:\n%s", state, said)
		}
		if _, said, _ := typed(t, "runs --history "+in+" --json"); !strings.Contains(loose(said),
			loose(`"invalid": "the run's files are damaged`)) {
			t.Errorf("%s, history:\n%s", state, said)
		}
		gateRun(t, "two-"+in, "base", began, 1000, gateElsewhere)
		if err := os.CopyFS("two-"+in+"/h", os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if code, said, errs := typed(t, "fleet import two-"+in+" --out fleets-"+in); code != 4 ||
			!strings.Contains(said, "damaged") {
			t.Errorf("%s, fleet import: exit %d\n%s%s", state, code, said, errs)
		}
	}
	gateRun(t, "pair", "base", began, 1000, gateValid)
	gateRun(t, "pair", "base", began, 1000, gateElsewhere)
	if code, said, errs := typed(t, "fleet import pair --out fleets"); code == 1 || code == 2 {
		t.Fatalf("exit %d\n%s%s", code, said, errs)
	}
	fleets, _ := filepath.Glob("fleets/*/fleet.json") // the pattern is a good one
	data, err := os.ReadFile(fleets[0])
	if err == nil {
		err = os.WriteFile(fleets[0], bytes.Replace(data, []byte("another"), []byte("changed"), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"text": "INVALID", "json": `"verdict": "invalid"`, "junit": "<error",
		"sarif": `"level": "error"`, "github": "::error",
	} {
		_, said, _ := typed(t, "report "+filepath.Dir(fleets[0])+" --format "+format)
		if !strings.Contains(loose(said), loose(want)) || !strings.Contains(said, "fleet.json") {
			t.Errorf("fleet.json, %s: want %s:\n%s", format, want, said)
		}
	}
}
