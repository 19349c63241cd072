package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// findings are those of a run: a rule that says the same of several scenarios is said once, and its
// evidence is folded. What the head has said is a detail, and so are notes. anchors leads from each
// finding to its place.
func findings(b *bundle.Bundle, rows []row, said []string) (s page.Section, anchors []string) {
	s = page.Part("Findings", "findings", "Findings")
	var groups [][]finding.Finding
	var first []page.Finding
	for i, f := range b.Findings {
		p := words.Finding(f, i)
		at := slices.IndexFunc(first, func(g page.Finding) bool {
			return g.Code == p.Code && g.Fix == p.Fix && g.Severity == p.Severity && slices.Equal(g.Commands, p.Commands)
		})
		if at < 0 {
			at, first, groups = len(first), append(first, p), append(groups, nil)
		}
		groups[at] = append(groups[at], f)
		anchors = append(anchors, first[at].Anchor)
	}
	for i, p := range first {
		p = group(p, groups[i], b, rows)
		if p.Severity == string(finding.Info) || slices.Contains(said, p.Code) || pasted(b) {
			p.Level = page.Detail
		}
		s.Add(p)
	}
	if !slices.ContainsFunc(s.Blocks, func(b page.Block) bool { return b.(page.Finding).Level == page.Main }) {
		s.Level = page.Detail
	}
	return s, anchors
}

// group shows findings of one rule with one remedy as one.
func group(p page.Finding, all []finding.Finding, b *bundle.Bundle, rows []row) page.Finding {
	if len(all) == 1 {
		p.Where = where(all[0], b, rows)
		return p
	}
	var evidence [][]finding.Evidence
	p.Tables = nil
	for _, f := range all {
		of := where(f, b, rows)
		names := of.Names()
		p.Cases = append(p.Cases, text.Join(": ", cmp.Or(names, f.Subject), f.Message))
		for _, w := range of {
			if !slices.Contains(p.Where, w) {
				p.Where = append(p.Where, w)
			}
		}
		evidence = append(evidence, f.Evidence)
		if f.Account != nil {
			t := words.Account(f.Account)
			t.Caption += ", " + names
			p.Tables = append(p.Tables, t)
		}
	}
	p.Message = fmt.Sprintf("%s, %s", strings.TrimSuffix(text.Sentence(p.Title), "."), text.Several(all, "case"))
	p.Subject = ""
	p.Evidence = fold(evidence)
	return p
}

func where(f finding.Finding, b *bundle.Bundle, rows []row) (all page.Links) {
	for j, s := range b.Scenarios {
		if slices.Contains(f.Scenarios, s.ID) {
			all = append(all, page.Link{Text: rows[j].label(), Anchor: rows[j].Anchor})
		}
	}
	return all
}

// fold makes one row of what several cases found of the same thing: its range, or the few values.
// The cases' messages have their own figures, and JSON has all.
func fold(cases [][]finding.Evidence) page.Table {
	var found, expected text.Groups
	for _, e := range slices.Concat(cases...) {
		found.Add(e.What, e.Found)
		expected.Add(e.What, e.Expected)
	}
	t := words.Evidence()
	for i, what := range found.Heads {
		if i == mostFolded {
			t.Add(text.Plural(len(found.Heads)-i, "more figure"), "in JSON")
			break
		}
		n := len(found.Of[what])
		t.Add(what, together(found.Of[what]), together(expected.Of[what]), words.When(n > 1, text.Plural(n, "time")))
	}
	return t
}

// mostFolded is how many rows of evidence a group has.
const mostFolded = 6

// together is values in a phrase: one as it is, numbers of one unit as their range, else the first
// two.
func together(values []string) string {
	var all []string
	for _, v := range values {
		all = text.Once(all, v)
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	value := func(s string) (v float64, unit string) {
		number, unit, _ := strings.Cut(strings.TrimPrefix(s, "± "), " ")
		v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		if err != nil {
			unit = s
		}
		return v, unit
	}
	_, unit := value(all[0])
	if !slices.ContainsFunc(all, func(s string) bool { _, u := value(s); return u != unit }) {
		sorted := slices.SortedStableFunc(slices.Values(all), func(a, b string) int {
			x, _ := value(a)
			y, _ := value(b)
			return cmp.Compare(x, y)
		})
		return strings.TrimSpace(strings.TrimSuffix(sorted[0], unit)) + " to " + sorted[len(sorted)-1]
	}
	phrase := all[0] + "; " + all[1]
	if len(all) > 2 {
		phrase += fmt.Sprintf("; %d more", len(all)-2)
	}
	return phrase
}
