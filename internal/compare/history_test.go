package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// inMemory is a run of one scenario that nothing was written of.
func inMemory(n int, iops float64) *bundle.Bundle {
	b := &bundle.Bundle{Run: bundle.Run{
		ID: fmt.Sprintf("run-%03d", n), Created: began.Add(time.Duration(n) * 24 * time.Hour), State: bundle.Finished,
		Topology: topology.Topology{
			Host:    topology.Host{Name: "db1", Kernel: "6.1"},
			Arrays:  []topology.Array{{Name: "md0", Level: topology.RAID0, Chunk: 64 << 10, Volumes: make([]topology.Volume, 4)}},
			Targets: []topology.Target{{Role: topology.Data, Array: "md0"}},
		},
	}}
	b.Run.Suite.Name = "db"
	w := randwrite("w", 8192, iops)
	s := bundle.Scenario{}
	s.ID, s.Name, s.Role, s.Runtime = 8, w.name, topology.Data, time.Minute
	s.Result = resultOf(w, b.Run.Created)
	b.Scenarios = []bundle.Scenario{s}
	return b
}

func twenty(rng *rand.Rand) []*bundle.Bundle {
	var runs []*bundle.Bundle
	for i := range 20 {
		runs = append(runs, inMemory(i, 1000*math.Exp(.05*rng.NormFloat64())))
	}
	return runs
}

// Twenty runs with a spread of 5 % and a new one: nothing changed is an alarm in 1 of 100 at most,
// -20 % in 50 at least: the nights after it show the rest.
func TestAlarms(t *testing.T) {
	for _, c := range []struct {
		change      float64
		least, most int
	}{{0, 0, 1}, {-.20, 50, 100}} {
		alarms := 0
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 4))
			runs := twenty(rng)
			a := AgainstRuns(inMemory(20, 1000*(1+c.change)*math.Exp(.05*rng.NormFloat64())), runs, 20)
			j := a.Rows[0]
			if j.Standing != AsExpected {
				alarms++
			}
			if j.Earlier < 15 || j.LeastSeen < .1 || j.LeastSeen > .4 {
				t.Fatalf("%+v", j)
			}
		}
		t.Logf("change %v: %d alarms of 100", c.change, alarms)
		if alarms < c.least || alarms > c.most {
			t.Errorf("change %v: %d alarms of 100, want %d to %d", c.change, alarms, c.least, c.most)
		}
	}
}

func TestAgainstRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	runs := twenty(rng)
	now := inMemory(20, 700)
	now.Run.Topology.Host.Kernel = "6.8"
	a := AgainstRuns(now, append(runs, now), 10)
	j := a.Rows[0]
	if j.Standing != Regression || j.Earlier != 10 || strings.Join(j.Changed, ";") != "kernel was 6.1 and is 6.8" {
		t.Errorf("%+v", j)
	}
	for gate, fails := range map[Gate]int{
		{Regression: true}: 1, {Regression: true, By: .05}: 1, {Regression: true, By: .5}: 0, {}: 0, {CannotTell: true, By: .01}: 1,
	} {
		if got := a.Judge(gate); len(got.Failed) != fails || len(got.Invalid)+len(got.Unjudged) > 0 {
			t.Errorf("%+v: %+v", gate, got)
		}
	}
	if j := AgainstRuns(inMemory(20, 1500), runs, 20).Rows[0]; j.Standing != Better {
		t.Errorf("%+v", j)
	}
	few := AgainstRuns(inMemory(20, 1), runs[:4], 10)
	if j := few.Rows[0]; j.Standing != Unjudged || j.Why != "too few runs to judge (4 of 5)" || len(few.Judge(Gate{Regression: true}).Unjudged) != 1 {
		t.Errorf("%+v", j)
	}
	// Another chunk is another thing.
	now = inMemory(20, 1000)
	now.Run.Topology.Arrays[0].Chunk = 512 << 10
	if j := AgainstRuns(now, runs, 10).Rows[0]; j.Standing != Unjudged || !strings.Contains(j.Why, "layout: raid0 4×volume, chunk 64") {
		t.Errorf("%+v", j)
	}
	// So are simulated rates, a run of a second, and another host.
	for what, change := range map[string]func(*bundle.Bundle){
		"simulated": func(b *bundle.Bundle) { b.Run.Topology.Scale = .1 },
		"run time":  func(b *bundle.Bundle) { b.Scenarios[0].Runtime = time.Second },
		"host":      func(b *bundle.Bundle) { b.Run.Topology.Host.Name = "db2" },
	} {
		now = inMemory(20, 1000)
		change(now)
		if j := AgainstRuns(now, runs, 10).Rows[0]; j.Standing != Unjudged || !strings.Contains(j.Why, what) {
			t.Errorf("%s: %+v", what, j)
		}
	}
	// Neither a run on a host that others use, too, nor earlier ones of such a host are compared.
	now = inMemory(20, 700)
	now.Run.Policy.SharedHost = "a CI runner"
	alone := AgainstRuns(now, runs, 10)
	if j := alone.Rows[0]; j.Standing != Unjudged || !strings.Contains(j.Why, "on a shared host (a CI runner)") ||
		len(alone.Judge(Gate{Regression: true}).Unjudged) != 1 {
		t.Errorf("%+v", j)
	}
	for _, b := range runs[:16] {
		b.Run.Policy.SharedHost = "a CI runner"
	}
	if j := AgainstRuns(inMemory(20, 1000), runs, 10).Rows[0]; j.Why != "too few runs to judge (4 of 5)" {
		t.Errorf("%+v", j)
	}
	// Runs that did not finish, and later ones, are no baseline.
	for _, b := range runs {
		b.Run.State = bundle.Interrupted
	}
	if j := AgainstRuns(inMemory(20, 1000), runs, 10).Rows[0]; j.Why != "too few runs to judge (0 of 5)" {
		t.Errorf("%+v", j)
	}
}

func TestHistory(t *testing.T) {
	runs := []*bundle.Bundle{inMemory(3, 1300), inMemory(1, 1100), inMemory(2, 0)}
	back := inMemory(4, 1400)
	back.Run.Finished = back.Run.Created.Add(-time.Hour)
	unset := inMemory(5, 1400)
	unset.Run.Created = time.Date(1970, 1, 1, 0, 0, 7, 0, time.UTC)
	all, notes := History(append(runs, back, unset), Filter{})
	if len(all) != 1 || len(all[0].Points) != 3 || all[0].Points[0].Value.Center != 1100 || all[0].Points[1].Invalid == "" {
		t.Errorf("%+v", all)
	}
	if len(notes) != 2 || !strings.Contains(strings.Join(notes, ""), "went back") || !strings.Contains(strings.Join(notes, ""), "was not set (1970-01-01)") {
		t.Error(notes)
	}
	for _, f := range []Filter{{Suite: "x"}, {Scenario: "x"}, {Host: "x"}, {Labels: map[string]string{"env": "prod"}}} {
		if all, _ := History(runs, f); len(all) != 0 {
			t.Errorf("%+v: %+v", f, all)
		}
	}
	for _, f := range []Filter{{Suite: "db"}, {Scenario: "w"}, {Scenario: "8"}, {Host: "db1"}, {By: ByKernel}, {Last: 1}} {
		if all, _ := History(runs, f); len(all) != 1 || f.Last == 1 && len(all[0].Points) != 1 || f.By != "" && all[0].Key.Group != "6.1" {
			t.Errorf("%+v: %+v", f, all)
		}
	}
}

func TestExpectations(t *testing.T) {
	for _, name := range Tables() {
		if _, err := ReadExpectations(name); err != nil {
			t.Error(err)
		}
	}
	e, err := ParseExpectations("t.yaml", []byte(`
name: mine
tolerance: 5%
figures:
  - {scenario: w, figure: iops, value: "1,000"}
  - {scenario: "8", figure: write.bw, value: 7.8MiB/s, tolerance: 10%}
  - {scenario: w, figure: write.clat.p99, value: 2ms}
  - {scenario: other, figure: iops, value: "1"}
`))
	if err != nil {
		t.Fatal(err)
	}
	for iops, want := range map[float64]Standing{1000: AsExpected, 960: AsExpected, 940: Regression, 1060: Better} {
		a := AgainstTable(inMemory(1, iops), e)
		if got := a.Rows[0].Standing; got != want || a.Rows[3].Why != "not measured in this run" || a.Rows[2].Standing != Unjudged {
			t.Errorf("%v: %s, %+v", iops, got, a.Rows)
		}
	}
	for bad, want := range map[string]string{
		"":                                    "no figures",
		"figures: [{scenario: w}]":            "figure 1 (w): figure \"\"",
		"figures: [{figure: iops, value: x}]": "value \"x\"",
		"figures: [{figure: iops, value: \"0\"}]":               "value \"0\"",
		"figures: [{figure: iops, value: \"1\", tolerance: 5}]": "tolerance \"5\"",
		"figures: [{figure: read.clat.px, value: 1ms}]":         "want one such as",
		"figures: [{figure: total.clat.p99, value: 1ms}]":       "want one such as",
		"figures: [{figure: trim.iops, value: \"1\"}]":          "want one such as",
		"colour: red": "unknown field",
	} {
		if _, err := ParseExpectations("t.yaml", []byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := ReadExpectations("nosuch.yaml"); err == nil || !strings.Contains(err.Error(), "guide") {
		t.Error(err)
	}
}

func FuzzExpectations(f *testing.F) {
	f.Add([]byte("figures: [{scenario: w, figure: iops, value: \"1\"}]"))
	f.Add([]byte("name: x\ntolerance: 3%\nfigures:\n - {scenario: a, figure: read.clat.p99.9, value: 2ms}"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		if len(data) > 300 {
			return
		}
		e, err := ParseExpectations("t.yaml", data)
		if err != nil {
			return
		}
		for _, x := range e.Figures {
			if v, share, err := x.limits(e.Tolerance); err != nil || !usable(v) || !(share > 0 && share < 1) {
				t.Fatalf("%+v: %v %v %v", x, v, share, err)
			}
		}
	})
}

// T22, on made-up rounds: 200 comparisons of a suite of ten scenarios with itself, through
// everything that compare does, make a claim in at most 8 %; when all lose 15 %, the suite as a
// whole is slower in each.
func TestUnchangedSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	spreads := []float64{.004, .004, .006, .01, .02, .03, .04, .05, .05, .08}
	rng := rand.New(rand.NewPCG(22, 22))
	side := func(name string, level float64) Side {
		var runs []*bundle.Bundle
		for n := range 5 {
			b := inMemory(n, 1)
			b.Scenarios = nil
			for i, spread := range spreads {
				w := randwrite(fmt.Sprintf("s%d", i), units.Bytes(4096*(i+1)), 1000*level*math.Exp(spread*rng.NormFloat64()))
				s := bundle.Scenario{Result: resultOf(w, b.Run.Created)}
				s.ID, s.Name = i+1, w.name
				b.Scenarios = append(b.Scenarios, s)
			}
			runs = append(runs, b)
		}
		return SideOf(name, runs...)
	}
	claims, found := 0, 0
	for range 200 {
		same := compared(t, Options{}, side("a", 1), side("b", 1))
		if len(same.Rows) != 10 || same.Sides[0].Rounds != 5 {
			t.Fatalf("%d rows, %d rounds", len(same.Rows), same.Sides[0].Rounds)
		}
		for i := range same.Rows {
			if w := same.Rows[i].Cells[1].Change.Word; w == Faster || w == Slower {
				claims++
				break
			}
		}
		if s := compared(t, Options{}, side("a", 1), side("b", .85)).Suite[1]; s != nil && s.Word == Slower {
			found++
		}
	}
	t.Logf("claims where nothing changed: %d of 200; -15 %% found: %d of 200", claims, found)
	if claims > 16 || found < 200 {
		t.Errorf("claims where nothing changed: %d of 200; -15 %% found: %d of 200", claims, found)
	}
}
