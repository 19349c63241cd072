package report

import (
	"strings"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/suite"
)

// TestGroupOfFindings: findings of one rule are one heading with a line per case. The end of a run
// shows each figure once; the whole report adds the evidence of every case, below that case.
func TestGroupOfFindings(t *testing.T) {
	b := &bundle.Bundle{}
	for i, name := range []string{"one", "two", "three", "four", "five"} {
		b.Scenarios = append(b.Scenarios, bundle.Scenario{Scenario: suite.Scenario{ID: i + 1, Name: name}})
		b.Findings = append(b.Findings, finding.Finding{
			Code: "PL502", Severity: finding.Info, Title: "ceiling reached", Scenarios: []int{i + 1},
			Message: name + " reached its limit.", Fix: "Raise it.",
			Evidence: []finding.Evidence{
				{What: "measured", Found: name + "-a"},
				{What: "limited by", Found: name + "-b"},
				{What: "next limit", Found: name + "-c"},
			},
		})
	}
	show := func(f Format, o Options) string {
		var out strings.Builder
		o.Width = 100
		if err := Write(&out, f, b, o); err != nil {
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
  fix: Raise it.
`
	if got := show(TTY, Options{Brief: true}); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	want = `  - 5 five: five reached its limit.
    - measured: five-a
    - limited by: five-b
    - next limit: five-c
`
	if got := show(TTY, Options{}); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	want = "| 5 five | measured | five-a |  |  |\n|  | limited by | five-b |  |  |\n|  | next limit | five-c |  |  |\n"
	if got := show(Markdown, Options{}); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	for _, w := range []string{"<td class=\"text\">five-c</td>", "<li>5 five: five reached its limit.</li>"} {
		if got := show(HTML, Options{}); !strings.Contains(got, w) {
			t.Errorf("HTML lacks %s", w)
		}
	}
}
