package page

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/text"
)

// The parts of JUnit XML that CI systems read.
type (
	junitSuites struct {
		junitCounts
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitCounts struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Errors   int    `xml:"errors,attr"`
		Skipped  int    `xml:"skipped,attr"`
	}
	junitSuite struct {
		junitCounts
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr,omitempty"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string `xml:"classname,attr"`
		Name    string `xml:"name,attr"`
		Time    string `xml:"time,attr"`
		Outcome *junitMessage
		Out     string `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		XMLName xml.Name
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// tests are the document's own, or a case for each finding and one for the answer.
func (d *Document) tests() []Suite {
	if len(d.Tests) > 0 {
		return d.Tests
	}
	s := FindingTests(d.Kind, d.Findings())
	answer := Test{Name: "answer", Message: d.Head.Word}
	for _, say := range d.Head.Says {
		answer.Text = text.Join("; ", answer.Text, say.Text)
	}
	answer.Outcome = OutcomeOf(d.Head.Tone)
	s.Tests = append(s.Tests, answer)
	return []Suite{s}
}

// Gate makes the forms that machines read say what a gate said, as the exit code does: its sentences are
// findings and tests, and what else the document tested is shown and decides nothing.
func (d *Document) Gate(failed, errored []string) {
	for severity, all := range map[string][]string{"error": failed, "invalid": errored} {
		for _, sentence := range all {
			d.Gated = append(d.Gated, Finding{Code: "gate", Severity: severity, Title: "not passed", Message: sentence})
		}
	}
	all := d.tests()
	for i := range all {
		for k, t := range all[i].Tests {
			if t.Outcome != Skipped {
				all[i].Tests[k].Outcome = Passed
			}
		}
	}
	gate := FindingTests("gate", d.Gated)
	if d.Head.Tone = "fail"; len(d.Gated) == 0 {
		gate.Tests, d.Head.Tone = []Test{{Name: "passed"}}, "pass"
	}
	d.Tests = slices.Concat(all, []Suite{gate})
}

// OutcomeOf is that of a test whose answer is a verdict or a severity.
func OutcomeOf(tone string) Outcome {
	return map[string]Outcome{"fail": Failed, "error": Failed, "invalid": Errored, "measured": Skipped}[tone]
}

// FindingTests is a case for each finding: an error fails, a warning passes and is shown.
func FindingTests(name string, all []Finding) Suite {
	s := Suite{Name: name}
	for _, f := range all {
		t := Test{Name: strings.TrimSpace(f.Code + " " + f.Subject), Type: f.Code, Message: f.Message, Text: f.Fix}
		t.Outcome = OutcomeOf(f.Severity)
		s.Tests = append(s.Tests, t)
	}
	return s
}

// writeJUnit writes a suite for each thing that was tested. Warnings pass and are shown in the
// case's output.
func writeJUnit(out *bufio.Writer, d *Document, _ Options) error {
	all := junitSuites{junitCounts: junitCounts{Name: strings.TrimSpace("plimsoll " + d.Kind)}}
	for _, s := range d.tests() {
		one := junitSuite{
			junitCounts: junitCounts{Name: s.Name, Tests: len(s.Tests)}, Time: cmp.Or(s.Time, "0"),
			Timestamp: s.Timestamp,
		}
		for _, t := range s.Tests {
			c := junitCase{Class: s.Name, Name: t.Name, Time: cmp.Or(t.Time, "0")}
			says := func(name string) *junitMessage {
				return &junitMessage{xml.Name{Local: name}, t.Type, t.Message, t.Text}
			}
			switch t.Outcome {
			case Failed:
				c.Outcome = says("failure")
				one.Failures++
			case Errored:
				c.Outcome = says("error")
				one.Errors++
			case Skipped:
				c.Out, t.Type, t.Text = t.Text, "", ""
				c.Outcome = says("skipped")
				one.Skipped++
			case Passed:
				c.Out = strings.Trim(t.Message+"\n"+t.Text, "\n")
			}
			one.Cases = append(one.Cases, c)
		}
		all.Tests += one.Tests
		all.Failures += one.Failures
		all.Errors += one.Errors
		all.Skipped += one.Skipped
		all.Suites = append(all.Suites, one)
	}
	fmt.Fprint(out, xml.Header) // errors stay with out
	e := xml.NewEncoder(out)
	e.Indent("", "  ")
	err := e.Encode(all)
	fmt.Fprintln(out)
	return err
}
