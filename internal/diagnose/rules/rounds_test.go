package rules

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

// inRounds is a scenario measured in rounds a minute apart, each known to ±0.3 % by its own
// seconds.
func inRounds(iops ...float64) *diagnose.Case {
	m := diagnose.Measurement{}
	m.Scenario.ID, m.Scenario.Name = 8, "rand-write"
	for i, n := range iops {
		r := &result.Result{State: result.Done, Start: time.Date(2026, 11, 1, 12, i, 0, 0, time.UTC)}
		r.Total.Write.IOPS = units.IOPS(n)
		r.IOPS = stats.Estimate{Center: n, Lo: n * .997, Hi: n * 1.003, N: 20}
		m.Rounds = append(m.Rounds, r)
		m.Result = m.Rounds[i/2]
	}
	return &diagnose.Case{Runs: []diagnose.Measurement{m}}
}

// roundCases are scenarios whose rounds are alike or not.
func roundCases() []labelled {
	return []labelled{
		{"rounds: differ", *inRounds(1000, 1040, 960, 1020, 985), "PL420", ""},
		{"rounds: as their seconds say", *inRounds(1000, 1003, 998, 1001, 1000.5), "", ""},
		{"rounds: four rounds", *inRounds(1000, 1040, 960, 1020), "", ""},
		{"rounds: one apart", *inRounds(1000, 1010, 995, 690, 1004), "PL421", ""},
		{"rounds: one apart by 1 %", *inRounds(1000, 1000.1, 999.9, 990, 1000), "", ""},
		{"rounds: fall", *inRounds(1000, 980, 965, 940, 922, 905), "PL422", ""},
		{"rounds: fall by 1 %", *inRounds(1000, 999, 998, 997, 996, 995), "", ""},
		{"rounds: five that fall", *inRounds(1000, 999, 998, 997, 996), "", ""},
		{"rounds: up and down", *inRounds(1000, 998, 1001, 999, 1002, 997), "", ""},
		{"rounds: zero and NaN", *inRounds(1000, 0, math.NaN(), 1000, 1001, 999, 1000.5), "", ""},
		{"rounds: none", *inRounds(), "", ""},
	}
}

func TestRounds(t *testing.T) {
	for _, c := range roundCases() {
		var codes []string
		for _, f := range Judge(&c.c, nil) {
			if !slices.Contains([]finding.Code{"PL420", "PL421", "PL422"}, f.Code) {
				continue
			}
			codes = append(codes, string(f.Code))
			if f.Message == "" || len(f.Evidence) == 0 || len(f.Scenarios) != 1 {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if got := strings.Join(codes, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
