package lint

import (
	"slices"
	"strings"

	"plimsoll/internal/finding"
)

// idleComment is about what the other rules found: Judge asks it last (idleComments).
const idleComment finding.Code = "PL148"

// idleComments finds the comments that silence none of the findings.
func idleComments(c *Case, all []fault, disabled []finding.Code) []fault {
	type place struct{ file, code string }
	lines := map[place][]int{} // of findings, in order
	for _, f := range all {
		at := place{f.File, string(f.Code)}
		lines[at] = append(lines[at], f.Line)
	}
	for _, of := range lines {
		slices.Sort(of)
	}
	var idle []fault
	page, _ := finding.PageOf(idleComment)
	report := func(file string, line int, message string) {
		idle = append(idle, page.Fill(fault{
			File: file, Subject: says("%s:%d:1", file, line), Line: line, Col: 1, Message: message,
		}))
	}
	known := map[string]bool{}
	for _, r := range Rules() {
		known[string(r.Code)] = true
	}
	for _, file := range c.Scripts {
		for _, d := range file.Disables {
			if d.Malformed {
				report(
					file.Name,
					d.Line,
					`The comment is not of the form "plimsoll: disable=PL107 reason": it silences nothing.`,
				)
			}
			for _, code := range d.Codes {
				switch {
				case !known[code]:
					report(file.Name, d.Line,
						says("No lint rule has the code %s.", strings.TrimSpace(code)))
				case slices.Contains(disabled, finding.Code(code)) || code == string(idleComment):
				case !d.CoversOne(lines[place{file.Name, code}]):
					report(file.Name, d.Line, says("%s finds nothing in the lines that this comment covers.", code))
				}
			}
		}
	}
	return idle
}
