// Package machine builds the documents of a machine that was looked at and not measured: what it is
// (inspect), what is wrong with it (check), and the same of several hosts.
package machine

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// Check is the document of the findings on a machine, in the order given, and of what is fine and
// what could not be seen. data is its JSON.
func Check(all []finding.Finding, fine []finding.Passed, notes []string, data any) *page.Document {
	d := &page.Document{Kind: "check", Data: page.DataOf("check", data)}
	d.Head = page.Headline{Word: words.Join(", ", counted(all), passed(len(fine))), Tone: worst(all)}
	d.Head.Main = &page.Figure{Name: "findings", Value: float64(len(all)), Unit: "count"}
	if len(all)+len(fine) == 0 {
		d.Head = page.Headline{Word: "nothing could be checked", Tone: "measured"}
	}
	for i, f := range all {
		d.Add(brief(words.Subject(f, i), f.Severity))
	}
	ok := page.Note{Lead: "ok", Level: page.Detail}
	for _, p := range fine {
		ok.Lines = append(ok.Lines, fmt.Sprintf("%s (%s)", text.Clean(p.Message, words.LongSentence), p.Code))
	}
	if len(fine) > 0 {
		d.Add(ok)
	}
	if len(notes) > 0 {
		d.Add(page.Note{Lead: "note", Lines: notes})
	}
	suite := page.Suite{Name: "check"}
	for _, f := range all {
		suite.Tests = append(suite.Tests, findingTest(f))
	}
	for _, p := range fine {
		suite.Tests = append(suite.Tests, page.Test{Name: words.Join(" ", string(p.Code), p.Subject), Message: p.Message})
	}
	d.Tests = []page.Suite{suite}
	rows := page.NewTable("", "code", "severity", "subject", "message", "fix")
	for _, f := range all {
		rows.Add(string(f.Code), string(f.Severity), f.Subject, f.Message, f.Fix)
	}
	for _, p := range fine {
		rows.Add(string(p.Code), "ok", p.Subject, p.Message, "")
	}
	d.Records = &rows
	return d
}

func findingTest(f finding.Finding) page.Test {
	t := page.Test{Name: words.Join(" ", string(f.Code), f.Subject), Message: f.Message, Text: f.Fix}
	t.Outcome = map[finding.Severity]page.Outcome{finding.Fail: page.Failed, finding.Invalid: page.Errored}[f.Severity]
	return t
}

// brief leaves the remedy of a remark to its page.
func brief(f page.Finding, s finding.Severity) page.Finding {
	f.Brief = s == finding.Info
	return f
}

// passed is "11 checks ok".
func passed(n int) string {
	if n == 0 {
		return ""
	}
	return text.Plural(n, "check") + " ok"
}

// counted is "2 errors, 1 warning", or "no findings".
func counted(all []finding.Finding) string {
	var parts []string
	for _, s := range []struct {
		severity finding.Severity
		one      string
	}{{finding.Invalid, "invalid"}, {finding.Fail, "error"}, {finding.Warn, "warning"}, {finding.Info, "note"}} {
		n := 0
		for _, f := range all {
			if f.Severity == s.severity {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, text.Plural(n, s.one))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return words.Join(", ", parts...)
}

// worst is the tone of the worst finding.
func worst(all []finding.Finding) string {
	tone := "pass"
	for _, f := range all {
		switch f.Severity {
		case finding.Invalid, finding.Fail:
			return "fail"
		case finding.Warn:
			tone = "warn"
		case finding.Info:
		}
	}
	return tone
}

// Probed is what the members of one array gave, and what that says.
type Probed struct {
	Name    string
	Members []diagnose.Probed
	Answer  string
}

// Probe is the document of volumes that were measured alone and together. data is its JSON.
func Probe(all []Probed, data any) *page.Document {
	d := &page.Document{Kind: "probe", Data: page.DataOf("probe", data)}
	records := page.NewTable("", "array", "volume", "serial", "iops_alone", "latency_ns", "iops_together")
	for _, a := range all {
		d.Head.Says = append(d.Head.Says, page.Say{Text: words.Join(": ", text.Clean(a.Name, 60), a.Answer)})
		rows := page.NewTable(text.Clean(a.Name, 60)+", random reads of 8 KiB, 16 in flight", "<volume", "<serial",
			"IOPS alone", "latency", "together")
		for _, m := range a.Members {
			together := words.None
			if len(a.Members) > 1 {
				together = m.Together.String()
			}
			rows.Add(text.Clean(m.Device, 20), text.Clean(m.Serial, 40), m.Alone.String(), m.Latency.String(), together)
			records.Rows = append(records.Rows, []page.Cell{
				page.T(a.Name), page.T(m.Device), page.T(m.Serial), page.Exact("known", float64(m.Alone)),
				page.Exact("known", float64(m.Latency)), page.Exact(together, float64(m.Together)),
			})
		}
		d.Add(rows)
	}
	d.Records = &records
	if len(all) == 1 {
		d.Head.Word, d.Head.Says = d.Head.Says[0].Text, nil
	} else {
		d.Head.Word = text.Plural(len(all), "array") + " probed"
	}
	return d
}
