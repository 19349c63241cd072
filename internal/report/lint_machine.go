package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
	"plimsoll/internal/text"
)

// The formats of lint that machines read.

// mostAnnotations is how many of a level GitHub shows of one step.
const mostAnnotations = 10

// rulePages begins the name of each rule's page, which plimsoll explain prints: there is no address
// that all installations share.
const rulePages = "urn:plimsoll:finding:"

func lintJSON(found []finding.Finding) any {
	type entry struct {
		File string `json:"file"`
		finding.Finding
	}
	out := []entry{}
	for _, f := range found {
		out = append(out, entry{f.File(), f})
	}
	return out
}

// source is the line that a finding stands in.
func (l Linted) source(f finding.Finding) string {
	for _, file := range l.Files {
		if file.Name == f.File() {
			return file.Source(f.Line)
		}
	}
	return ""
}

// word is what stands at the finding's column, up to the next blank.
func (l Linted) word(f finding.Finding) string {
	runes := []rune(l.source(f))
	if f.Col < 1 || f.Col > len(runes) {
		return ""
	}
	word, _, _ := strings.Cut(string(runes[f.Col-1:]), " ")
	return strings.TrimRight(word, "\r\t\\")
}

// lintGitHub prints workflow commands, which GitHub shows next to the line: errors first, and of
// each level as many as it shows, the rest in one more.
func lintGitHub(w io.Writer, l Linted) error {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	level := map[finding.Severity]string{finding.Fail: "error", finding.Warn: "warning", finding.Info: "notice"}
	var b strings.Builder
	for _, severity := range lint.Severities() {
		var of []finding.Finding
		for _, f := range l.Findings {
			if f.Severity == severity {
				of = append(of, f)
			}
		}
		most := len(of)
		if most > mostAnnotations {
			most = mostAnnotations - 1
		}
		for _, f := range of[:most] {
			fmt.Fprintf(
				&b,
				"::%s file=%s,line=%d,col=%d,title=%s::%s\n",
				level[severity],
				property.Replace(f.File()),
				f.Line,
				f.Col,
				property.Replace(string(f.Code)+" "+f.Title),
				value.Replace(f.Message+" "+f.Fix),
			)
		}
		if rest := of[most:]; len(rest) > 0 {
			codes := map[finding.Code]int{}
			for _, f := range rest {
				codes[f.Code]++
			}
			var parts []string
			for _, r := range lint.Rules() {
				if codes[r.Code] > 0 {
					parts = append(parts, fmt.Sprintf("%s %d times", r.Code, codes[r.Code]))
				}
			}
			fmt.Fprintf(&b, "::%s title=plimsoll lint::%s more: %s\n", level[severity], text.Plural(len(rest), "finding"),
				value.Replace(strings.Join(parts, ", ")))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type object map[string]any

var sarifLevel = map[finding.Severity]string{finding.Fail: "error", finding.Warn: "warning", finding.Info: "note"}

func phrase(s string) object { return object{"text": s} }

// sarif is the part of SARIF 2.1.0 that code hosts read.
func sarif(l Linted) any {
	all := slices.Concat(l.Findings, l.Silenced)
	rules := []object{}
	var codes []finding.Code
	for _, r := range lint.Rules() {
		if !slices.ContainsFunc(all, func(f finding.Finding) bool { return f.Code == r.Code }) {
			continue
		}
		codes = append(codes, r.Code)
		rules = append(rules, object{
			"id": r.Code, "name": string(r.Code), "shortDescription": phrase(r.Title), "fullDescription": phrase(r.Why),
			"helpUri":              rulePages + string(r.Code),
			"help":                 object{"text": r.Fix, "markdown": r.Why + "\n\n**Fix:** " + r.Fix},
			"defaultConfiguration": object{"level": cmp.Or(sarifLevel[r.Severity], "error")},
		})
	}
	results, seen := []object{}, map[string]int{}
	for i, f := range all {
		result := l.sarifResult(f, slices.Index(codes, f.Code), seen)
		if i >= len(l.Findings) {
			result["suppressions"] = []object{{"kind": "inSource", "justification": "plimsoll: disable"}}
		}
		results = append(results, result)
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool": object{"driver": object{
				"name": "plimsoll", "version": l.Tool, "informationUri": "urn:plimsoll", "rules": rules,
			}},
			"columnKind": "unicodeCodePoints", "results": results,
		}},
	}
}

func (l Linted) sarifResult(f finding.Finding, rule int, seen map[string]int) object {
	uri := (&url.URL{Path: filepath.ToSlash(f.File())}).String()
	region := object{"startLine": f.Line, "startColumn": f.Col}
	if n := utf8.RuneCountInString(l.word(f)); n > 0 {
		region["endColumn"] = f.Col + n
	}
	print := lint.Fingerprint(f, l.source(f))
	seen[print]++
	sum := sha256.Sum256([]byte(print))
	result := object{
		"ruleId": f.Code, "ruleIndex": rule, "level": cmp.Or(sarifLevel[f.Severity], "error"),
		"message":             phrase(f.Message + " " + f.Fix),
		"locations":           []object{{"physicalLocation": object{"artifactLocation": object{"uri": uri}, "region": region}}},
		"partialFingerprints": object{"plimsoll/v1": fmt.Sprintf("%s:%d", hex.EncodeToString(sum[:12]), seen[print])},
	}
	var changes []object
	for _, e := range f.Edits {
		line := []rune(l.lineOf(f, e.Line))
		if e.Col < 1 || e.Col > len(line) {
			continue
		}
		at := strings.Index(string(line[e.Col-1:]), e.Old)
		if at < 0 {
			continue
		}
		from := e.Col + utf8.RuneCountInString(string(line[e.Col-1:])[:at])
		changes = append(changes, object{
			"deletedRegion": object{
				"startLine": e.Line, "startColumn": from, "endColumn": from + utf8.RuneCountInString(e.Old),
			},
			"insertedContent": phrase(e.New),
		})
	}
	if len(changes) > 0 {
		result["fixes"] = []object{{
			"description":     phrase(f.Fix),
			"artifactChanges": []object{{"artifactLocation": object{"uri": uri}, "replacements": changes}},
		}}
	}
	return result
}

func (l Linted) lineOf(f finding.Finding, line int) string {
	f.Line = line
	return l.source(f)
}

// lintJUnit is a suite a document, a case a finding; errors are failures, and a document without any
// is one case that passed.
func lintJUnit(w io.Writer, l Linted) error {
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"plimsoll lint\">\n")
	by := map[string][]finding.Finding{}
	for _, f := range l.Findings {
		by[f.File()] = append(by[f.File()], f)
	}
	for _, file := range l.Files {
		found := by[file.Name]
		failures := 0
		for _, f := range found {
			if f.Severity == finding.Fail {
				failures++
			}
		}
		fmt.Fprintf(&b, "  <testsuite name=%s tests=\"%d\" failures=\"%d\">\n", xmlText(file.Name), max(len(found), 1), failures)
		if len(found) == 0 {
			fmt.Fprintf(&b, "    <testcase name=\"fio jobs\" classname=%s/>\n", xmlText(file.Name))
		}
		for _, f := range found {
			name := xmlText(fmt.Sprintf("%s %d:%d %s", f.Code, f.Line, f.Col, f.Title))
			fmt.Fprintf(&b, "    <testcase name=%s classname=%s>\n", name, xmlText(file.Name))
			if f.Severity == finding.Fail {
				fmt.Fprintf(&b, "      <failure type=%s message=%s/>\n", xmlText(string(f.Code)), xmlText(f.Message+" "+f.Fix))
			} else {
				fmt.Fprintf(&b, "      <system-out>%s</system-out>\n", strings.Trim(xmlText(string(f.Severity)+": "+f.Message+" "+f.Fix), `"`))
			}
			b.WriteString("    </testcase>\n")
		}
		b.WriteString("  </testsuite>\n")
	}
	b.WriteString("</testsuites>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// xmlText is a quoted attribute; what XML cannot hold is left out.
func xmlText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == '\uFFFE' || r == '\uFFFF' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return `"` + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "\n", "&#10;").Replace(s) + `"`
}
