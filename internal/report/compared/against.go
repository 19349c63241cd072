package compared

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// Against is the document of a run that is judged by a baseline.
func Against(a *compare.Against) *page.Document {
	d := page.New("comparison with a baseline", againstAnswer(a), "against", a)
	d.Head.About = a.Run + " against " + a.Baseline
	d.Head.Tone = text.Either(strings.Contains(d.Head.Word, string(compare.Regression)), "fail", "pass")
	rows := page.NewTable("<scenario, <figure, expected, now, change, <outcome")
	records := page.NewTable("scenario, figure, unit, expected, expected_low, expected_high, now, ratio, standing, " +
		"why, changed")
	suite := page.Suite{Name: a.Run}
	changed := page.Note{}
	judged, accept := false, ""
	for _, j := range a.Rows {
		row, standing := judgment(j)
		rows.Add(row)
		ratio := 0.0
		if j.Now.Center > 0 && j.Expected.Center > 0 {
			ratio = 1 + j.Change()
		}
		records.Record(j.Scenario, j.Figure.Name, j.Figure.Unit, j.Expected.Center, j.Expected.Lo, j.Expected.Hi,
			j.Now.Center, ratio, j.Standing, j.Why, strings.Join(j.Changed, "; "))
		one := page.Test{Name: strings.TrimSpace(row[0] + " " + row[1]), Message: standing}
		switch j.Standing { //nolint:exhaustive // the others pass
		case compare.Regression:
			one.Outcome = page.Failed
		case compare.Unjudged: // a gate does not pass it, so its file must not be green
			one.Outcome = page.Errored
		}
		if !judged && j.Standing != compare.Unjudged && j.Expected.Center > 0 {
			d.Head.Main = page.NewFigure(j.Scenario, "change", j.Now.Center/j.Expected.Center, "ratio")
		}
		judged = judged || j.Standing != compare.Unjudged
		suite.Tests = append(suite.Tests, one)
		before := "since the run before, "
		if l := j.Lasting; l != nil && l.Runs > 1 {
			changed.Say("%s %s", row[0], l)
			before = "since the run before that, "
		}
		if len(j.Changed) > 0 {
			changed.Say("%s: %s%s", row[0], before, strings.Join(j.Changed, "; "))
		}
		if j.Standing == compare.Regression && j.Lasting != nil {
			accept = "plimsoll runs accept " + text.ShellQuote(j.Lasting.Run) + " --reason TEXT"
		}
	}
	if !judged {
		d.Head.Tone = "measured"
	}
	d.Records, d.Tests = records, []page.Suite{suite}
	if accept != "" {
		changed.Say("reported until the figures return to their earlier level, or until the new level is "+
			"accepted: %s", accept)
	}
	d.Add(rows, changed, page.Lead("note", a.Notes...))
	return d
}

// againstAnswer is "1 regression, 3 as expected, 2 not judged".
func againstAnswer(a *compare.Against) string {
	order := []compare.Standing{compare.Regression}
	count := map[compare.Standing]int{}
	for _, j := range a.Rows {
		if count[j.Standing]++; !slices.Contains(order, j.Standing) && j.Standing != compare.Unjudged {
			order = append(order, j.Standing)
		}
	}
	var parts text.Lines
	for _, s := range append(order, compare.Unjudged) {
		name := cmp.Or(map[compare.Standing]string{compare.Unjudged: "not judged"}[s], string(s))
		if count[s] > 0 {
			parts.Say("%d %s", count[s], name)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "Nothing to judge")
}

// judgment is a row, and its last cell.
func judgment(j compare.Judgment) (row []string, standing string) {
	now, expected, change := measured(j.Now.Center, j.Figure), measured(j.Expected.Center, j.Figure), ""
	if j.Expected.Center > 0 {
		if j.Expected.Lo < j.Expected.Center {
			expected += within(j.Expected, j.Figure.Unit)
		}
		if j.Now.Center > 0 {
			change = words.Ratio(1 + j.Change())
		}
	}
	standing = string(j.Standing)
	switch {
	case j.Standing == compare.Unjudged && strings.Contains(j.Why, "judge"):
		standing = j.Why
	case j.Standing == compare.Unjudged:
		standing = "not judged: " + j.Why
	case j.LeastSeen > 0 && j.Standing == compare.AsExpected:
		standing += "; would have detected a loss of about " + text.Share(math.Round(100*j.LeastSeen)/100)
	}
	return []string{j.Scenario, j.Figure.Name, expected, now, change, standing}, standing
}
