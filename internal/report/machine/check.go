// Package machine builds the documents of a machine that was looked at and not measured: what it is
// (inspect), what is wrong with it (check), and the same of several hosts.
package machine

import (
	"cmp"
	"slices"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// Check is the document of the findings on a machine, in the order given, and of what is fine and
// what could not be seen. data is its JSON.
func Check(all []finding.Finding, fine []finding.Passed, notes []string, data any) *page.Document {
	d := page.New("check", "nothing could be checked", "check", data)
	d.Head.Tone = "measured"
	if len(all)+len(fine) > 0 {
		ok := words.When(len(fine) > 0, text.Several(fine, "check")+" ok")
		d.Head.Word, d.Head.Tone = text.Join(", ", counted(all), ok), worst(all)
		d.Head.Main = page.NewFigure("", "findings", len(all), "count")
	}
	ok, suite := page.Note{Lead: "ok", Level: page.Detail, Of: "passed checks"},
		page.FindingTests("check", words.Findings(all))
	rows := page.NewTable("code, severity, subject, message, fix")
	for i, f := range all {
		d.Add(brief(words.Subject(f, i)))
		rows.Add(f.Code, f.Severity, f.Subject, f.Message, f.Fix)
	}
	for _, p := range fine {
		ok.Say("%s (%s)", p.Message, p.Code)
		suite.Tests = append(suite.Tests, page.Test{Name: text.Join(" ", string(p.Code), p.Subject), Message: p.Message})
		rows.Add(p.Code, "ok", p.Subject, p.Message)
	}
	d.Add(ok, page.Lead("note", notes...))
	d.Tests, d.Records = []page.Suite{suite}, rows
	return d
}

// brief leaves the remedy of a remark to its page.
func brief(f page.Finding) page.Finding {
	f.Brief = f.Severity == string(finding.Info)
	return f
}

// counted is "2 errors, 1 warning", or "no findings".
func counted(all []finding.Finding) string {
	some := func(s finding.Severity, one string) string { return words.Some(having(s, all), one) }
	return cmp.Or(text.Join(", ", some(finding.Invalid, "invalid"), some(finding.Fail, "error"),
		some(finding.Warn, "warning"), some(finding.Info, "note")), "no findings")
}

// having counts the findings of a severity.
func having(s finding.Severity, all []finding.Finding) (n int) {
	for _, f := range all {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// worst is the tone of the worst finding.
func worst(all []finding.Finding) string {
	switch {
	case slices.ContainsFunc(all, serious):
		return "fail"
	case having(finding.Warn, all) > 0:
		return "warn"
	}
	return "pass"
}

// Probed is what the members of one array gave, and what that says.
type Probed struct {
	Name    string
	Members []diagnose.Probed
	Answer  string
}

// Probe is the document of volumes that were measured alone and together. data is its JSON.
func Probe(all []Probed, data any) *page.Document {
	d := page.New("probe", text.Several(all, "array")+" probed", "probe", data)
	records := page.NewTable("array, volume, serial, iops_alone, latency_ns, iops_together")
	for _, a := range all {
		d.Head.Say(text.Join(": ", a.Name, a.Answer))
		rows := page.Captioned(a.Name+", random reads of 8 KiB, 16 in flight", "<volume, <serial, IOPS alone, latency, "+
			"together")
		for _, m := range a.Members {
			together := text.Either(len(a.Members) > 1, m.Together.String(), words.None)
			rows.Add(m.Device, m.Serial, m.Alone, m.Latency, together)
			records.Add(a.Name, m.Device, m.Serial, page.Exact("known", m.Alone),
				page.Exact("known", m.Latency), page.Exact(together, m.Together))
		}
		d.Add(rows)
	}
	d.Records = records
	if len(all) == 1 {
		d.Head.Word, d.Head.Says = d.Head.Says[0].Text, nil
	}
	return d
}
