package runs

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/report/page"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
)

// What an import doubts is on the terminal, with its figures: below the table where there are several results, the
// doubt of most results first; those behind the second are details.
func TestCaveatsAreOnTheTerminal(t *testing.T) {
	show := func(imported []string, doubts ...[]string) string {
		b := &bundle.Bundle{Run: bundle.Run{Imported: imported}}
		for i, d := range doubts {
			b.Scenarios = append(b.Scenarios, bundle.Scenario{
				Scenario: suite.Scenario{ID: i + 1, Name: "s"}, Result: &result.Result{State: result.Done, Doubts: d},
			})
		}
		var out strings.Builder
		if err := page.Write(&out, page.Text, Run(b), page.Options{Width: 200}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	of := func(from, to int) (all []string) {
		for i := from; i <= to; i++ {
			all = append(all, fmt.Sprintf("figure %d is 9 days in a run of 30 s", i))
		}
		return all
	}
	for _, c := range []struct {
		name       string
		got        string
		want, lack []string
	}{
		{"one result", show([]string{"a"}, of(1, 7)), append(of(1, 2), "--details adds: 5 caveats"), append(of(3, 7), "results)")},
		{"the second doubt is of both", show([]string{"a"}, of(1, 2), of(2, 2)), []string{
			"caveat: figure 2 is 9 days in a run of 30 s (2 results)\n", "caveat: figure 1 is 9 days in a run of 30 s\n",
		}, []string{"shows caveat"}},
		{"of several", show([]string{"a"}, of(1, 1), of(2, 3)), append(of(1, 2), "--details adds: caveats, 2 scenarios"), of(3, 3)},
		{"a run of our own", show(nil, of(1, 1), nil), nil, of(1, 1)},
	} {
		last := 0
		for _, w := range c.want {
			at := strings.Index(c.got, w)
			if at < last {
				t.Errorf("%s: %q is missing or comes too early:\n%s", c.name, w, c.got)
			}
			last = max(last, at)
		}
		for _, w := range c.lack {
			if strings.Contains(c.got, w) {
				t.Errorf("%s: %q:\n%s", c.name, w, c.got)
			}
		}
	}
}

// A scenario that was not run has no caveats; what its ceiling assumes stands beside a figure (m12 of the third
// review by users: an interrupted run's report had caveats of nothing).
func TestNothingRunIsNotDoubted(t *testing.T) {
	s := bundle.Scenario{Ceiling: &ceiling.Ceiling{Notes: []string{"syncs are assumed to cost nothing"}}}
	if got := doubtsOf(&s); got != nil {
		t.Errorf("not run, and doubted: %q", got)
	}
	s.Result = &result.Result{State: result.Done}
	if got := doubtsOf(&s); len(got) != 1 {
		t.Errorf("run, and its ceiling's assumption is not said: %q", got)
	}
}
