package fleet

import (
	"slices"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/result"
	"plimsoll/internal/verdict"
)

// A scenario whose figures a host does not trust itself is not trusted in the sum either, and the fleet's
// reasons name the host once.
func TestFiguresThatAHostDoubts(t *testing.T) {
	began := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	of := func(host string, v verdict.Verdict) source {
		r := &result.Result{ID: 3, Name: "rand-read", State: result.Done, Start: began}
		for s := range 10 {
			second := result.Second{At: time.Duration(s+1) * time.Second, Len: time.Second}
			second.Read.N, second.Read.Bytes = 1000, 8192000
			r.Seconds = append(r.Seconds, second)
		}
		b := &bundle.Bundle{Scenarios: []bundle.Scenario{{Result: r}}}
		b.Scenarios[0].ID, b.Scenarios[0].Name, b.Scenarios[0].Verdict = 3, "rand-read", v
		return source{host: host, bundle: b}
	}
	for _, c := range []struct {
		name     string
		verdicts []verdict.Verdict
		want     []string
	}{
		{"both are trusted", []verdict.Verdict{verdict.Measured, verdict.Fail}, nil},
		{"one is not", []verdict.Verdict{verdict.Pass, verdict.Invalid}, []string{"h2: its own figures are INVALID; see its report."}},
		{
			"none is",
			[]verdict.Verdict{verdict.Invalid, verdict.Invalid},
			[]string{"h1: its own figures are INVALID; see its report.", "h2: its own figures are INVALID; see its report."},
		},
	} {
		f, all := &bundle.Fleet{Order: together, Created: began}, []source{of("h1", c.verdicts[0]), of("h2", c.verdicts[1])}
		for i, v := range c.verdicts {
			f.Hosts = append(f.Hosts, bundle.FleetHost{
				Name: all[i].host, State: bundle.HostDone, Verdict: v, Reasons: []string{"Other processes used the CPU. (PL425)"},
			})
		}
		fill(f, all, began, Shared{}, nil)
		if len(f.Scenarios) != 1 || !slices.Equal(f.Scenarios[0].Invalid, c.want) {
			t.Errorf("%s: %+v", c.name, f.Scenarios)
		}
		if got := len(f.Reasons); got > 1 {
			t.Errorf("%s: %q", c.name, f.Reasons)
		}
	}
}
