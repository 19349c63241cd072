package runs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// runTests are a suite for each scenario, in it a case for each threshold and one for the
// scenario's verdict. fail is a failure, invalid an error, not run and not judged are skipped;
// warnings pass and are shown in the case's output.
func runTests(b *bundle.Bundle, rows []row) []page.Suite {
	var all []page.Suite
	for i, s := range b.Scenarios {
		suite := page.Suite{Name: rows[i].label()}
		if s.Result != nil {
			suite.Time = words.Decimal(s.Result.Wall.Seconds(), 3)
			if !s.Result.Start.IsZero() {
				suite.Timestamp = s.Result.Start.UTC().Format(time.RFC3339)
			}
		}
		for j, r := range thresholdsTable(&s).Rows {
			t := page.Test{Name: r[0].Text, Message: fmt.Sprintf("measured %s, expected %s", r[1].Text, r[2].Text)}
			switch s.Thresholds[j].Outcome { //nolint:exhaustive // the others pass
			case verdict.NotJudged:
				t.Outcome, t.Message = page.Skipped, r[3].Text
			case verdict.Missed:
				t.Outcome = page.Failed
			}
			suite.Tests = append(suite.Tests, t)
		}
		suite.Tests = append(suite.Tests, verdictTest(b, &s, rows[i], suite.Time))
		all = append(all, suite)
	}
	return all
}

func verdictTest(b *bundle.Bundle, s *bundle.Scenario, r row, took string) page.Test {
	lines := text.Lines(distrust(s.Result))
	for _, f := range b.Findings {
		if slices.Contains(f.Scenarios, s.ID) {
			lines.Say("%s %s: %s", f.Code, f.Severity, f.Message)
		}
	}
	t := page.Test{
		Name: "verdict", Time: took, Text: strings.Join(lines, "; "),
		Message: fmt.Sprintf("%s: measured %s, %s", r.Verdict, words.WithDoubt(r.Measured, r.Doubt), r.Of()),
	}
	switch t.Outcome = page.OutcomeOf(string(s.Verdict)); {
	case s.Result == nil:
		t.Outcome, t.Message, t.Text = page.Skipped, notRun, ""
	case t.Outcome == page.Skipped:
		t.Text = strings.Trim(t.Message+"; "+t.Text, "; ")
		t.Message = "measured: there was nothing to judge it by"
	}
	return t
}
