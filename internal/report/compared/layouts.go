package compared

import (
	"fmt"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// layouts is what is added where the sides are layouts: which is best, one row each, and the figures beside what
// the model said before anything was built.
func layouts(t *compare.Table) []page.Block {
	one := page.NewTable("", "<layout", "over all", "faster", "slower", "same", "cannot tell", "<best in?")
	slow, news := page.Note{Title: "slow volumes", Level: page.Detail}, page.Note{Lead: "not in the model", Tone: "warn"}
	for k, s := range t.Standings {
		name, all := s.Name, ""
		switch {
		case k == t.Base:
			all = "base"
		case k < len(t.Suite) && t.Suite[k] != nil:
			all = ratioText(t.Suite[k])
		}
		row := []string{name, all}
		for _, w := range []compare.Word{compare.Faster, compare.Slower, compare.Same, compare.CannotTell} {
			n := ""
			if k != t.Base {
				n = fmt.Sprint(s.Words[w])
			}
			row = append(row, n)
		}
		one.Add(append(row, text.Some(s.Best, 3)))
		for _, line := range s.Slow {
			slow.Lines = append(slow.Lines, name+", "+line)
		}
	}
	for _, u := range t.Unforeseen {
		news.Lines = append(
			news.Lines,
			fmt.Sprintf("%s: %s is %s of %s, and the model says %s: look at what else differs, such as "+
				"a slow volume, the filesystem or the CPU", u.Scenario,
				u.Layout,
				text.Ratio(u.Measured), t.Sides[t.Base].Name, text.Ratio(u.Predicted)),
		)
	}
	figures := page.NewTable("", "<scenario", "<layout", "predicted", "measured", "of it", "<change", "<")
	figures.Most = len(t.Rows) * len(t.Sides)
	for i := range t.Rows {
		r := &t.Rows[i]
		for k := range r.Cells {
			c := &r.Cells[k]
			row := []string{"", t.Sides[k].Name, words.None, words.None, "", "", ""}
			if k == 0 {
				row[0] = r.Name
			}
			if c.Ceiling > 0 {
				row[2], row[4] = words.Amount(c.Ceiling, r.Figure.Unit), text.Percent(c.Share)
			}
			if len(c.Rounds) > 0 {
				row[3] = words.WithDoubt(words.Amount(c.Figure.Center, r.Figure.Unit), words.Doubt(c.Figure))
			} else if len(c.Invalid) > 0 {
				row[6] = "INVALID: " + c.Invalid[0].Why
			}
			if k != t.Base && c.Change != nil {
				row[5], row[6] = ratioText(c.Change), string(c.Change.Word)
			}
			figures.Add(row)
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
