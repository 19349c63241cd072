package finding

import (
	"slices"
	"strings"
	"testing"
)

// What a page has between fences is shown without them, that of several examples too.
func TestPagesHaveNoFences(t *testing.T) {
	for _, p := range Pages() {
		for _, s := range p.Sections {
			if strings.Contains(s.Body, "```") {
				t.Errorf("%s, %s:\n%s", p.Code, s.Head, s.Body)
			}
		}
	}
}

// The page of PL407 names PL401 as its cause.
// A subject passes a rule by its Check only, and not where the rule found something of it, be that
// explained away or disabled.
func TestPasses(t *testing.T) {
	rules := []*Rule[int]{
		{Code: "PL407", Check: func(_ int, report func(Finding)) {
			report(Fine("md0", "md0 is at %d %%", 50))
			report(Finding{Subject: "md0", Message: "a symptom"})
			report(Fine("md1", "md1 is idle"))
		}},
		{Code: "PL401", Check: func(_ int, report func(Finding)) {
			report(Finding{Subject: "md0", Message: "the cause"})
			report(Fine("md1", "md1 is whole"))
		}},
		{Code: "PL500", Check: func(int, func(Finding)) {}},
	}
	if found := Judge(rules, 0, nil); len(found) != 1 || found[0].Code != "PL401" || found[0].Subject != "md0" {
		t.Errorf("found %+v", found)
	}
	want := []Passed{{"PL401", "md1", "md1 is whole"}, {"PL407", "md1", "md1 is idle"}}
	if got := Passes(rules, 0); !slices.Equal(got, want) {
		t.Errorf("passed %+v, want %+v", got, want)
	}
}
