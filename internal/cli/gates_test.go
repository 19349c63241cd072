package cli

import (
	"bytes"
	"os"
	"path/filepath"
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
)

// gateRun stores a run of one or two scenarios; w is what its state says.
func gateRun(t *testing.T, dir, side string, at time.Time, iops float64, state gateState) string {
	t.Helper()
	r := bundle.Run{
		Tool: "test", Fio: "fio-3.41", Created: at, Imported: []string{"a test"}, Labels: map[string]string{"side": side},
		Suite: suite.Suite{Name: "gates"},
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
	return whole.Dir
}

// typedCommand runs a command line and returns its exit code and what it says on standard error.
func typedCommand(t *testing.T, line string) (code int, errs string) {
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
	return form.ExitCode(err), errors.String()
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
	states := []gateState{gateValid, gateSlower, gateInvalid, gateMissing, gateTooFew, gateInterrupted}
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
	// What a gate ends with by state: valid, slower, INVALID, missing, too few, interrupted.
	for _, c := range []struct {
		command string // NEW is the side, ONE a single run of it
		codes   [6]int
	}{
		{"compare base NEW", [6]int{}},
		{"compare base NEW --fail-on regression", [6]int{0, 3, 4, 1, 1, 1}},
		{"compare base NEW --fail-on regression:5%", [6]int{0, 3, 4, 1, 1, 1}},
		{"compare base NEW --fail-on cannot-tell --margin 10%", [6]int{0, 3, 4, 3, 3, 3}},
		{"compare NEW base --fail-on regression", [6]int{0, 0, 4, 1, 1, 1}},
		{"compare --by side base NEW --fail-on regression", [6]int{0, 3, 4, 1, 1, 1}},
		{"compare ONE --against last:10 --in base", [6]int{}},
		{"compare ONE --against last:10 --in base --fail-on regression", [6]int{0, 3, 4, 1, 0, 1}},
		{"compare ONE --against last:10 --in four --fail-on regression", [6]int{1, 1, 4, 1, 1, 1}},
		{"compare ONE --against last:10 --in four --fail-on cannot-tell", [6]int{3, 3, 4, 3, 3, 3}},
		{"compare ONE --against table.yaml --fail-on regression", [6]int{0, 3, 4, 1, 0, 1}},
		{"compare ONE --against table.yaml --fail-on cannot-tell", [6]int{0, 0, 4, 3, 0, 3}},
		{"compare ONE --against BASE --fail-on regression", [6]int{1, 1, 4, 1, 1, 1}},
		{"compare ONE --demand demand.yaml", [6]int{0, 3, 4, 0, 0, 1}}, // what it does not have it was not to have
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
		}
	}
	for _, state := range states {
		b, err := bundle.Open(one[state])
		if err != nil {
			t.Fatal(err)
		}
		if got := form.ExitCode(form.RunError(b)); (got == 4) != (state == gateInvalid) {
			t.Errorf("run, %s: exit %d", state, got)
		}
	}
}
