package compared

import (
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// layouts is what is added where the sides are layouts: which is best, one row each, and the figures beside what
// the model said before anything was built.
func layouts(t *compare.Table) []page.Block {
	one := page.NewTable("<layout, over all, faster, slower, same, cannot tell, <best in?")
	slow, news := page.Note{Title: "slow volumes", Level: page.Detail}, page.Note{Lead: "not in the model", Tone: "warn"}
	for k, s := range t.Standings {
		name, all, best := s.Name, "", text.Some(s.Best, 3)
		if k < len(t.Suite) && t.Suite[k] != nil {
			all = ratioText(t.Suite[k])
		}
		if w := s.Words; k == t.Base {
			one.Add(name, "base", "", "", "", "", best)
		} else {
			one.Add(name, all, w[compare.Faster], w[compare.Slower], w[compare.Same], w[compare.CannotTell], best)
		}
		for _, line := range s.Slow {
			slow.Say("%s, %s", name, line)
		}
	}
	for _, u := range t.Unforeseen {
		news.Say("%s: %s is %s of %s, and the model says %s: look at what else differs, such as a slow volume, the "+
			"filesystem or the CPU", u.Scenario, u.Layout, text.Ratio(u.Measured), t.Sides[t.Base].Name,
			text.Ratio(u.Predicted))
	}
	figures := page.NewTable("<scenario, <layout, predicted, measured, of it, <change, <")
	figures.Most = len(t.Rows) * len(t.Sides)
	for _, r := range t.Rows {
		for k, c := range r.Cells {
			seen, change, word := words.None, "", ""
			if len(c.Rounds) > 0 {
				seen = words.WithDoubt(words.Amount(c.Figure.Center, r.Figure.Unit), words.Doubt(c.Figure))
			} else if len(c.Invalid) > 0 {
				word = "INVALID: " + c.Invalid[0].Why
			}
			if k != t.Base && c.Change != nil {
				change, word = ratioText(c.Change), string(c.Change.Word)
			}
			figures.Add(words.When(k == 0, r.Name), t.Sides[k].Name, measured(c.Ceiling, r.Figure), seen,
				words.When(c.Ceiling > 0, text.Percent(c.Share)), change, word)
		}
	}
	return []page.Block{one, figures, news, slow}
}

func ratioText(c *compare.Change) string {
	if c.Method == stats.NoTest {
		return words.Ratio(c.Ratio.Center)
	}
	return words.Ratio(c.Ratio.Center) + " " + words.Span(c.Ratio)
}
