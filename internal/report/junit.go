package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/verdict"
)

// The parts of JUnit XML that CI systems read.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr,omitempty"`
		Cases     []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
		Skipped *junitMessage `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a suite a scenario, in it a case a target and one for the scenario's verdict.
// fail is a failure, invalid an error, not run and not judged are skipped; warnings pass and are
// shown in the case's output.
func writeJUnit(out io.Writer, b *bundle.Bundle) error {
	v := newView(b)
	all := junitSuites{Name: join(" ", "plimsoll", v.Suite)}
	for i := range b.Scenarios {
		s := junitScenario(&b.Scenarios[i], v.Sections[i])
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(out)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

func junitScenario(s *bundle.Scenario, sec section) junitSuite {
	name := join(" ", sec.Num, sec.Name)
	took := "0"
	suite := junitSuite{Name: name}
	if s.Result != nil {
		took = fmt.Sprintf("%.3f", s.Result.Wall.Seconds())
		if !s.Result.Start.IsZero() {
			suite.Timestamp = s.Result.Start.UTC().Format(time.RFC3339)
		}
	}
	suite.Time = took
	for j, r := range sec.Targets.Rows {
		c := junitCase{Class: name, Name: r[0], Time: "0"}
		phrase := fmt.Sprintf("measured %s, expected %s", r[1], r[2])
		switch t := s.Thresholds[j]; t.Outcome {
		case verdict.NotJudged:
			c.Skipped = &junitMessage{Message: r[3]}
		case verdict.Missed:
			c.Failure = &junitMessage{Message: phrase}
		default:
			c.Out = phrase
		}
		suite.Cases = append(suite.Cases, c)
	}
	suite.Cases = append(suite.Cases, junitVerdict(s, sec, name, took))
	suite.Tests = len(suite.Cases)
	for _, c := range suite.Cases {
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	return suite
}

func junitVerdict(s *bundle.Scenario, sec section, name, took string) junitCase {
	c := junitCase{Class: name, Name: "verdict", Time: took}
	messages := append([]string{}, sec.Invalid...)
	for _, p := range sec.Findings {
		messages = append(messages, p.Code+" "+p.Severity+": "+p.Message)
	}
	phrase := strings.Join(messages, "\n")
	message := fmt.Sprintf("%s: measured %s, %s", sec.Verdict, join(" ", sec.Measured, sec.Doubt), sec.Of())
	switch {
	case s.Result == nil:
		c.Skipped = &junitMessage{Message: notRun}
	case s.Verdict == verdict.Measured:
		c.Skipped = &junitMessage{Message: "measured: there was nothing to judge it by"}
		c.Out = join("\n", message, phrase)
	case s.Verdict == verdict.Fail:
		c.Failure = &junitMessage{message, phrase}
	case s.Verdict == verdict.Invalid:
		c.Error = &junitMessage{message, phrase}
	default:
		c.Out = join("\n", message, phrase)
	}
	return c
}
