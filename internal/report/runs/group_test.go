package runs

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/suite"
)

// TestGroupOfFindings: findings of one rule are one heading; what repeats by scenario is folded into a
// row: a range of numbers, or the few values. The page has each case.
func TestGroupOfFindings(t *testing.T) {
	b := &bundle.Bundle{}
	for i, name := range []string{"one", "two", "three", "four", "five"} {
		b.Scenarios = append(b.Scenarios, bundle.Scenario{Scenario: suite.Scenario{ID: i + 1, Name: name}})
		b.Findings = append(b.Findings, finding.Finding{
			Code: "PL502", Severity: finding.Info, Title: "ceiling reached", Scenarios: []int{i + 1},
			Message: name + " reached its limit.", Fix: "Raise it.",
			Evidence: []finding.Evidence{
				{What: "measured", Found: fmt.Sprint(i+1) + " IOPS"},
				{What: "limited by", Found: name + "-b"},
				{What: "next limit", Found: "volume throughput"},
			},
		})
	}
	show := func(f page.Format, o page.Options) string {
		var out strings.Builder
		o.Width = 100
		if err := page.Write(&out, f, Run(b), o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := `PL502 info: ceiling reached (5 cases)
  - 1 one: one reached its limit.
  - 2 two: two reached its limit.
  - 3 three: three reached its limit.
  - 4 four: four reached its limit.
  - 5 five: five reached its limit.
  scenarios: 1 one, 2 two, 3 three, 4 four, 5 five
  - measured: 1 to 5 IOPS (5 times)
  - limited by: one-b; two-b; 3 more (5 times)
  - next limit: volume throughput (5 times)
  fix: Raise it.
`
	if got := show(page.Text, page.Options{Details: true}); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	want = "| measured | 1 to 5 IOPS | 5 times |\n"
	if got := show(page.Markdown, page.Options{Details: true}); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	for _, w := range []string{">1 to 5 IOPS<", "<li>5 five: five reached its limit.</li>"} {
		if got := show(page.HTML, page.Options{Details: true}); !strings.Contains(got, w) {
			t.Errorf("HTML lacks %s", w)
		}
	}
	if got := show(page.HTML, page.Options{Details: true}); strings.Contains(got, "PL502 info:") || strings.Contains(got, `<p class="rule"> ·`) {
		t.Error("HTML says a rule's code and severity twice, or begins a line with a dot")
	}
}
