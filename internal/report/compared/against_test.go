package compared

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/stats"
)

func TestAgainstFormats(t *testing.T) {
	a := &compare.Against{
		Run: "new\x1b", Baseline: "the last 10 runs", Notes: []string{"<i>"},
		Rows: []compare.Judgment{
			{
				Scenario: "w", Figure: compare.Figure{Name: "IOPS", Unit: compare.PerSecond}, Now: stats.Estimate{Center: 700}, Rounds: 1,
				Expected: stats.Estimate{Center: 1000, Lo: 900, Hi: 1110}, Standing: compare.Regression, LeastSeen: .2,
				Changed: []string{"kernel was 6.1 and is 6.8"},
			},
			{
				Scenario: "x", Figure: compare.Figure{Name: "IOPS", Unit: compare.PerSecond}, Now: stats.Estimate{Center: 990}, Rounds: 1,
				Expected: stats.Estimate{Center: 1000, Lo: 900, Hi: 1110}, Standing: compare.AsExpected, LeastSeen: .2,
			},
			{Scenario: "y", Standing: compare.Unjudged, Why: "too few runs to judge (4 of 5)"},
		},
	}
	for format, wanted := range map[page.Format][]string{
		page.Text: {
			"1,000 [900, 1,110]  700  -30.0 %  regression", "as expected; would have detected a loss of about 20 %", "too few runs to judge (4 of 5)",
			"w: since the run before, kernel was 6.1 and is 6.8", "new\ufffd",
		},
		page.Markdown: {"| w | IOPS | 1,000 \\[900, 1,110\\] | 700 | -30.0 % | regression |", "&lt;i&gt;"},
		page.JSON:     {`"standing": "regression"`},
	} {
		var out bytes.Buffer
		if err := page.Write(&out, format, Against(a), page.Options{Details: true, Width: 160}); err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%s", format, want, out.String())
			}
		}
	}
}
