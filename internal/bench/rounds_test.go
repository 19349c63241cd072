package bench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

func TestOrderOfRounds(t *testing.T) {
	var all []suite.Scenario
	for i, phase := range []string{"latency", "latency", "latency", "bandwidth", "bandwidth", "", "mixed"} {
		all = append(all, suite.Scenario{ID: i + 1, Phase: phase})
	}
	ids := func(p *bundle.RoundPlan, round int) []int {
		var out []int
		for _, s := range order(all, p, round) {
			out = append(out, s.ID)
		}
		return out
	}
	inOrder := []int{1, 2, 3, 4, 5, 6, 7}
	p := &bundle.RoundPlan{Most: 5, Seed: 7, Order: bundle.Shuffle}
	seen := map[string]bool{}
	for round := range 12 {
		got := ids(p, round)
		seen[fmt.Sprint(got)] = true
		if !slices.Equal(got, ids(p, round)) {
			t.Fatal("not the same twice")
		}
		for _, phase := range [][]int{got[:3], got[3:5], got[5:6], got[6:]} {
			slices.Sort(phase)
		}
		if !slices.Equal(got, inOrder) {
			t.Errorf("round %d mixes phases: %v", round, got)
		}
	}
	if len(seen) < 4 {
		t.Errorf("%d orders in 12 rounds", len(seen))
	}
	if other := (&bundle.RoundPlan{Most: 5, Seed: 8, Order: bundle.Shuffle}); slices.Equal(ids(p, 1), ids(other, 1)) && slices.Equal(ids(p, 2), ids(other, 2)) {
		t.Error("the seed changes nothing")
	}
	for _, same := range []*bundle.RoundPlan{nil, {Most: 1, Order: bundle.Shuffle}, {Most: 3, Order: bundle.FileOrder}} {
		if got := ids(same, 1); !slices.Equal(got, inOrder) {
			t.Errorf("%+v: %v", same, got)
		}
	}
}

func TestEachRoundHasItsSeed(t *testing.T) {
	s := suite.Scenario{ID: 8, Job: fio.JobFile{Sections: []fio.Section{{Name: "a", Options: []fio.Option{{Name: "rw", Value: "randread"}}}}}}
	p := &bundle.RoundPlan{Most: 3, Seed: 7}
	seed := func(s suite.Scenario) string { v, _ := s.Job.Effective(s.Job.Jobs()[0]).Get("randseed"); return v }
	one, two := seed(seeded(s, p, 1)), seed(seeded(s, p, 2))
	if one == "" || one == two || one != seed(seeded(s, p, 1)) || seed(s) != "" {
		t.Errorf("%q, %q; the suite's own has %q", one, two, seed(s))
	}
	if seed(seeded(s, nil, 0)) != "" {
		t.Error("one measurement got a seed")
	}
	s.Job.Sections[0].Options = append(s.Job.Sections[0].Options, fio.Option{Name: "randseed", Value: "42"})
	if got := seed(seeded(s, p, 1)); got != "42" {
		t.Errorf("the author's seed became %s", got)
	}
}

func TestKnownEnough(t *testing.T) {
	runnerOf := func(p bundle.RoundPlan) *runner {
		return &runner{plan: Plan{Rounds: &p, Suite: suite.Suite{Scenarios: []suite.Scenario{{ID: 1, Name: "calm"}, {ID: 2, Name: "noisy"}}}}}
	}
	of := func(iops float64) *result.Result {
		r := &result.Result{State: result.Done, Start: time.Now()}
		r.Total.Read.IOPS, r.Total.Read.BW = units.IOPS(iops), units.Rate(iops*8192)
		return r
	}
	done := map[mark]*result.Result{}
	noise := []float64{1, 1.06, .94, 1.03, .97, 1.05, .95, 1.01}
	for n, f := range noise {
		done[mark{n + 1, 1}] = of(1000 * (1 + f/1000))
		done[mark{n + 1, 2}] = of(500 * f)
	}
	r := runnerOf(bundle.RoundPlan{Least: 5, Most: 20, Until: .03})
	if e := r.known(4, done); e.Enough {
		t.Errorf("enough after four: %+v", e)
	}
	e := r.known(5, done)
	if e.Enough || e.Planned < 10 || e.Planned > 20 || len(e.Figures) != 2 || e.Figures[0].Precision.Half > .03 {
		t.Errorf("%+v", e)
	}
	if e := runnerOf(bundle.RoundPlan{Least: 5, Most: 20, Until: .5}).known(5, done); !e.Enough {
		t.Errorf("%+v", e)
	}
	if e := runnerOf(bundle.RoundPlan{Least: 3, Most: 3}).known(3, done); !e.Enough || e.Planned != 3 {
		t.Errorf("%+v", e)
	}
	// What has no valid figure keeps nobody waiting.
	delete(done, mark{1, 2})
	for n := range noise {
		delete(done, mark{n + 1, 2})
	}
	if e := r.known(5, done); !e.Enough {
		t.Errorf("%+v", e)
	}
}

// The last round is the number of rounds, whatever more the goal would have needed; what was missed
// is shown.
func TestLastRoundIsTheNumberOfRounds(t *testing.T) {
	done := map[mark]*result.Result{}
	for n, f := range []float64{1, 1.06, .94, 1.03, .97, 1.05} {
		res := &result.Result{State: result.Done}
		res.Total.Read.IOPS, res.Total.Read.BW = units.IOPS(500*f), units.Rate(500*f*8192)
		done[mark{n + 1, 1}] = res
	}
	after := func(round int, p bundle.RoundPlan, elapsed time.Duration) RoundEnded {
		r := &runner{plan: Plan{Rounds: &p, Suite: suite.Suite{Scenarios: []suite.Scenario{{ID: 1, Name: "noisy"}}}}}
		e := r.known(round, done)
		e.end(p, elapsed, float64(round))
		return e
	}
	p := bundle.RoundPlan{Least: 5, Most: 6, Until: .03}
	if e := after(6, p, time.Minute); !e.Enough || e.Planned != 6 || e.Rest != 0 || !e.GoalMissed || e.BudgetSpent {
		t.Errorf("at the most rounds: %+v", e)
	}
	if e := after(5, p, 50*time.Second); e.Enough || e.Planned != 6 || e.Rest != 10*time.Second || e.GoalMissed {
		t.Errorf("before the last: %+v", e)
	}
	p.Most, p.Budget = 20, time.Minute
	if e := after(5, p, 55*time.Second); !e.Enough || e.Planned != 5 || e.Rest != 0 || !e.BudgetSpent {
		t.Errorf("when the budget is spent: %+v", e)
	}
	goalless := bundle.RoundPlan{Least: 7, Most: 7, Budget: time.Minute}
	if e := after(6, goalless, 55*time.Second); !e.Enough || !e.BudgetSpent || e.GoalMissed {
		t.Errorf("the budget is spent and there was no goal: %+v", e)
	}
	p.Until, p.Budget = .5, 0
	if e := after(5, p, time.Minute); !e.Enough || e.Planned != 5 || e.GoalMissed {
		t.Errorf("at the goal: %+v", e)
	}
}

// A resumed run's budget is this session's: a round takes what those measured in it took.
func TestBudgetOfAResumedRun(t *testing.T) {
	scenarios := []suite.Scenario{{ID: 1}, {ID: 2}}
	for name, c := range map[string]struct {
		round, measured int // scenarios
		elapsed         time.Duration
		rest            time.Duration
		spent           bool
	}{
		"of one session":           {5, 10, 50 * time.Minute, 50 * time.Minute, false},
		"resumed":                  {5, 2, 10 * time.Minute, 50 * time.Minute, false},
		"resumed, no time left":    {5, 2, 31 * time.Minute, 0, true},
		"resumed within a round":   {5, 1, 5 * time.Minute, 50 * time.Minute, false},
		"nothing was measured yet": {5, 0, time.Second, 0, false},
	} {
		r := &runner{plan: Plan{Suite: suite.Suite{Scenarios: scenarios}}, measured: c.measured}
		e := RoundEnded{Round: c.round, Planned: 10}
		e.end(bundle.RoundPlan{Least: 10, Most: 10, Budget: time.Hour}, c.elapsed, r.roundsHere())
		if e.Rest != c.rest || e.BudgetSpent != c.spent || e.Elapsed != c.elapsed {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// Until steady: a level that settled ends after ten rounds, a decay does not, and nothing is judged
// before the file was written twice: a fresh plateau looks steady.
func TestUntilSteady(t *testing.T) {
	s := suite.Scenario{ID: 1, Name: "w", Size: 1 << 30, Role: "data"}
	r := &runner{plan: Plan{Rounds: &bundle.RoundPlan{Least: 10, Most: 25, Steady: true}, Suite: suite.Suite{Scenarios: []suite.Scenario{s}}}}
	of := func(level func(n int) float64, written units.Bytes) RoundEnded {
		done := map[mark]*result.Result{}
		for n := 1; n <= 12; n++ {
			res := &result.Result{State: result.Done}
			res.Total.Write.IOPS, res.Total.Write.Bytes = units.IOPS(level(n)), written/12
			done[mark{n, 1}] = res
		}
		e := RoundEnded{}
		r.settled(&e, 12, done)
		return e
	}
	flat := func(n int) float64 { return 1000 + float64(n%3) }
	decay := func(n int) float64 { return 3000 - 150*float64(n) }
	if e := of(flat, 2<<30); !e.Enough || e.Settled != 1 || e.Written < 2.9 {
		t.Errorf("%+v", e)
	}
	if e := of(flat, 1<<29); e.Enough || e.Written > 1.6 {
		t.Errorf("a fresh plateau: %+v", e)
	}
	if e := of(decay, 4<<30); e.Enough || e.Settled != 0 {
		t.Errorf("a decay: %+v", e)
	}
}
