package runs

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/verdict"
)

// fitted is the JSON of whether results are good enough for a program.
type fitted struct {
	Profile    verdict.Profile
	NotCovered string
	Results    []verdict.Fit
}

// Fits judges each result of a run by what a program asks. Where several are judged the worst is first; those
// that nothing could be said of come last.
func Fits(b *bundle.Bundle, p verdict.Profile) []verdict.Fit {
	var all []verdict.Fit
	by := b.Run.Policy.SharedHost
	shared := words.When(by != "", "nothing is judged on a shared host ("+by+")")
	for _, s := range measured(b) {
		why := shared
		for _, f := range b.Findings {
			if f.Severity == finding.Invalid && f.Disabled == "" && slices.Contains(f.Scenarios, s.ID) {
				why = cmp.Or(why, "the measurement is invalid: "+f.Message)
			}
		}
		all = append(all, verdict.FitOf(p, s.Result, why))
	}
	rank := map[stats.Judgement]int{stats.Missed: 0, stats.Met: 1, stats.CannotTell: 2}
	slices.SortStableFunc(all, func(a, b verdict.Fit) int {
		return cmp.Or(rank[a.Outcome]-rank[b.Outcome], strings.Compare(a.Run, b.Run))
	})
	return all
}

// Fit is the document of whether results are good enough for a program: the answer is its first line.
func Fit(fits []verdict.Fit, p verdict.Profile) *page.Document {
	d := page.New("fit", "Cannot tell for "+p.For+": nothing was measured", "fit", fitted{p, verdict.NotCovered, fits})
	if len(fits) > 0 {
		d.Head.Word = fits[0].Says
		d.Head.Tone = map[stats.Judgement]string{stats.Met: "pass", stats.Missed: "fail"}[fits[0].Outcome]
	}
	if len(fits) > 1 {
		t := page.NewTable("<result, <answer")
		for _, f := range fits {
			t.Add(f.Of, f.Says)
		}
		d.Add(t)
	}
	for _, f := range fits {
		if f.Run != "" {
			d.Add(page.Lead("run", f.Run))
			break
		}
	}
	d.Add(page.Lead("not covered", verdict.NotCovered),
		page.Lead("limit", p.Source+" (read "+p.Date+", "+p.URL+")").Detailed())
	return d
}
